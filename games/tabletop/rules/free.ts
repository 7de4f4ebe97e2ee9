/** What is done to many pieces at once: setting up, shuffling, dealing, rolling. */

import type { Actor, GameTable } from 'holdfast'
import { setClock } from './clock.ts'
import { cardsOf, deckOf, gather, give, shuffleFaces } from './deck.ts'
import { CARDS } from './faces.ts'
import { layMen } from './men.ts'
import { Card, Die } from './pieces.ts'
import { DECK, DICE } from './places.ts'
import { record } from './records.ts'
import { type Game, gameOf, GAMES, isDuel } from './seats.ts'
import { endSearch } from './search.ts'
import { clear } from './shelf.ts'

/** Cards that may be dealt to each at once. */
export const DEAL_MAX = 13
/** Steps of a turn that a rolled die may have. */
const TURNS = 64

const TITLES: Readonly<Record<Game, string>> = {
  free: 'a free table',
  draughts: 'a game of draughts',
  chess: 'a game of chess',
  eights: 'Crazy Eights',
}

/** Clears the table for a game. @param args.clock  milliseconds of its clock; 0 for none */
export function setUp(table: GameTable, args: { game: Game; clock?: number }, by: Actor): void {
  const game = GAMES.find((each) => each === args?.game)
  if (!game) throw new RangeError('There is no such game.')
  clear(table, by.player)
  setClock(table, args.clock)
  table.set('game', game)
  if (isDuel(game)) layMen(table, game, true)
  else {
    layCards(table, game === 'eights')
    shuffleFaces(table, cardsOf(table))
  }
  if (game === 'free') {
    for (const at of DICE) table.create(Die, { at, sides: 6, pips: 1 + table.draw(6) })
  }
  record(table, by.player, `set up ${TITLES[game]}`)
}

function layCards(table: GameTable, law: boolean): void {
  for (let face = 0; face < CARDS; face++) table.create(Card, { at: DECK, deck: true, law, face })
}

/** Shuffles the deck, or all cards there are into it. */
export function shuffle(table: GameTable, args: { all: boolean }, by: Actor): number {
  checkFree(table)
  const all = args?.all === true
  const cards = cardsOf(table).filter((card) => all || (card.state.deck && card.heldBy === 0))
  endSearch(table)
  gather(cards)
  shuffleFaces(table, cards)
  const what = all ? 'gathered and shuffled all cards' : 'shuffled the deck'
  record(table, by.player, what)
  return cards.length
}

/** Deals so many cards to each of these players, one after the other. @returns cards dealt */
export function deal(
  table: GameTable,
  args: { count: number; players: number[] },
  by: Actor,
): number {
  checkFree(table)
  const { count, players } = args
  const isRight = Number.isInteger(count) && count >= 1 && count <= DEAL_MAX
  if (!isRight) throw new RangeError(`Deal 1 to ${DEAL_MAX} cards.`)
  const isPlayers = Array.isArray(players) && players.length > 0 && players.length <= CARDS
  if (!isPlayers || !players.every((each) => Number.isInteger(each) && each > 0)) {
    throw new RangeError('There is nobody to deal to.')
  }
  const deck = deckOf(table)
  const wanted = count * players.length
  if (deck.length < wanted) {
    throw new RangeError(`The deck has ${deck.length} cards, and ${wanted} are wanted.`)
  }
  for (let dealt = 0; dealt < wanted; dealt++) give(deck.pop()!, players[dealt % players.length]!)
  record(table, by.player, `dealt ${count} ${count === 1 ? 'card' : 'cards'} to each`)
  return wanted
}

/** Rolls a die, or all. @returns what they show */
export function roll(table: GameTable, args: { die: string | null }, by: Actor): number[] {
  const all = table.all(Die).filter(({ state }) => !state.aside)
  const dice = all.filter((die) => args?.die === null || die.id === args?.die)
  const free = dice.filter(({ heldBy }) => heldBy === 0 || heldBy === by.player)
  if (free.length === 0) throw new RangeError('There is no die that you can roll.')
  const shown = free.map((die) => {
    const pips = 1 + table.draw(die.state.sides)
    die.set({ pips, turn: (table.draw(TURNS) / TURNS) * 2 * Math.PI - Math.PI })
    return pips
  })
  record(table, by.player, `rolled ${shown.join(' and ')}`)
  return shown
}

function checkFree(table: GameTable): void {
  if (gameOf(table) !== 'free') throw new RangeError('In this game the rules shuffle and deal.')
}
