// Goal: whatever befalls a session, all that was acknowledged is there once, and all agree.
// Method: two hundred and twenty more seeded runs, as in seeds.test.ts.
// Slow: it plays whole sessions from two hundred and twenty seeds.
import { describe, expect, test } from 'vitest'
import { runSeeds } from '../../proof/batch.ts'

const SEEDS = [41, 260] as const
const SLICE = 20

describe('many seeded sessions', () => {
  for (let first = SEEDS[0]; first <= SEEDS[1]; first += SLICE) {
    test(`T3, T29, T30, T34, T41, T42, T81: seeds ${first} to ${first + SLICE - 1} lose nothing`, async () => {
      const { failed } = await runSeeds(first, SLICE)
      const told = failed.map(({ seed, wrong }) => {
        return `npm run sim -- --seed ${seed}: ${wrong.join('; ')}`
      })
      expect(told).toEqual([])
    })
  }
})
