/** The cards as a whole: which there are, which lie together, whose faces are given anew. */

import type { GameTable, TablePiece } from 'holdfast'
import { Card } from './pieces.ts'
import { DECK, DISCARD, isAt } from './places.ts'

/** A card as an action has it. */
export type TableCard = TablePiece<typeof Card.schema.fields>

/** All cards, lowest first. */
export function cardsOf(table: GameTable): TableCard[] {
  return table.all(Card).filter(({ state }) => !state.aside)
}

/** The cards of the deck that nobody holds, the topmost last. */
export function deckOf(table: GameTable): TableCard[] {
  return cardsOf(table).filter(({ state, heldBy }) => state.deck && heldBy === 0)
}

/** All cards that lie where that one does, the topmost last. @throws RangeError if it does not */
export function pileOf(table: GameTable, id: string): TableCard[] {
  const card = cardsOf(table).find((each) => each.id === id)
  if (!card || !lies(card)) throw new RangeError(`Card ${id} lies on no pile of this table.`)
  return cardsOf(table).filter((each) => lies(each) && isAt(each.state.at, card.state.at))
}

function lies({ state, heldBy }: TableCard): boolean {
  return state.hand === 0 && heldBy === 0
}

/** Such as "the deck". */
export function pileName({ state }: TableCard): string {
  if (state.deck) return 'the deck'
  return isAt(state.at, DISCARD) ? 'the discard pile' : 'a pile'
}

/** Puts cards onto the deck. */
export function gather(cards: readonly TableCard[]): void {
  for (const card of cards) {
    card.hold(0)
    card.set({ at: DECK, turn: 0, up: false, hand: 0, deck: true, seer: 0 })
  }
}

/** Gives the faces of these cards to them anew, each order as likely: nobody knows any more. */
export function shuffleFaces(table: GameTable, cards: readonly TableCard[]): void {
  const faces = cards.map(({ state }) => state.face ?? 0)
  for (let last = faces.length - 1; last > 0; last--) {
    const other = table.draw(last + 1)
    ;[faces[last], faces[other]] = [faces[other]!, faces[last]!]
  }
  for (const [place, card] of cards.entries()) card.set({ face: faces[place]!, seer: 0 })
}

/** Puts a card into a hand. */
export function give(card: TableCard, player: number): void {
  card.set({ hand: player, deck: false, up: false, turn: 0, seer: 0 })
  card.raise()
}
