/** What comes of a request, and the sentences in which a refusal is told. */

import type { Refusal } from '../objects/objects.ts'
import type { MemberInfo } from './member-info.ts'

/**
 * What came of a request. Nothing that others may refuse throws; a mistake in the call does.
 *
 *     const got = await lump.take()
 *     if (!got.ok) show(got.reason, got.by?.name)
 */
export type Outcome<Value, Code extends string> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false
      /** Which case it is; every request lists its own. */
      readonly code: Code
      /** A sentence for people. */
      readonly reason: string
      /** Who has it, was first or said no: where somebody did, and is here. */
      readonly by?: MemberInfo
    }

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
 */
export type TakeOutcome = Outcome<undefined, Exclude<Refusal, 'away'>>

/**
 * What came of `give`: it is theirs from here on; or `away` (they are not here, or did not take it
 * within 2 s), `held` (it is on its way to another), `late` (another has it), `gone`, `no-answer`.
 */
export type GiveOutcome = Outcome<undefined, 'away' | 'held' | 'late' | 'gone' | 'no-answer'>

/** All is well. */
export const DONE: { readonly ok: true; readonly value: undefined } = Object.freeze({
  ok: true,
  value: undefined,
})

/** A refusal, with its sentence. @param what  the object, such as `rock 1.2` */
export function refusal(
  what: string,
  code: Refusal,
  by: MemberInfo | null,
): TakeOutcome & GiveOutcome {
  const reason = sentence(what, code, by?.name ?? 'somebody else')
  return { ok: false, code, reason, ...(by ? { by } : {}) } as TakeOutcome & GiveOutcome
}

function sentence(what: string, code: Refusal, who: string): string {
  switch (code) {
    case 'gone':
      return `${what} has ended`
    case 'late':
      return `${who} was quicker: ${what} is theirs`
    case 'held':
      return `${what} is on its way to ${who}`
    case 'busy':
      return `${who} asked for ${what} before, and its owner has not answered yet`
    case 'fixed':
      return `${what} is of a type that nobody can take`
    case 'denied':
      return `${who} does not let ${what} go`
    case 'no-answer':
      return who === 'somebody else'
        ? `nobody answered in time whether ${what} may be had`
        : `${who} did not answer in time whether ${what} may be had`
    case 'away':
      return `${who} is not here to take ${what}`
    default:
      return code satisfies never
  }
}
