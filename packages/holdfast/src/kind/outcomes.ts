/** What comes of a request, and the sentences in which a refusal is told. */

import type { OutcomeCode } from '../codes.ts'
import { isMisfit } from '../machine.ts'
import type { Refusal } from '../objects/protocol/objects.ts'
import type { MemberInfo } from './kind.ts'

/** What was asked for is not done. */
export interface Refused<Code extends OutcomeCode = OutcomeCode> {
  /** Nothing of it was done, unless the code says that nobody knows. */
  readonly ok: false
  /** Which case it is; every request lists its own. */
  readonly code: Code
  /** A sentence for people. */
  readonly reason: string
  /** Who has it, was first or said no: where somebody did, and is here. */
  readonly by?: MemberInfo
}

/**
 * What came of a request. Nothing throws that others may refuse, or that depends on what somebody
 * typed: a text that is too long is `unfit`. A mistake in the call does: a name or a kind of value
 * that is none, a field that is missing.
 *
 *     const got = await lump.take()
 *     if (!got.ok) show(got.reason, got.by?.name)
 */
export type Outcome<Value, Code extends OutcomeCode> =
  | { readonly ok: true; readonly value: Value }
  | Refused<Code>

/**
 * What came of `take`: it is ours from here on; or
 *
 * - `fixed`: its type lets nobody take it
 * - `held`: it is on its way to somebody (`by`)
 * - `busy`: somebody (`by`) asked before, and its owner has not answered yet
 * - `late`: somebody (`by`) was quicker
 * - `gone`: it has ended
 * - `denied`: its owner (`by`) said no
 * - `no-answer`: its owner (`by`) did not answer within 10 s, or nobody did within 30 s
 * - `overloaded`: we ask for more than the server does for one player in a second
 * - `lost`: the session ended first, and nobody knows
 */
export type TakeOutcome = Outcome<undefined, Exclude<Refusal, 'away'> | 'lost'>

/**
 * What came of `give`: it is theirs from here on; or `away` (they are not here, or did not take it
 * within 2 s), `held` (it is on its way to another), `late` (another has it), `gone`, `no-answer`,
 * `overloaded`, `lost` (the session ended first, and nobody knows).
 */
export type GiveOutcome = Outcome<
  undefined,
  'away' | 'held' | 'late' | 'gone' | 'no-answer' | 'overloaded' | 'lost'
>

/**
 * What came of an action: its answer; or
 *
 * - `unfit`: an argument does not fit its field, or all are too long; it was not asked for
 * - `refused`: it threw, and the sentence is its; nothing of what it did is kept
 * - `failed`: it was done, but its answer does not fit its field
 * - `lost`: the session ended first, or its answer died with the machines that had it
 */
export type ActionOutcome<Answer> = Outcome<Answer, 'unfit' | 'refused' | 'failed' | 'lost'>

/**
 * What came of what was done to a piece: it is recorded; or
 *
 * - `unfit`: a value does not fit its field; nothing was shown or asked for
 * - `late`: somebody (`by`) changed it first
 * - `held`: somebody (`by`) holds it
 * - `refused`: the rules of its type say no, or those of pieces
 * - `gone`: there is no such piece any more
 * - `lost`: the session ended first, or its answer died with the machines that had it
 */
export type PieceOutcome = Outcome<
  Recorded,
  'unfit' | 'late' | 'held' | 'refused' | 'gone' | 'lost'
>

/** What was done to a piece is recorded. */
export interface Recorded {
  /** Not just so, or so that nobody could foresee what it shows: look at `state`. */
  readonly clamped: boolean
}

/**
 * What came of a call: its answer; or nothing ran with
 *
 * - `unfit`: an argument does not fit its field, or all are too long
 * - `away`: the member is not here, or does not answer to that
 * - `unreachable`: there is no link to it just now
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

/** All is well. */
export const DONE: { readonly ok: true; readonly value: undefined } = Object.freeze({
  ok: true,
  value: undefined,
})

/** It is not so, for that reason. @param by  who stands in the way; null for nobody */
export function refused<Code extends OutcomeCode>(
  code: Code,
  reason: string,
  by: MemberInfo | null = null,
): Refused<Code> {
  return by ? { ok: false, code, reason, by } : { ok: false, code, reason }
}

/** A value that does not fit is an outcome. @throws whatever else the error is */
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
