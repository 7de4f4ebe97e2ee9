/** How much of what there was before us has come, and what `join` says of that while it waits. */

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

/** A face whose things come by themselves, behind the log: objects. */
interface Arriving extends Pick<JoinProgress, 'loaded' | 'total'> {
  /** False while some of what there is already is still on its way to a member that joins. */
  readonly arrived: boolean
}

/** How much of what there was before us has come. */
export class InitialLoad {
  readonly #things: () => Arriving | undefined
  /** The log has come. */
  caughtUp = false
  #isComplete = false
  #told = false

  /** @param things  undefined where nothing comes but the log */
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

  /** Whether it is time to tell that all of it has come, which is told once. */
  look(): boolean {
    if (this.#told || !this.complete) return false
    this.#told = true
    return true
  }
}

// How often it is looked whether something is another.
const LOOK_MS: Millis = 250

/**
 * Tells it as it begins, and whenever something of it but the time is another.
 *
 * @param late  when `join` waits no longer
 * @returns ends it
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
