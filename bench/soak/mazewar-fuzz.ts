/** A million hostile packets into classic Mazewar; half of them are well formed. */

import { type Found, storm } from '../../test/fuzz/mazewar.ts'
import { atLeast, atMost } from '../report.ts'
import type { BenchReport } from '../report.ts'

/** For the list of soaks. */
export const about = '1,000,000 hostile packets into players of classic Mazewar'

const PACKETS = 1_000_000
const STORM = 50_000

/** Throws them. @param seed of the first storm */
export function run({ seed }: { seed: number }): Promise<BenchReport> {
  const all: (Found & { seed: number })[] = []
  for (let i = 0; i < PACKETS / STORM; i++) {
    all.push({ ...storm(seed + i, STORM, i % 2 === 1), seed: seed + i })
  }
  const sum = (field: 'packets' | 'wellFormed' | 'accepted' | 'refused'): number =>
    all.reduce((total, one) => total + one[field], 0)
  const complaints = all.flatMap((one) => one.complaints.map((what) => `seed ${one.seed}: ${what}`))
  return Promise.resolve({
    tables: [
      {
        title: 'hostile packets into classic Mazewar',
        columns: ['storms', 'packets', 'well formed', 'taken by the decoder', 'refused by players'],
        rows: [[all.length, sum('packets'), sum('wellFormed'), sum('accepted'), sum('refused')]],
      },
    ],
    goals: [
      atLeast('hostile packets', sum('packets'), PACKETS, 'packets'),
      atLeast('well formed', sum('wellFormed'), PACKETS * 0.49, 'packets'),
      atMost('claims that did not hold', complaints.length, 0, 'claims'),
    ],
    notes: complaints.slice(0, 20),
  })
}
