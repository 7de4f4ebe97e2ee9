/** Sitting down at a game, and getting up. */

import type { Actor, GameTable } from 'holdfast'
import { ownMen } from './duel.ts'
import { isInRound } from './round.ts'
import { record } from './records.ts'
import { endOf, gameOf, isDuel, seatsOf } from './seats.ts'

/** Takes a seat that is free. Of one whose player is away there are claims (absence.ts). */
export function sit(table: GameTable, args: { seat: number }, by: Actor): void {
  const seats = seatsOf(table)
  const before = seats[args?.seat]
  if (before === undefined) throw new RangeError('There is no such seat.')
  if (before === by.player) return
  if (before !== 0) throw new RangeError('Somebody sits there.')
  if (gameOf(table) === 'eights') leaveSeats(table, by.player)
  table.set(`seat.${args.seat}`, by.player)
  if (isDuel(gameOf(table))) ownMen(table)
  record(table, by.player, 'sat down')
}

/** Gets up. */
export function rise(table: GameTable, _args: null, by: Actor): void {
  const seats = seatsOf(table)
  if (!seats.includes(by.player)) return
  if (gameOf(table) === 'eights' && isInRound(table, by.player)) {
    throw new RangeError('Play the round to its end, or break it off.')
  }
  for (const [seat, player] of seats.entries()) {
    if (player === by.player) table.set(`seat.${seat}`, 0)
  }
  if (isDuel(gameOf(table))) ownMen(table)
  if (!endOf(table)) record(table, by.player, 'got up')
}

// One plays with one hand only.
function leaveSeats(table: GameTable, player: number): void {
  if (isInRound(table, player)) throw new RangeError('You have a hand already.')
  for (const [seat, other] of seatsOf(table).entries()) {
    if (other === player) table.set(`seat.${seat}`, 0)
  }
}
