/**
 * What is decided, and only on the server: who sits down, who was hit, who is filled again, who
 * wins the round. Who threw a cube claims a hit; the server looks whether it can be true.
 *
 * The claim says how the cube was thrown and when it hit, and the way of a cube is a pure
 * function of that, so there is nothing to forge but the throw itself: it must be new, no sooner
 * after another than a pot can throw, and begin where the pot was. The victim must have been
 * where the cube came by, as far as it can have got since.
 */

import type { Actor, Table, Vec2 } from 'holdfast'
import { farthestSpot } from './arena.ts'
import * as flight from './flight.ts'
import { distance } from './plane.ts'
import { SPEED_LIMIT } from './pot.ts'
import * as rows from './standing.ts'

/** A claim that is older was made in another life, in milliseconds. */
export const CLAIM_MAX_MS = 20_000
/** Clocks of members may differ so much, in milliseconds. */
export const CLOCK_SLACK_MS = 400
/** What is seen of a pot may be off by so much, in units: it was drawn warped. */
export const PLACE_SLACK = 3
/** Throws that are remembered for each player; no more can be in the air. */
export const COUNTED_MAX = 8
/** Points for the last drop of tea. */
export const TOPPLE_POINTS = 2
/** Most points that bounces add to a hit. */
export const BANK_POINTS_MAX = 2

/** What the server knows besides the table. */
export interface Court {
  /** Session time in milliseconds. */
  now(): number
  /** Where a player's pot was last said to be; null for who has none. */
  placeOf(player: number): Vec2 | null
  /** Where all pots but this player's are. */
  others(player: number): Vec2[]
}

/** What a player claims: this throw of mine hit that pot, so long after it left. */
export interface Claim extends flight.Throw {
  victim: number
  /** Milliseconds from the throw to the hit. */
  after: number
}

/** What came of a claim. */
export interface Counted {
  points: number
  bounces: number
  /** What the victim has left. */
  tea: number
}

/** Fills a player's pot: the first time, or when it has lain long enough. Asked twice, once. */
export function pour(table: Table, court: Court, by: Actor): rows.Standing {
  const now = court.now()
  const known = rows.standing(table, by.player, now)
  if (known && known.tea > 0) return known
  const lain = known ? now - known.since : Infinity
  if (lain >= 0 && lain < rows.LIE_MS) throw new RangeError('the pot still lies')
  const spot = farthestSpot(court.others(by.player), by.player * 5)
  const fresh = { points: 0, streak: 0, best: 0, cups: 0, ...known }
  // While a winner is cheered, the points of the round that is over still stand.
  const inRound = known?.round ?? rows.round(table).number
  const filled = { round: inRound, tea: rows.TEA_MAX, since: Math.round(now), spot }
  const poured = { ...fresh, ...filled, player: by.player }
  rows.writeStanding(table, poured)
  return poured
}

/** Counts a hit. @throws RangeError with the reason when it does not count */
export function hit(table: Table, args: Claim, court: Court, by: Actor): Counted {
  const claim = checkClaim(args)
  const now = court.now()
  const on = rows.round(table)
  if (rows.isCheering(on, now)) throw new RangeError('the round is over')
  const shooter = rows.standing(table, by.player, now)
  const victim = rows.standing(table, claim.victim, now)
  checkTimes(claim, now, shooter, victim)
  if (claim.victim === by.player) throw new RangeError('nobody hits their own pot')
  const throws = checkThrow(table, court, claim, shooter!, now)
  const { bounces, way } = checkContact(court, claim, now)
  rows.writeCounted(table, by.player, throws)
  return score(table, claim, { shooter: shooter!, victim: victim!, bounces, way, now })
}

function checkClaim(args: unknown): Claim {
  const { at, pos, aim, victim, after } = (args ?? {}) as Partial<Record<keyof Claim, unknown>>
  const place = Array.isArray(pos) && pos.length === 2 ? (pos as unknown[]) : []
  const all = [at, aim, victim, after, ...place]
  if (all.length !== 6 || !all.every((value) => Number.isFinite(value))) {
    throw new RangeError('a claim is a throw, a victim and a time: six numbers')
  }
  return { at, pos, aim, victim, after } as Claim
}

function checkTimes(
  { at, after }: Claim,
  now: number,
  shooter: rows.Standing | null,
  victim: rows.Standing | null,
): void {
  const when = at + after
  if (!shooter || (shooter.tea === 0 && shooter.since < at)) {
    throw new RangeError('who lies or has no pot throws nothing')
  }
  if (after < 0 || after > flight.FLIGHT_MS) throw new RangeError('no cube flies that long')
  if (when > now + CLOCK_SLACK_MS) throw new RangeError('that has not happened yet')
  if (when < now - CLAIM_MAX_MS) throw new RangeError('that was too long ago')
  if (!victim || victim.tea === 0) throw new RangeError('that pot lies already')
  if (when < victim.since + rows.SAFE_MS) throw new RangeError('that pot was just filled')
}

// @returns the throws of this player that count, with this one
function checkThrow(
  table: Table,
  court: Court,
  claim: Claim,
  shooter: rows.Standing,
  now: number,
): number[] {
  const throws = rows.counted(table, shooter.player)
  if (throws.includes(claim.at)) throw new RangeError('that cube has hit already')
  // A millisecond is lost in rounding.
  const tooSoon = throws.some((at) => Math.abs(at - claim.at) < flight.THROW_MS - 2)
  if (tooSoon) throw new RangeError('no pot throws that fast')
  if (!flight.isOnTray(claim.pos)) throw new RangeError('nothing is thrown from off the tray')
  const place = court.placeOf(shooter.player)
  const movedOn = shooter.since > claim.at
  if (!place || (!movedOn && !couldBe(place, claim.pos, now - claim.at))) {
    throw new RangeError('that pot was not there')
  }
  return [...throws, claim.at].sort((a, b) => a - b).slice(-COUNTED_MAX)
}

function checkContact(court: Court, claim: Claim, now: number): flight.Place {
  const found = flight.placeAt(flight.trace(claim), claim.after)
  const place = court.placeOf(claim.victim)
  const ago = now - claim.at - claim.after
  if (!place || !couldBe(place, found.pos, ago, flight.HIT_RADIUS)) {
    throw new RangeError('the cube did not come by there')
  }
  return found
}

// Whether a pot that is here now was there so long ago.
function couldBe(place: Vec2, there: Vec2, ago: number, reach = 0): boolean {
  const moved = (SPEED_LIMIT * Math.max(0, ago)) / 1000
  return distance(place, there) <= reach + PLACE_SLACK + moved
}

interface Strike {
  shooter: rows.Standing
  victim: rows.Standing
  bounces: number
  way: Vec2
  now: number
}

function score(table: Table, claim: Claim, strike: Strike): Counted {
  const { shooter, victim, bounces, way, now } = strike
  const tea = victim.tea - 1
  const topples = tea === 0
  const bounty = victim.streak >= rows.BOIL_STREAK ? victim.streak : 0
  const last = topples ? TOPPLE_POINTS + bounty : 0
  const points = 1 + Math.min(bounces, BANK_POINTS_MAX) + last
  const streak = shooter.streak + (topples ? 1 : 0)
  const winner: rows.Standing = {
    ...shooter,
    points: shooter.points + points,
    streak,
    best: Math.max(shooter.best, streak),
    // Who topples another drinks of its tea.
    tea: topples && shooter.tea > 0 ? Math.min(rows.TEA_MAX, shooter.tea + 1) : shooter.tea,
  }
  const loser = topples ? { ...victim, tea, streak: 0, since: now } : { ...victim, tea }
  const number = rows.hitsTotal(table) + 1
  const { at } = claim
  const aim = Math.atan2(way[1], way[0])
  const blow = { number, by: shooter.player, victim: victim.player, at, points, bounces, tea, aim }
  rows.writeBlow(table, blow)
  rows.writeStanding(table, loser)
  rows.writeStanding(table, endRound(table, winner, now))
  return { points, bounces, tea }
}

function endRound(table: Table, row: rows.Standing, now: number): rows.Standing {
  if (row.points < rows.POINTS_TO_WIN) return row
  const { number } = rows.round(table)
  const from = Math.round(now + rows.CHEER_MS)
  rows.writeRound(table, { number: number + 1, from, winner: row.player })
  return { ...row, cups: row.cups + 1 }
}
