/** Which game is on the table, who sits at it, and how it ended: rows of the table. */

import type { Table } from 'holdfast'
import { numberOf, type Readable } from './records.ts'

/** What can be played. */
export const GAMES = ['free', 'draughts', 'chess', 'eights'] as const

/** See GAMES. */
export type Game = (typeof GAMES)[number]

/** Seats of each game; at a free table nobody needs one. */
export const SEATS: Readonly<Record<Game, number>> = {
  free: 0,
  draughts: 2,
  chess: 2,
  eights: 4,
}

/** How a game ended. */
export interface End {
  /** 0 for nobody. */
  readonly winner: number
  /** A sentence; players stand as their numbers in braces. */
  readonly text: string
}

/** What is on the table; null before anything was chosen. */
export function gameOf(table: Readable): Game | null {
  return GAMES.find((game) => game === table.get('game')) ?? null
}

/** Who sits where: 0 for an empty seat. On the board 0 is black's seat, 1 white's. */
export function seatsOf(table: Readable): number[] {
  const game = gameOf(table)
  const count = game ? SEATS[game] : 0
  return Array.from({ length: count }, (_, seat) => numberOf(table.get(`seat.${seat}`)))
}

/** Whether two play it on the board. */
export function isDuel(game: Game | null): game is 'draughts' | 'chess' {
  return game === 'draughts' || game === 'chess'
}

/** How it ended; null while it goes on. */
export function endOf(table: Readable): End | null {
  const found = /^(\d+) (.*)$/.exec(String(table.get('end') ?? ''))
  return found && { winner: Number(found[1]), text: found[2]! }
}

/** Points of a player, over all rounds. */
export function scoreOf(table: Readable, player: number): number {
  return numberOf(table.get(`score.${player}`))
}

/** Deletes all rows that begin so. */
export function clearRows(table: Table, ...beginnings: readonly string[]): void {
  for (const beginning of beginnings) {
    for (const key of table.keys(beginning)) table.delete(key)
  }
}

/** Checks which game is on the table. @throws RangeError if it is another */
export function need(table: Readable, game: Game): void {
  if (gameOf(table) !== game) throw new RangeError('That game is not on the table.')
}
