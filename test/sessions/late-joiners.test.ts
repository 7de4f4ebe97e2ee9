// Goal: what was shown to a newcomer does not vanish while it lives, over networks that lose.
// Method: whole sessions in virtual time, in star and mesh; three members take and move objects all
// the while, and newcomers look every 10 ms.
import { expect, test } from 'vitest'
import { JOINS, vanishedFrom } from '../sim/newcomers.ts'

// A newcomer saw some or all of the objects vanish with these, once.
const WERE_BAD = [126, 140, 145, 156, 170, 186, 190, 211]

test.each(WERE_BAD)('what a newcomer was shown stays: seed %i (N-20)', async (seed) => {
  expect(await vanishedFrom(seed)).toEqual(Array.from({ length: JOINS }, () => []))
})
