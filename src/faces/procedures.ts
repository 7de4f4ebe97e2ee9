/** Procedures: what one member may have another run. A mailbox over a session needs them alone. */

import type { MemberInfo } from './member-info.ts'
import { checkFunction, checkName } from '../runtime/options.ts'

/** What a procedure does where it is called: its answer, or a promise of that. */
export type Procedure<Args = never, Answer = unknown> = (
  args: Args,
  by: MemberInfo,
) => Answer | PromiseLike<Answer>

/** A procedure. */
export interface ProcedureType<Args = never, Answer = unknown> {
  readonly kind: 'procedure'
  readonly name: string
  /** What every member does; null where each says by `session.answer`. */
  readonly run: Procedure<Args, Answer> | null
}

/**
 * A procedure: one member calls it at another, and waits for the answer. Prefer an object for
 * what others shall see, for it costs less and nobody can miss it, and an action for what must
 * happen once: of a call that was under way when a link or a machine was lost nobody knows
 * whether it ran.
 *
 *     const roll = procedure('roll', (dice: { sides: number }) => 1 + below(dice.sides))
 *     const ask = procedure<string, boolean>('ask')      // each says what by session.answer
 *
 * @param run  what every member does when it is called; what it throws is told to who called
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function procedure<Args, Answer>(
  name: string,
  run: Procedure<Args, Answer> | null = null,
): ProcedureType<Args, Answer> {
  checkName(name)
  if (run !== null) checkFunction(`the procedure "${name}"`, run)
  return { kind: 'procedure', name, run }
}
