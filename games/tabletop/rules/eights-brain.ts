/**
 * How a bot plays Crazy Eights: the suit that it has most of, what is dear when somebody is nearly
 * out, and an eight only when nothing else fits. It knows its own hand and what lies open.
 */

import { cost, DRAWS_MAX, fits, type Round } from './eights.ts'
import { rankOf, SUITS, suitOf } from './faces.ts'

/** Who has so few cards is nearly out. */
const FEW = 2

/** A card of its hand, by the id of its piece. */
export interface Held {
  readonly id: string
  readonly face: number
}

/** What it sees when it is its turn. */
export interface View {
  readonly round: Round
  readonly hand: readonly Held[]
  /** The open card. */
  readonly top: number
  /** Cards of whoever has fewest of the others. */
  readonly fewest: number
  /** Whether there is a card to be drawn. */
  readonly canDraw: boolean
}

/** What it does. */
export type Deed =
  | { kind: 'play'; card: string; suit: number }
  | { kind: 'draw' }
  | { kind: 'pass' }

/** See the head of this file. */
export function choose({ round, hand, top, fewest, canDraw }: View): Deed {
  const fitting = hand.filter(({ face }) => fits(face, top, round.suit))
  const plain = fitting.filter(({ face }) => rankOf(face) !== 8)
  const worth = ({ face }: Held): number => {
    return 4 * countOf(hand, suitOf(face)) + (fewest <= FEW ? 3 : 0.2) * cost(face)
  }
  const best = (plain.length > 0 ? plain : fitting).toSorted((a, b) => worth(b) - worth(a))[0]
  if (best) {
    const rest = hand.filter(({ id }) => id !== best.id)
    return { kind: 'play', card: best.id, suit: longest(rest) }
  }
  return canDraw && round.drawn < DRAWS_MAX ? { kind: 'draw' } : { kind: 'pass' }
}

// The suit that a hand has most of; eights fit anyway.
function longest(hand: readonly Held[]): number {
  const counts = SUITS.map((_, suit) => countOf(hand, suit))
  return counts.indexOf(Math.max(...counts))
}

function countOf(hand: readonly Held[], suit: number): number {
  return hand.filter(({ face }) => suitOf(face) === suit && rankOf(face) !== 8).length
}
