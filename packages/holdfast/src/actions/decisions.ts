/** The actions of a session as its user sees them: what is asked for, and the table they write. */

import * as actions from './protocol/actions.ts'
import type { ActionType } from './runs.ts'
import { givenArguments, fitAnswer } from '../api/arguments.ts'
import { placeOf } from '../kind/definitions.ts'
import { Listeners } from '../api/emitter.ts'
import type { Face, Host, TableEvents, TableView } from '../kind/kind.ts'
import { type ActionOutcome, refused, unfit } from '../kind/outcomes.ts'
import { decodeAnswer } from './protocol/actions.ts'

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

type AnyAction = ActionType<never, unknown>

/** See the head of this file. */
export class Decisions implements Face {
  readonly #types: readonly AnyAction[]
  readonly #state: actions.Actions
  readonly #host: Host
  readonly table: TableView
  readonly #events: Listeners<TableEvents>
  // Timers that we, as who serves, have asked for and have no answer about.
  readonly #falling = new Set<number>()

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
      this.#host.ask({
        body: () => body,
        settle: (bytes) => resolve(outcomeOf(type, bytes)),
        lost: (why) => resolve(refused('lost', why)),
        reject,
      })
    })
  }

  /** Keys of the table are others; or timers are due, at who serves. */
  onEvent(event: actions.ActionEvent): void {
    if (event.kind === 'table') return this.#events.emit('changed', event.keys)
    for (const id of event.ids) if (!this.#falling.has(id)) this.#fire(id)
  }

  // What is not asked for, or has no answer, is due still: we are told of it again.
  #fire(id: number): void {
    this.#falling.add(id)
    const { name } = actions.timerOf(this.#state, id) ?? {}
    const body = (): Uint8Array => actions.encodeFire(id)
    const settled = (bytes: Uint8Array): void => {
      this.#falling.delete(id)
      const answer = actions.decodeAnswer(bytes)
      if (!answer || answer.ok) return
      // Nobody asked for it who could be told, so whoever writes the game is.
      const type = this.#types.find((one) => one.name === name)
      this.#host.reports.report(new Error(answer.why), `a timer of "${name}"`, type ?? this)
    }
    const reject = (): void => void this.#falling.delete(id)
    this.#host.ask({ body, settle: settled, lost: reject, reject })
  }
}
