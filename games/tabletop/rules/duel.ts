/** What games of two sides on the board have in common: whose turn it is, and ways to end one. */

import type { Actor, GameTable } from 'holdfast'
import * as chess from './chess.ts'
import { end, stopClock, windClock } from './clock.ts'
import * as draughts from './draughts.ts'
import { layMen, menOf } from './men.ts'
import { type Readable, record } from './records.ts'
import { clearRows, endOf, gameOf, isDuel, seatsOf } from './seats.ts'

/** Black has the first seat, white the second. */
export type Side = 'b' | 'w'

/** What the sides are called. */
export const SIDES: Readonly<Record<Side, string>> = { b: 'black', w: 'white' }

/** The player of a side; 0 for nobody. */
export function playerOf(table: Readable, side: Side): number {
  return seatsOf(table)[side === 'b' ? 0 : 1] ?? 0
}

/** The other one. */
export function other(side: Side): Side {
  return side === 'b' ? 'w' : 'b'
}

/** How a game of draughts stands. */
export function positionOf(table: Readable): draughts.Position {
  return draughts.decode(table.get('draughts')) ?? draughts.START
}

/** How a game of chess stands. */
export function chessOf(table: Readable): chess.Position {
  return chess.decode(table.get('chess')) ?? chess.START
}

/** Whose turn it is. */
export function turnOf(table: Readable): Side {
  return gameOf(table) === 'chess' ? chessOf(table).turn : positionOf(table).turn
}

/** The squares of the last move, from and to; none before the first. */
export function lastOf(table: Readable): number[] {
  const last = table.get('last')
  return typeof last === 'string' ? last.split(' ').map(Number) : []
}

/** Checks that such a game goes on. @throws RangeError */
export function checkGoing(table: Readable): void {
  if (!isDuel(gameOf(table))) throw new RangeError('That game is not on the table.')
  if (endOf(table)) throw new RangeError('This game is over: start another.')
}

/** Checks that a player moves a man of that side now. @throws RangeError */
export function checkTurn(table: Readable, side: Side, player: number): void {
  if (playerOf(table, side) !== player) {
    throw new RangeError(`Only who sits at ${SIDES[side]} moves these men.`)
  }
  checkRival(table, side)
  if (turnOf(table) !== side) throw new RangeError('It is not your turn.')
}

function checkRival(table: Readable, side: Side): void {
  const rival = other(side)
  if (playerOf(table, rival) === 0) throw new RangeError(`Nobody sits at ${SIDES[rival]} yet.`)
}

/** Offers a draw; when both sides have, it is one. @returns whether it is */
export function offer(table: GameTable, _args: null, by: Actor): boolean {
  checkGoing(table)
  const side = sideOf(table, by.player)
  const offered = table.get('draw')
  const rival = other(side)
  checkRival(table, side)
  if (offered !== rival && playerOf(table, rival) !== by.player) {
    table.set('draw', side)
    record(table, by.player, 'offers a draw')
    return false
  }
  record(table, by.player, 'agrees to a draw')
  end(table, 0, 'A draw, by agreement.')
  return true
}

/** Gives up. */
export function resign(table: GameTable, _args: null, by: Actor): void {
  checkGoing(table)
  const rival = other(sideOf(table, by.player))
  record(table, by.player, 'resigned')
  end(table, playerOf(table, rival), `{${by.player}} resigned: ${SIDES[rival]} wins.`)
}

/** Whose turn it is has no time left, and loses. */
export function loseOnTime(table: GameTable): void {
  checkGoing(table)
  const turn = turnOf(table)
  const rival = other(turn)
  const [winner, loser] = [playerOf(table, rival), playerOf(table, turn)]
  stopClock(table)
  table.set(`clock.left.${turn}`, 0)
  if (loser !== 0) record(table, loser, 'ran out of time')
  const who = loser === 0 ? `Nobody moved ${SIDES[turn]} in time` : `{${loser}} ran out of time`
  end(table, winner, `${who}: ${SIDES[rival]} wins.`)
}

/** Another game, with the seats changed. */
export function again(table: GameTable, _args: null, by: Actor): void {
  const game = gameOf(table)
  if (!isDuel(game)) throw new RangeError('That game is not on the table.')
  if (!endOf(table)) throw new RangeError('The game is not over yet.')
  const [black, white] = [playerOf(table, 'b'), playerOf(table, 'w')]
  if (by.player !== black && by.player !== white) throw new RangeError('Take a seat first.')
  windClock(table)
  clearRows(table, 'draughts', 'chess', 'draw', 'end', 'last')
  table.set('seat.0', white)
  table.set('seat.1', black)
  for (const man of menOf(table)) man.remove()
  layMen(table, game, true)
  ownMen(table)
  record(table, by.player, 'set up another game: the sides change')
}

/** Tells the men whose they are. */
export function ownMen(table: GameTable): void {
  for (const man of menOf(table)) {
    man.set({ owner: playerOf(table, man.state.white ? 'w' : 'b') })
  }
}

function sideOf(table: GameTable, player: number): Side {
  const turn = turnOf(table)
  const side = [turn, other(turn)].find((each) => playerOf(table, each) === player)
  if (!side) throw new RangeError('Take a seat first.')
  return side
}
