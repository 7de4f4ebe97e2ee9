/** Actions as a game defines them, and the kind that a session opens for them. */

import * as actions from './protocol/actions.ts'
import type { Actor, Run, Table } from './protocol/actions.ts'
import { find } from './protocol/timers.ts'
import type { Part } from '../kind/protocol/part.ts'
import { checkSync, checkName } from '../api/options.ts'
import {
  ANY,
  type AnswerOptions,
  signatureOf,
  signatureText,
  fitArguments,
  givenArguments,
  type Signature,
  fitAnswer,
} from '../api/arguments.ts'
import type { Host, Kind, KindApi, TableEvents, TableView } from '../kind/kind.ts'
import type { GameTable } from '../pieces/table.ts'
import type { Fields, StateOf } from '../wire/fields/schema.ts'
import { badValue, HoldfastError } from '../machine.ts'
import { checkPlain } from '../wire/text/json.ts'
import { requireSync, isMistake, type Report } from '../api/reports.ts'
import { placeOf } from '../kind/definitions.ts'
import { Listeners } from '../api/emitter.ts'
import { type ActionOutcome, ANSWER_LOST, refused, unfit } from '../kind/outcomes.ts'

type AnyAction = ActionType<never, unknown>

const actionsKind: Kind<'action'> = {
  word: 'action',
  channel: actions.ACTIONS_CHANNEL,
  most: Infinity,
  text: (type) => signatureText(type.name, (type as AnyAction).signature),
  open: (definitions, host) => {
    const types = definitions as readonly AnyAction[]
    const state = actions.create()
    const runs = new Map(types.map((type) => [type.name, runOf(type, types, host.reports.report)]))
    const part = actions.actionsPart(runs, host.companions) as Part<never>
    return { part, state, api: new ActionsApi(types, state, host) }
  },
}

/**
 * An action runs on the primary exactly once, even if the primary changes meanwhile. If it throws,
 * the caller gets the reason, and its changes are dropped. It must not use the table after it
 * returns.
 *
 *     const deal = action('deal', { count: u8 }, (table, { count }, by) => { … })
 *
 * With fields, the caller and the primary both check the arguments: the function gets all fields,
 * each within its range, or is not called.
 *
 * Without fields, the arguments are any plain JSON that a member sends, unchecked: use that for an
 * action without arguments, or one that validates them.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long, for an invalid field
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
  checkSync(what, run)
  const signature = hasFields ? signatureOf(what, first as Fields, options) : ANY
  return { kind: actionsKind, name, signature, run: run as AnyAction['run'] }
}

/** The type of an answer; a promise becomes a type error, because actions are synchronous. */
export type AtOnce<Answer> =
  Answer extends PromiseLike<unknown>
    ? 'what it does after an await would be lost: it may not be async'
    : Answer

/** An action. */
export interface ActionType<Args = unknown, Answer = unknown> {
  /** The kind of all actions. */
  readonly kind: Kind<'action'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: string
  /** The fields of its arguments, and the field of its answer. */
  readonly signature: Signature
  /** The function that the primary runs. It throws to refuse; the caller gets the message. */
  readonly run: (table: GameTable, args: Args, by: Actor) => Answer
}

/**
 * An action as the primary runs it. A plain `Error` refuses the action; any other exception is a
 * bug, and is reported. @param all  the actions that timers may run
 */
export function runOf(type: AnyAction, all: readonly AnyAction[], report: Report): Run {
  const { name, run, signature } = type
  const where = `the action "${name}"`
  return (table, args, by) => {
    const given = fitArguments(signature, args)
    // Only the caller learns of it: the game made no mistake.
    if (!given.ok) throw new Error(`${where}: ${given.why}`)
    try {
      const value = requireSync('it', run(faced(table, all), given.value as never, by))
      checkPlain(value ?? null, 'what it gave')
      const fitted = fitAnswer(signature, value)
      if (fitted.ok) return fitted.value
      throw badValue(fitted.why)
    } catch (error) {
      if (!isMistake(error)) throw error
      report(error, where, run)
      throw error instanceof HoldfastError ? error : badValue(String(error))
    }
  }
}

function faced(table: Table, all: readonly AnyAction[]): GameTable {
  const later: Table['later'] = (ms, action, args) => {
    const name = typeof action === 'string' ? action : action?.name
    const type = all.find((one) => one.name === name)
    const what = `a timer for the action "${name}"`
    return table.later(ms, action, type ? givenArguments(what, type.signature, args) : args)
  }
  // Without types of pieces, their operations on the table throw.
  return { ...('create' in table ? {} : NO_PIECES), ...table, later } as GameTable
}

function lacking(verb: string): () => never {
  return () => {
    throw new HoldfastError('not-found', `table.${verb}: join was given no type of pieces`)
  }
}

const NO_PIECES = {
  create: lacking('create'),
  all: lacking('all'),
  find: lacking('find'),
  draw: lacking('draw'),
}

function outcomeOf<Answer>(
  type: ActionType<never, Answer>,
  bytes: Uint8Array,
): ActionOutcome<Answer> {
  const answer = actions.decodeAnswer(bytes)
  if (!answer && bytes.length === 0) return refused('lost', ANSWER_LOST)
  if (!answer) return refused('failed', `the server knows no action "${type.name}"`)
  if (!answer.ok) {
    const isBug = answer.why.startsWith(actions.failureOf(type.name))
    return refused(isBug ? 'failed' : 'refused', answer.why)
  }
  const fitted = fitAnswer(type.signature, answer.value)
  if (fitted.ok) return fitted as ActionOutcome<Answer>
  return refused('failed', `it ran, and what came back does not fit: ${fitted.why}`)
}

export class ActionsApi implements KindApi {
  readonly #types: readonly AnyAction[]
  readonly #state: actions.Actions
  readonly #host: Host
  readonly table: TableView
  readonly #events: Listeners<TableEvents>
  // As primary: timers that were requested and have no answer yet.
  readonly #requested = new Set<number>()

  constructor(types: readonly AnyAction[], state: actions.Actions, host: Host) {
    this.#types = types
    this.#state = state
    this.#host = host
    this.#events = new Listeners('the table', ['changed'], host.reports)
    this.table = {
      get: (key) => actions.read(state, key),
      keys: (prefix) => actions.keys(state, prefix),
      on: (name, listener, options) => this.#events.on(name, listener, options),
    }
  }

  /** Runs one on the primary. @throws HoldfastError `bad-value`, `not-found` */
  async act<Args, Answer>(
    type: ActionType<Args, Answer>,
    args: Args,
  ): Promise<ActionOutcome<Answer>> {
    placeOf(this.#types, type as AnyAction)
    let body: Uint8Array
    try {
      const given = givenArguments(`the action "${type.name}"`, type.signature, args)
      body = actions.encodeCall(type.name, given)
    } catch (error) {
      return unfit(error)
    }
    return new Promise((resolve, reject) => {
      const settle = (answer: Uint8Array): void => resolve(outcomeOf(type, answer))
      const lost = (why: string): void => resolve(refused('lost', why))
      this.#host.ask({ body: () => body, settle, lost, reject })
    })
  }

  /** Keys of the table changed; or, on the primary, timers are due. */
  onEvent(event: actions.ActionEvent): void {
    if (event.kind === 'table') return this.#events.emit('changed', event.keys)
    for (const id of event.ids) if (!this.#requested.has(id)) this.#fire(id)
  }

  // A timer that could not be requested, or got no answer, stays due: the part reports it again.
  #fire(id: number): void {
    this.#requested.add(id)
    const { name } = find(this.#state.committed, id) ?? {}
    const body = (): Uint8Array => actions.encodeFire(id)
    const settled = (bytes: Uint8Array): void => {
      this.#requested.delete(id)
      const answer = actions.decodeAnswer(bytes)
      if (!answer || answer.ok) return
      // A timer has no caller, so its failure is reported to the application.
      const type = this.#types.find((one) => one.name === name)
      this.#host.reports.report(new Error(answer.why), `a timer of "${name}"`, type ?? this)
    }
    const reject = (): void => void this.#requested.delete(id)
    this.#host.ask({ body, settle: settled, lost: reject, reject })
  }
}
