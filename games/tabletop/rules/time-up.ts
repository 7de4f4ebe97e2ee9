/** What becomes of who has no time left. */

import type { Actor, GameTable } from 'holdfast'
import { isTimeUp } from './clock.ts'
import { loseOnTime } from './duel.ts'
import { skip } from './round.ts'
import { endOf, gameOf, isDuel } from './seats.ts'

/** Run by the table's own timer, and by nobody else. */
export function timeUp(table: GameTable, _nothing: unknown, by: Actor): void {
  if (by.player !== 0) throw new RangeError('The clock of the table says when time is up.')
  if (!isTimeUp(table) || endOf(table)) return
  if (isDuel(gameOf(table))) loseOnTime(table)
  if (gameOf(table) === 'eights') skip(table)
}
