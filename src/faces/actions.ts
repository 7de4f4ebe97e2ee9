/** Actions as a game names them, and what they bring to a session. */

import * as actions from '../actions/actions.ts'
import type { Actor } from '../actions/actions.ts'
import type { Part } from '../machine.ts'
import { checkAtOnce, checkName } from '../runtime/options.ts'
import type { ActionType } from './action-types.ts'
import { Decisions } from './decisions.ts'
import type { Host, Kind, Opened } from './kind.ts'
import { runOf } from './runs.ts'
import type { GameTable } from './table.ts'

type AnyAction = ActionType<never, unknown>

/** The kind of all that `action` makes. */
export const actionsKind: Kind<'action'> = {
  word: 'action',
  channel: actions.ACTIONS_CHANNEL,
  most: Infinity,
  verbs: ['act'],
  text: ({ name }) => name,
  open: (definitions, host) => open(definitions as readonly AnyAction[], host),
}

function open(types: readonly AnyAction[], host: Host): Opened {
  const state = actions.create()
  const runs = new Map(types.map((type) => [type.name, runOf(type, host.reports.report)]))
  const part = actions.actionsPart(runs, host.companions) as Part<never>
  return { part, state, face: new Decisions(types, state, host) }
}

/**
 * An action: runs on the primary, once, also when that changes hands meanwhile. What it
 * throws is told to whoever asked, and nothing of it is kept. It must not keep the table.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function action<Args, Answer>(
  name: string,
  run: (table: GameTable, args: Args, by: Actor) => AtOnce<Answer>,
): ActionType<Args, Answer> {
  checkName(name)
  checkAtOnce(`the action "${name}"`, run)
  return { kind: actionsKind, name, run: run as ActionType<Args, Answer>['run'] }
}

/** An answer, unless it is a promise: then the function does not fit. */
export type AtOnce<Answer> =
  Answer extends PromiseLike<unknown>
    ? 'what it does after an await would be lost: it may not be async'
    : Answer
