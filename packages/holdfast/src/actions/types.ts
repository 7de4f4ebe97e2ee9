/** An action as a game names it. */

import type { Actor } from './protocol/actions.ts'
import type { Signature } from '../api/arguments.ts'
import type { Kind } from '../kind/kind.ts'
import type { GameTable } from '../pieces/table.ts'

/** An action. */
export interface ActionType<Args = unknown, Answer = unknown> {
  /** The kind of all that `action` makes. */
  readonly kind: Kind<'action'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: string
  /** What its arguments and its answer are. */
  readonly signature: Signature
  /** What the primary does; it throws to refuse, and its caller gets the sentence. */
  readonly run: (table: GameTable, args: Args, by: Actor) => Answer
}
