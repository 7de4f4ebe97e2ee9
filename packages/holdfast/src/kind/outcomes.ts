/** Outcomes of requests, and the sentences of refusals. */

import type { OutcomeCode } from '../codes.ts'
import { HoldfastError, isMisfit } from '../machine.ts'
import type { Refusal } from '../objects/protocol/objects.ts'
import type { Host, MemberInfo } from './kind.ts'

/** A request that was not carried out. */
export interface Refused<Code extends OutcomeCode = OutcomeCode> {
  /** Nothing was done, unless the code says that nobody knows. */
  readonly ok: false
  /** The reason; each request lists its codes. */
  readonly code: Code
  /** A sentence for people. */
  readonly reason: string
  /** The member that has it, was first or declined, if there is one and it is here. */
  readonly by?: MemberInfo
}

/**
 * The outcome of a request. Requests that others can refuse, or that depend on typed text, never
 * throw: a text that is too long is `unfit`. Mistakes in a call throw: an unknown name, a value of
 * the wrong kind, a missing field.
 *
 *     const got = await lump.take()
 *     if (!got.ok) show(got.reason, got.by?.name)
 */
export type Outcome<Value, Code extends OutcomeCode> =
  | { readonly ok: true; readonly value: Value }
  | Refused<Code>

/**
 * The outcome of `take`: we own it from now on; or
 *
 * - `fixed`: nobody can take objects of its type
 * - `held`: it is on its way to another member (`by`)
 * - `busy`: another member (`by`) asked before, and its owner has not answered yet
 * - `late`: another member (`by`) was quicker
 * - `gone`: it was destroyed
 * - `denied`: its owner (`by`) said no
 * - `no-answer`: its owner (`by`) did not answer within 10 s, or nobody did within 30 s
 * - `overloaded`: our player asks for more in a second than the server does for one player
 * - `lost`: the session ended first, and nobody knows
 */
export type TakeOutcome = Outcome<undefined, Exclude<Refusal, 'away'> | 'lost'>

/**
 * The outcome of `give`: they own it from now on; or `away` (they are not here, or did not take it
 * within 2 s), `held` (it is on its way to another), `late` (another has it), `gone`, `no-answer`,
 * `overloaded`, `lost` (the session ended first, and nobody knows).
 */
export type GiveOutcome = Outcome<
  undefined,
  'away' | 'held' | 'late' | 'gone' | 'no-answer' | 'overloaded' | 'lost'
>

/**
 * The outcome of an action: its answer; or
 *
 * - `unfit`: an argument does not fit its field, or all are too long; it was not sent
 * - `refused`: it threw an `Error`, and `reason` is its message; all its changes were dropped
 * - `failed`: it has a bug: it threw another exception (a `TypeError`, or a HoldfastError of the
 *   table), and its changes were dropped; or it was done, and its answer does not fit its field
 * - `lost`: the session ended first, or its answer died with the machines that had it
 */
export type ActionOutcome<Answer> = Outcome<Answer, 'unfit' | 'refused' | 'failed' | 'lost'>

/**
 * The outcome of an update of a piece: it is recorded; or
 *
 * - `unfit`: a value does not fit its field; nothing was shown or sent
 * - `late`: somebody (`by`) changed it first
 * - `held`: somebody (`by`) holds it
 * - `refused`: the rules of its type say no, or those of pieces
 * - `failed`: a rule of its type has a bug: it threw
 * - `gone`: there is no such piece any more
 * - `lost`: the session ended first, or its answer died with the machines that had it
 */
export type PieceOutcome = Outcome<
  Recorded,
  'unfit' | 'late' | 'held' | 'refused' | 'failed' | 'gone' | 'lost'
>

/** A recorded update of a piece. */
export interface Recorded {
  /** The server changed the values, or chose ones that nobody could predict: see `state`. */
  readonly clamped: boolean
}

/**
 * The outcome of a call: its answer; or nothing ran with
 *
 * - `unfit`: an argument does not fit its field, or all are too long
 * - `away`: the member is not here, or does not answer to that
 * - `unreachable`: there is no link to it at present
 * - `overloaded`: it has too many calls to answer, the link is full, or we ask the server for too
 *   much
 *
 * It ran with `failed`: it threw, or its answer does not fit. Nobody knows whether it ran with
 * `timeout` (no answer in time) and `lost` (a link on the way, the member or the server was lost,
 * or the session ended).
 */
export type CallOutcome<Answer> = Outcome<
  Answer,
  'unfit' | 'away' | 'unreachable' | 'overloaded' | 'failed' | 'timeout' | 'lost'
>

export const DONE: { readonly ok: true; readonly value: undefined } = Object.freeze({
  ok: true,
  value: undefined,
})

/** A refusal. @param by  the member that has it or declined; null for nobody */
export function refused<Code extends OutcomeCode>(
  code: Code,
  reason: string,
  by: MemberInfo | null = null,
): Refused<Code> {
  return by ? { ok: false, code, reason, by } : { ok: false, code, reason }
}

/** @throws HoldfastError `left` once the session was left. @param what  such as `cannot act` */
export function checkOpen({ over }: Host, what: string): void {
  if (over) throw new HoldfastError('left', `${what}: the session was left`)
}

/** Why a committed operation may have no answer. */
export const ANSWER_LOST = 'it was done, but its answer was lost with the server and its backup'

/** The outcome for a value that does not fit. @throws any other error */
export function unfit(error: unknown): Refused<'unfit'> {
  if (isMisfit(error)) return refused('unfit', error.message)
  throw error
}

/** A refusal of an object, with its sentence. @param what  the object, such as `rock 1.2` */
export function refusal(
  what: string,
  code: Refusal,
  by: MemberInfo | null,
): TakeOutcome & GiveOutcome {
  const reason = SENTENCES[code](what, by?.name ?? 'somebody else')
  return refused(code, reason, by) as TakeOutcome & GiveOutcome
}

const SENTENCES: Readonly<Record<Refusal, (what: string, who: string) => string>> = {
  gone: (what) => `${what} has ended`,
  late: (what, who) => `${who} was quicker: ${what} is theirs`,
  held: (what, who) => `${what} is on its way to ${who}`,
  busy: (what, who) => `${who} asked for ${what} before, and its owner has not answered yet`,
  fixed: (what) => `${what} is of a type that nobody can take`,
  denied: (what, who) => `${who} does not let ${what} go`,
  'no-answer': (what, who) => {
    const silent = who === 'somebody else' ? 'nobody answered' : `${who} did not answer`
    return `${silent} in time whether ${what} may be had`
  },
  away: (what, who) => `${who} is not here to take ${what}`,
  overloaded: (what) => `${what}: the server does no more for one player in a second`,
}
