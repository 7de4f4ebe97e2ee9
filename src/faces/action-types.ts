/** An action as a game names it. */

import type { Actor } from '../actions/actions.ts'
import type { Kind } from './kind.ts'
import type { GameTable } from './table.ts'

/** An action. */
export interface ActionType<Args = unknown, Answer = unknown> {
  readonly kind: Kind<'action'>
  readonly name: string
  readonly run: (table: GameTable, args: Args, by: Actor) => Answer
}
