/**
 * The faces of 52 cards: numbers from 0 to 51, suit by suit, each from the ace to the king. Two
 * jokers, black and red, come behind them.
 */

/** How many there are. */
export const CARDS = 52
/** And how many jokers. */
export const JOKERS = 2
/** Cards of one suit. */
export const RANKS = 13
/** Names of the suits, in their order. */
export const SUITS = ['clubs', 'diamonds', 'hearts', 'spades'] as const

const NAMES = 'ace 2 3 4 5 6 7 8 9 10 jack queen king'.split(' ')
const INDICES = 'A 2 3 4 5 6 7 8 9 10 J Q K'.split(' ')

/** Whether it is none of the 52. */
export function isJoker(face: number): boolean {
  return face >= CARDS
}

/** 0 to 3. */
export function suitOf(face: number): number {
  return Math.floor(face / RANKS) % SUITS.length
}

/** 1, an ace, to 13, a king. */
export function rankOf(face: number): number {
  return (face % RANKS) + 1
}

/** Diamonds and hearts. */
export function isRed(face: number): boolean {
  if (isJoker(face)) return face > CARDS
  return suitOf(face) === 1 || suitOf(face) === 2
}

/** What stands in the corner, such as `10` or `Q`. */
export function indexOf(face: number): string {
  return INDICES[rankOf(face) - 1]!
}

/** Such as "queen of hearts". */
export function nameOf(face: number): string {
  if (isJoker(face)) return isRed(face) ? 'red joker' : 'black joker'
  return `${NAMES[rankOf(face) - 1]} of ${SUITS[suitOf(face)]}`
}

/** Such as "the queen of hearts", or "a card" where the face is not known. */
export function theCard(face: number | null): string {
  return face === null ? 'a card' : `the ${nameOf(face)}`
}
