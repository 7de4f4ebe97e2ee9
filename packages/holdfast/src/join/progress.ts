/** The initial load of a room, and the progress that `join` reports while it waits. */

import type { Millis } from '../machine.ts'
import type { WaitingFor } from '../member/join-requests.ts'
import type { MemberLoop } from '../runtime/member-loop.ts'
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

/** An API whose entries come separately, after the log: objects. */
interface Arriving extends Pick<JoinProgress, 'loaded' | 'total'> {
  /** False while existing entries are still on their way to a joining member. */
  readonly arrived: boolean
}

/** How much of the state from before us has come. */
export class InitialLoad {
  readonly #things: () => Arriving | undefined
  /** The log has come. */
  caughtUp = false
  #isComplete = false
  #told = false

  /** @param things  undefined if nothing comes but the log */
  constructor(things: () => Arriving | undefined) {
    this.#things = things
  }

  get complete(): boolean {
    this.#isComplete ||= this.caughtUp && (this.#things()?.arrived ?? true)
    return this.#isComplete
  }

  get loaded(): number {
    return this.#things()?.loaded ?? 0
  }

  get total(): number | null {
    const total = this.#things()?.total ?? null
    return total === null ? null : Math.max(this.loaded, total)
  }

  /** Whether to report completion now, which happens once. */
  look(): boolean {
    if (this.#told || !this.complete) return false
    this.#told = true
    return true
  }
}

// Interval of checks for changes.
const LOOK_MS: Millis = 250

/**
 * Reports the progress at once, and whenever anything but the time changes.
 *
 * @param late  when `join` stops waiting
 * @returns a function that ends the reports
 */
export function reportProgress(
  memberLoop: MemberLoop,
  reports: Reports,
  listener: (progress: JoinProgress) => void,
  coming: InitialLoad,
  late: () => Millis,
): () => void {
  const hear = guarded(reports, 'onProgress of join', listener)
  let said = ''
  const look = (): void => {
    const { waitingFor, reason, until: end } = memberLoop.waiting
    const { loaded, total } = coming
    const until = waitingFor === 'state' ? late() : end
    const leftMs =
      until === Infinity ? null : Math.max(0, Math.round(until - memberLoop.loop.now()))
    const says = JSON.stringify([waitingFor, reason, loaded, total])
    alarm.set(memberLoop.loop.now() + LOOK_MS)
    if (says === said) return
    said = says
    hear({ waitingFor, reason, leftMs, loaded, total })
  }
  const alarm = memberLoop.loop.alarm(look)
  look()
  return () => alarm.cancel()
}
