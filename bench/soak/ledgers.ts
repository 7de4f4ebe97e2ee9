/** Worlds of slots among processes that stand still: what was told to be void, and what counts. */

import { type LedgerReport, runLedger } from '../../proof/ledgers.ts'
import { type BenchReport, ofClaims } from '../report.ts'

/** For the list of soaks. */
export const about = '1,000 worlds of slots among processes that stand still'

const RUNS = 1_000

/** Runs. @param seed of the first */
export async function run({ seed }: { seed: number }): Promise<BenchReport> {
  const runs: LedgerReport[] = []
  for (let i = 0; i < RUNS; i++) runs.push(await runLedger(seed + i))
  const sum = (of: (one: LedgerReport) => number): number => runs.reduce((n, one) => n + of(one), 0)
  const row = [
    runs.length,
    sum(({ acts }) => acts),
    sum((one) => one.void),
    sum((one) => one.adopted),
  ]
  return {
    tables: [{ title: 'in all', columns: ['runs', 'acts', 'void', 'worlds taken'], rows: [row] }],
    ...ofClaims(runs),
  }
}
