/**
 * Crazy Eights for two to four.
 *
 * Each gets seven cards if two play, five if more. In turn one plays a card of the suit or the
 * rank on top; an eight goes on everything and names the suit that must follow. Who does not play
 * draws, up to three cards a turn, and then plays or passes. An empty hand wins, and is paid what
 * the others hold. When nothing is left to be drawn and all pass, the cheapest hand wins.
 */

import { rankOf, suitOf } from './faces.ts'

/** Most cards that one may draw in a turn. */
export const DRAWS_MAX = 3
/** Who has so many points or more has won the match. */
export const MATCH_POINTS = 100

/** How a round stands, but for who has which cards. */
export interface Round {
  /** In the order of their turns. */
  readonly players: readonly number[]
  /** A place among them. */
  readonly turn: number
  /** The suit that must follow. */
  readonly suit: number
  /** Cards drawn in this turn. */
  readonly drawn: number
  /** Passes in a row with nothing left to draw. */
  readonly passes: number
}

/** Cards that each gets. */
export function handSize(players: number): number {
  return players === 2 ? 7 : 5
}

/** As a row of the table. */
export function encode({ players, turn, suit, drawn, passes }: Round): string {
  return `${players.join(',')} ${turn} ${suit} ${drawn} ${passes}`
}

/** What `encode` made; null for anything else. */
export function decode(text: unknown): Round | null {
  if (typeof text !== 'string' || !/^\d+(,\d+){1,3}( \d+){4}$/.test(text)) return null
  const [players, turn, suit, drawn, passes] = text.split(' ')
  return {
    players: players!.split(',').map(Number),
    turn: Number(turn),
    suit: Number(suit),
    drawn: Number(drawn),
    passes: Number(passes),
  }
}

/** Whose turn it is. */
export function playerOf({ players, turn }: Round): number {
  return players[turn] ?? 0
}

/** Whether a card may go onto that one. @param suit  that must follow */
export function fits(face: number, top: number, suit: number): boolean {
  if (rankOf(face) === 8 || suitOf(face) === suit) return true
  return rankOf(top) !== 8 && rankOf(face) === rankOf(top)
}

/** Why a card may not be played, in a sentence; empty if it may. */
export function whyNot(round: Round, by: number, face: number, top: number): string {
  if (playerOf(round) !== by) return 'It is not your turn.'
  if (fits(face, top, round.suit)) return ''
  return 'Play the same suit or rank, or an eight; or draw.'
}

/** The round after a card. @param named  the suit that an eight names */
export function played(round: Round, face: number, named: number): Round {
  const suit = rankOf(face) === 8 ? named : suitOf(face)
  return { ...next(round), suit, passes: 0 }
}

/** Why no card may be drawn, in a sentence; empty if one may. @param left  cards to be drawn */
export function whyNoDraw(round: Round, by: number, left: number): string {
  if (playerOf(round) !== by) return 'It is not your turn.'
  if (round.drawn >= DRAWS_MAX) return `You drew ${DRAWS_MAX} cards: play one, or pass.`
  return left === 0 ? 'Nothing is left to draw: play a card, or pass.' : ''
}

/** Why one may not pass, in a sentence; empty if one may. @param left  cards to be drawn */
export function whyNoPass(round: Round, by: number, left: number): string {
  if (playerOf(round) !== by) return 'It is not your turn.'
  if (round.drawn >= DRAWS_MAX || left === 0) return ''
  return `Before you pass you draw ${DRAWS_MAX} cards.`
}

/** The round after a pass. @param left  cards to be drawn */
export function passed(round: Round, left: number): Round {
  return { ...next(round), passes: left === 0 ? round.passes + 1 : 0 }
}

/** Whether all have passed, one after the other. */
export function isStuck({ players, passes }: Round): boolean {
  return passes >= players.length
}

function next(round: Round): Round {
  return { ...round, turn: (round.turn + 1) % round.players.length, drawn: 0 }
}

/** What a card costs its holder: an eight 50, a court card 10, an ace 1, others their number. */
export function cost(face: number): number {
  const rank = rankOf(face)
  return rank === 8 ? 50 : Math.min(10, rank)
}

/** How a round ended. */
export interface Ending {
  /** 0 for nobody. */
  readonly winner: number
  readonly points: number
}

/**
 * Who won: the empty hand, or, if nobody could go on, the cheapest; nobody if two are as cheap.
 *
 * @param hands  the faces that each player holds
 */
export function settle(hands: ReadonlyMap<number, readonly number[]>): Ending {
  const costs = [...hands].map(([player, faces]) => ({
    player,
    points: faces.reduce((sum, face) => sum + cost(face), 0),
    isEmpty: faces.length === 0,
  }))
  const all = costs.reduce((sum, { points }) => sum + points, 0)
  const empty = costs.find(({ isEmpty }) => isEmpty)
  if (empty) return { winner: empty.player, points: all }
  const [best, second] = costs.toSorted((a, b) => a.points - b.points)
  if (!best || best.points === second?.points) return { winner: 0, points: 0 }
  return { winner: best.player, points: all - costs.length * best.points }
}
