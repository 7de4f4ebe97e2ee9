/** A procedure as a game names it. */

import type { Signature } from '../api/arguments.ts'
import type { Kind } from '../kind/kind.ts'
import type { MemberInfo } from '../kind/member-info.ts'

/** What a procedure does where it is called: its answer, or a promise of that. */
export type Procedure<Args = never, Answer = unknown> = (
  args: Args,
  by: MemberInfo,
) => Answer | PromiseLike<Answer>

/** A procedure. */
export interface ProcedureType<Args = never, Answer = unknown> {
  /** The kind of all that `procedure` makes. */
  readonly kind: Kind<'procedure'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: string
  /** What its arguments and its answer are. */
  readonly signature: Signature
  /** What every member does; null where each says by `session.answer`. */
  readonly run: Procedure<Args, Answer> | null
}
