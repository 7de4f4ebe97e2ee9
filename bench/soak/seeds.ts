/** Seeds of whole sessions for as long as one likes, over all cores. */

import { runInThreads, threadsHere } from '../../proof/cli/seed-runs.ts'
import { atMost, type BenchReport } from '../report.ts'

/** For the list of soaks. */
export const about = 'seeds of whole sessions, over all cores; --hours for nights'

/** Runs. @param seed of the first */
export async function run(options: { minutes: number; seed: number }): Promise<BenchReport> {
  const started = performance.now()
  const spentMs = (): number => performance.now() - started
  const goesOn = (): boolean => spentMs() < options.minutes * 60_000
  const batch = await runInThreads(options.seed, Infinity, threadsHere(), () => {}, { goesOn })
  const { seeds, failed, events, virtualMs, reached, faults } = batch
  const speed = Math.round(virtualMs / spentMs())
  const columns = ['seeds', 'failed', 'events', 'virtual s', 'virtual s a second']
  const whole = [seeds, failed.length, events, Math.round(virtualMs / 1_000), speed]
  return {
    tables: [
      { title: 'in all', columns, rows: [whole] },
      { title: 'reached', columns: ['what', 'runs'], rows: Object.entries(reached) },
      { title: 'faults', columns: ['what', 'times'], rows: Object.entries(faults) },
    ],
    goals: [
      atMost('seeds that failed', failed.length, 0, 'seeds'),
      atMost('what no run reached', batch.missing.length, 0, 'kinds'),
    ],
    notes: [
      ...failed.slice(0, 20).map((one) => `seed ${one.seed}: ${one.wrong[0]}`),
      ...(batch.missing.length > 0 ? [`never met: ${batch.missing.join(', ')}`] : []),
    ],
  }
}
