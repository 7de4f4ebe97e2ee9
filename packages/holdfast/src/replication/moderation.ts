/** Expulsions and votes: part of the durable state, so that a new primary has them (SE-4). */

import type { PeerId } from '../machine.ts'
import { sameBytes } from '../wire/digest.ts'
import { EXPELLED_MAX, type Expulsion, type Vote, VOTES_MAX, VOTES_PER_PLAYER } from './layouts.ts'

export interface Moderation {
  /** Version; rises by one with each change, so that the newer of two copies contains the other. */
  cv: number
  expelled: Expulsion[]
  votes: Vote[]
}

export function create(): Moderation {
  return { cv: 0, expelled: [], votes: [] }
}

/** Adds or replaces the expulsion of a player, and drops the votes against them. */
export function expel(moderation: Moderation, row: Expulsion): void {
  moderation.cv++
  moderation.expelled = [...others(moderation, row.player), row]
  moderation.votes = moderation.votes.filter(({ against }) => against !== row.player)
  if (moderation.expelled.length <= EXPELLED_MAX) return
  // Kicks are dropped before bans.
  const kick = moderation.expelled.findIndex(({ ban }) => !ban)
  moderation.expelled.splice(Math.max(kick, 0), 1)
}

export function pardon(moderation: Moderation, player: number): void {
  moderation.cv++
  moderation.expelled = others(moderation, player)
}

function others({ expelled }: Moderation, player: number): Expulsion[] {
  return expelled.filter((row) => row.player !== player)
}

/** The expulsion that applies to a member: a ban by its key, a kick by its incarnation. */
export function expulsionOf(
  { expelled }: Moderation,
  inc: PeerId,
  key: Uint8Array,
): Expulsion | undefined {
  return expelled.find((row) => (row.ban ? sameBytes(row.key, key) : inc !== 0 && row.inc === inc))
}

/** Adds a vote, or withdraws it if `stands` is false. */
export function vote(moderation: Moderation, { by, against }: Vote, stands: boolean): void {
  moderation.cv++
  const rest = moderation.votes.filter((other) => other.by !== by || other.against !== against)
  moderation.votes = rest
  if (!stands) return
  const theirs = rest.filter((other) => other.by === by)
  if (theirs.length >= VOTES_PER_PLAYER) rest.splice(rest.indexOf(theirs[0]!), 1)
  if (rest.length < VOTES_MAX) rest.push({ by, against })
}

/** Drops all votes by and against a player that the session forgets. */
export function forget(moderation: Moderation, player: number): void {
  moderation.cv++
  moderation.votes = moderation.votes.filter(
    ({ by, against }) => by !== player && against !== player,
  )
}
