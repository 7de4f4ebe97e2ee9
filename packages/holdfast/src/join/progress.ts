/** What `join` says of itself while it waits. */

import type { Millis } from '../machine.ts'
import type { WaitingFor } from '../member/asking.ts'
import type { Runner } from '../runtime/runner.ts'
import { guarded } from '../api/emitter.ts'
import type { Reports } from '../api/reports.ts'

/** How far a join is. */
export interface JoinProgress {
  /** The `hub`, a `room` that opens or is found, its `server`, or the `state` of what is there. */
  readonly waitingFor: WaitingFor
  /** Why that takes long, as a sentence; empty where nobody said. */
  readonly reason: string
  /** How long that takes at most from now on, in ms; null where nobody can say. */
  readonly leftMs: Millis | null
  /** Objects that have come so far. */
  readonly loaded: number
  /**
   * How many there were as the server began to send them, or `loaded` if that is more by now. Null
   * before that, and where there are fewer than 100.
   */
  readonly total: number | null
}

/** How much of the state has come. */
export interface Loading extends Pick<JoinProgress, 'loaded' | 'total'> {
  /** When `join` waits no longer. */
  readonly until: Millis
}

// How often it is looked whether something is another.
const LOOK_MS: Millis = 250

/** Tells it as it begins, and whenever something of it but the time is another. @returns ends it */
export function tellProgress(
  runner: Runner,
  reports: Reports,
  listener: (progress: JoinProgress) => void,
  state: () => Loading,
): () => void {
  const hear = guarded(reports, 'onProgress of join', listener)
  let said = ''
  const look = (): void => {
    const { waitingFor, reason, until: end } = runner.waiting
    const { loaded, total, until: late } = state()
    const until = waitingFor === 'state' ? late : end
    const leftMs = until === Infinity ? null : Math.max(0, Math.round(until - runner.loop.now()))
    const says = JSON.stringify([waitingFor, reason, loaded, total])
    alarm.set(runner.loop.now() + LOOK_MS)
    if (says === said) return
    said = says
    hear({ waitingFor, reason, leftMs, loaded, total })
  }
  const alarm = runner.loop.alarm(look)
  look()
  return () => alarm.cancel()
}
