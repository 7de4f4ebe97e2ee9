// Goal: when a link sends, waits, asks, gives up and ends is what L4 to L8 say, to the packet.
// Method: one end alone; the test is its peer.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import { Lone, part, piece, state } from '../../../../test/link/lone.ts'
import * as link from './link.ts'
import { ACK_DELAY_MAX, LIMITS } from './limits.ts'
import { patience } from './timing/loss.ts'

const PIECE_MAX = 1104

/** All packets up to and with this one have come. */
const ALL = 0xffffffff

describe('a keepalive', () => {
  test('L8: lies within 1 ms and 10 s (PR-2)', () => {
    for (const keepaliveMs of [1, 10_000]) {
      const lone = new Lone({ keepaliveMs })
      expect(lone.deadline()).toBe(keepaliveMs)
      calmly(() => link.setKeepalive(lone.link, keepaliveMs))
    }
    for (const odd of [0, 0.5, -1, 10_001, NaN]) {
      const why = `a keepalive lies within 1 to 10000 ms: ${odd}`
      expect(() => link.create(0, { keepaliveMs: odd })).toThrow(why)
      expect(() => link.setKeepalive(new Lone().link, odd)).toThrow(why)
    }
  })
  test('L8: leaves 200 ms after the last packet, asks for an ack, and is counted (PR-2)', () => {
    const lone = new Lone().quiet()
    expect(lone.deadline()).toBe(200)
    expect(lone.wake(199)).toEqual([])
    expect(lone.wake(200).map(({ kinds }) => kinds)).toEqual([['PAD']])
    expect(lone.link.counters).toMatchObject({ keepalives: 1, sent: 1, bareAcks: 0 })
    link.setKeepalive(lone.link, 50)
    expect(lone.pass(300).length).toBeGreaterThan(0)
  })
  test('a knock leaves at once and asks, but not after a goodbye (PR-2)', () => {
    const lone = new Lone().quiet()
    expect(lone.knock().map(({ kinds }) => kinds)).toEqual([['PAD']])
    lone.close()
    expect(lone.knock()).toEqual([])
  })
})

describe('acks', () => {
  test('L6: sixteen packets within one read are acked within it, fifteen are not (PR-2)', () => {
    const lone = new Lone().quiet()
    for (let n = 0; n < 15; n++) lone.hear(state(n))
    expect(lone.answer()).toEqual([])
    lone.hear(state(15))
    const acks = lone.answer()
    expect(acks.map(({ kinds }) => kinds)).toEqual([[]])
    expect(lone.link.unanswered).toBe(0)
    expect(lone.answer()).toEqual([])
  })
  test('L6: one waits 25 ms, a second and one out of order are acked when all is read (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.hear(piece(1))
    expect(lone.deadline()).toBe(25)
    lone.hear(piece(2))
    expect(lone.deadline()).toBe(0)
    expect(lone.wake(0)).toHaveLength(1)
    lone.hear(piece(4), { sequence: 3 })
    expect(lone.deadline()).toBe(0)
    expect(lone.wake(0)).toHaveLength(1)
    lone.hear(piece(3), { sequence: 2 })
    expect(lone.deadline()).toBe(0)
  })
  test('L6: newest state behind a message does not delay the message’s ack (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 4; n++) lone.hear(state(n))
    lone.wake(0)
    lone.hear(state(4))
    expect(lone.deadline()).toBe(100)
    lone.now = 10
    lone.hear([...state(5), 0])
    expect(lone.deadline()).toBe(10)
    lone.wake(10)
    lone.hear([0])
    expect(lone.deadline()).toBe(35)
    lone.now = 20
    lone.hear(state(6))
    expect(lone.deadline()).toBe(35)
  })
  test('L6: tells how long the newest packet’s ack waited, from an eighth of a ms on (PR-2)', () => {
    const delay = (heard: number, sent: number, last: number[] = [0]): unknown => {
      const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
      lone.hear([0])
      lone.now = heard
      lone.hear(last)
      lone.now = sent
      lone.send()
      const [left] = lone.flush()
      return left!.frames[0]!['delay'] ?? left!.kinds
    }
    expect(delay(5, 15)).toBe(80)
    expect(delay(5, 5.125)).toBe(1)
    expect(delay(5, 5.124)).toEqual(['REL'])
    // The newest packet asks for nothing, so nothing is held back.
    expect(delay(5, 15, [])).toEqual(['REL'])
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.hear([0], { sequence: 1 })
    lone.now = 10
    // An older packet that comes late is not the newest.
    lone.hear([0], { sequence: 0 })
    const [left] = lone.wake(10)
    expect(left!.frames).toEqual([{ kind: 'ACKDELAY', delay: 80 }])
  })
  test('L4: an ack of a bare ack is no verdict, one of a question is (PR-2)', () => {
    const lone = new Lone().quiet()
    lone.hear(piece(1))
    lone.hear(piece(2))
    expect(lone.wake(0).map(({ kinds }) => kinds)).toEqual([[]])
    expect(lone.hear([], { ack: 0, bits: 1 }).brought).toEqual([])
    lone.knock()
    expect(lone.hear([], { ack: 1, bits: 3 }).brought).toEqual(['acked 1'])
    expect(lone.hear([], { ack: 1, bits: 3 }).brought).toEqual([])
  })
  test('L4: a hole that is filled behind the newest is acked by its bit alone (PR-2)', () => {
    const lone = new Lone().quiet()
    for (let n = 0; n < 3; n++) lone.knock()
    expect(lone.hear([], { ack: 2, bits: 0b101 }).brought).toEqual(['acked 2', 'acked 0'])
    expect(lone.hear([], { ack: 2, bits: 0b111 }).brought).toEqual(['acked 1'])
  })
  test('L4: an old header hides nothing of what a newer one says (PR-2)', () => {
    const lone = new Lone().quiet()
    for (let n = 0; n < 6; n++) lone.knock()
    expect(lone.hear([], { ack: 5, bits: 0b1 }).brought[0]).toBe('acked 5')
    expect(lone.hear([], { ack: 3, bits: 0b11 }).brought).toEqual(['acked 3', 'acked 2'])
    expect(lone.hear([], { ack: 5, bits: 0b11 }).brought).toEqual(['acked 4'])
  })
  test('no bits ack what is behind the first packet, or beyond the last 256 (PR-2)', () => {
    const lone = new Lone().quiet()
    lone.knock()
    expect(lone.hear([], { ack: 0, bits: ALL }).brought).toEqual(['acked 0'])
    for (let n = 1; n <= 320; n++) {
      lone.now = n
      lone.knock()
      if (n < 310) lone.hear([], { ack: n, bits: 1 })
    }
    // 321 were sent: of those that are remembered all have arrived, but for the last eleven.
    const { brought } = lone.hear([], { ack: 321 - 250, bits: ALL })
    expect(brought).toEqual([])
    expect(lone.link.sent.newestAcked).toBe(309)
  })
  test('L4: a verdict that comes late is found 256 packets later, and no later (PR-2)', () => {
    for (const [later, found] of [
      [255, true],
      [256, true],
      [257, false],
    ] as const) {
      const lone = new Lone().quiet()
      for (let n = 0; n < later; n++) {
        lone.now = n * 10
        lone.knock()
        if (n > 0) lone.hear([], { ack: n, bits: 1 })
      }
      expect(lone.link.counters.lost).toBe(1)
      const { brought } = lone.hear([], { ack: 0, bits: 1 })
      expect(brought, `${later} packets later`).toEqual(found ? ['acked 0'] : [])
      expect(lone.link.counters.lateAcked).toBe(found ? 1 : 0)
    }
  })
})

describe('round trips', () => {
  test('are measured by the newest packet alone, the first time that it is acked (PR-2)', () => {
    const lone = new Lone().quiet()
    for (let n = 0; n < 4; n++) lone.knock()
    lone.now = 40
    lone.hear([], { ack: 1, bits: 0b11 })
    expect(link.current(lone.link).rtt).toMatchObject({ samples: 1, latest: 40 })
    lone.now = 90
    lone.hear([], { ack: 1, bits: 0b11 })
    // Packet 3 comes first, then 2 in an older header.
    lone.hear([], { ack: 3, bits: 0b1101 })
    expect(link.current(lone.link).rtt).toMatchObject({ samples: 2, latest: 90 })
    lone.now = 120
    expect(lone.hear([], { ack: 2, bits: 0b111 }).brought).toEqual(['acked 2'])
    lone.knock()
    lone.knock()
    // Of a peer of its own making, which acks a packet without the one that it names.
    expect(lone.hear([], { ack: 5, bits: 0b10 }).brought).toEqual(['acked 4'])
    expect(link.current(lone.link).rtt.samples).toBe(2)
  })
  test('are not measured by a packet that was given up (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000, limits: { ...LIMITS, window: 3 } }).quiet()
    for (let n = 0; n < 4; n++) lone.knock()
    expect(lone.lost).toEqual([0])
    lone.now = 50
    expect(lone.hear([], { ack: 0, bits: 1 }).brought).toEqual(['acked 0'])
    expect(link.current(lone.link).rtt.samples).toBe(0)
  })
})

describe('with several paths', () => {
  /** Four packets by the first path, of 40 ms, and then as many by another one. */
  function moved(): Lone {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.knock()
    lone.now = 40
    lone.hear([], { ack: 0, bits: 1 })
    for (let n = 1; n <= 4; n++) lone.knock()
    link.use(lone.link, lone.now, 5, NaN)
    for (let n = 5; n <= 8; n++) lone.knock()
    return lone
  }
  test('L5: an ack that comes by another path than its packet went gives no round trip', () => {
    const lone = moved()
    lone.now = 42
    for (const [by, samples] of [
      [0, 0],
      [-1, 0],
      [5, 1],
    ] as const) {
      lone.knock()
      lone.hear([], { ack: lone.link.sent.next - 1, bits: 1, by })
      expect(link.current(lone.link).rtt.samples).toBe(samples)
    }
    expect(lone.link.paths[0]!.rtt.samples).toBe(1)
  })
  test('L5: packets of another path make none lost before it had time to be acked by either', () => {
    const lone = moved()
    const { rtt } = lone.link.paths[0]!
    lone.now = 42
    lone.hear([], { ack: 8, bits: 0b1111 })
    const due = 40 + rtt.smoothed + 4 * rtt.variation + ACK_DELAY_MAX
    expect(due).toBeGreaterThan(40 + patience(rtt))
    expect(lone.link.loss.lostAt).toBeCloseTo(due, 9)
    lone.wake(due - 0.1)
    expect(lone.lost).toEqual([])
    lone.wake(due)
    expect(lone.lost).toEqual([1, 2, 3, 4])
    expect([lone.link.paths[0]!.lost, link.current(lone.link).lost]).toEqual([4, 0])
    // One of them comes after all.
    lone.hear([], { ack: 8, bits: 0b11111 })
    expect([lone.link.paths[0]!.lost, lone.link.paths[0]!.later]).toEqual([3, 6])
  })
})

describe('loss', () => {
  test('L5: the oldest that was overtaken is given up first, at its own time (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.knock()
    lone.now = 10
    lone.hear([], { ack: 0, bits: 1 })
    lone.knock()
    lone.now = 13
    lone.knock()
    lone.knock()
    lone.now = 14
    lone.hear([], { ack: 3, bits: 0b1001 })
    const wait = patience(link.current(lone.link).rtt)
    expect(lone.link.loss.lostAt).toBeCloseTo(10 + wait, 9)
    expect(lone.deadline()).toBeCloseTo(10 + wait, 9)
    lone.wake(10 + wait)
    expect(lone.lost).toEqual([1])
    expect(lone.deadline()).toBeCloseTo(13 + wait, 9)
    lone.wake(13 + wait)
    expect(lone.lost).toEqual([1, 2])
    expect(lone.link.counters.lost).toBe(2)
  })
  test('L7: what is lost flies no longer; where packets queue it takes the window to 0.7 (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 5; n++) lone.knock()
    Object.assign(link.current(lone.link).rtt, {
      samples: 9,
      min: 1,
      smoothed: 1_000,
      variation: 0,
    })
    const { window, flying } = link.current(lone.link).pace
    lone.hear([], { ack: 4, bits: 1 })
    expect(lone.link.counters.lost).toBe(2)
    expect(link.current(lone.link).pace.window).toBeCloseTo(window * 0.7, 6)
    expect(link.current(lone.link).pace.flying).toBeCloseTo((flying / 5) * 2, 6)
  })
})

describe('probes', () => {
  test('L5: the first is one packet with the oldest chunk, the next are two (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 4; n++) lone.send(PIECE_MAX)
    expect(lone.flush()).toHaveLength(4)
    const chunks: unknown[][] = []
    for (let n = 0; n < 3; n++) {
      const left = lone.wake(lone.deadline())
      chunks.push(left.map(({ frames }) => frames.map((one) => one['piece'])))
    }
    expect(chunks).toEqual([[[1]], [[1], [2]], [[1], [2]]])
    expect(lone.link.counters).toMatchObject({ probes: 5, retransmitted: 5, lost: 0 })
  })
  test('L5: as many short chunks as one packet holds are sent again at once (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 4; n++) lone.send(500)
    lone.flush()
    const [left, ...more] = lone.wake(lone.deadline())
    expect([left!.kinds, left!.frames[0]!['piece']]).toEqual([['REL', 'REL'], 1])
    expect(more).toEqual([])
    const exact = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 2; n++) exact.send(575)
    exact.flush()
    // With the head two of 580 bytes are too long for one.
    expect(exact.wake(exact.deadline()).map(({ kinds }) => kinds)).toEqual([['REL']])
  })
  test('L5: without chunks a probe is nothing but the question (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.poke(3, -2)
    lone.flush()
    expect(lone.wake(lone.deadline()).map(({ kinds }) => kinds)).toEqual([['PAD']])
  })
  test('L5: what comes without a new ack leaves the wait doubled (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.send()
    lone.flush()
    const first = lone.deadline()
    lone.wake(first)
    expect(lone.deadline() - first).toBeCloseTo(2 * first, 6)
    lone.hear([])
    lone.hear(piece(1))
    expect(lone.link.loss.probes).toBe(1)
    // The ack of a bare ack is no news of it either.
    lone.hear(piece(2))
    expect(lone.wake(lone.now).map(({ sequence }) => sequence)).toEqual([2])
    lone.hear([], { ack: 2, bits: 1 })
    expect(lone.link.loss.probes).toBe(1)
    lone.hear([], { ack: 0, bits: 1 })
    expect(lone.link.loss.probes).toBe(0)
  })
  test('L5: waits 25 ms for acks of chunks and parts, 100 ms where only newest state flies (PR-2)', () => {
    const wait = (fill: (lone: Lone) => void): number => {
      const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
      fill(lone)
      expect(lone.flush()).toHaveLength(1)
      return lone.deadline()
    }
    expect(wait((lone) => lone.send())).toBe(100 + 200 + 25)
    expect(wait((lone) => lone.post())).toBe(100 + 200 + 25)
    expect(wait((lone) => lone.poke(3, -2))).toBe(100 + 200 + 100)
  })
})

describe('a window that is full', () => {
  const TINY = { modulus: 16, window: 3, memory: 8, ahead: 64, reorder: 64, first: 0 }

  test('keeps data back, and lets what keeps the link alive take the oldest’s place (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 1_000, limits: TINY }).quiet()
    for (let n = 0; n < 3; n++) lone.knock()
    lone.send()
    expect(lone.flush()).toEqual([])
    expect(lone.lost).toEqual([])
    expect(lone.knock()).toHaveLength(1)
    expect(lone.lost).toEqual([0])
    expect(lone.link.counters.evicted).toBe(1)
    expect(lone.link.sent.oldest).toBe(1)
  })
  test('nothing leaves half the numbers ahead of the newest ack, and time goes on (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 1_000, limits: TINY }).quiet()
    // One before the first is the newest ack: seven more are told apart.
    for (let n = 0; n < 7; n++) expect(lone.knock()).toHaveLength(1)
    expect(lone.knock()).toEqual([])
    lone.hear([0])
    lone.hear([0])
    const evicted = lone.link.counters.evicted
    for (let n = 0; n < 20; n++) {
      const at = lone.deadline()
      expect(lone.wake(at)).toEqual([])
      expect(lone.deadline()).toBeGreaterThan(at)
    }
    expect(lone.link.counters.evicted).toBe(evicted)
    lone.hear([], { ack: 6, bits: 1 })
    expect(lone.knock()).toHaveLength(1)
  })
  test('acks alone leave no further ahead either (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 1_000, limits: TINY }).quiet()
    for (let n = 0; n < 9; n++) {
      lone.hear([0])
      lone.hear([0])
      expect(lone.wake(lone.now)).toHaveLength(n < 7 ? 1 : 0)
    }
  })
  test('chunks in order count as room, however many a packet has (PR-2)', () => {
    const lone = new Lone({ limits: { ...LIMITS, reorder: 2 } })
    const all = [piece(1), [0x31, 0, 0], [0x31, 0, 0], [0x31, 0, 0]].flat()
    expect(lone.hear(all).brought).toHaveLength(4)
    expect(lone.hear(piece(7))).toEqual({ taken: false, brought: [] })
    expect(lone.hear(piece(6)).taken).toBe(true)
    expect(lone.link.counters.droppedForRoom).toBe(1)
  })
  test('numbers of other frames are no chunks too far ahead (PR-2)', () => {
    const lone = new Lone()
    expect(lone.hear(part(65_535, 0, 1, 8)).brought).toEqual(['frame 8'])
  })
})

describe('what waits', () => {
  test('data may leave since it waits, not since it was looked at last (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (const begin of [
      (): unknown => lone.send(),
      (): unknown => lone.post(),
      () => lone.poke(1, -2),
    ]) {
      lone.now += 50
      const since = lone.now
      expect(lone.deadline()).toBeGreaterThan(since)
      begin()
      expect(lone.deadline()).toBe(since)
      lone.now += 10
      lone.send()
      expect(lone.deadline()).toBe(since)
      lone.flush()
      lone.hear([], { ack: lone.link.sent.next - 1, bits: ALL })
    }
  })
  test('L7: data that the window or the bucket keeps back is not due before it may leave (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 20; n++) lone.send(PIECE_MAX)
    expect(lone.flush()).toHaveLength(11)
    // The window is full: nothing is due but the probe.
    expect(lone.deadline()).toBe(325)
    lone.now = 1
    lone.hear([], { ack: 10, bits: ALL })
    expect(lone.deadline()).toBeLessThanOrEqual(1)
    expect(lone.wake(1).length).toBeGreaterThan(0)
    const next = lone.deadline()
    expect(next).toBeGreaterThan(1)
    expect(lone.wake(next).length).toBeGreaterThan(0)
  })
  test('L6: an ack that is due waits for no bucket (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 20; n++) lone.send(PIECE_MAX)
    lone.flush()
    lone.hear([], { ack: 10, bits: ALL })
    const paced = lone.deadline()
    expect(paced).toBeGreaterThan(0)
    lone.hear(piece(1))
    lone.hear(piece(2))
    expect(lone.deadline()).toBe(0)
  })
  test('nothing is due when nothing waits but the keepalive (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 700 }).quiet()
    lone.send()
    lone.flush()
    lone.now = 10
    lone.hear([], { ack: 0, bits: 1 })
    expect(lone.deadline()).toBe(700)
    expect(lone.wake(650)).toEqual([])
  })
})

describe('a link that was closed', () => {
  test('L8: has said goodbye three times, once, and then says and takes nothing (PR-2)', () => {
    const lone = new Lone()
    lone.poke(3, 3)
    const goodbyes = lone.close(9)
    expect(goodbyes.map(({ frames }) => frames.map(({ kind, reason }) => [kind, reason]))).toEqual(
      Array(3).fill([['CLOSE', 9]]),
    )
    expect(lone.close(8)).toEqual([])
    expect([lone.link.closed, lone.deadline()]).toEqual([9, Infinity])
    expect([lone.send(), lone.post()]).toEqual([0, false])
    lone.poke(4)
    expect([lone.flush(), lone.wake(5_000)]).toEqual([[], []])
    const { received } = lone.link.counters
    expect(lone.hear(piece(1))).toEqual({ taken: false, brought: [] })
    expect(lone.link.counters.received).toBe(received)
    expect(calmly(() => link.isDown(lone.link, 0))).toBe(true)
  })
  test('L8: by the peer it has the peer’s reason, and is down (PR-2)', () => {
    const lone = new Lone()
    expect(calmly(() => link.isDown(lone.link, 9_999))).toBe(false)
    lone.hear([6, 200])
    expect([lone.link.closed, link.isDown(lone.link, 0)]).toEqual([200, true])
    expect(lone.close()).toEqual([])
  })
  test('L8: is down 10 s after the last packet, or after the oldest message without ack (PR-2)', () => {
    const lone = new Lone()
    lone.now = 500
    lone.hear([])
    const isDown = (now: number): boolean => calmly(() => link.isDown(lone.link, now))
    expect([10_499, 10_500].map(isDown)).toEqual([false, true])
    lone.send()
    lone.now = 9_000
    lone.hear([])
    lone.send()
    expect([10_499, 10_500].map(isDown)).toEqual([false, true])
    lone.flush()
    lone.hear([], { ack: 0, bits: 1 })
    expect([10_500, 18_999, 19_000].map(isDown)).toEqual([false, false, true])
  })
  test('L8: a queue that takes longer than 10 s is no dead link while it moves (N-7)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 })
    const isDown = (now: number): boolean => calmly(() => link.isDown(lone.link, now))
    for (let n = 0; n < 3; n++) lone.send()
    lone.flush()
    lone.now = 9_000
    lone.hear([], { ack: 0, bits: 1 })
    lone.send()
    lone.flush()
    lone.now = 18_000
    lone.hear([])
    expect([18_000, 18_999].map(isDown)).toEqual([false, false])
  })
})

describe('what is no packet', () => {
  test('is counted as malformed, never as one that came before (PR-2)', () => {
    const lone = new Lone()
    lone.hear([0])
    const bad = [[], [0], [0x81, 0, 0, 0], [0x20, 0, 0], [0xff, 0xff, 0xff, 0xff, 0xff]]
    for (const bytes of bad) expect(lone.take(Uint8Array.from(bytes)).taken).toBe(false)
    expect(lone.link.counters).toMatchObject({
      received: 6,
      bytesReceived: 9 + 15 + (lone.link.counters.bytesReceived - 24),
      malformed: 5,
      duplicate: 0,
      stale: 0,
    })
  })
  test('a packet numbered before the first is stale (PR-2)', () => {
    const lone = new Lone()
    expect(lone.hear([0], { sequence: -1 }).taken).toBe(false)
    lone.hear([0], { sequence: 5 })
    expect(lone.hear([0], { sequence: -3 }).taken).toBe(false)
    expect(lone.hear([0], { sequence: 5 }).taken).toBe(false)
    expect(lone.hear([0], { sequence: 0 }).taken).toBe(true)
    expect(lone.link.counters).toMatchObject({ stale: 2, duplicate: 1, malformed: 0 })
  })
  test('each byte that comes is counted, also of what is refused (PR-2)', () => {
    const lone = new Lone()
    for (const length of [0, 3, 40]) lone.take(new Uint8Array(length).fill(0xff))
    expect(lone.link.counters).toMatchObject({ received: 3, bytesReceived: 43 })
  })
})
