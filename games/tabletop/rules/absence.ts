/**
 * Who is away keeps seat and hand for as long as the table lasts; the others may decide otherwise.
 *
 * Whoever has a seat or cards says their name once, and is kept: with their token they are the
 * same player whenever they come back. For the rest there are claims: to play on in the place of
 * somebody who is away (also by who lost the token, under the same name), or to free what they
 * have. All who play here are asked; one who objects ends the claim, and silence for CLAIM_MS
 * agrees.
 *
 *     name.PLAYER       the name of a player who has something on the table
 *     claim.PLAYER      who claims the place of that player; 0 to free it
 *     agreed.PLAYER     who has agreed to that, with commas
 *     asked.PLAYER      the timer of that claim
 */

import type { Actor, GameTable } from 'holdfast'
import { deckOf, gather, shuffleFaces } from './deck.ts'
import { ownMen } from './duel.ts'
import { type Claim, claimsOf, shortName } from './kept.ts'
import { numberOf, record } from './records.ts'
import { breakOffFor, handOf, handOver, isInRound } from './round.ts'
import { gameOf, isDuel, seatsOf } from './seats.ts'

/** Who says nothing for so long agrees to a claim. */
export const CLAIM_MS = 30_000
/** The action that runs then. */
export const CLAIM_DUE = 'claim-due'

/** A player says their name while they have something on the table, or that they have nothing. */
export function stay(table: GameTable, args: { name: string }, by: Actor): void {
  const has = hasAnything(table, by.player)
  table.keep(by.player, has)
  if (!has) table.delete(`name.${by.player}`)
  else table.set(`name.${by.player}`, shortName(String(args?.name ?? '')))
}

/** Claims what somebody who is away has: to play on in their place, or to free it. */
export function claim(table: GameTable, args: { player: number; free: boolean }, by: Actor): void {
  const player = numberOf(args?.player)
  const free = args?.free === true
  checkAway(table, player)
  if (table.get(`claim.${player}`) !== undefined) {
    throw new RangeError('Somebody has asked for that already.')
  }
  if (!free) checkFit(table, by.player)
  table.set(`claim.${player}`, free ? 0 : by.player)
  table.set(`agreed.${player}`, String(by.player))
  table.set(`asked.${player}`, table.later(CLAIM_MS, CLAIM_DUE, player))
  const what = free ? `wants to free what {${player}} has` : `wants to play on for {${player}}`
  record(table, by.player, what)
  settle(table, player)
}

/** Agrees to a claim, or objects, which ends it. */
export function vote(table: GameTable, args: { player: number; yes: boolean }, by: Actor): void {
  const player = numberOf(args?.player)
  const claimed = claimsOf(table).find((each) => each.player === player)
  if (!claimed) throw new RangeError('That is decided already.')
  if (!asked(table, claimed).includes(by.player)) {
    throw new RangeError('Only those who play here are asked.')
  }
  if (args.yes !== true) {
    record(table, by.player, 'objected')
    return withdraw(table, player)
  }
  table.set(`agreed.${player}`, [...claimed.agreed, by.player].join())
  settle(table, player)
}

/** Run by the table's own timer: who said nothing agrees. */
export function claimDue(table: GameTable, player: number, by: Actor): void {
  if (by.player !== 0) throw new RangeError('The table says when that is over.')
  const claimed = claimsOf(table).find((each) => each.player === player)
  if (claimed) fulfil(table, claimed)
}

/** Whether a player has a seat or cards. */
export function hasAnything(table: GameTable, player: number): boolean {
  return seatsOf(table).includes(player) || handOf(table, player).length > 0
}

function checkAway(table: GameTable, player: number): void {
  if (player === 0 || !hasAnything(table, player)) {
    throw new RangeError('They have nothing on the table.')
  }
  if (table.here.includes(player)) throw new RangeError('They are here.')
}

// One plays with one hand only.
function checkFit(table: GameTable, player: number): void {
  if (isInRound(table, player)) throw new RangeError('You have a hand already.')
}

// Those who play here, but for who claims.
function asked(table: GameTable, { by, agreed }: Claim): number[] {
  return table.here.filter((player) => {
    return player !== by && !agreed.includes(player) && hasAnything(table, player)
  })
}

function settle(table: GameTable, player: number): void {
  const claimed = claimsOf(table).find((each) => each.player === player)!
  if (asked(table, claimed).length === 0) fulfil(table, claimed)
}

function withdraw(table: GameTable, player: number): void {
  table.cancel(numberOf(table.get(`asked.${player}`)))
  for (const what of ['claim', 'agreed', 'asked']) table.delete(`${what}.${player}`)
}

function fulfil(table: GameTable, { player, by }: Claim): void {
  withdraw(table, player)
  const isBack = table.here.includes(player)
  const hasGone = by !== 0 && !table.here.includes(by)
  if (isBack || hasGone || !hasAnything(table, player)) return
  if (by === 0) free(table, player)
  else if (!isInRound(table, by)) giveTo(table, player, by)
  table.keep(player, hasAnything(table, player))
  if (!hasAnything(table, player)) table.delete(`name.${player}`)
}

// Seats, turn and cards of one are another's.
function giveTo(table: GameTable, from: number, to: number): void {
  handOver(table, from, to)
  for (const [seat, player] of seatsOf(table).entries()) {
    if (player === from) table.set(`seat.${seat}`, to)
  }
  for (const card of handOf(table, from)) card.set({ hand: to })
  if (isDuel(gameOf(table))) ownMen(table)
  record(table, to, `plays on for {${from}}`)
}

// Cards go into the deck, where nobody knows any more which they are.
function free(table: GameTable, player: number): void {
  breakOffFor(table, player)
  for (const [seat, each] of seatsOf(table).entries()) {
    if (each === player) table.set(`seat.${seat}`, 0)
  }
  const cards = handOf(table, player)
  if (cards.length > 0) {
    gather(cards)
    shuffleFaces(table, deckOf(table))
  }
  if (isDuel(gameOf(table))) ownMen(table)
  record(table, player, 'was away: what they had is free')
}
