/** The actions of a session as its user sees them: what is asked for, and the table they write. */

import * as actions from '../actions/actions.ts'
import type { Value } from '../actions/actions.ts'
import { badValue, HoldfastError } from '../machine.ts'
import { shown } from '../wire/fields.ts'
import { settle } from './answers.ts'
import type { ActionOutcome } from './events.ts'
import type { Question } from './questions.ts'
import type { ActionType } from './types.ts'

type AnyAction = ActionType<never, unknown>

/** What the actions need of their session. */
export interface DecisionsHost {
  readonly types: readonly AnyAction[]
  readonly state: actions.Actions
  /** Asks the primary. */
  ask(question: Question): void
}

/** See the head of this file. */
export class Decisions {
  readonly #host: DecisionsHost

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
