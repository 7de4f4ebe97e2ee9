/** The initial load of a room, and the progress that `join` reports while it waits. */

import type { Millis } from '../machine.ts'
import type { WaitingFor } from '../member/join-client.ts'
import type { MemberLoop } from '../runtime/member-loop.ts'
import { guarded } from '../api/emitter.ts'
import type { Reports } from '../api/reports.ts'

/** The progress of a join. */
export interface JoinProgress {
  /** The `hub`, a `room` that opens or is found, its `server`, or its `state`. */
  readonly waitingFor: WaitingFor
  /** Why the wait is long, as a sentence; empty if unknown. */
  readonly reason: string
  /** Longest remaining wait, in ms; null if unknown. */
  readonly leftMs: Millis | null
  /** Objects that have arrived so far. */
  readonly loaded: number
  /**
   * How many there were when the primary began to send them, or `loaded` if that is more. Null
   * before that, and for fewer than 100.
   */
  readonly total: number | null
}

/** An API whose entries arrive separately, after the log: objects. */
interface Arriving extends Pick<JoinProgress, 'loaded' | 'total'> {
  /** False while existing entries are in flight to a joining member. */
  readonly arrived: boolean
}

/** How much of the state from before this member has arrived. */
export class InitialLoad {
  readonly #things: () => Arriving | undefined
  /** Whether the log has arrived. */
  caughtUp = false
  #isComplete = false
  #reported = false

  /** @param things  undefined if only the log arrives */
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

  /** Whether to report completion now; true only once. */
  look(): boolean {
    if (this.#reported || !this.complete) return false
    this.#reported = true
    return true
  }
}

// Interval of checks for changes.
const LOOK_MS: Millis = 250

/** Reports the progress at once and at each change. @param late  when `join` stops waiting */
export function reportProgress(
  memberLoop: MemberLoop,
  reports: Reports,
  listener: (progress: JoinProgress) => void,
  coming: InitialLoad,
  late: () => Millis,
): () => void {
  const notify = guarded(reports, 'onProgress of join', listener)
  let last = ''
  const look = (): void => {
    const { waitingFor, reason, until: end } = memberLoop.waiting
    const { loaded, total } = coming
    const until = waitingFor === 'state' ? late() : end
    const leftMs =
      until === Infinity ? null : Math.max(0, Math.round(until - memberLoop.loop.now()))
    const seconds = leftMs === null ? null : Math.ceil(leftMs / 1_000)
    const current = JSON.stringify([waitingFor, reason, seconds, loaded, total])
    alarm.set(memberLoop.loop.now() + LOOK_MS)
    if (current === last) return
    last = current
    notify({ waitingFor, reason, leftMs, loaded, total })
  }
  const alarm = memberLoop.loop.alarm(look)
  look()
  return () => alarm.cancel()
}
