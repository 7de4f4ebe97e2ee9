/** Sitting down at a game, and getting up. */

import type { Actor, GameTable } from 'holdfast'
import { ownMen } from './board.ts'
import { handClock } from './clock.ts'
import * as eights from './eights.ts'
import { handOf, isOn, roundOf } from './round.ts'
import { record } from './records.ts'
import { endOf, gameOf, seatsOf } from './seats.ts'

/**
 * Takes a seat.
 *
 * @param args.instead  who sits there and has gone, or 0: their hand and their men are taken over
 */
export function sit(table: GameTable, args: { seat: number; instead: number }, by: Actor): void {
  const seats = seatsOf(table)
  const before = seats[args?.seat]
  if (before === undefined) throw new RangeError('There is no such seat.')
  if (before === by.player) return
  if (before !== 0 && before !== args.instead) throw new RangeError('Somebody sits there.')
  if (gameOf(table) === 'eights') changeHands(table, before, by.player)
  table.set(`seat.${args.seat}`, by.player)
  if (gameOf(table) === 'draughts') ownMen(table)
  record(table, by.player, before === 0 ? 'sat down' : `took {${before}}’s seat`)
}

/** Gets up. */
export function rise(table: GameTable, _args: null, by: Actor): void {
  const seats = seatsOf(table)
  if (!seats.includes(by.player)) return
  if (gameOf(table) === 'eights' && roundOf(table)?.players.includes(by.player) && isOn(table)) {
    throw new RangeError('Play the round to its end, or break it off.')
  }
  for (const [seat, player] of seats.entries()) {
    if (player === by.player) table.set(`seat.${seat}`, 0)
  }
  if (gameOf(table) === 'draughts') ownMen(table)
  if (!endOf(table)) record(table, by.player, 'got up')
}

// One plays with one hand only; who takes a seat over takes its hand.
function changeHands(table: GameTable, before: number, player: number): void {
  const round = roundOf(table)
  const isPlaying = round !== null && isOn(table)
  if (isPlaying && round.players.includes(player)) {
    throw new RangeError('You have a hand already.')
  }
  for (const [seat, other] of seatsOf(table).entries()) {
    if (other === player) table.set(`seat.${seat}`, 0)
  }
  if (!isPlaying || before === 0) return
  const players = round.players.map((each) => (each === before ? player : each))
  table.set('eights', eights.encode({ ...round, players }))
  if (eights.playerOf(round) === before) handClock(table, before, player)
  for (const card of handOf(table, before)) card.set({ hand: player })
}
