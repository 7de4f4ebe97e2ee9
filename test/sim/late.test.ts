// Goal: what was shown to a newcomer does not vanish while it lives, over networks that lose.
// Method: as test/sessions/late-joiners.test.ts, for 5,000 joins by seed.
// Slow: an object vanished once in some hundreds of joins, so there are many.
import { expect, test } from 'vitest'
import { JOINS, vanishedFrom } from './newcomers.ts'

const TOTAL = 5_000
const EACH = 50

const firsts = Array.from({ length: TOTAL / JOINS / EACH }, (_none, at) => 1_000 + at * EACH)
test.each(firsts)(
  `what a newcomer was shown stays: ${EACH} seeds from %i on (N-20)`,
  async (first) => {
    const wrong: string[] = []
    for (let seed = first; seed < first + EACH; seed++) {
      for (const [n, ids] of (await vanishedFrom(seed)).entries()) {
        if (ids.length > 0) wrong.push(`seed ${seed}, newcomer ${n}: ${ids.join()}`)
      }
    }
    expect(wrong).toEqual([])
  },
)
