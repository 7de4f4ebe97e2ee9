/**
 * Looking through a pile: its cards stay where they are, and show their faces to one player alone.
 * Everybody is told. Nothing is locked meanwhile: who takes or shuffles the cards ends it for them.
 *
 *     search         who looks
 *     search.timer   the timer that ends it
 */

import type { Actor, GameTable } from 'holdfast'
import { cardsOf, deckOf, pileName, pileOf, shuffleFaces, type TableCard } from './deck.ts'
import { numberOf, type Readable, record } from './records.ts'
import { clearRows, gameOf } from './seats.ts'

/** One looks so long at most, in milliseconds. */
export const SEARCH_MS = 120_000
/** The action that runs then. */
export const SEARCH_DUE = 'search-due'

/** Who looks through a pile now; 0 for nobody. */
export function searcherOf(table: Readable): number {
  return numberOf(table.get('search'))
}

/** Shows the pile on which a card lies to who asks. @returns how many cards */
export function search(table: GameTable, args: { card: string }, by: Actor): number {
  if (gameOf(table) !== 'free') throw new RangeError('Only at a free table one may do that.')
  const other = searcherOf(table)
  if (other !== 0 && other !== by.player && table.here.includes(other)) {
    throw new RangeError('Somebody looks through a pile already: wait until they are done.')
  }
  const pile = pileOf(table, args?.card)
  endSearch(table)
  for (const card of pile) card.set({ seer: by.player })
  table.set('search', by.player)
  table.set('search.timer', table.later(SEARCH_MS, SEARCH_DUE))
  const count = pile.length === 1 ? '1 card' : `${pile.length} cards`
  record(table, by.player, `looks through ${pileName(pile[0]!)}: ${count}`)
  return pile.length
}

/** Ends one's own search. @param args.shuffle  what was looked through is shuffled */
export function endOwnSearch(table: GameTable, args: { shuffle: boolean }, by: Actor): void {
  if (searcherOf(table) !== by.player) throw new RangeError('You look through no pile now.')
  const seen = seenCards(table)
  endSearch(table)
  if (args?.shuffle === true) shuffleFaces(table, wholeOf(table, seen))
  const how = args?.shuffle === true ? 'shuffled what they looked through' : 'looks no more'
  record(table, by.player, how)
}

// The deck may have got cards meanwhile: they are shuffled with the rest. Open cards stay as
// they are.
function wholeOf(table: GameTable, seen: readonly TableCard[]): readonly TableCard[] {
  if (seen.some(({ state }) => state.deck)) return deckOf(table)
  return seen.filter(({ state, heldBy }) => !state.up && heldBy === 0)
}

/** Run by the table's own timer: who went away or forgot it looks no more. */
export function searchDue(table: GameTable, _nothing: unknown, by: Actor): void {
  if (by.player !== 0) throw new RangeError('The table says when that is over.')
  endSearch(table)
}

/** Nobody looks through a pile any more. */
export function endSearch(table: GameTable): void {
  if (searcherOf(table) === 0) return
  for (const card of seenCards(table)) card.set({ seer: 0 })
  table.cancel(numberOf(table.get('search.timer')))
  clearRows(table, 'search')
}

function seenCards(table: GameTable): TableCard[] {
  return cardsOf(table).filter(({ state }) => state.seer !== 0)
}
