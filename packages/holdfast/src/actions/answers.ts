/** What becomes of the promise of an action when its outcome is told. */

import { decodeAnswer } from './protocol/actions.ts'
import type { ActionType } from './types.ts'
import { fitAnswer } from '../api/arguments.ts'
import { type ActionOutcome, refused } from '../kind/outcomes.ts'

const ANSWER_LOST = 'it was done, but its answer was lost with the server and its backup'

/** What came of an action: its answer, or why there is none. */
export function outcomeOf<Answer>(
  type: ActionType<never, Answer>,
  bytes: Uint8Array,
): ActionOutcome<Answer> {
  const answer = decodeAnswer(bytes)
  if (!answer && bytes.length === 0) return refused('lost', ANSWER_LOST)
  if (!answer) return refused('failed', `the server knows no action "${type.name}"`)
  if (!answer.ok) return refused('refused', answer.why)
  const fitted = fitAnswer(type.signature, answer.value)
  if (fitted.ok) return fitted as ActionOutcome<Answer>
  return refused('failed', `it ran, and what came back does not fit: ${fitted.why}`)
}
