/** The beat of a server, and what its process used during the measured part of it. */

import { clock } from '../processes/clock.ts'
import type { Asked, Window } from './words.ts'
import { TICK_MS } from './workload.ts'

/** Processor time of this process so far, in ms. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Calls once when the bench asks for that. */
export function asked<Kind extends Asked['kind']>(
  kind: Kind,
  run: (what: Asked & { kind: Kind }) => void,
): void {
  const listen = (message: Asked): void => {
    if (message.kind !== kind) return
    process.off('message', listen)
    run(message as Asked & { kind: Kind })
  }
  process.on('message', listen)
}

/** Calls at these instants of the clock; at once if they are past. */
export function at(instant: number, run: () => void): void {
  setTimeout(run, Math.max(0, instant - clock()))
}

/**
 * Calls `tick` at each tick up to the last; a late one is not skipped.
 *
 * @param tick  its number, and what the clock says that it is by then: what moves has moved on
 */
export function beat(
  window: Window,
  tick: (n: number, by: number) => void,
): Promise<{ cpuMs: number; lateMs: number }> {
  return new Promise((resolve) => {
    let n = 0
    let used = 0
    const lates: number[] = []
    const next = (): void => {
      if (n === window.from) used = cpuMs()
      if (n === window.to) {
        const sorted = lates.toSorted((a, b) => a - b)
        const lateMs = sorted[Math.floor(0.99 * (sorted.length - 1))] ?? 0
        return resolve({ cpuMs: cpuMs() - used, lateMs })
      }
      if (n >= window.from) lates.push(clock() - (window.at + n * TICK_MS))
      tick(n++, Math.max(0, clock() - window.at) / TICK_MS)
      at(window.at + n * TICK_MS, next)
    }
    at(window.at, next)
  })
}
