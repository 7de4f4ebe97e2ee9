/** Listeners that disturb nobody. */

import type { Reports } from './reports.ts'

/** The same function, but what it throws, and what its promise rejects, is reported. */
export function guarded<Args extends unknown[]>(
  reports: Reports,
  where: string,
  run: (...args: Args) => unknown,
): (...args: Args) => void {
  return (...args) => {
    try {
      reports.follow(run(...args), where, run)
    } catch (error) {
      reports.report(error, where, run)
    }
  }
}
