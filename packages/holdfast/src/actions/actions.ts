/** Actions as a game names them, and what they bring to a session. */

import * as actions from './protocol/actions.ts'
import type { Actor } from './protocol/actions.ts'
import type { Part } from '../kind/protocol/part.ts'
import { checkAtOnce, checkName } from '../api/options.ts'
import type { ActionType } from './runs.ts'
import { ANY, type AnswerOptions, signatureOf, signatureText } from '../api/arguments.ts'
import { Decisions } from './decisions.ts'
import type { Host, Kind, Opened } from '../kind/kind.ts'
import { runOf } from './runs.ts'
import type { GameTable } from '../pieces/table.ts'
import type { Fields, StateOf } from '../wire/schema.ts'

type AnyAction = ActionType<never, unknown>

/** The kind of all that `action` makes. */
export const actionsKind: Kind<'action'> = {
  word: 'action',
  channel: actions.ACTIONS_CHANNEL,
  most: Infinity,
  text: (type) => signatureText(type.name, (type as AnyAction).signature),
  open: (definitions, host) => open(definitions as readonly AnyAction[], host),
}

function open(types: readonly AnyAction[], host: Host): Opened {
  const state = actions.create()
  const runs = new Map(types.map((type) => [type.name, runOf(type, types, host.reports.report)]))
  const part = actions.actionsPart(runs, host.companions) as Part<never>
  return { part, state, face: new Decisions(types, state, host) }
}

/**
 * An action: runs on the primary, once, also when that changes hands meanwhile. What it
 * throws is told to whoever asked, and nothing of it is kept. It must not keep the table.
 *
 *     const deal = action('deal', { count: u8 }, (table, { count }, by) => { … })
 *
 * With fields the arguments are checked where they are given and on the primary, for which they
 * come off the network: a function gets all fields, each within its range, or is not called.
 *
 * Without fields its arguments are whatever plain JSON a member sends, and nothing of them is
 * checked: for an action that takes none, or looks at them itself.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long, for what is no field
 *   and for fields of bytes: arguments travel as JSON
 */
export function action<Args, Answer>(
  name: string,
  run: (table: GameTable, args: Args, by: Actor) => AtOnce<Answer>,
): ActionType<Args, Answer>
/** @param options  `answer`: a field that the answer fits */
export function action<F extends Fields, Answer>(
  name: string,
  fields: F,
  run: (table: GameTable, args: Readonly<StateOf<F>>, by: Actor) => NoInfer<Answer>,
  options: Required<AnswerOptions<Answer>>,
): ActionType<StateOf<F>, Answer>
/** The same with any answer. */
export function action<F extends Fields, Answer>(
  name: string,
  fields: F,
  run: (table: GameTable, args: Readonly<StateOf<F>>, by: Actor) => AtOnce<Answer>,
): ActionType<StateOf<F>, Answer>
export function action(
  name: string,
  first: unknown,
  ...[second, options = {}]: [run?: unknown, options?: object]
): ActionType<never, unknown> {
  checkName(name)
  const what = `the action "${name}"`
  const hasFields = typeof first === 'object' && first !== null
  const run = hasFields ? second : first
  checkAtOnce(what, run)
  const signature = hasFields ? signatureOf(what, first as Fields, options) : ANY
  return { kind: actionsKind, name, signature, run: run as AnyAction['run'] }
}

/** An answer, unless it is a promise: then the function does not fit. */
export type AtOnce<Answer> =
  Answer extends PromiseLike<unknown>
    ? 'what it does after an await would be lost: it may not be async'
    : Answer
