/** What becomes of the promise of an action when its outcome is told. */

import { decodeAnswer } from '../actions/actions.ts'
import { type ErrorCode, HoldfastError } from '../machine.ts'
import type { ActionOutcome } from './events.ts'
import type { ActionType } from './action-types.ts'
import { fitAnswer } from './arguments.ts'

/** Settles it: with the answer, or with why there is none. */
export function settle<Answer>(
  type: ActionType<never, Answer>,
  bytes: Uint8Array,
  resolve: (outcome: ActionOutcome<Answer>) => void,
  reject: (error: Error) => void,
): void {
  const answer = decodeAnswer(bytes)
  const no = (code: ErrorCode, why: string): void =>
    reject(new HoldfastError(code, `action "${type.name}": ${why}`))
  if (!answer) {
    if (bytes.length > 0) return no('schema', 'the primary knows no such action')
    return no('left', 'it was done, but its answer was lost with the server and its backup')
  }
  if (!answer.ok) return resolve(answer)
  const fitted = fitAnswer(type.signature, answer.value)
  if (fitted.ok) return resolve(fitted as ActionOutcome<Answer>)
  no('failed', `it ran, and what came back does not fit: ${fitted.why}`)
}
