/** The actions of a session as its user sees them: what is asked for, and the table they write. */

import * as actions from '../actions/actions.ts'
import type { Value } from '../actions/actions.ts'
import { badValue, HoldfastError } from '../machine.ts'
import { shown } from '../wire/fields.ts'
import { settle } from './answers.ts'
import type { ActionOutcome } from './events.ts'
import type { Question } from './questions.ts'
import type { Report } from '../runtime/reports.ts'
import type { ActionType } from './types.ts'

type AnyAction = ActionType<never, unknown>

/** What the actions need of their session. */
export interface DecisionsHost {
  readonly types: readonly AnyAction[]
  readonly state: actions.Actions
  readonly report: Report
  /** Asks the primary. */
  ask(question: Question): void
}

/** See the head of this file. */
export class Decisions {
  readonly #host: DecisionsHost
  // Timers that we, as who serves, have asked for and have no answer about.
  readonly #falling = new Set<number>()

  constructor(host: DecisionsHost) {
    this.#host = host
  }

  /** Runs one on the primary. @throws HoldfastError `bad-value`, `not-found` */
  act<Args, Answer>(type: ActionType<Args, Answer>, args: Args): Promise<ActionOutcome<Answer>> {
    this.#check(type)
    const body = actions.encodeCall(type.name, args)
    return new Promise((resolve, reject) => {
      const settled = (bytes: Uint8Array): void => settle(type, bytes, resolve, reject)
      const channel = actions.ACTIONS_CHANNEL
      this.#host.ask({ channel, body: () => body, settle: settled, reject })
    })
  }

  /** As who serves: these timers are due. */
  fire(ids: readonly number[]): void {
    for (const id of ids) if (!this.#falling.has(id)) this.#fire(id)
  }

  // What is not asked for, or has no answer, is due still: we are told of it again.
  #fire(id: number): void {
    this.#falling.add(id)
    const { name } = actions.timerOf(this.#host.state, id) ?? {}
    const body = (): Uint8Array => actions.encodeFire(id)
    const settled = (bytes: Uint8Array): void => {
      this.#falling.delete(id)
      const answer = actions.decodeAnswer(bytes)
      if (!answer || answer.ok) return
      // Nobody asked for it who could be told, so whoever writes the game is.
      const type = this.#host.types.find((one) => one.name === name)
      this.#host.report(new Error(answer.why), `a timer of "${name}"`, type ?? this)
    }
    const reject = (): void => void this.#falling.delete(id)
    this.#host.ask({ channel: actions.ACTIONS_CHANNEL, body, settle: settled, reject })
  }

  #check(type: AnyAction): void {
    if ((type as AnyAction | undefined)?.kind !== 'action') {
      throw badValue(`act takes an action, as action() makes it: ${shown(type)}`)
    }
    if (this.#host.types.includes(type)) return
    throw new HoldfastError('not-found', `the action "${type.name}" was not given to join`)
  }

  /** A value of the table. */
  get(key: string): Value | undefined {
    return actions.read(this.#host.state, key)
  }

  /** Keys of the table with such a beginning, sorted. */
  keys(prefix: string): string[] {
    return actions.keys(this.#host.state, prefix)
  }
}
