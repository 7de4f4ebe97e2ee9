/** The definitions of the table: its cards and actions. The page and the test share this file. */

import {
  action,
  bool,
  type GameTable,
  type JoinOptions,
  piece,
  reject,
  secret,
  u32,
  u8,
  vec2,
} from 'holdfast'

export const SUITS = ['♣', '♦', '♥', '♠'] as const
export const RANKS = ['A', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'J', 'Q', 'K'] as const
export const DECK = SUITS.length * RANKS.length
const DEALT = 5
/** Where the deck is. */
const CORNER = [3, 50] as const

/** A card, which several players may grab at once. */
export const Card = piece(
  'card',
  {
    /** In percent of the table. */
    at: vec2(0, 100, 0.1),
    /** The player in whose hand it is; 0 for none. */
    hand: u32,
    /** Whether everybody sees its face. */
    up: bool,
    face: secret(u8, (card, who) => card.up || card.hand === who),
  },
  {
    rules: {
      update: (card, patch, by) => {
        if (patch.face !== undefined) return reject('The face of a card stays.')
        if (card.hand !== 0 && card.hand !== by) return reject('That card is in another hand.')
        if (patch.hand && patch.hand !== by) return reject('That is another hand.')
        return patch
      },
    },
  },
)

/** Gathers all cards in the deck, in an order that nobody knows. */
export const shuffle = action('shuffle', (table) => {
  const faces = Array.from({ length: DECK }, (_, face) => face)
  const cards = table.all(Card)
  for (let at = 0; at < DECK; at++) {
    const [face] = faces.splice(table.draw(faces.length), 1)
    const card = cards[at] ?? table.create(Card, { at: CORNER })
    card.hold(0)
    card.set({ at: CORNER, hand: 0, up: false, face })
  }
})

/** Deals to every player who is here, from the top of the deck. */
export const deal = action('deal', (table) => {
  const deck = deckOf(table)
  if (deck.length < DEALT * table.here.length) throw new Error('The deck has too few cards.')
  for (const player of table.here) {
    // A player who is away for long keeps the hand.
    table.keep(player)
    for (let count = 0; count < DEALT; count++) deck.pop()!.set({ hand: player })
  }
})

function deckOf(table: GameTable) {
  return table.all(Card).filter(({ state, heldBy }) => {
    const isThere = state.at[0] === CORNER[0] && state.at[1] === CORNER[1]
    return isThere && state.hand === 0 && !state.up && heldBy === 0
  })
}

/** Such as "10♥". */
export function faceOf(face: number): string {
  return RANKS[face % RANKS.length]! + SUITS[Math.floor(face / RANKS.length)]!
}

/** What `join` is given; `keepRoom: '30d'` and other options go here, too. */
export const cards = { game: 'cards', types: [Card, shuffle, deal] } satisfies JoinOptions
