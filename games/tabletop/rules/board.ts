/** Draughts on the table: seats, moves of the men, how it ends. */

import type { Actor, GameTable } from 'holdfast'
import { end, runClock, stopClock, windClock } from './clock.ts'
import * as draughts from './draughts.ts'
import { menOf } from './free.ts'
import { Man } from './pieces.ts'
import { capturedAt, squareAt } from './places.ts'
import { type Readable, record } from './records.ts'
import { clearRows, endOf, need, seatsOf } from './seats.ts'

/** What the sides are called. */
export const SIDES: Readonly<Record<draughts.Side, string>> = { b: 'black', w: 'white' }

/** How it stands. */
export function positionOf(table: Readable): draughts.Position {
  return draughts.decode(table.get('draughts')) ?? draughts.START
}

/** The squares of the last move, from and to; none before the first. */
export function lastOf(table: Readable): number[] {
  const last = table.get('last')
  return typeof last === 'string' ? last.split(' ').map(Number) : []
}

/** The player of a side; 0 for nobody. */
export function playerOf(table: Readable, side: draughts.Side): number {
  return seatsOf(table)[side === 'b' ? 0 : 1] ?? 0
}

/** Moves a man by a step or a jump. @returns whether it must jump on */
export function hop(table: GameTable, args: { man: number; to: number }, by: Actor): boolean {
  const man = table.find(Man, args?.man)
  if (!man) throw new RangeError('There is no such man.')
  const from = man.state.square
  const before = going(table)
  const side = man.state.white ? 'w' : 'b'
  checkTurn(table, before, side, by.player)
  const { position, over, crowned } = draughts.play(before, from, args.to)
  man.hold(0)
  man.set({ at: squareAt(args.to), square: args.to, king: man.state.king || crowned })
  man.raise()
  if (over !== 0) capture(table, over)
  table.set('draughts', draughts.encode(position))
  table.set('last', `${from} ${args.to}`)
  table.delete('draw')
  const crown = crowned ? ' and crowned a king' : ''
  record(table, by.player, `moved ${from}${over === 0 ? '–' : '×'}${args.to}${crown}`)
  // Time begins to run with the first move, and goes on while one man jumps on.
  if (position.turn !== before.turn) runClock(table, position.turn)
  conclude(table, position)
  return position.mid !== 0
}

function going(table: GameTable): draughts.Position {
  need(table, 'draughts')
  if (endOf(table)) throw new RangeError('This game is over: start another.')
  return positionOf(table)
}

function checkTurn(
  table: GameTable,
  { turn }: draughts.Position,
  side: draughts.Side,
  player: number,
): void {
  if (playerOf(table, side) !== player) {
    throw new RangeError(`Only who sits at ${SIDES[side]} moves these men.`)
  }
  const rival = draughts.other(side)
  if (playerOf(table, rival) === 0) throw new RangeError(`Nobody sits at ${SIDES[rival]} yet.`)
  if (turn !== side) throw new RangeError('It is not your turn.')
}

function capture(table: GameTable, square: number): void {
  const men = menOf(table)
  const man = men.find(({ state }) => state.square === square)
  if (!man) return
  const { white } = man.state
  const gone = men.filter(({ state }) => state.white === white && state.square === 0).length
  man.hold(0)
  man.set({ at: capturedAt(white, gone), square: 0 })
}

function conclude(table: GameTable, position: draughts.Position): void {
  const result = draughts.ended(position)
  if (result === null) return
  if (result === 'draw') {
    const moves = draughts.QUIET_MAX / 2
    return end(table, 0, `A draw: ${moves} moves each without a capture or a man’s move.`)
  }
  const loser = draughts.other(result)
  const left = position.cells.toLowerCase().includes(loser)
  const why = left ? 'has no move' : 'has no man left'
  const [winner, other] = [playerOf(table, result), playerOf(table, loser)]
  end(table, winner, `{${winner}} wins with ${SIDES[result]}: {${other}} ${why}.`)
}

/** Offers a draw; when both sides have, it is one. @returns whether it is */
export function offer(table: GameTable, _args: null, by: Actor): boolean {
  going(table)
  const side = sideOf(table, by.player)
  const offered = table.get('draw')
  const rival = draughts.other(side)
  if (playerOf(table, rival) === 0) throw new RangeError(`Nobody sits at ${SIDES[rival]} yet.`)
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
  going(table)
  const side = sideOf(table, by.player)
  const winner = playerOf(table, draughts.other(side))
  record(table, by.player, 'resigned')
  end(table, winner, `{${by.player}} resigned: ${SIDES[draughts.other(side)]} wins.`)
}

/** Whose turn it is has no time left, and loses. */
export function loseOnTime(table: GameTable): void {
  const { turn } = going(table)
  const rival = draughts.other(turn)
  const [winner, loser] = [playerOf(table, rival), playerOf(table, turn)]
  stopClock(table)
  table.set(`clock.left.${turn}`, 0)
  if (loser !== 0) record(table, loser, 'ran out of time')
  const who = loser === 0 ? `Nobody moved ${SIDES[turn]} in time` : `{${loser}} ran out of time`
  end(table, winner, `${who}: ${SIDES[rival]} wins.`)
}

/** Another game, with the seats changed. */
export function again(table: GameTable, _args: null, by: Actor): void {
  need(table, 'draughts')
  if (!endOf(table)) throw new RangeError('The game is not over yet.')
  const [black, white] = [playerOf(table, 'b'), playerOf(table, 'w')]
  if (by.player !== black && by.player !== white) throw new RangeError('Take a seat first.')
  windClock(table)
  clearRows(table, 'draughts', 'draw', 'end', 'last')
  table.set('seat.0', white)
  table.set('seat.1', black)
  for (const white of [false, true]) {
    const men = menOf(table).filter(({ state }) => state.white === white)
    for (const [index, man] of men.entries()) {
      const square = (white ? 21 : 1) + index
      man.hold(0)
      man.set({ at: squareAt(square), square, king: false })
    }
  }
  ownMen(table)
  record(table, by.player, 'set up another game: the sides change')
}

/** Tells the men whose they are. */
export function ownMen(table: GameTable): void {
  for (const man of menOf(table)) {
    man.set({ owner: playerOf(table, man.state.white ? 'w' : 'b') })
  }
}

function sideOf(table: GameTable, player: number): draughts.Side {
  const turn = positionOf(table).turn
  const sides = [turn, draughts.other(turn)]
  const side = sides.find((each) => playerOf(table, each) === player)
  if (!side) throw new RangeError('Take a seat first.')
  return side
}
