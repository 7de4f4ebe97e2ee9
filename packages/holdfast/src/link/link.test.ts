// Goal: the rules L1 to L8 and L10, one by one.
// Method: a pair of links over a wire whose every packet the test decides about.
import { describe, expect, test } from 'vitest'
import {
  createPair,
  numberOf,
  numbered,
  offer,
  run,
  send,
  type Pair,
} from '../../../../test/link/pair.ts'
import * as link from './link.ts'
import { LINK_TIMEOUT, MESSAGE_MAX } from './limits.ts'
import { gone } from './timing/pace.ts'

const FRAME_MAX = 1104
const PACKET_MAX = 1132

/** Nothing is asked. */
const ASKED = { asked: [1e9], askedAt: 1e9 }

const sentBy = (pair: Pair, side: 0 | 1): number => pair.ends[side].packets.length
const numbersOf = (pair: Pair, side: 0 | 1): number[] => pair.ends[side].messages.map(numberOf)
const rising = (a: number, b: number): number => a - b
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('reliable stream', () => {
  test('B3: messages arrive in order, once, though packets are lost, doubled and reordered', () => {
    const pair = createPair(5, { delay: 5, jitter: 40, loss: 0.3, double: 0.2 })
    for (let count = 0; count < 400; count++) {
      send(pair, 0, numbered(count, 100))
      run(pair, pair.now + 5)
    }
    run(pair, pair.now + 4000)
    expect(numbersOf(pair, 1)).toEqual(upTo(400))
    expect(pair.ends[0].link.counters.retransmitted).toBeGreaterThan(0)
    expect(pair.ends[1].link.counters.duplicate).toBeGreaterThan(0)
  })

  test('who looks at a link sees how many packets and bytes it sent, and how many bare acks (PR-2)', () => {
    const pair = createPair(1, {}, { keepaliveMs: 10_000 })
    pair.ends.forEach((end) => Object.assign(end.link.clock, ASKED))
    for (let count = 0; count < 20; count++) send(pair, 0, numbered(count, 700))
    run(pair, 1000)
    for (const { link: one, packets } of pair.ends) {
      const { sent, bytesSent } = one.counters
      expect(sent).toBe(packets.length)
      expect(bytesSent).toBe(packets.reduce((sum, { bytes }) => sum + bytes.length, 0))
    }
    expect(pair.ends[0].link.counters.bareAcks).toBe(0)
    expect(pair.ends[1].link.counters.bareAcks).toBe(sentBy(pair, 1))
  })

  test('L2: a retransmission is a new packet with a new sequence', () => {
    const pair = createPair()
    pair.fate = (_from, _bytes, index) => (index === 0 ? 0 : 1)
    send(pair, 0, numbered(0))
    run(pair, 400)
    const [first, second] = pair.ends[0].packets
    expect(first!.bytes[1]).toBe(0)
    expect(second!.bytes[1]).toBe(1)
    expect(numbersOf(pair, 1)).toEqual([0])
  })

  test('L2: a message that arrives in several packets is handed up once', () => {
    const pair = createPair(1, {}, { keepaliveMs: 10_000 })
    pair.fate = (from) => (from === 0 ? 1 : 0)
    send(pair, 0, numbered(0))
    run(pair, 2000)
    expect(pair.ends[0].link.counters.retransmitted).toBeGreaterThan(2)
    expect(numbersOf(pair, 1)).toEqual([0])
  })

  test('B55: delivered (L3) waits for every earlier message, though a later packet is acked', () => {
    const pair = createPair()
    pair.fate = (from, _bytes, index) => (from === 0 && index === 0 ? 0 : 1)
    send(pair, 0, numbered(0))
    send(pair, 0, numbered(1))
    run(pair, 50)
    expect(pair.ends[0].acked).toContain(1)
    expect(pair.ends[0].delivered).toEqual([])
    run(pair, 500)
    expect(pair.ends[0].delivered.at(-1)).toBe(2)
  })

  test('L10: a message of 80 KB is split and put together; one byte more is refused', () => {
    const pair = createPair()
    const long = numbered(7, MESSAGE_MAX)
    expect(send(pair, 0, long)).toBe(75)
    run(pair, 3000)
    expect(pair.ends[1].messages).toEqual([long])
    expect(pair.ends[0].delivered.at(-1)).toBe(75)
    expect(() => send(pair, 0, new Uint8Array(MESSAGE_MAX + 1))).toThrow(
      'at most 81920 bytes: 81921',
    )
  })

  test('L10: an unreliable message of 16 parts arrives whole, or not at all', () => {
    const pair = createPair()
    const long = numbered(3, 17_600)
    const { link: from, sink } = pair.ends[0]
    expect(link.post(from, 0, 9, long)).toBe(true)
    link.flush(from, 0, sink)
    run(pair, 1000)
    expect(pair.ends[1].frames).toEqual([[9, long]])
    const sixth = sentBy(pair, 0) + 5
    pair.fate = (side, _bytes, index) => (side === 0 && index === sixth ? 0 : 1)
    link.post(from, pair.now, 9, long)
    link.flush(from, pair.now, sink)
    run(pair, 2000)
    expect(pair.ends[1].frames.length).toBe(1)
    expect(() => link.post(from, 0, 3, long)).toThrow('4 to 255: 3')
    expect(() => link.post(from, 0, 4, new Uint8Array(18_113))).toThrow('18113')
  })

  test('an empty message is a message', () => {
    const pair = createPair()
    send(pair, 0, new Uint8Array(0))
    run(pair, 100)
    expect(pair.ends[1].messages).toEqual([new Uint8Array(0)])
  })

  test('B12: links of different pairs share no state, so no order either', () => {
    const [slow, fast] = [createPair(1, { delay: 500 }), createPair(1)]
    send(slow, 0, numbered(0))
    send(fast, 0, numbered(1))
    run(slow, 100)
    run(fast, 100)
    expect(numbersOf(slow, 1)).toEqual([])
    expect(numbersOf(fast, 1)).toEqual([1])
  })
})

describe('verdicts', () => {
  test('B2, B24: an ack covers a whole packet with all its frames and messages', () => {
    const pair = createPair()
    const { link: from, sink, newest } = pair.ends[0]
    for (let count = 0; count < 5; count++) link.send(from, 0, numbered(count))
    newest.push([4, numbered(1)], [5, numbered(2)])
    link.scheduleWrite(from, 0)
    link.flush(from, 0, sink)
    run(pair, 30)
    expect(sentBy(pair, 0)).toBe(1)
    run(pair, 100)
    expect(pair.ends[0].acked[0]).toBe(0)
    expect(numbersOf(pair, 1)).toEqual(upTo(5))
    expect(pair.ends[1].frames.map(([channel]) => channel)).toEqual([4, 5])
  })

  test('L4, L5: three later acks make a packet lost, and a late ack still makes it acked', () => {
    const pair = createPair(1, { delay: 100 })
    pair.fate = (from, bytes, index) => {
      if (from === 1 || index > 0) return 1
      pair.flights.push({ at: 190, to: 1, bytes })
      return 0
    }
    for (let count = 0; count < 4; count++) offer(pair, 0, 4, numbered(count))
    run(pair, 250)
    expect(pair.ends[0].acked.toSorted(rising)).toEqual([1, 2, 3])
    expect(pair.ends[0].lost).toEqual([0])
    run(pair, 500)
    expect(pair.ends[0].acked.filter((sequence) => sequence < 4).toSorted(rising)).toEqual(upTo(4))
    expect(pair.ends[0].link.counters.lateAcked).toBe(1)
  })

  test('L5: a packet overtaken by one other is lost after 9/8 of a round trip', () => {
    const pair = createPair(1, { delay: 50 })
    send(pair, 0, numbered(0))
    run(pair, 300)
    const before = sentBy(pair, 0)
    pair.fate = (from, _bytes, index) => (from === 0 && index === before ? 0 : 1)
    offer(pair, 0, 4, numbered(1))
    run(pair, pair.now + 5)
    offer(pair, 0, 4, numbered(2))
    run(pair, pair.now + 101)
    const { rtt } = link.current(pair.ends[0].link)
    const due = pair.ends[0].packets[before]!.at + (9 / 8) * Math.max(rtt.smoothed, rtt.latest)
    run(pair, due - 0.5)
    expect(pair.ends[0].lost).toEqual([])
    run(pair, due + 0.5)
    expect(pair.ends[0].lost).toEqual([before])
  })

  test('L5: silence sends probes at doubling intervals up to a second, and loses nothing', () => {
    const pair = createPair(1, {}, { keepaliveMs: 10_000 })
    send(pair, 0, numbered(0))
    run(pair, 500)
    const before = sentBy(pair, 0)
    pair.fate = () => 0
    const start = pair.now
    send(pair, 0, numbered(1))
    run(pair, start + 8000)
    const times = [...new Set(pair.ends[0].packets.slice(before).map(({ at }) => at - start))]
    const gaps = times.slice(1).map((at, index) => at - times[index]!)
    expect(gaps[1]! / gaps[0]!).toBeCloseTo(2)
    expect(gaps[2]! / gaps[1]!).toBeCloseTo(2)
    expect(Math.max(...gaps)).toBeCloseTo(1000)
    expect(pair.ends[0].lost).toEqual([])
    pair.fate = null
    run(pair, pair.now + 1500)
    expect(numbersOf(pair, 1)).toEqual([0, 1])
  })

  test('a full window lets probes through: the oldest packet makes way, with a verdict', () => {
    const pair = createPair(1, {}, { keepaliveMs: 10 })
    pair.fate = () => 0
    run(pair, 3000)
    const { counters, sent } = pair.ends[0].link
    expect(counters.evicted).toBeGreaterThan(100)
    expect(pair.ends[0].lost.length).toBe(counters.evicted)
    expect(sent.next - sent.oldest).toBeLessThanOrEqual(128)
    pair.fate = null
    send(pair, 0, numbered(0))
    run(pair, 3600)
    expect(numbersOf(pair, 1)).toEqual([0])
  })
})

describe('newest state', () => {
  test('L7: a frame is pulled when the packet leaves, not when it is announced', () => {
    const pair = createPair()
    const { link: from, sink } = pair.ends[0]
    let value = 0
    const pulled: number[] = []
    const changing = { ...sink, write: () => (pulled.push(value), -1) }
    link.current(from).pace.flying = link.current(from).pace.window
    link.scheduleWrite(from, 0)
    link.flush(from, 0, changing)
    value = 1
    expect(pulled).toEqual([])
    link.current(from).pace.flying = 0
    link.wake(from, 5, changing)
    expect(pulled).toEqual([1])
    expect(from.writeScheduled).toBe(false)
  })

  test('L7: no packet is longer than a datagram and no frame than its budget', () => {
    const pair = createPair()
    for (const length of [1, 127, 128, 500, FRAME_MAX]) {
      for (let count = 0; count < 5; count++) offer(pair, 0, 4, numbered(count, length))
      send(pair, 0, numbered(0, length))
      run(pair, pair.now + 100)
    }
    expect(Math.max(...pair.ends[0].packets.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(
      PACKET_MAX,
    )
    expect(pair.ends[1].frames.length).toBe(25)
    expect(pair.ends[1].messages.length).toBe(5)
    expect(Math.max(...pair.ends[0].asked.map(({ budget }) => budget))).toBe(FRAME_MAX)
  })

  test('L2: two long messages that one packet completes keep their bytes (AP-19)', () => {
    const pair = createPair()
    pair.fate = (from, _bytes, index) => (from === 0 && index === 0 ? 0 : 1)
    for (const value of [1, 2]) send(pair, 0, numbered(value, 2000))
    run(pair, 1_000)
    expect(pair.ends[1].messages).toEqual([numbered(1, 2000), numbered(2, 2000)])
  })

  test('a layer that writes more than its budget is our bug and throws', () => {
    const pair = createPair()
    const { link: from, sink } = pair.ends[0]
    const greedy: link.LinkSink = {
      ...sink,
      write: (_sequence, writer) => {
        writer.length += 1300
        return 4
      },
    }
    link.scheduleWrite(from, 0)
    expect(() => link.flush(from, 0, greedy)).toThrow('keeps its 1104 bytes: 1300')
  })

  test('a long message and newest state take turns, so neither stops the other', () => {
    const pair = createPair(1, { delay: 30 })
    send(pair, 0, numbered(0, 60_000))
    const { newest } = pair.ends[0]
    for (let count = 0; count < 20; count++) newest.push([4, numbered(count, 1100)])
    link.scheduleWrite(pair.ends[0].link, 0)
    run(pair, 150)
    expect(pair.ends[1].frames.length).toBeGreaterThan(3)
    run(pair, 2000)
    expect(pair.ends[1].frames.length).toBe(20)
    expect(numbersOf(pair, 1)).toEqual([0])
  })

  test('L7: the window doubles without loss, falls to 0.7 once a round, and never below two', () => {
    const pair = createPair(1, { delay: 50 })
    const { pace } = link.current(pair.ends[0].link)
    const first = pace.window
    for (let count = 0; count < 100; count++) send(pair, 0, numbered(count, 1000))
    run(pair, 150)
    expect(pace.window).toBeGreaterThan(1.5 * first)
    const before = pace.window
    // Two losses of one flight are one loss.
    gone(pace, 5, 0, 9, true)
    gone(pace, 7, 0, 9, true)
    expect(pace.window).toBeCloseTo(0.7 * before)
    for (let round = 1; round < 40; round++) gone(pace, round * 10, 0, round * 10, true)
    expect(pace.window).toBeGreaterThanOrEqual(2 * PACKET_MAX)
  })

  test('L7: pacing spreads a window over a round trip', () => {
    const pair = createPair(1, { delay: 50 })
    for (let count = 0; count < 200; count++) send(pair, 0, numbered(count, 1100))
    run(pair, 1000)
    const moments = new Map<number, number>()
    for (const { at } of pair.ends[0].packets) moments.set(at, (moments.get(at) ?? 0) + 1)
    expect(link.current(pair.ends[0].link).pace.window).toBeGreaterThan(40 * PACKET_MAX)
    // A bucket holds ten packets; what acks release at once is at most that and two more.
    expect(Math.max(...moments.values())).toBeLessThanOrEqual(13)
    expect(moments.size).toBeGreaterThan(30)
  })
})

describe('acks and keepalives', () => {
  test('L6: a lone packet is acked after 25 ms, two at once, and the delay is told', () => {
    const pair = createPair(1, { delay: 10 }, { keepaliveMs: 10_000 })
    pair.ends.forEach((end) => Object.assign(end.link.clock, ASKED))
    pair.ends.forEach((end) => (end.link.clock.asked = [{ at: 1, by: 0 }]))
    send(pair, 0, numbered(0))
    run(pair, 34)
    expect(sentBy(pair, 1)).toBe(0)
    run(pair, 36)
    expect(sentBy(pair, 1)).toBe(1)
    run(pair, 100)
    expect(link.current(pair.ends[0].link).rtt.latest).toBeCloseTo(45)
    send(pair, 0, numbered(1))
    send(pair, 0, numbered(2))
    run(pair, 111)
    expect(sentBy(pair, 1)).toBe(2)
    run(pair, 200)
    // 20 ms of way, though the first ack was held for 25: the second sample is exact.
    expect(link.current(pair.ends[0].link).rtt.min).toBeCloseTo(20)
  })

  test('L6: an ack rides on data where there is some', () => {
    const pair = createPair()
    send(pair, 0, numbered(0))
    run(pair, 12)
    send(pair, 1, numbered(0))
    run(pair, 30)
    expect(sentBy(pair, 1)).toBe(1)
    expect(pair.ends[0].acked).toEqual([0])
  })

  test('L6: newest state is acked after 100 ms, or when eight packets of it came', () => {
    const pair = createPair(1, { delay: 10 }, { keepaliveMs: 10_000 })
    pair.ends.forEach((end) => Object.assign(end.link.clock, ASKED))
    const offers = (count: number): void => {
      for (let n = 0; n < count; n++) offer(pair, 0, 4, numbered(n))
    }
    // Until it is known that none of the first is missing, acks do not wait for long.
    offers(4)
    run(pair, 500)
    const first = sentBy(pair, 1)
    offers(1)
    run(pair, 609)
    expect(sentBy(pair, 1)).toBe(first)
    run(pair, 611)
    expect(sentBy(pair, 1)).toBe(first + 1)
    offers(8)
    run(pair, 622)
    expect(sentBy(pair, 1)).toBe(first + 2)
    run(pair, 700)
    expect(pair.ends[0].acked.toSorted(rising)).toEqual(upTo(13))
    // Nobody was in doubt meanwhile, and nobody took the wait for a longer way.
    expect(pair.ends[0].link.counters.probes).toBe(0)
    expect(link.current(pair.ends[0].link).rtt.smoothed).toBeLessThan(25)
  })

  test('L6: behind a hole, beside a message and where half the window flies no ack waits', () => {
    const pair = createPair(1, { delay: 10 }, { keepaliveMs: 10_000 })
    pair.ends.forEach((end) => Object.assign(end.link.clock, ASKED))
    for (let n = 0; n < 4; n++) offer(pair, 0, 4, numbered(n))
    run(pair, 500)
    const first = sentBy(pair, 1)
    pair.fate = () => 0
    offer(pair, 0, 4, numbered(4))
    pair.fate = null
    offer(pair, 0, 4, numbered(5))
    run(pair, 511)
    expect(sentBy(pair, 1)).toBe(first + 1)
    for (let n = 6; n < 9; n++) offer(pair, 0, 4, numbered(n))
    run(pair, 700)
    offer(pair, 0, 4, numbered(9))
    send(pair, 0, numbered(0))
    run(pair, 736)
    expect(pair.ends[0].acked).toContain(10)
    // One packet of a small window that is half full.
    link.current(pair.ends[0].link).pace.window = 2 * PACKET_MAX
    offer(pair, 0, 4, numbered(10, PACKET_MAX - 100))
    offer(pair, 0, 4, numbered(11, 200))
    run(pair, 800)
    expect(pair.ends[0].acked).toContain(12)
  })

  test('L6: bare acks are never acked', () => {
    const pair = createPair(1, {}, { keepaliveMs: 10_000 })
    pair.ends.forEach((end) => Object.assign(end.link.clock, ASKED))
    pair.ends.forEach((end) => (end.link.clock.asked = [{ at: 1, by: 0 }]))
    send(pair, 0, numbered(0))
    run(pair, 9000)
    expect(sentBy(pair, 0)).toBe(1)
    expect(sentBy(pair, 1)).toBe(1)
  })

  test('L8: link.budget: an idle link sends keepalives and the acks of them, no more', () => {
    const pair = createPair(1, { delay: 5 })
    run(pair, 10_000)
    for (const side of [0, 1] as const) {
      const count = sentBy(pair, side)
      expect(count).toBeGreaterThanOrEqual(10_000 / 250)
      expect(count).toBeLessThanOrEqual((10_000 / 200) * 2)
      const longest = Math.max(...pair.ends[side].packets.map(({ bytes }) => bytes.length))
      expect(longest).toBeLessThanOrEqual(9 + 4 + 25 + 9)
    }
    expect(pair.wakes).toBeLessThan(400)
  })

  test('L8: keepalives of 10 ms are heard every 10 ms and answer each other', () => {
    const pair = createPair(1, { delay: 1 }, { keepaliveMs: 200 })
    for (const end of pair.ends) link.setKeepalive(end.link, 10)
    run(pair, 1000)
    expect(pair.now - pair.ends[0].link.lastReceived).toBeLessThanOrEqual(11)
    expect(sentBy(pair, 0)).toBeLessThanOrEqual(110)
    expect(() => link.setKeepalive(pair.ends[0].link, 0)).toThrow('1 to 10000 ms: 0')
  })

  test('L8: down when nothing is heard for 10 s, or the oldest message is unacked for so long', () => {
    const deaf = createPair()
    deaf.fate = () => 0
    run(deaf, LINK_TIMEOUT - 1)
    expect(link.isDown(deaf.ends[0].link, deaf.now)).toBe(false)
    expect(link.isDown(deaf.ends[0].link, LINK_TIMEOUT)).toBe(true)
    const stuck = createPair()
    const { link: from } = stuck.ends[0]
    link.send(from, 0, numbered(0))
    from.lastReceived = LINK_TIMEOUT
    expect(link.isDown(from, LINK_TIMEOUT - 1)).toBe(false)
    expect(link.isDown(from, LINK_TIMEOUT)).toBe(true)
  })

  test('a goodbye closes both ends, also when two of its three packets are lost', () => {
    const pair = createPair()
    pair.fate = (_from, _bytes, index) => (index < 2 ? 0 : 1)
    link.close(pair.ends[0].link, 0, 7, pair.ends[0].sink)
    run(pair, 100)
    expect(pair.ends.map((end) => end.link.closed)).toEqual([7, 7])
    expect(pair.ends.map((end) => link.isDown(end.link, 100))).toEqual([true, true])
    expect(pair.ends.map((end) => link.deadline(end.link))).toEqual([Infinity, Infinity])
    expect(link.send(pair.ends[0].link, 0, numbered(0))).toBe(0)
  })
})
