/** What becomes of the promise of an action when its outcome is told. */

import { decodeAnswer } from '../actions/actions.ts'
import { HoldfastError } from '../machine.ts'
import type { ActionOutcome } from './events.ts'
import type { ActionType } from './action-types.ts'

/** Settles it: with the answer, or with why there is none. */
export function settle<Answer>(
  type: ActionType<never, Answer>,
  bytes: Uint8Array,
  resolve: (outcome: ActionOutcome<Answer>) => void,
  reject: (error: Error) => void,
): void {
  const answer = decodeAnswer(bytes)
  if (answer) return resolve(answer as ActionOutcome<Answer>)
  const [code, why] =
    bytes.length === 0
      ? (['left', 'it was done, but its answer was lost with the server and its backup'] as const)
      : (['schema', 'the primary knows no such action'] as const)
  reject(new HoldfastError(code, `action "${type.name}": ${why}`))
}
