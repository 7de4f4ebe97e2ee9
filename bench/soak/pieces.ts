/** Card tables with players who stay away: draws, holds taken by force, and their reports. */

import { runTabletop, type TabletopReport } from '../../proof/tabletops.ts'
import { type BenchReport, ofClaims } from '../report.ts'

/** For the list of soaks. */
export const about = '1,000 tables of cards: draws of actions that throw, wrests, absences, kills'

const RUNS = 1_000

/** Runs. @param seed of the first */
export async function run({ seed }: { seed: number }): Promise<BenchReport> {
  const runs: TabletopReport[] = []
  for (let i = 0; i < RUNS; i++) runs.push(await runTabletop(seed + i))
  const sum = (of: (one: TabletopReport) => number): number =>
    runs.reduce((n, one) => n + of(one), 0)
  const acted = [runs.length, sum(({ actions }) => actions), sum(({ thrown }) => thrown)]
  const lost = [sum((one) => one.lost.taken), sum((one) => one.lost.away)]
  const row = [
    ...acted,
    sum(({ draws }) => draws),
    ...lost,
    sum((one) => one.lost.gone),
    sum(({ back }) => back),
    Math.round(sum(({ virtualMs }) => virtualMs) / 3_600_000),
  ]
  const columns = ['runs', 'actions', 'thrown', 'draws told', 'taken', 'away', 'gone', 'back', 'h']
  return {
    tables: [{ title: 'in all; virtual time in hours', columns, rows: [row] }],
    ...ofClaims(runs),
  }
}
