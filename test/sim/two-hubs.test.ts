// Goal: with two hubs on one store, each of which is away or stands still now and then, whole
// sessions keep all that they promise with one.
// Method: the seeds of every day, with two hubs, and seeds that once failed.
// Slow: each seed is a whole session.
import { expect, test } from 'vitest'
import { drawTwoHubs } from '../../proof/seeds.ts'
import { run } from '../../proof/trial.ts'

const SEEDS = [
  ...Array.from({ length: 20 }, (_none, at) => at + 1),
  // A member stayed at a hub that was fenced; a primary was told that it was removed.
  ...[38, 112, 152, 226],
  // A loose grab was honoured, and with it an older number.
  337,
]

test.each(SEEDS)('seed %i', async (seed) => {
  expect((await run(drawTwoHubs(seed))).wrong).toEqual([])
})
