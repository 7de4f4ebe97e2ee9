/**
 * How a bot plays draughts: it looks some moves ahead, goes on while there are captures, and takes
 * what is best by men, kings and ground; of what is nearly as good it takes now this, now that.
 *
 * Plain data and pure functions, so that a bot plays the same again from the same seed.
 */

import { around, type Chance } from '../../chance.ts'
import { ended, type Move, moves, other, play, type Position, type Side } from './draughts.ts'

/** What a man is worth, and a king. */
const MAN = 100
const KING = 165
/** What a row nearer to the last is worth, and a man that keeps the first. */
const AHEAD = 4
const GUARD = 9
/** A win, the sooner the better. */
const WIN = 10_000
/** Captures are followed so far beyond the depth. */
const CAPTURES_MAX = 6
/** How much the best and the worst bot misjudge a position, about. */
const SLIPS: readonly [best: number, worst: number] = [5, 45]
/** How far they look ahead, in moves. */
const DEPTHS: readonly [best: number, worst: number] = [3, 1]

/** How good a bot is: 0, a beginner, to 1. @param index  from 1: the first is in the middle */
export function skillOf(index: number): number {
  return (index * 0.618) % 1
}

/** What a move seems to be worth to whom it is of; a page judges one at a time. */
export function weigh(position: Position, move: Move, chance: Chance, skill: number): number {
  const depth = Math.round(DEPTHS[1] + (DEPTHS[0] - DEPTHS[1]) * skill)
  const slip = SLIPS[1] + (SLIPS[0] - SLIPS[1]) * skill
  return after(position, move, depth, -Infinity, Infinity) + slip * around(chance)
}

/** Whether it agrees to a draw: when it has not more than the other. */
export function agrees(position: Position, side: Side): boolean {
  return material(position, side) <= material(position, other(side))
}

// What a move is worth to whom it is of.
function after(position: Position, move: Move, depth: number, low: number, high: number): number {
  const next = play(position, move.from, move.to).position
  const mine = next.turn === position.turn
  return mine ? search(next, depth, low, high) : -search(next, depth - 1, -high, -low)
}

// What a position is worth to whose turn it is. Who goes on jumping looks no less far.
function search(position: Position, depth: number, low: number, high: number): number {
  const end = ended(position)
  if (end !== null) return end === 'draw' ? 0 : -WIN - depth
  const all = moves(position)
  const captures = all[0]!.over !== 0
  if (depth <= (captures ? -CAPTURES_MAX : 0)) return judge(position)
  let best = -Infinity
  for (const move of all) {
    best = Math.max(best, after(position, move, depth, Math.max(low, best), high))
    if (best >= high) break
  }
  return best
}

function judge(position: Position): number {
  return worth(position, position.turn) - worth(position, other(position.turn))
}

function material({ cells }: Position, side: Side): number {
  const count = (man: string): number => cells.split(man).length - 1
  return MAN * count(side) + KING * count(side.toUpperCase())
}

function worth(position: Position, side: Side): number {
  let sum = material(position, side)
  for (let at = 0; at < position.cells.length; at++) {
    if (position.cells[at] !== side) continue
    const row = Math.floor(at / 4)
    const gone = side === 'b' ? row : 7 - row
    sum += gone === 0 ? GUARD : AHEAD * gone
  }
  return sum
}
