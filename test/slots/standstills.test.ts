// Goal: among processes that stand still each act of whoever lives counts once or is told to be
// void, never both, in the order in which it was made, and the world is a replay (slot.told).
// Method: drawn runs of whole sessions; a failing seed is run again by its number.
// Slow: it plays whole sessions from many seeds.
import { describe, expect, test } from 'vitest'
import { runLedger } from '../../proof/ledgers.ts'

// Acts were told void and counted: a root was replaced before all had its world.
const WERE_VOID = [2, 4, 10, 12]
// Who had just come led, and its clock was taken for session time.
const TOOK_OVER_EARLY = [62]
// Who came back served, and forgot whom it had asked for the world.
const ASKED_FOR_EVER = [513]
// Acts of one player folded in the wrong order after it came back.
const WAS_OUT_OF_ORDER = [8]
const SEEDS = [1, 3]

describe('a world of slots among processes that stand still', () => {
  test.each([...WERE_VOID, ...TOOK_OVER_EARLY, ...ASKED_FOR_EVER, ...SEEDS])(
    'M36, M37: seed %i (SL-1)',
    async (seed) => {
      expect((await runLedger(seed)).faults).toEqual([])
    },
  )

  test.each(WAS_OUT_OF_ORDER)('M32: seed %i (SL-2)', { timeout: 120_000 }, async (seed) => {
    expect((await runLedger(seed)).faults).toEqual([])
  })
})
