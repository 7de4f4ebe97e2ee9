/** An action as a game names it. */

import type { Actor } from '../actions/actions.ts'
import type { Signature } from './arguments.ts'
import type { Kind } from './kind.ts'
import type { GameTable } from './table.ts'

/** An action. */
export interface ActionType<Args = unknown, Answer = unknown> {
  readonly kind: Kind<'action'>
  readonly name: string
  /** What its arguments and its answer are. */
  readonly signature: Signature
  readonly run: (table: GameTable, args: Args, by: Actor) => Answer
}
