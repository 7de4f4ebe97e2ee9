/** Crazy Eights on the table: dealing, playing, drawing, passing, and the points. */

import type { Actor, GameTable } from 'holdfast'
import { end, handClock, runClock, stopClock } from './clock.ts'
import { cardsOf, deckOf, gather, give, shuffleFaces, type TableCard } from './deck.ts'
import * as eights from './eights.ts'
import { rankOf, SUITS, suitOf, theCard } from './faces.ts'
import { Card } from './pieces.ts'
import { DISCARD, isAt } from './places.ts'
import { numberOf, type Readable, record } from './records.ts'
import { clearRows, endOf, need, scoreOf, seatsOf } from './seats.ts'

/** How the round stands; null before the first. */
export function roundOf(table: Readable): eights.Round | null {
  return eights.decode(table.get('eights'))
}

/** Whether a round is being played. */
export function isOn(table: Readable): boolean {
  return roundOf(table) !== null && endOf(table) === null
}

/** Whether a player has a hand in the round that is being played. */
export function isInRound(table: Readable, player: number): boolean {
  return isOn(table) && roundOf(table)!.players.includes(player)
}

/** Another plays on in the place of one. */
export function handOver(table: GameTable, from: number, to: number): void {
  if (!isInRound(table, from)) return
  const round = roundOf(table)!
  const players = round.players.map((each) => (each === from ? to : each))
  table.set('eights', eights.encode({ ...round, players }))
  handClock(table, from, to)
}

/** Breaks off the round in which a player has a hand, who is away. */
export function breakOffFor(table: GameTable, player: number): void {
  if (!isInRound(table, player)) return
  end(table, 0, `The round was broken off: {${player}} is away.`)
}

/** Deals a round to all who sit. After a match is won the points begin anew. */
export function dealRound(table: GameTable, _args: null, by: Actor): void {
  need(table, 'eights')
  if (isOn(table)) throw new RangeError('Play the round to its end first.')
  const players = [...new Set(seatsOf(table).filter((player) => player !== 0))]
  if (!players.includes(by.player)) throw new RangeError('Take a seat first.')
  if (players.length < 2) throw new RangeError('It takes two to play: one more must sit down.')
  if (players.some((player) => scoreOf(table, player) >= eights.MATCH_POINTS)) {
    for (const key of table.keys('score.')) table.delete(key)
  }
  const first = numberOf(table.get('first'))
  table.set('first', first + 1)
  table.delete('end')
  const cards = cardsOf(table)
  gather(cards)
  shuffleFaces(table, cards)
  const deck = deckOf(table)
  const size = eights.handSize(players.length)
  for (let dealt = 0; dealt < size * players.length; dealt++) {
    give(deck.pop()!, players[dealt % players.length]!)
  }
  // An eight does not begin.
  const start = deck.findLast(({ state }) => rankOf(state.face ?? 0) !== 8)!
  lay(table, start)
  const suit = suitOf(start.state.face ?? 0)
  const turn = first % players.length
  goOn(table, { players, turn, suit, drawn: 0, passes: 0 })
  record(table, by.player, `dealt ${size} cards to each`)
}

/** Plays a card. @param args.suit  the suit that an eight names, 0 to 3 */
export function playCard(table: GameTable, args: { card: string; suit: number }, by: Actor): void {
  const round = going(table)
  const card = table.find(Card, args?.card)
  if (!card || card.state.hand !== by.player) throw new RangeError('That card is not in your hand.')
  const face = card.state.face ?? 0
  const fault = eights.whyNot(round, by.player, face, topOf(table)?.state.face ?? 0)
  if (fault !== '') throw new RangeError(fault)
  const isEight = rankOf(face) === 8
  if (isEight && !SUITS[args.suit]) throw new RangeError('An eight names a suit.')
  lay(table, card)
  goOn(table, eights.played(round, face, args.suit))
  const names = isEight ? ` and names ${SUITS[args.suit]}` : ''
  record(table, by.player, `played ${theCard(face)}${names}`)
  if (handOf(table, by.player).length === 0) settle(table, round)
}

function lay(table: GameTable, card: TableCard): void {
  card.hold(0)
  const turn = ((table.draw(5) - 2) / 64) * 2 * Math.PI
  card.set({ at: DISCARD, turn, up: true, hand: 0, deck: false })
  card.raise()
}

/** Draws a card. @returns the id of its piece */
export function takeCard(table: GameTable, _args: null, by: Actor): string {
  const round = going(table)
  const fault = eights.whyNoDraw(round, by.player, leftOf(table))
  if (fault !== '') throw new RangeError(fault)
  if (deckOf(table).length === 0) turnOver(table)
  const card = deckOf(table).at(-1)!
  give(card, by.player)
  table.set('eights', eights.encode({ ...round, drawn: round.drawn + 1 }))
  record(table, by.player, 'drew a card')
  return card.id
}

/** Passes. */
export function pass(table: GameTable, _args: null, by: Actor): void {
  const round = going(table)
  const left = leftOf(table)
  const fault = eights.whyNoPass(round, by.player, left)
  if (fault !== '') throw new RangeError(fault)
  record(table, by.player, 'passed')
  passOn(table, round, left)
}

function passOn(table: GameTable, round: eights.Round, left: number): void {
  const next = eights.passed(round, left)
  goOn(table, next)
  if (eights.isStuck(next)) settle(table, next)
}

// It is somebody's turn, and their time runs.
function goOn(table: GameTable, round: eights.Round): void {
  table.set('eights', eights.encode(round))
  stopClock(table)
  clearRows(table, 'clock.left.')
  runClock(table, String(eights.playerOf(round)))
}

/** Whose turn it is has no time left: they draw a card, unless they drew one, and pass. */
export function skip(table: GameTable): void {
  const round = going(table)
  const player = eights.playerOf(round)
  const draws = round.drawn === 0 && leftOf(table) > 0
  if (draws) {
    if (deckOf(table).length === 0) turnOver(table)
    give(deckOf(table).at(-1)!, player)
  }
  record(table, player, draws ? 'was too slow, and drew a card' : 'was too slow')
  passOn(table, round, leftOf(table))
}

/** Breaks a round off: nobody wins. */
export function breakOff(table: GameTable, _args: null, by: Actor): void {
  const { players } = going(table)
  if (!players.includes(by.player)) throw new RangeError('Take a seat first.')
  record(table, by.player, 'broke the round off')
  end(table, 0, `{${by.player}} broke the round off.`)
}

function going(table: GameTable): eights.Round {
  need(table, 'eights')
  const round = roundOf(table)
  if (!round) throw new RangeError('Deal first.')
  if (endOf(table)) throw new RangeError('This round is over: deal another.')
  return round
}

// All but the topmost discard become the deck.
function turnOver(table: GameTable): void {
  const cards = discardsOf(table).slice(0, -1)
  gather(cards)
  shuffleFaces(table, cards)
}

function settle(table: GameTable, { players }: eights.Round): void {
  const hands = new Map(players.map((player) => [player, facesOf(handOf(table, player))]))
  const { winner, points } = eights.settle(hands)
  for (const player of players) for (const card of handOf(table, player)) card.set({ up: true })
  if (winner === 0) return end(table, 0, 'Nobody could go on, and two hands were as cheap.')
  const score = scoreOf(table, winner) + points
  table.set(`score.${winner}`, score)
  const match = score >= eights.MATCH_POINTS ? ` and the match with ${score}` : ''
  end(table, winner, `{${winner}} wins the round for ${points} points${match}.`)
}

/** The cards in a player's hand. */
export function handOf(table: GameTable, player: number): TableCard[] {
  return cardsOf(table).filter(({ state }) => state.hand === player)
}

function facesOf(cards: readonly TableCard[]): number[] {
  return cards.map(({ state }) => state.face ?? 0)
}

function discardsOf(table: GameTable): TableCard[] {
  return cardsOf(table).filter(({ state }) => state.up && isAt(state.at, DISCARD))
}

function topOf(table: GameTable): TableCard | undefined {
  return discardsOf(table).at(-1)
}

// Cards that may still be drawn, when the discards are turned over too.
function leftOf(table: GameTable): number {
  return deckOf(table).length + Math.max(0, discardsOf(table).length - 1)
}
