/** Draughts on the table: moves of the men, how it ends. */

import type { Actor, GameTable } from 'holdfast'
import { end, runClock } from './clock.ts'
import * as draughts from './draughts.ts'
import { checkGoing, checkTurn, playerOf, positionOf, SIDES } from './duel.ts'
import { menOf } from './men.ts'
import { Man } from './pieces.ts'
import { capturedAt, squareAt } from './places.ts'
import { record } from './records.ts'
import { need } from './seats.ts'

/** Moves a man by a step or a jump. @returns whether it must jump on */
export function hop(table: GameTable, args: { man: string; to: number }, by: Actor): boolean {
  const man = table.find(Man, args?.man)
  if (!man) throw new RangeError('There is no such man.')
  const from = man.state.square
  need(table, 'draughts')
  checkGoing(table)
  checkTurn(table, man.state.white ? 'w' : 'b', by.player)
  const before = positionOf(table)
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
