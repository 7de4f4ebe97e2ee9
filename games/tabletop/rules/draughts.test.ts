import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as draughts from './draughts.ts'

/** A position from the men on their squares, such as `{ 18: 'b', 22: 'w' }`. */
function position(men: Record<number, string>, turn: draughts.Side = 'b'): draughts.Position {
  const cells = Array.from({ length: 32 }, (_, index) => men[index + 1] ?? '.').join('')
  return { cells, turn, mid: 0, quiet: 0 }
}

function ways(of: draughts.Position): string[] {
  return draughts.moves(of).map(({ from, to, over }) => `${from}${over ? 'x' : '-'}${to}`)
}

describe('moves', () => {
  test('black begins, with seven steps to choose from', () => {
    expect(ways(draughts.START)).toEqual([
      ...['9-13', '9-14', '10-14', '10-15', '11-15', '11-16', '12-16'],
    ])
  })
  test('a man goes forward only, a king also back', () => {
    expect(ways(position({ 18: 'b' }))).toEqual(['18-22', '18-23'])
    expect(ways(position({ 18: 'w' }, 'w'))).toEqual(['18-14', '18-15'])
    expect(ways(position({ 18: 'B' }))).toEqual(['18-22', '18-23', '18-14', '18-15'])
  })
  test('who can capture must, with whichever man', () => {
    const must = position({ 1: 'b', 14: 'b', 18: 'w', 12: 'b', 16: 'w' })
    expect(ways(must)).toEqual(['12x19', '14x23'])
    expect(() => draughts.play(must, 1, 5)).toThrow('You can capture, so you must.')
  })
  test('nobody jumps over their own, nor onto another, nor over the edge', () => {
    expect(ways(position({ 14: 'b', 18: 'b', 23: 'w', 27: 'w', 26: 'w' }))).not.toContain('14x23')
    expect(ways(position({ 4: 'b', 8: 'w', 11: 'w' }))).toEqual([])
    expect(ways(position({ 5: 'w', 1: 'b' }))).toEqual(['1-6'])
  })
  test.each([
    [18, 22, 'no man'],
    [21, 17, 'not your turn'],
    [9, 18, 'one square'],
    [9, 5, 'one square'],
    [99, 5, 'no man'],
    [Number.NaN, 5, 'no man'],
  ])('from %s to %s: %s', (from, to, why) => {
    expect(() => draughts.play(draughts.START, from, to)).toThrow(why)
  })
})

describe('captures', () => {
  test('take the man between, and go on while they can, with the same man', () => {
    const before = position({ 1: 'b', 9: 'b', 14: 'w', 22: 'w' })
    const first = draughts.play(before, 9, 18)
    expect(first).toMatchObject({ over: 14, crowned: false, position: { turn: 'b', mid: 18 } })
    expect(() => draughts.play(first.position, 1, 5)).toThrow('must jump on')
    const second = draughts.play(first.position, 18, 25)
    expect(second.position).toMatchObject({ turn: 'w', mid: 0 })
    expect(second.position.cells.toLowerCase()).not.toContain('w')
  })
  test('a man that is crowned stops, though it could jump on as a king', () => {
    const before = position({ 22: 'b', 26: 'w', 27: 'w', 20: 'w' })
    const { position: after, crowned } = draughts.play(before, 22, 31)
    expect(crowned).toBe(true)
    expect(after).toMatchObject({ turn: 'w', mid: 0 })
    expect(after.cells[30]).toBe('B')
  })
})

describe('the end', () => {
  test('who has no move loses, also with men left', () => {
    expect(draughts.ended(position({ 4: 'b', 8: 'w', 11: 'w' }))).toBe('w')
    expect(draughts.ended(position({ 4: 'w' }))).toBe('w')
    expect(draughts.ended(draughts.START)).toBe(null)
  })
  test('kings that only wander make a draw', () => {
    let now = position({ 1: 'B', 32: 'W' })
    for (let step = 0; step < draughts.QUIET_MAX; step++) {
      expect(draughts.ended(now)).toBe(null)
      const [from, to] = now.turn === 'b' ? [1, 6] : [32, 27]
      const back = now.cells[from - 1] === '.'
      now = draughts.play(now, back ? to : from, back ? from : to).position
    }
    expect(draughts.ended(now)).toBe('draw')
  })
  test('every game of chance ends, loses men only by captures, and is the same as a row', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(1_000)), (chances) => {
        let now = draughts.START
        for (let step = 0; step < 2_000 && draughts.ended(now) === null; step++) {
          const all = draughts.moves(now)
          const move = all[chances.next().value! % all.length]!
          const count = now.cells.replaceAll('.', '').length
          const { position: next, over } = draughts.play(now, move.from, move.to)
          expect(next.cells.replaceAll('.', '').length).toBe(over === 0 ? count : count - 1)
          expect(draughts.decode(draughts.encode(next))).toEqual(next)
          now = next
        }
        expect(draughts.ended(now)).not.toBe(null)
      }),
      { seed: 1, numRuns: 40 },
    )
  })
})

test('what is no position is none', () => {
  for (const text of [undefined, 3, '', 'b'.repeat(32), `${'x'.repeat(32)} b 0 0`]) {
    expect(draughts.decode(text)).toBe(null)
  }
})
