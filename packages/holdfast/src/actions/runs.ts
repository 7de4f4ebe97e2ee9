/**
 * An action as the primary runs it. Arguments that do not fit its fields are refused, for they come
 * off the network; what it throws by mistake is told to who writes the game.
 */

import type { Run, Table, Actor } from './protocol/actions.ts'
import { HoldfastError } from '../machine.ts'
import { checkPlain } from '../wire/json.ts'
import { atOnce, isMistake, type Report } from '../api/reports.ts'
import type { GameTable } from '../pieces/table.ts'
import { fitArguments, givenAnswer, givenArguments } from '../api/arguments.ts'
import type { Signature } from '../api/arguments.ts'
import type { Kind } from '../kind/kind.ts'

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

type AnyAction = ActionType<never, unknown>

/**
 * See the head of this file. An `Error` that it throws by itself is its way of saying no.
 *
 * @param all  the actions of the game, which timers may run
 */
export function runOf(type: AnyAction, all: readonly AnyAction[], report: Report): Run {
  const { name, run, signature } = type
  const where = `the action "${name}"`
  return (table, args, by) => {
    const given = fitArguments(signature, args)
    // Who asked is told, and nobody else: the game has made no mistake.
    if (!given.ok) throw new Error(`${where}: ${given.why}`)
    try {
      const value = atOnce(where, run(faced(table, all), given.value as never, by))
      checkPlain(value ?? null, `what ${where} gave`)
      return givenAnswer(where, signature, value)
    } catch (error) {
      if (!isMistake(error)) throw error
      report(error, where, run)
      throw error instanceof HoldfastError ? error : new Error(`${where} failed: ${String(error)}`)
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
  // Without a type of pieces a table has none of their verbs: who uses one is told so.
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
