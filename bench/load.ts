/** How busy the machine is, which decides whether figures may be taken on it. */

import { cpus, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

/** Above this share of all processors a bench refuses to measure. */
export const BUSY_MAX = 0.15
const LOOK_MS = 1_000

/** The share of all processors that others use, from 0 to 1, looked at for a second. */
export async function busyShare(): Promise<number> {
  const before = spent()
  await pause(LOOK_MS)
  const after = spent()
  return 1 - (after.idle - before.idle) / (after.all - before.all)
}

function spent(): { idle: number; all: number } {
  let idle = 0
  let all = 0
  for (const { times } of cpus()) {
    idle += times.idle
    all += Object.values(times).reduce((sum, one) => sum + one, 0)
  }
  return { idle, all }
}

/** For the report. @param busy  share that others used when the bench began */
export function loadLine(busy: number): string {
  const average = loadavg()[0]!.toFixed(1)
  const others = `${Math.round(100 * busy)} % of the processors`
  return `When the bench began, others used ${others}; the load of the last minute is ${average}.`
}
