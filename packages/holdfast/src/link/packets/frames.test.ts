// Goal: each frame is read as it was written, in any order, and nothing that none of ours writes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { createWriter, finish, writeRaw } from '../../wire/bytes.ts'
import * as frames from './frames.ts'
import type { Frames } from './frames.ts'

const FRAME_MAX = 1104
const PIECE_MAX = 1104

const { KIND } = frames

/** A frame that is to be written, as it is to be read. */
type Given =
  | { kind: 0 }
  | { kind: 1; gap: number; flags: number; body: Uint8Array }
  | { kind: 2; channel: number; body: Uint8Array }
  | { kind: 3; channel: number; id: number; part: number; parts: number; body: Uint8Array }
  | { kind: 4; t0: number; answer: readonly [t1: number, t2: number] | null }
  | { kind: 6; channel: number }
  | { kind: 8; delay: number }

const whole = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max })
const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 9 }),
  fc.constantFrom(127, 128, 129, FRAME_MAX).map((n) => new Uint8Array(n).map((_, i) => i)),
)
const time = fc.double({ noNaN: true, noDefaultInfinity: true })
const channel = fc.integer({ min: 4, max: 255 })
const givens: fc.Arbitrary<Given> = fc.oneof(
  fc.constant({ kind: 0 as const }),
  fc.record({ kind: fc.constant(1 as const), gap: whole(300), flags: whole(3), body: bodies }),
  fc.record({ kind: fc.constant(2 as const), channel, body: bodies }),
  fc
    .record({ channel, id: whole(65_535), part: whole(15), more: whole(15), body: bodies })
    .map(({ more, ...rest }) => {
      return { ...rest, kind: 3 as const, parts: Math.min(16, rest.part + 1 + more) }
    }),
  fc.record({ kind: fc.constant(4 as const), t0: time, answer: fc.option(fc.tuple(time, time)) }),
  fc.record({ kind: fc.constant(6 as const), channel: whole(255) }),
  fc.record({ kind: fc.constant(8 as const), delay: whole(80_000).map((one) => one / 8) }),
)

function written(all: readonly Given[], near: number): Uint8Array {
  const writer = createWriter(40_000)
  let before = 0
  for (const one of all) {
    if (one.kind === 0) frames.writePad(writer)
    if (one.kind === 1) {
      const id = (before === 0 ? near : before + 1) + one.gap
      frames.writePiece(writer, id, before, one.flags, one.body)
      before = id
    }
    if (one.kind === 2) {
      const start = writer.length
      writer.length += 3
      writeRaw(writer, one.body)
      frames.wrapBody(writer, start, one.channel)
    }
    if (one.kind === 3) {
      frames.writePart(writer, one.channel, one.id, one.part, one.parts, one.body)
    }
    if (one.kind === 4 && one.answer === null) frames.writeQuestion(writer, one.t0)
    if (one.kind === 4 && one.answer) frames.writeAnswer(writer, one.t0, ...one.answer)
    if (one.kind === 6) frames.writeClose(writer, one.channel)
    if (one.kind === 8) frames.writeAckDelay(writer, one.delay)
  }
  return finish(writer)
}

function read(from: Frames, near: number, first: boolean): Given {
  const { kind, flags, id, part, parts, t0, t1, t2, held } = from
  const body = from.bytes.slice(from.from, from.to)
  if (kind === KIND.rel) return { kind, gap: id - (first ? near : near + 1), flags, body }
  if (kind === KIND.unrel) return { kind, channel: from.channel, body }
  if (kind === KIND.umsg) return { kind, channel: from.channel, id, part, parts, body }
  if (kind === KIND.clock) return { kind, t0, answer: flags === 0 ? null : [t1, t2] }
  if (kind === KIND.close) return { kind, channel: from.channel }
  return kind === KIND.ackDelay ? { kind, delay: held } : { kind: 0 }
}

function opened(bytes: Uint8Array, at = 0, near = 1): Frames {
  const cursor = frames.createFrames()
  frames.open(cursor, bytes, at, near)
  return cursor
}

/** Whether a reader takes all of it. */
function isTaken(bytes: readonly number[], near = 1): boolean {
  const cursor = opened(Uint8Array.from(bytes), 0, near)
  return calmly(() => {
    for (let steps = 0; frames.nextFrame(cursor); steps++) expect(steps).toBeLessThan(100)
    // It is over, and stays so.
    expect(frames.nextFrame(cursor)).toBe(false)
    return !cursor.failed
  })
}

describe('frames', () => {
  test('they are read as they were written, and again from their beginning (PR-2)', () => {
    const nears = fc.constantFrom(1, 2, 65_534, 65_536, 131_073)
    fc.assert(
      fc.property(fc.array(givens, { maxLength: 12 }), nears, (all, near) => {
        const bytes = Uint8Array.of(0xee, ...written(all, near))
        const cursor = opened(bytes, 1, near)
        for (let round = 0; round < 2; round++) {
          const back: Given[] = []
          let [before, first]: [number, boolean] = [near, true]
          while (calmly(() => frames.nextFrame(cursor))) {
            back.push(read(cursor, before, first))
            if (cursor.kind === KIND.rel) [before, first] = [cursor.id, false]
          }
          expect(cursor.failed).toBe(false)
          expect(back).toEqual(all)
          frames.rewind(cursor, 1, near)
        }
      }),
      { seed: 21, numRuns: 200 },
    )
  })
  test('a cut frame is malformed, and nothing behind it is read (PR-2)', () => {
    fc.assert(
      fc.property(givens, fc.nat(), (one, at) => {
        const bytes = written([one], 1)
        const cut = bytes.subarray(0, at % bytes.length)
        const cursor = opened(cut)
        expect(calmly(() => frames.nextFrame(cursor))).toBe(false)
        expect([cursor.failed, cursor.at]).toEqual([cut.length > 0, cut.length])
        expect(calmly(() => frames.nextFrame(cursor))).toBe(false)
      }),
      { seed: 22, numRuns: 300 },
    )
  })
  test('a packet begins without what the one before held (PR-2)', () => {
    const cursor = opened(written([{ kind: 8, delay: 5 }], 1))
    expect([frames.nextFrame(cursor), cursor.held]).toEqual([true, 5])
    frames.open(cursor, written([{ kind: 0 }], 1), 0, 1)
    expect([frames.nextFrame(cursor), cursor.held, cursor.failed]).toEqual([true, 0, false])
  })
  test('L6: all but delays, answers and goodbyes ask for an ack, newest state not soon (PR-2)', () => {
    const body = new Uint8Array(1)
    const all: readonly (readonly [Given, asks: boolean, soon: boolean])[] = [
      [{ kind: 0 }, true, true],
      [{ kind: 1, gap: 0, flags: 3, body }, true, true],
      [{ kind: 2, channel: 4, body }, true, false],
      [{ kind: 3, channel: 4, id: 0, part: 0, parts: 1, body }, true, true],
      [{ kind: 4, t0: 1, answer: null }, true, true],
      [{ kind: 4, t0: 1, answer: [2, 3] }, false, false],
      [{ kind: 6, channel: 1 }, false, false],
      [{ kind: 8, delay: 1 }, false, false],
    ]
    for (const [one, asks, soon] of all) {
      const cursor = opened(written([one], 1))
      expect(frames.nextFrame(cursor)).toBe(true)
      expect([frames.asks(cursor), frames.asksSoon(cursor)]).toEqual([asks, soon])
    }
  })
})

describe('what nobody of ours writes', () => {
  test.each([
    ['an unknown kind', [5]],
    ['kind 7', [7]],
    ['kind 15', [15]],
    ['flags of a pad', [0x10]],
    ['a third flag of a piece', [0x41, 0, 1, 0]],
    ['a second flag of a clock', [0x24, ...Array<number>(8).fill(0)]],
    ['flags of newest state', [0x12, 4, 0]],
    ['channel 3', [2, 3, 0]],
    ['channel 3 of a part', [3, 3, 0, 0, 0, 0]],
    ['piece 0', [1, 0, 0, 0]],
    ['part 1 of 1', [3, 4, 0, 0, 0x10, 0]],
    ['part 15 of 15', [3, 4, 0, 0, 0xfe, 0]],
    ['a body that is longer than what is left', [2, 4, 2, 0]],
    ['a length without an end', [2, 4, 0x80]],
    ['an infinite time', [4, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]],
    ['a delay of more than 10 s', [8, 0x81, 0xf1, 0x04]],
  ])('is malformed: %s (PR-2)', (_what, bytes) => {
    expect(isTaken(bytes)).toBe(false)
    expect(isTaken([0, ...bytes])).toBe(false)
  })
  test('its neighbours are sound (PR-2)', () => {
    const sound = [
      [0],
      [0x31, 0, 1, 0],
      [2, 4, 0],
      [3, 4, 0, 0, 0xff, 0],
      [2, 4, 1, 0],
      [4, 0x7f, 0xe0, 0, 0, 0, 0, 0, 0],
      [8, 0x80, 0xf1, 0x04],
      [6, 255],
    ]
    for (const bytes of sound) expect(isTaken(bytes), `${bytes.join()}`).toBe(true)
  })
  test('a piece below 1 or beyond what a number holds is malformed (PR-2)', () => {
    // Near the first piece the low bits 65535 are those of piece -1.
    expect(isTaken([1, 0xff, 0xff, 0])).toBe(false)
    expect(isTaken([1, 0xff, 0xff, 0], 40_000)).toBe(true)
    const most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]
    expect(isTaken([1, 0, 1, 0, 1, ...most, 0])).toBe(false)
  })
  test('bodies have their limits: 1,104 bytes of a piece, of a part, of newest state (PR-2)', () => {
    expect([PIECE_MAX, FRAME_MAX]).toEqual([1_104, 1_104])
    for (const head of [
      [1, 0, 1],
      [2, 4],
      [3, 4, 0, 0, 0],
    ]) {
      const most = [...head, 0xd0, 0x08, ...Array<number>(1_104).fill(7)]
      const over = [...head, 0xd1, 0x08, ...Array<number>(1_105).fill(7)]
      expect([isTaken(most), isTaken(over)]).toEqual([true, false])
    }
  })
  test('a delay is written in eighths of a millisecond, 10 s at most (PR-2)', () => {
    for (const [delay, held] of [
      [0, 0],
      [0.06, 0],
      [0.07, 0.125],
      [9_999.9, 9_999.875],
      [10_000, 10_000],
      [99_999, 10_000],
    ] as const) {
      const cursor = opened(written([{ kind: 8, delay }], 1))
      expect([frames.nextFrame(cursor), cursor.held]).toEqual([true, held])
    }
  })
})
