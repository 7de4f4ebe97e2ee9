/** An action as the primary runs it: what it throws by mistake is told to who writes the game. */

import type { Run } from '../actions/actions.ts'
import { HoldfastError } from '../machine.ts'
import { checkPlain } from '../wire/json.ts'
import { atOnce, isMistake, type Report } from '../runtime/reports.ts'
import type { GameTable } from './table.ts'
import type { ActionType } from './action-types.ts'

/** See the head of this file. An `Error` that it throws by itself is its way of saying no. */
export function runOf({ name, run }: ActionType<never, unknown>, report: Report): Run {
  const where = `the action "${name}"`
  return (table, args, by) => {
    try {
      const value = atOnce(where, run(faced(table), args as never, by))
      checkPlain(value ?? null, `what ${where} gave`)
      return value
    } catch (error) {
      if (!isMistake(error)) throw error
      report(error, where, run)
      throw error instanceof HoldfastError ? error : new Error(`${where} failed: ${String(error)}`)
    }
  }
}

// Without a type of pieces a table has none of their verbs: who uses one is told so.
function faced(table: object): GameTable {
  return ('create' in table ? table : Object.assign(table, NO_PIECES)) as GameTable
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
