// Goal: what is pressed is done in the order in which it was pressed, though a slot steps first.

import { expect, test } from 'vitest'
import type { Act } from './acts.ts'
import * as hands from './hands.ts'
import type { Rat } from './world.ts'

const RAT: Rat = {
  id: 1,
  owner: 1,
  at: 5,
  facing: 0,
  cloaked: false,
  score: 0,
  missiles: [],
  nextMissile: 0,
  born: 0,
}

function all(held: hands.Hands, slot: number, rat = RAT, key: hands.Held = null): Act[] {
  const acts: Act[] = []
  for (let act = hands.next(held, slot, rat, key); act; act = hands.next(held, slot, rat, key)) {
    acts.push(act)
  }
  return acts
}

test('a step that was pressed after a turn waits for the next slot', () => {
  const mine = hands.create()
  hands.press(mine, 'left')
  hands.press(mine, 'ahead')
  expect(all(mine, 1)).toEqual([{ kind: 'turn', facing: 2 }])
  expect(all(mine, 1)).toEqual([])
  expect(all(mine, 2)).toEqual([{ kind: 'step', speed: 1 }])
})

test('a step and a turn and a shot go into one slot in that order', () => {
  const mine = hands.create()
  for (const wish of ['ahead', 'right', 'fire'] as const) hands.press(mine, wish)
  expect(all(mine, 7).map(({ kind }) => kind)).toEqual(['step', 'turn', 'fire'])
})

test('one step a slot, and a held key steps in each', () => {
  const mine = hands.create()
  hands.press(mine, 'ahead')
  expect(all(mine, 1, RAT, 'ahead')).toHaveLength(1)
  expect(all(mine, 1, RAT, 'ahead')).toHaveLength(0)
  expect(all(mine, 2, RAT, 'ahead')).toHaveLength(1)
})

test('a held key turns in every second slot', () => {
  const mine = hands.create()
  const turns = [1, 2, 3, 4, 5].map((slot) => all(mine, slot, RAT, 'left').length)
  expect(turns).toEqual([1, 0, 1, 0, 1])
})

test('no more than three wishes wait', () => {
  const mine = hands.create()
  for (let i = 0; i < 9; i++) hands.press(mine, 'ahead')
  const steps = [1, 2, 3, 4, 5].map((slot) => all(mine, slot).length)
  expect(steps).toEqual([1, 1, 1, 0, 0])
})

test('a cloak is put on and off by the same key', () => {
  const mine = hands.create()
  hands.press(mine, 'cloak')
  expect(all(mine, 1)).toEqual([{ kind: 'cloak', on: true }])
  hands.press(mine, 'cloak')
  expect(all(mine, 2, { ...RAT, cloaked: true })).toEqual([{ kind: 'cloak', on: false }])
})
