// Goal: in any weather all come to one world, nobody stands in one cell with another, and each act
// counts once or its player is told that it does not (slot.converge, slot.excl, slot.told).
// Method: drawn runs of whole sessions; a failing seed is run again by its number. How a seed goes
// is frozen.
// Slow: it plays whole sessions from many seeds.
import { describe, expect, test } from 'vitest'
import { runRow } from '../../proof/rows.ts'
import { hashValues, thawed } from '../frozen.ts'

const SEEDS = 14
// Links of a mesh whose two ends were of two minds, for a greeting had been long on its way.
const WERE_TORN = [19, 103]
// The clock of who served was a second ahead of the others.
const WAS_AHEAD = [2305]

describe('a world of slots in any weather', () => {
  const seeds = [...WERE_TORN, ...WAS_AHEAD, ...Array.from({ length: SEEDS }, (_, i) => i + 1)]
  test.each(seeds)('M31, M32, M36, M37: seed %i', { timeout: 60_000 }, async (seed) => {
    const report = await runRow(seed)
    expect(report.faults).toEqual([])
    expect(thawed('slots', { [seed]: `${hashValues(report)} ${hashValues(report.acts)}` })).toEqual(
      [],
    )
  })
})
