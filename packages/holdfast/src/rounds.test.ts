// Goal: in each round everybody who is there has a turn, once, and no turn is long.
import { expect, test } from 'vitest'
import * as rounds from './rounds.ts'

const EVERY = 2_000
const many = (count: number): number[] => Array.from({ length: count }, (_none, at) => at)

/** What each turn has until then, if it is taken as soon as it is due. */
function turns(
  own: rounds.Rounds<number>,
  all: Iterable<number>,
  until: number,
): [number, number[]][] {
  const found: [number, number[]][] = []
  while (own.dueAt <= until) found.push([own.dueAt, rounds.next(own, own.dueAt, EVERY, () => all)])
  return found
}

test('of 250 a hundred have their turn at once, and as many each 10 ms, all of them once (SE-10)', () => {
  const found = turns(rounds.create<number>(0), many(250), EVERY - 1)
  expect(found.map(([at, part]) => [at, part.length])).toEqual([
    ...[
      [0, 100],
      [10, 100],
      [20, 50],
    ],
  ])
  expect(found.flatMap(([, part]) => part)).toEqual(many(250))
})

test('the next round begins a whole time after this one did, however long it took', () => {
  const found = turns(rounds.create<number>(500), many(101), 500 + 2 * EVERY)
  expect(found.map(([at]) => at)).toEqual([500, 510, 2_500, 2_510, 4_500])
})

test('a hundred are one part, and nobody is one too', () => {
  for (const count of [0, 1, 100]) {
    const found = turns(rounds.create<number>(0), many(count), EVERY)
    expect(found.map(([at, part]) => [at, part.length])).toEqual([
      [0, count],
      [EVERY, count],
    ])
  }
})

test('nothing is due before its time, and a late turn is no longer than others', () => {
  const own = rounds.create<number>(100)
  expect(rounds.next(own, 99, EVERY, () => many(300))).toEqual([])
  expect(rounds.next(own, 5_000, EVERY, () => many(300))).toHaveLength(100)
  expect(own.dueAt).toBe(5_010)
})

test('who comes during a round has a turn in the next', () => {
  const all = new Set(many(150))
  const own = rounds.create<number>(0)
  rounds.next(own, 0, EVERY, () => all)
  all.add(999)
  expect(rounds.next(own, 10, EVERY, () => all)).not.toContain(999)
  expect(turns(own, all, EVERY + 10).flatMap(([, part]) => part)).toContain(999)
})
