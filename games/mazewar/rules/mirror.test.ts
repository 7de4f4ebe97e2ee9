// Goal: the copy of a rat goes where its model goes, and shoots as often; if led astray it returns.
// Method: two mazes; what the model does in one, the copy does by `follow` in the other.

import { expect, test } from 'vitest'
import type { Act } from './acts.ts'
import { createMind, think } from './brain.ts'
import { CELLS, widest } from './maze.ts'
import { createMirror, follow, shot } from './mirror.ts'
import { type Deed, step } from './step.ts'
import { EMPTY, ratOf, type World } from './world.ts'

/** The player whose rat it is, the bridge, and the rat there. */
const [ADA, BRIDGE, COPY] = [1, 9, 480]

function go(world: World, ...deeds: Deed[]): World {
  return step(world, deeds, { slot: world.slot + 1, left: [], random: () => 0.5 })
}

function born(by: number, rat: number, at: number): Deed {
  return { by, act: { rat, kind: 'born', at, facing: widest(at) } }
}

test('a copy is where its model was a moment ago, for three minutes', () => {
  let here = go(EMPTY, born(ADA, ADA, 77))
  let there = go(EMPTY, born(BRIDGE, COPY, 77))
  const mirror = createMirror(ratOf(here, ADA)!)
  const mind = createMind(5, 1)
  let [apart, shots] = [0, 0]
  for (let slot = 0; slot < 900; slot++) {
    // Nobody is there to be shot at: it does so for fun.
    const act: Act | null = slot % 11 === 0 ? { kind: 'fire' } : think(mind, here, ADA)
    if (act) here = go(here, { by: ADA, act: { rat: ADA, ...act } })
    else here = go(here)
    const model = ratOf(here, ADA)!
    const acts = follow(mirror, model, ratOf(there, COPY)!)
    for (const { kind } of acts) {
      if (kind !== 'fire') continue
      shot(mirror)
      shots++
    }
    there = go(there, ...acts.map((each): Deed => ({ by: BRIDGE, act: { rat: COPY, ...each } })))
    if (ratOf(there, COPY)!.at !== model.at) apart++
  }
  expect(shots).toBe(-ratOf(here, ADA)!.score)
  expect(ratOf(there, COPY)!.score).toBe(ratOf(here, ADA)!.score)
  expect(apart / 900).toBeLessThan(0.1)
})

test('a copy that is far away is put where it belongs, after a while', () => {
  const here = go(EMPTY, born(ADA, ADA, 77))
  let there = go(EMPTY, born(BRIDGE, COPY, CELLS - 5))
  const mirror = createMirror(ratOf(here, ADA)!)
  let slots = 0
  while (ratOf(there, COPY)!.at !== 77) {
    expect(++slots).toBeLessThan(12)
    const acts = follow(mirror, ratOf(here, ADA)!, ratOf(there, COPY)!)
    there = go(there, ...acts.map((each): Deed => ({ by: BRIDGE, act: { rat: COPY, ...each } })))
  }
  expect(slots).toBeGreaterThan(5)
})
