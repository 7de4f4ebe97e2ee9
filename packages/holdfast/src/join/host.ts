/** The session as the API of one kind sees it, and the pending operations by number. */

import { partOut } from '../member/dispatch.ts'
import * as member from '../member/member.ts'
import { HoldfastError } from '../machine.ts'
import type { MemberLoop } from '../runtime/member-loop.ts'
import type { Host, OperationRequest } from '../kind/kind.ts'
import type { Roster } from './roster.ts'

export interface Shared extends Pick<Host, 'reports' | 'options' | 'companions' | 'emit'> {
  readonly roster: Roster
  readonly operations: PendingOperations
  /** Null before there is a member, and after the session was left. */
  memberLoop: () => MemberLoop | null
  isOver: () => boolean
}

export function hostOf(shared: Shared, channel: number): Host {
  const { roster, operations, memberLoop, isOver } = shared
  return {
    reports: shared.reports,
    options: shared.options,
    companions: shared.companions,
    get over() {
      return isOver()
    },
    get session() {
      return memberLoop()?.member.session.id ?? ''
    },
    get player() {
      return roster.player
    },
    get members() {
      return roster.members
    },
    get primary() {
      return roster.find(roster.view.primary)
    },
    find: (inc) => roster.find(inc),
    isAway: (inc) => roster.away.has(inc),
    findPlayer: (player) => roster.findPlayer(player),
    checkPlays: (verb) => roster.checkPlays(verb),
    emit: shared.emit,
    clock: () => memberLoop()?.loop.now() ?? NaN,
    time: () => memberLoop()?.sessionTime() ?? NaN,
    changing: () => memberLoop()?.changeTime() ?? NaN,
    do: (verb) => memberLoop()?.do((now, run) => verb(now, partOut(run, channel))),
    doNow: (verb) => {
      return memberLoop()?.do((now, run) => {
        const result = verb(now, partOut(run, channel))
        member.touched(run, now)
        return result
      })
    },
    touch: () => memberLoop()?.touch(),
    notify: () => memberLoop()?.notify(),
    ask: (request) => operations.ask(channel, request),
  }
}

/** Operations that wait for their outcomes. */
export class PendingOperations {
  readonly #memberLoop: () => MemberLoop | null
  readonly #waiting = new Map<number, OperationRequest>()

  constructor(memberLoop: () => MemberLoop | null) {
    this.#memberLoop = memberLoop
  }

  /** Sends a request to the primary; an error rejects it. */
  ask(channel: number, request: OperationRequest): void {
    const memberLoop = this.#memberLoop()
    if (!memberLoop) {
      return request.reject(new HoldfastError('left', 'not sent: the session was left'))
    }
    // Before `submit`: in a session of one the outcome arrives before `submit` returns.
    const seq = memberLoop.member.session.client.nextSeq
    this.#waiting.set(seq, request)
    try {
      memberLoop.do((now, run) => member.submit(run, now, channel, request.body()))
    } catch (error) {
      this.#waiting.delete(seq)
      request.reject(error as Error)
    }
  }

  onOutcome(seq: number, outcome: Uint8Array): void {
    const request = this.#waiting.get(seq)
    this.#waiting.delete(seq)
    request?.settle(outcome)
  }

  /** The outcomes of these operations will never come. */
  forget(seqs: Iterable<number>, why: string): void {
    for (const seq of [...seqs]) {
      const request = this.#waiting.get(seq)
      this.#waiting.delete(seq)
      request?.lost(`not known whether it was done: ${why}`)
    }
  }

  end(why: string): void {
    this.forget(this.#waiting.keys(), why)
  }
}
