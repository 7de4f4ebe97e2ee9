// Goal: whatever befalls a session, all that was acknowledged is there once, and all agree.
// Method: seeded runs of the shipped hub and sessions in virtual time; each fault and each end of a
// session must occur, and the first twenty seeds run and end as they did when they were frozen.
// Slow: it plays whole sessions from forty seeds.
import { describe, expect, test } from 'vitest'
import { runSeeds } from '../../proof/batch.ts'
import { draw } from '../../proof/seeds.ts'
import { run } from '../../proof/trial.ts'
import { differing, thawed } from '../frozen.ts'

// So many are enough to meet every fault and every way of a session; more are in many.test.ts.
const SEEDS = 40
const SLICE = 2
const FROZEN = 20
// One in which a primary is deposed: where takeovers are asked for, that is one seed in fifty.
const DEPOSED = 62

describe('seeded sessions', () => {
  const met = new Map<string, number>()
  const slices = Array.from({ length: SEEDS / SLICE }, (_, at) => [at * SLICE + 1, SLICE] as const)
  const all = [...slices, [DEPOSED, 1] as const]
  let ran = 0

  for (const [first, count] of all) {
    test(`T3, T29, T30, T34, T41, T42, T81: seeds ${first} to ${first + count - 1} lose nothing`, async () => {
      const batch = await runSeeds(first, count)
      const told = batch.failed.map(({ seed, wrong }) => {
        return `npm run sim -- --seed ${seed}: ${wrong.join('; ')}`
      })
      expect(told).toEqual([])
      if (first <= FROZEN) expect(thawed('seeds', batch.digests)).toEqual([])
      for (const [name, times] of Object.entries({ ...batch.reached, ...batch.faults })) {
        met.set(name, (met.get(name) ?? 0) + times)
      }
      ran++
    })
  }

  test('every fault and every way of a session was met', ({ skip }) => {
    skip(ran < all.length, 'only some of the seeds ran')
    expect([...met].filter(([, times]) => times === 0)).toEqual([])
  })

  test('a seed that goes or ends otherwise than it did is told', () => {
    const told = differing(
      { 1: 'a b', 2: 'a b', 3: 'a b' },
      { 1: 'a b', 2: 'c b', 3: 'c d', 4: 'a b' },
    )
    expect(told.map((text) => text.split(':')[0])).toEqual([
      'seed 2 goes another way',
      'seed 3 ends otherwise',
      'seed 4 ends otherwise',
    ])
  })

  test('the same seed gives the same run', async () => {
    const [one, other] = [await run(draw(12)), await run(draw(12))]
    expect(other).toEqual(one)
  })
})
