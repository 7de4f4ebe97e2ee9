// Goal: each message arrives once and whole, whatever pieces come in whatever order, and the queue
// holds what its limits say.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import { createArrivals } from './arrivals.ts'
import { LIMITS, MESSAGE_MAX, QUEUE_BYTES_MAX } from './limits.ts'
import * as reliable from './reliable.ts'
import { FIRST, LAST, PIECE, type Incoming, type Outgoing } from './reliable.ts'

const PIECE_MAX = 1104
const QUEUE_MESSAGES_MAX = 4096

/** A piece as it comes: its flags, and how many bytes. */
type Came = readonly [flags: number, length: number]

/** What is handed up of pieces that come in order, by the rule in words. */
function expected(pieces: readonly Came[]): { messages: number[]; sound: boolean[] } {
  const messages: number[] = []
  let open: number | null = null
  const sound = pieces.map(([flags, length]) => {
    const begins = (flags & FIRST) !== 0
    // A message that is cut off by the beginning of another is lost, and so is an end without a
    // beginning, or what is too long.
    const fits: boolean = begins ? open === null : open !== null && open + length <= MESSAGE_MAX
    if (begins) open = length
    else open = fits ? open! + length : null
    if ((flags & LAST) !== 0) {
      if (open !== null) messages.push(open)
      open = null
    }
    return fits
  })
  return { messages, sound }
}

function given(incoming: Incoming, id: number, [flags, length]: Came): [boolean, number[]] {
  const arrivals = createArrivals()
  const bytes = new Uint8Array(length).fill(id)
  const sound = calmly(() => reliable.take(incoming, id, flags, bytes, arrivals))
  const all = arrivals.list.slice(0, arrivals.count)
  expect(all.every(({ what }) => what === 'message')).toBe(true)
  return [sound, all.map((one) => one.bytes.length)]
}

const lengths = fc.constantFrom(0, 1, 5, PIECE_MAX)
const sometimes: fc.Arbitrary<Came[]> = fc
  .tuple(fc.integer({ min: 0, max: 3 }), lengths)
  .map((one) => [one])
// A message that is as long as may be, or one byte longer.
const longest = fc.constantFrom(0, 1).map((more): Came[] => {
  const whole = Math.floor(MESSAGE_MAX / PIECE_MAX)
  const middle = Array.from({ length: whole - 1 }, (): Came => [0, PIECE_MAX])
  return [[FIRST, PIECE_MAX], ...middle, [LAST, (MESSAGE_MAX % PIECE_MAX) + more]]
})
const streams = fc
  .array(fc.oneof({ weight: 12, arbitrary: sometimes }, { weight: 1, arbitrary: longest }), {
    minLength: 1,
    maxLength: 14,
  })
  .map((all) => all.flat())

describe('pieces that come', () => {
  test('L10: hand up a message at its last one, and none that is cut or too long (PR-2)', () => {
    fc.assert(
      fc.property(streams, (pieces) => {
        const incoming = reliable.createIncoming()
        const { messages, sound } = expected(pieces)
        const found = pieces.map((one, i) => given(incoming, i + 1, one))
        expect(found.map(([is]) => is)).toEqual(sound)
        expect(found.flatMap(([, came]) => came)).toEqual(messages)
      }),
      { seed: 41, numRuns: 150 },
    )
  })
  test('B3: in any order, and more than once, they hand up the same messages (PR-2)', () => {
    const orders = fc.array(fc.nat(), { maxLength: 40 })
    fc.assert(
      fc.property(fc.array(sometimes, { maxLength: 9 }), orders, (some, order) => {
        const pieces = some.flat()
        const incoming = reliable.createIncoming()
        const came: number[] = []
        const left = [...pieces.keys()]
        for (const draw of [...order, ...left]) {
          if (pieces.length === 0) continue
          const at = draw % pieces.length
          came.push(...given(incoming, at + 1, pieces[at]!)[1])
        }
        for (const at of left) came.push(...given(incoming, at + 1, pieces[at]!)[1])
        expect(came).toEqual(expected(pieces).messages)
        expect([incoming.next, incoming.early.size]).toEqual([pieces.length + 1, 0])
      }),
      { seed: 42, numRuns: 200 },
    )
  })
  test('the bytes of a message are its pieces in order, and of early ones the first (PR-2)', () => {
    const incoming = reliable.createIncoming()
    const arrivals = createArrivals()
    const take = (id: number, flags: number, ...bytes: number[]): boolean =>
      reliable.take(incoming, id, flags, Uint8Array.from(bytes), arrivals)
    expect([take(3, LAST, 5, 6), take(3, LAST, 9, 9), take(2, 0, 4)]).toEqual([true, true, true])
    expect(take(1, FIRST, 1, 2)).toBe(true)
    expect(take(4, FIRST | LAST, 7)).toBe(true)
    const said = arrivals.list.slice(0, arrivals.count).map(({ bytes }) => [...bytes])
    expect(said).toEqual([[1, 2, 4, 5, 6], [7]])
  })
  test('a message that is malformed is told, whatever waits behind it (PR-2)', () => {
    const incoming = reliable.createIncoming()
    expect(given(incoming, 2, [FIRST | LAST, 1])).toEqual([true, []])
    expect(given(incoming, 1, [LAST, 1])).toEqual([false, [1]])
    expect(given(incoming, 3, [FIRST | LAST, 2])).toEqual([true, [2]])
  })
})

/** So many messages of one piece, all of them sent in packets of their own. */
function flying(count: number): Outgoing {
  const outgoing = reliable.createOutgoing()
  for (let id = 1; id <= count; id++) {
    reliable.queue(outgoing, 0, new Uint8Array(1))
    reliable.sent(outgoing, id, id)
  }
  return outgoing
}

function next(outgoing: Outgoing, ahead = LIMITS.ahead): number {
  return calmly(() => reliable.nextPiece(outgoing, { ...LIMITS, ahead }))
}

describe('the queue', () => {
  test('L10: a message of 80 KB is queued, one byte more is refused (PR-2)', () => {
    const outgoing = reliable.createOutgoing()
    const longest = new Uint8Array(MESSAGE_MAX)
    const pieces = Math.ceil(MESSAGE_MAX / PIECE_MAX)
    expect(calmly(() => reliable.queue(outgoing, 5, longest))).toBe(pieces)
    expect(reliable.pieceAt(outgoing, 1)).toMatchObject({
      flags: FIRST,
      at: 5,
      stage: PIECE.unsent,
    })
    expect(reliable.pieceAt(outgoing, 2)!.flags).toBe(0)
    expect(reliable.pieceAt(outgoing, pieces)!.flags).toBe(LAST)
    const why = 'a message has at most 81920 bytes: 81921'
    expect(() => reliable.queue(outgoing, 5, new Uint8Array(MESSAGE_MAX + 1))).toThrow(why)
  })
  test('L7: it holds 1 MB to the byte, and 4,096 messages (PR-2)', () => {
    const full = reliable.createOutgoing()
    const count = Math.floor(QUEUE_BYTES_MAX / MESSAGE_MAX)
    for (let n = 0; n < count; n++) reliable.queue(full, 0, new Uint8Array(MESSAGE_MAX))
    const rest = QUEUE_BYTES_MAX - count * MESSAGE_MAX
    expect(() => reliable.queue(full, 0, new Uint8Array(rest + 1))).toThrow('send less or wait')
    calmly(() => reliable.queue(full, 0, new Uint8Array(rest)))
    expect(full.bytes).toBe(QUEUE_BYTES_MAX)
    const many = reliable.createOutgoing()
    for (let n = 0; n < QUEUE_MESSAGES_MAX; n++) {
      calmly(() => reliable.queue(many, 0, new Uint8Array(0)))
    }
    expect(() => reliable.queue(many, 0, new Uint8Array(0))).toThrow('the link')
    // One that arrived makes room for one.
    reliable.sent(many, 1, 0)
    reliable.arrivedPiece(many, 1)
    expect(reliable.settle(many, 0)).toBe(true)
    calmly(() => reliable.queue(many, 0, new Uint8Array(0)))
  })
  test('what was delivered, or is not queued yet, is no piece (PR-2)', () => {
    const outgoing = flying(4)
    expect(outgoing.ring).toHaveLength(4)
    expect([0, 5].map((id) => reliable.pieceAt(outgoing, id))).toEqual([null, null])
    for (const id of [1, 2]) reliable.arrivedPiece(outgoing, id)
    reliable.settle(outgoing, 0)
    const is = [0, 1, 2, 3, 4, 5, 6, 7].map((id) => reliable.pieceAt(outgoing, id) !== null)
    expect(is).toEqual([false, false, false, true, true, false, false, false])
    expect(outgoing.ring.filter((one) => one !== null)).toHaveLength(2)
  })
  test('B55: delivered grows with whole messages alone, in order (PR-2)', () => {
    const outgoing = reliable.createOutgoing()
    reliable.queue(outgoing, 0, new Uint8Array(2 * PIECE_MAX))
    reliable.queue(outgoing, 0, new Uint8Array(1))
    for (const id of [1, 2, 3]) reliable.sent(outgoing, id, 0)
    const after = (id: number): [boolean, number] => {
      reliable.arrivedPiece(outgoing, id)
      return [calmly(() => reliable.settle(outgoing, 0)), outgoing.delivered]
    }
    expect(after(3)).toEqual([false, 0])
    expect(after(1)).toEqual([false, 0])
    expect(outgoing.messages).toBe(2)
    expect(after(2)).toEqual([true, 3])
    expect([outgoing.messages, outgoing.bytes, outgoing.base]).toEqual([0, 0, 4])
    calmly(() => reliable.arrivedPiece(outgoing, 1))
    expect(reliable.settle(outgoing, 0)).toBe(false)
  })
})

describe('the piece that is sent next', () => {
  test('is the oldest to be sent again, else the first unsent, else none (PR-2)', () => {
    const outgoing = flying(5)
    expect(next(outgoing)).toBe(0)
    reliable.queue(outgoing, 0, new Uint8Array(1))
    expect(next(outgoing)).toBe(6)
    for (const id of [4, 2]) reliable.sendAgain(outgoing, id)
    expect(next(outgoing)).toBe(2)
    expect(reliable.sent(outgoing, 2, 9)).toBe(true)
    expect(next(outgoing)).toBe(4)
    expect(reliable.sent(outgoing, 4, 9)).toBe(true)
    expect(next(outgoing)).toBe(6)
    expect(reliable.sent(outgoing, 6, 9)).toBe(false)
    expect(next(outgoing)).toBe(0)
  })
  test('is none that has arrived meanwhile, though it was to be sent again (PR-2)', () => {
    const outgoing = flying(3)
    reliable.sendAgain(outgoing, 1)
    expect(next(outgoing)).toBe(1)
    for (const id of [1, 2]) reliable.arrivedPiece(outgoing, id)
    reliable.settle(outgoing, 0)
    expect(next(outgoing)).toBe(0)
    reliable.sendAgain(outgoing, 3)
    expect(next(outgoing)).toBe(3)
  })
  test('is sent again only if it is on its way (PR-2)', () => {
    const outgoing = flying(2)
    reliable.queue(outgoing, 0, new Uint8Array(1))
    reliable.arrivedPiece(outgoing, 2)
    for (const id of [0, 2, 3, 4]) calmly(() => reliable.sendAgain(outgoing, id))
    expect(reliable.pieceAt(outgoing, 2)!.stage).toBe(PIECE.arrived)
    expect(reliable.pieceAt(outgoing, 3)!.stage).toBe(PIECE.unsent)
    expect(next(outgoing)).toBe(3)
  })
  test('B2: is not sent again for an older packet than the one that carries it (PR-2)', () => {
    const outgoing = flying(2)
    reliable.sendAgain(outgoing, 1)
    reliable.sent(outgoing, 1, 7)
    reliable.given(outgoing, 1, 1)
    expect(next(outgoing)).toBe(0)
    reliable.given(outgoing, 1, 7)
    expect(next(outgoing)).toBe(1)
    calmly(() => reliable.given(outgoing, 9, 7))
  })
  test('L1: runs no further ahead of the oldest than it may (PR-2)', () => {
    const outgoing = flying(3)
    for (let n = 0; n < 3; n++) reliable.queue(outgoing, 0, new Uint8Array(1))
    expect([2, 3, 4].map((ahead) => next(outgoing, ahead))).toEqual([0, 0, 4])
  })
})
