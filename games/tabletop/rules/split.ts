/** Splitting a pile: its uppermost cards come to lie beside it, in their order. */

import type { Actor, GameTable, Vec2 } from 'holdfast'
import { cardsOf, pileName, pileOf } from './deck.ts'
import { CARD, clampPlace, DECK, DISCARD } from './places.ts'
import { record } from './records.ts'
import { gameOf } from './seats.ts'

/** From a pile to the next, in units of the table. */
const APART: Vec2 = [CARD[0] + 25, CARD[1] + 40]

/**
 * Takes cards off a pile. @returns their pieces
 *
 * @param args.card  any card of the pile
 * @param args.count  from 1 to all but one
 */
export function split(
  table: GameTable,
  args: { card: string; count: number },
  by: Actor,
): string[] {
  if (gameOf(table) !== 'free') throw new RangeError('In this game the rules move the cards.')
  const { card, count } = args ?? {}
  const pile = pileOf(table, card)
  const most = pile.length - 1
  if (most === 0) throw new RangeError('One card alone cannot be split.')
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new RangeError(`Of this pile 1 to ${most} cards can be taken off, and not ${count}.`)
  }
  const name = pileName(pile[0]!)
  const at = beside(table, pile[0]!.state.at)
  const taken = pile.slice(-count)
  for (const each of taken) {
    each.set({ at, deck: false, seer: 0 })
    each.raise()
  }
  record(table, by.player, `took ${count === 1 ? 'a card' : `${count} cards`} off ${name}`)
  return taken.map(({ id }) => id)
}

/** A free place near that one: left of it if possible, for the discards are to the right. */
function beside(table: GameTable, [x, y]: Vec2): Vec2 {
  const lie = cardsOf(table).flatMap(({ state }) => (state.hand === 0 ? [state.at] : []))
  const taken = [DECK, DISCARD, ...lie]
  const wanted = WAYS.map(([across, along]): Vec2 => [x + across * APART[0], y + along * APART[1]])
  const free = wanted.find((at) => isFree(at, taken))
  return clampPlace(free ?? wanted[0]!)
}

/** Where to look, in steps. */
const WAYS: readonly Vec2[] = [
  [-1, 0],
  [0, 1],
  [0, -1],
  [1, 0],
  [-1, 1],
  [1, 1],
  [-1, -1],
  [1, -1],
  [2, 0],
  [-2, 0],
]

function isFree([x, y]: Vec2, taken: readonly Vec2[]): boolean {
  const [within, along] = clampPlace([x, y])
  if (within !== x || along !== y) return false
  return taken.every((at) => Math.abs(at[0] - x) >= CARD[0] || Math.abs(at[1] - y) >= CARD[1])
}
