// Goal: what is in a packet, in which order, and what is left for the next one.
// Method: one end alone, whose packets are read by the document's own reader.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import { Lone, part, piece, state } from '../../../../test/link/lone.ts'
import { writeRaw } from '../wire/bytes.ts'
import * as link from './link.ts'
import type { LinkSink } from './link.ts'

const PACKET_MAX = 1132
const PIECE_MAX = 1104

/** A head without acks: three bytes, the ack, and four bytes of bits. */
const HEAD = 8
/** A question, in a CLOCK frame. */
const QUESTION = 9

describe('turns', () => {
  test('L7: messages and newest state fill a packet first in turns, while both wait (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 4; n++) lone.send(PIECE_MAX)
    lone.poke(1_000, 1_000, 1_000)
    const kinds = lone.flush().map((one) => one.kinds)
    // While both wait each packet asks until there is no more that fits, and no further.
    const asked = [0, 1, 2, 3, 4, 5].map((n) => lone.asked.filter(([of]) => of === n).length)
    expect(asked).toEqual([2, 0, 2, 0, 2, 0])
    expect(kinds).toEqual([['UNREL'], ['REL'], ['UNREL'], ['REL'], ['UNREL'], ['REL'], ['REL']])
  })
  test('L7: a packet for one of them alone takes no turn (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    const both = (): string[] => {
      lone.send(PIECE_MAX)
      lone.poke(1_000, -2)
      return lone.flush().flatMap((one) => one.kinds)
    }
    expect(both()).toEqual(['UNREL', 'REL'])
    lone.hear([], { ack: 1, bits: 3 })
    lone.poke(10, -2)
    lone.flush()
    lone.send(10)
    lone.flush()
    expect(lone.asked.map(([sequence]) => sequence)).toEqual([0, 0, 2, 2])
    expect(both()).toEqual(['REL', 'UNREL'])
  })
  test('small ones share a packet: chunks, parts and newest state (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    const fill = (): string[][] => {
      lone.send()
      lone.post()
      lone.post()
      lone.poke(3, 5)
      return lone.flush().map((one) => one.kinds)
    }
    expect(fill()).toEqual([['UNREL', 'UNREL', 'REL', 'UMSG', 'UMSG']])
    expect(fill()).toEqual([['REL', 'UMSG', 'UMSG', 'UNREL', 'UNREL']])
    expect(lone.link.parted.outbox).toEqual([])
  })
})

describe('newest state', () => {
  test('L7: is asked for until there is none, once for each packet (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.send()
    lone.flush()
    expect(lone.asked).toEqual([])
    lone.poke(3)
    expect(lone.flush()).toHaveLength(1)
    // Twice for the packet that left, and once for the one that had nothing to carry.
    expect(lone.asked.map(([sequence]) => sequence)).toEqual([1, 1, 2])
    expect(lone.flush()).toEqual([])
    expect(lone.asked).toHaveLength(3)
  })
  test('L7: is not asked for again once it is said that nothing waits (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.poke(3, -2)
    expect(lone.flush()).toHaveLength(1)
    expect([lone.asked.length, lone.link.writeScheduled]).toEqual([2, false])
    lone.poke(-2)
    expect(lone.flush()).toEqual([])
    expect(lone.asked).toHaveLength(3)
  })
  test('L7: has the room that is left, 1,104 bytes at most and 16 at least (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.poke(1_000)
    expect(lone.flush()[0]!.length).toBe(HEAD + 3 + 1_001)
    const room = PACKET_MAX - HEAD
    expect(lone.asked.slice(0, 2).map(([, budget]) => budget)).toEqual([1_104, room - 1_004 - 4])
    for (const [left, asks] of [
      [16, true],
      [15, false],
    ] as const) {
      lone.asked.splice(0)
      const first = room - 4 - (left + 4)
      lone.poke(first, -2)
      lone.flush()
      const budgets = lone.asked.map(([, budget]) => budget)
      expect(budgets.slice(0, 2)).toEqual(asks ? [1_104, 16] : [1_104, 1_104])
    }
  })
  test('that fills a packet to the byte leaves, and its packet has no byte too many (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.poke(1_104, -2)
    expect(lone.flush().map(({ length }) => length)).toEqual([HEAD + 4 + 1_104])
  })
  test('on a channel that is none, or longer than its room, is our bug (PR-2)', () => {
    const odd = (channel: number, over = 0): (() => void) => {
      const own = link.create(0)
      let first = true
      const sink: LinkSink = {
        packet: () => {},
        lost: () => {},
        write: (_sequence, writer, budget) => {
          if (!first) return -1
          first = false
          writeRaw(writer, new Uint8Array(over > 0 ? budget + over : 3))
          return channel
        },
      }
      link.scheduleWrite(own, 0)
      return () => link.flush(own, 0, sink)
    }
    for (const channel of [4, 255]) calmly(odd(channel))
    for (const channel of [0, 3, 256]) expect(odd(channel)).toThrow(`${channel} is a channel`)
    expect(odd(4, 1)).toThrow('a frame of channel 4 keeps its 1104 bytes: 1105')
  })
})

describe('the room of a packet', () => {
  test('chunks and parts that fit to the byte leave in it, one byte more waits (PR-2)', () => {
    // The first chunk has five bytes beside its own at most, and so has the second.
    const room = PACKET_MAX - HEAD
    const chunk = (second: number): number => {
      const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
      lone.send(600)
      lone.send(second)
      return lone.flush().length
    }
    const left = room - 605 - 5
    expect([chunk(left), chunk(left + 1)]).toEqual([1, 2])
    const parts = (second: number): number => {
      const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
      lone.post(600)
      lone.post(second)
      return lone.flush().length
    }
    const rest = room - 607 - 7
    expect([parts(rest), parts(rest + 1)]).toEqual([1, 2])
  })
  test('a question goes along where it fits to the byte, and never too far (PR-2)', () => {
    const left = PACKET_MAX - HEAD - 904
    for (const [length, asks] of [
      [left - QUESTION - 4, true],
      [left - QUESTION - 3, false],
    ] as const) {
      const lone = new Lone({ keepaliveMs: 10_000 })
      lone.poke(900, length, -2)
      const [packet] = lone.flush()
      expect(packet!.kinds.slice(2)).toEqual(asks ? ['CLOCK'] : [])
      expect(packet!.length).toBeLessThanOrEqual(PACKET_MAX)
    }
  })
  test('many chunks share a packet as long as four runs of numbers hold them (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 10; n++) lone.send(1)
    expect(lone.flush().map(({ kinds }) => kinds.length)).toEqual([10])
    // Every other one is lost: five runs.
    lone.link.outgoing.againFrom = 1
    for (const id of [1, 3, 5, 7, 9]) lone.link.outgoing.ring[id & 15]!.stage = 2
    const again = lone.flush().map(({ kinds }) => kinds.length)
    expect(again).toEqual([4, 1])
    expect(lone.link.counters.retransmitted).toBe(5)
  })
})

describe('clocks', () => {
  const asked = [4, ...Array<number>(8).fill(0)]

  test('an answer leaves with the next packet, or alone if something wanted to leave (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.hear(asked)
    expect(lone.flush()).toEqual([])
    lone.poke(-1)
    const [left, ...more] = lone.flush()
    expect([left!.kinds, more]).toEqual([['CLOCK'], []])
    expect(left!.frames[0]).toMatchObject({ t0: 0, t1: 0, t2: 0 })
    lone.poke(3, -2)
    expect(lone.flush().map(({ kinds }) => kinds)).toEqual([['UNREL']])
    lone.hear(asked)
    lone.send()
    expect(lone.flush().map(({ kinds }) => kinds)).toEqual([['CLOCK', 'REL']])
    lone.send()
    expect(lone.flush().map(({ kinds }) => kinds)).toEqual([['REL']])
  })
  test('a packet with a question asks for an ack, and is no bare ack (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 })
    lone.hear([0])
    lone.hear([0])
    expect(lone.wake(0).map(({ kinds }) => kinds)).toEqual([['CLOCK']])
    expect(lone.link.counters).toMatchObject({ sent: 1, bareAcks: 0 })
    expect(lone.link.sent.oldest).toBe(0)
    expect(lone.deadline()).toBe(325)
    lone.hear([0])
    lone.hear([0])
    expect(lone.wake(0).map(({ kinds }) => kinds)).toEqual([[]])
    expect(lone.link.counters).toMatchObject({ sent: 2, bareAcks: 1 })
  })
  test('a goodbye asks nothing (PR-2)', () => {
    expect(new Lone().close().map(({ kinds }) => kinds)).toEqual([['CLOSE'], ['CLOSE'], ['CLOSE']])
  })
})

describe('a packet with newest state alone', () => {
  /** How many of so many packets of such a length ask for a soon ack. */
  function padded(count: number, ...lengths: number[]): boolean[] {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < count; n++) lone.newest.push(...lengths, -2)
    const left = Array.from({ length: count }, () => {
      lone.poke()
      return lone.flush()
    })
    return left.flat().map(({ kinds }) => kinds.includes('PAD'))
  }
  test('L6: asks for a soon ack where more than half of the window is in flight (PR-2)', () => {
    // A packet of 1,000 bytes of state has 1,012; the window has 11,320.
    const first = padded(9, 1_000).indexOf(true)
    expect(first).toBe(5)
    expect(padded(9, 1_000).slice(5)).toEqual([true, true, true, true])
    // Five packets of 1,132 bytes are exactly half of it.
    expect(padded(5, 900, 216)).toEqual(Array(5).fill(false))
    // So are ten of 566, and the eleventh is beyond.
    expect(padded(11, 554)).toEqual([...Array(10).fill(false), true])
  })
  test('L5: is acked soon where it asks for that, so a probe waits less long for it (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 5; n++) {
      lone.poke(1_000, -2)
      lone.flush()
    }
    expect(lone.deadline()).toBe(100 + 200 + 100)
    lone.poke(1_000, -2)
    lone.flush()
    expect(lone.deadline()).toBe(100 + 200 + 25)
  })
  test('L6: has no room for that if it is full, and never grows over its length (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 9; n++) lone.poke(900, 216)
    const lengths = lone.flush().map(({ length }) => length)
    expect(lengths).toEqual(Array(9).fill(PACKET_MAX))
  })
  test('L6: an ack alone asks for none, however full the window is (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    for (let n = 0; n < 9; n++) lone.send(PIECE_MAX)
    lone.flush()
    lone.hear(piece(1))
    lone.hear(piece(2))
    expect(lone.wake(0).map(({ kinds }) => kinds)).toEqual([[]])
    expect(lone.link.counters.bareAcks).toBe(1)
  })
})

describe('a packet', () => {
  test('owes nothing any more when it has left, whatever it was for (PR-2)', () => {
    const lone = new Lone({ keepaliveMs: 10_000 }).quiet()
    lone.hear(piece(1))
    lone.hear(piece(2))
    lone.send()
    const [left] = lone.flush()
    expect(left).toMatchObject({ at: 0, sequence: 0 })
    const { link: own } = lone
    expect(own).toMatchObject({ unanswered: 0, ackAt: Infinity, newestAt: NaN, lastSent: 0 })
    expect(own.counters).toMatchObject({ sent: 1, bytesSent: left!.length, bareAcks: 0 })
    expect(link.current(own).pace.flying).toBe(left!.length)
  })
  test('lies in memory of its own while it leaves, and gives it back (PR-2)', () => {
    const [own, other] = [link.create(0), link.create(0)]
    const memories: ArrayBufferLike[] = []
    const inner: LinkSink = { packet: () => {}, lost: () => {}, write: () => -1 }
    const sink: LinkSink = {
      ...inner,
      packet: (bytes) => {
        memories.push(bytes.buffer)
        const before = [...bytes]
        link.send(other, 0, new Uint8Array(500).fill(7))
        link.flush(other, 0, inner)
        expect([...bytes]).toEqual(before)
      },
    }
    for (let n = 0; n < 3; n++) {
      link.send(own, 0, new Uint8Array(400).fill(n))
      calmly(() => link.flush(own, 0, sink))
    }
    expect(memories).toHaveLength(3)
    expect(new Set(memories).size).toBe(1)
  })
  test('that the peer refuses for one bad frame brings nothing at all (PR-2)', () => {
    const lone = new Lone()
    for (const bad of [[5], [2, 3, 0], [1, 0, 5, 9]]) {
      const frames = [...piece(1), ...state(7), ...part(1, 0, 1, 3), ...bad]
      expect(lone.hear(frames, { sequence: 0 })).toEqual({ taken: false, brought: [] })
    }
    const good = [...piece(1), ...state(7), ...part(1, 0, 1, 3)]
    expect(lone.hear(good, { sequence: 0 }).brought).toEqual(['message 1', 'frame 7', 'frame 3'])
    expect(lone.link.counters.malformed).toBe(3)
  })
})
