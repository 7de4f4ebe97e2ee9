// Goal: what was stored and is not in a lineage is found, whatever its epochs are; what is there,
// or was forgotten, is not taken for lost.
// Method: lineages by hand.
import { describe, expect, test } from 'vitest'
import { LINEAGE_MAX, type LeaderStart } from '../../packages/holdfast/src/replication/layouts.ts'
import { lacks } from '../../packages/holdfast/src/session/lineage.ts'

const markOf = (name: string): Uint8Array => {
  const mark = new Uint8Array(16)
  mark.set(new TextEncoder().encode(name))
  return mark
}
const start = (
  name: string,
  epoch: number,
  index: number,
  more: Partial<LeaderStart> = {},
): LeaderStart => {
  return { epoch, index, mark: markOf(name), segments: 0, imported: false, ...more }
}
const point = (name: string, epoch: number, index: number, segments = 1) => {
  return { mark: markOf(name), epoch, index, segments }
}
const loss = (entries: number, imported = false) => ({ entries, imported })

describe('what was stored', () => {
  const line = [start('a', 1, 0), start('b', 4, 10), start('c', 9, 30)]

  test('is there up to where the next leader began, and to any length of the newest (N-2)', () => {
    for (const there of [point('a', 1, 10), point('b', 4, 30), point('c', 9, 500)]) {
      expect(lacks(line, there)).toBe(null)
    }
    expect(lacks(line, point('a', 1, 12))).toEqual(loss(2))
    expect(lacks(line, point('b', 4, 31))).toEqual(loss(1))
  })

  test('is not there where its leader is not, in whatever epoch (N-2)', () => {
    expect(lacks(line, point('x', 4, 15))).toEqual(loss(5))
    expect(lacks(line, point('x', 5, 31))).toEqual(loss(1))
    expect(lacks(line, point('x', 9, 25))).toEqual(loss(0))
    expect(lacks(line, point('x', 12, 40))).toEqual(loss(10))
    expect(lacks([], point('x', 1, 7))).toEqual(loss(7))
  })

  test('in segments is compared where the next leader went on from these (N-2)', () => {
    const read = (segments: number) => [start('a', 1, 0), start('b', 4, 10, { segments })]
    expect(lacks(read(3), point('a', 1, 10, 3))).toBe(null)
    expect(lacks(read(2), point('a', 1, 10, 3))).toEqual(loss(0))
    // Who had the log itself went on from more.
    expect(lacks(read(0), point('a', 1, 10, 3))).toBe(null)
  })

  test('and was replaced by who runs the hub is named as that, if it was since (N-2)', () => {
    const since = [start('a', 1, 0), start('b', 4, 10, { imported: true }), start('c', 9, 30)]
    expect(lacks(since, point('a', 1, 12))).toEqual(loss(2, true))
    expect(lacks(since, point('b', 4, 31))).toEqual(loss(1))
  })

  test('before all that a lineage names says nothing, if it has as many as fit (N-2)', () => {
    const full = Array.from({ length: LINEAGE_MAX }, (_none, at) => start(`l${at}`, 10 + at, 5))
    expect(lacks(full, point('x', 9, 100))).toBe(null)
    expect(lacks(full, point('x', 10, 100))).toEqual(loss(95))
    expect(lacks(full.slice(1), point('x', 9, 100))).toEqual(loss(95))
  })
})
