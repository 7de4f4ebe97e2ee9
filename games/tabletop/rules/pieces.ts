/**
 * What lies on the table: cards, men, dice and tokens, as the primary lets them be moved.
 *
 * Nobody but the primary decides which face is seen: a card's face is told to all when it lies
 * open, to its holder when it is in a hand, to who looks through its pile, and to nobody else. A
 * card keeps the mark `deck` from the pick-up deck until it is let go off it, so a card in the air
 * shows nothing yet.
 *
 * With `law` the rules of a game move a piece (board.ts, round.ts), and a hand may only carry it.
 */

import {
  angle,
  bool,
  piece,
  reject,
  type Rejection,
  secret,
  u32,
  u16,
  u8,
  vec2,
  type Vec2,
} from 'holdfast'
import { clampPlace, DECK, DISCARD, homeOf, isNear, manAt, TABLE } from './places.ts'

/** Steps of a whole turn: 64 to a circle. */
export const TURN_BITS = 6

const PLACE = vec2(0, TABLE[0], 0.5)

/** What a card says of itself. `face` is null where it is hidden. */
export interface CardState {
  at: Vec2
  turn: number
  /** Its face is up, for all to see. */
  up: boolean
  /** The player in whose hand it is; 0 for none. */
  hand: number
  deck: boolean
  /** The player who looks through its pile (search.ts); 0 for nobody. */
  seer: number
  law: boolean
  /** It lay on the table before that was cleared (shelf.ts): nobody sees or moves it. */
  aside: boolean
  face: number | null
}

/** What a man says of itself: `square` is where the rules have it, 0 off the board. */
export interface ManState {
  at: Vec2
  white: boolean
  /** 0 for one of draughts, 1 to 6 for pawn, knight, bishop, rook, queen, king. */
  kind: number
  king: boolean
  square: number
  /** Who may move it under the rules. */
  owner: number
  law: boolean
  aside: boolean
}

/** What a die says of itself. */
export interface DieState {
  at: Vec2
  turn: number
  pips: number
  /** How many pips it may show. */
  sides: number
  aside: boolean
}

/** What a token says of itself; a counter is one with a number. */
export interface TokenState {
  at: Vec2
  colour: number
  counter: boolean
  value: number
  aside: boolean
}

/** What an update does about holding. */
export type Hold = 'keep' | 'grab' | 'release' | 'wrest'

/** What a rule answers: the fields that change, or `reject` with a sentence. */
export type Ruled<State> = Partial<State> | Rejection

/** A playing card. */
export const Card = piece(
  'card',
  {
    at: PLACE,
    turn: angle(TURN_BITS),
    up: bool,
    hand: u32,
    deck: bool,
    seer: u32,
    law: bool,
    aside: bool,
    face: secret(u8, (card, who) => isSeen(card as unknown as CardState, who)),
  },
  { rules: { update: (card, patch, by, hold) => updateCard(card, patch, by, hold) } },
)

/** A man of draughts or chess. */
export const Man = piece(
  'man',
  {
    at: PLACE,
    white: bool,
    kind: u8,
    king: bool,
    square: u8,
    owner: u32,
    law: bool,
    aside: bool,
  },
  { rules: { update: (man, patch, by, hold) => updateMan(man, patch, by, hold) } },
)

/** A die. */
export const Die = piece(
  'die',
  { at: PLACE, turn: angle(TURN_BITS), pips: u8, sides: u8, aside: bool },
  { rules: { update: (die, patch) => updateDie(die, patch) } },
)

/** A token, or a counter. */
export const Token = piece(
  'token',
  { at: PLACE, colour: u8, counter: bool, value: u16, aside: bool },
  { rules: { update: (token, patch) => updateToken(token, patch) } },
)

/** A counter goes from 0 to this. */
export const COUNT_MAX = 9_999

function isSeen({ up, hand, seer }: CardState, who: number): boolean {
  return up || hand === who || seer === who
}

const CLEARED = 'The table was cleared.'

/** What becomes of an update of a card. */
export function updateCard(
  card: CardState,
  patch: Partial<CardState>,
  by: number,
  hold: Hold,
): Ruled<CardState> {
  const { face, deck: _deck, law, aside, seer, ...wanted } = patch
  if (card.aside) return reject(CLEARED)
  if (seer !== undefined) return reject('The table says who looks through a pile.')
  if (face !== undefined || law !== undefined || aside !== undefined) {
    return reject('What is printed on a card stays.')
  }
  if (card.hand !== 0 && card.hand !== by) return reject('That card is in somebody else’s hand.')
  if (wanted.hand && wanted.hand !== by)
    return reject('You can take cards into your own hand only.')
  if (wanted.at) wanted.at = clampPlace(wanted.at)
  if (card.law) return carried(card, wanted, by)
  if (hold === 'release') return landing(card, wanted)
  if (card.deck && (wanted.up || wanted.hand)) {
    return reject('A card of the deck shows its face when it is taken off and let go.')
  }
  return wanted.hand ? { ...wanted, seer: 0 } : wanted
}

// Under the rules of a game a hand may be sorted, and no more.
function carried(card: CardState, patch: Partial<CardState>, by: number): Ruled<CardState> {
  const { up = card.up, hand = card.hand } = patch
  if (card.hand === by && up === card.up && hand === card.hand) return patch
  return reject('The rules of the game move this card.')
}

/** How a card comes to lie that is let go: in a hand, on a pile, or where it is. */
export function landing(card: CardState, patch: Partial<CardState>): Partial<CardState> {
  const at = clampPlace(patch.at ?? card.at)
  const hand = patch.hand ?? card.hand
  if (hand !== 0) return { at, turn: 0, up: false, hand, deck: false, seer: 0 }
  if (isNear(at, DECK)) return { at: DECK, turn: 0, up: false, hand: 0, deck: true, seer: 0 }
  if (isNear(at, DISCARD)) return { at: DISCARD, turn: 0, up: true, hand: 0, deck: false, seer: 0 }
  const { turn = card.turn, up = card.up } = patch
  return { at, turn, up, hand: 0, deck: false, seer: 0 }
}

/** What becomes of an update of a man. */
export function updateMan(
  man: ManState,
  patch: Partial<ManState>,
  by: number,
  hold: Hold,
): Ruled<ManState> {
  const { at, king, kind, ...fixed } = patch
  if (man.aside) return reject(CLEARED)
  if (Object.keys(fixed).length > 0) return reject('A man keeps its colour.')
  const place = at && clampPlace(at)
  if (!man.law) return freely(man, patch, hold)
  if (man.square === 0) return reject('That man is captured.')
  if (man.owner !== by) {
    return reject(`Only who sits at ${man.white ? 'white' : 'black'} moves these men.`)
  }
  if (kind !== undefined) return reject('A pawn is promoted when it reaches the last row.')
  if (king !== undefined) return reject('A man is crowned when it reaches the last row.')
  // The rules bring it on; without them it goes back to its square.
  return hold === 'release' ? { at: homeOf(man) } : { ...(place && { at: place }) }
}

// A draughtsman stays one, and a chessman may become any other.
function freely(man: ManState, patch: Partial<ManState>, hold: Hold): Ruled<ManState> {
  const { at, king, kind } = patch
  const place = at && clampPlace(at)
  const lies = hold === 'release' ? manAt(place ?? man.at) : place
  if (kind !== undefined && kind !== man.kind) {
    if (man.kind === 0 || kind === 0) return reject('A man of draughts is none of chess.')
    if (kind > 6) return reject(`Chessmen are of kinds 1 to 6, and not ${kind}.`)
  }
  return {
    ...(lies && { at: lies }),
    ...(king !== undefined && { king }),
    ...(kind !== undefined && { kind }),
  }
}

function updateDie(die: DieState, patch: Partial<DieState>): Ruled<DieState> {
  const { at, turn, ...fixed } = patch
  if (die.aside) return reject(CLEARED)
  if (Object.keys(fixed).length > 0) return reject('Dice are rolled.')
  return { ...(at && { at: clampPlace(at) }), ...(turn !== undefined && { turn }) }
}

function updateToken(token: TokenState, patch: Partial<TokenState>): Ruled<TokenState> {
  const { at, value, ...fixed } = patch
  if (token.aside) return reject(CLEARED)
  if (Object.keys(fixed).length > 0) return reject('A token keeps its colour.')
  if (value !== undefined && !token.counter) return reject('That token has no number.')
  if (value !== undefined && value > COUNT_MAX) {
    return reject(`A counter goes from 0 to ${COUNT_MAX}, and not to ${value}.`)
  }
  return { ...(at && { at: clampPlace(at) }), ...(value !== undefined && { value }) }
}
