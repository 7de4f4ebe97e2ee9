/** An action as the primary runs it: what it throws by mistake is told to who writes the game. */

import type { Run } from '../actions/actions.ts'
import { HoldfastError } from '../machine.ts'
import { checkPlain } from '../wire/json.ts'
import { atOnce, isMistake, type Report } from '../runtime/reports.ts'
import type { GameTable } from './table.ts'
import type { ActionType } from './types.ts'

/** See the head of this file. An `Error` that it throws by itself is its way of saying no. */
export function runOf({ name, run }: ActionType<never, unknown>, report: Report): Run {
  const where = `the action "${name}"`
  return (table, args, by) => {
    try {
      const value = atOnce(where, run(table as GameTable, args as never, by))
      checkPlain(value ?? null, `what ${where} gave`)
      return value
    } catch (error) {
      if (!isMistake(error)) throw error
      report(error, where, run)
      throw error instanceof HoldfastError ? error : new Error(`${where} failed: ${String(error)}`)
    }
  }
}
