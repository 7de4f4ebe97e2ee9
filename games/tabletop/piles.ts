/** Piles as this window sees them: cards that lie at one place; and what is done to a whole one. */

import type { Vec2 } from 'holdfast'
import type { CardHandle, Thing } from './kinds.ts'
import type { Play } from './play.ts'
import { isAt } from './rules/places.ts'
import { ACTS } from './rules/things.ts'

/** The cards of a pile, the topmost last. */
export interface Pile {
  readonly at: Vec2
  readonly cards: readonly Thing[]
}

/** All piles of one card or more. */
export function pilesOf(play: Play): Pile[] {
  const piles = new Map<string, { at: Vec2; cards: Thing[] }>()
  for (const thing of play.things) {
    if (thing.kind !== 'card' || !lies(thing.handle)) continue
    const { at } = thing.handle.state
    const key = at.map(Math.round).join()
    const pile = piles.get(key)
    if (pile) pile.cards.push(thing)
    else piles.set(key, { at, cards: [thing] })
  }
  return [...piles.values()]
}

/** How many cards lie where that one lies, with it; 0 for one that is in a hand. */
export function pileSize(play: Play, card: CardHandle): number {
  if (!lies(card)) return 0
  return play.things.filter(({ kind, handle }) => {
    return kind === 'card' && lies(handle) && isAt(handle.state.at, card.state.at)
  }).length
}

function lies({ state, holder }: CardHandle): boolean {
  return state.hand === 0 && holder === null
}

/** The cards that we look through, the topmost first. */
export function lookedThrough(play: Play): CardHandle[] {
  const me = play.session.me.player
  const cards = play.things.flatMap(({ kind, handle }) => (kind === 'card' ? [handle] : []))
  return cards.filter((card) => card.state.seer === me && lies(card)).toReversed()
}

/** Takes so many cards off a pile, and selects them, so that they are dragged together. */
export async function splitPile(play: Play, card: string, count: number): Promise<void> {
  const taken = await play.ask(ACTS.split, { card, count })
  if (!taken) return
  play.selected.clear()
  for (const id of taken) play.selected.add(id)
  play.show(null)
}
