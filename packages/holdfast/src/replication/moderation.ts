/**
 * Who was put out of a session, and who wants whom to be: a part of the durable state, so that a
 * new primary knows it too (SE-4).
 */

import type { PeerId } from '../machine.ts'
import { sameBytes } from '../wire/digest.ts'
import { EXPELLED_MAX, type Expulsion, type Vote, VOTES_MAX, VOTES_PER_PLAYER } from './layouts.ts'

/** See the head of this file. Oldest first. */
export interface Moderation {
  /** Rises by one with each change, so that of two copies one has all that the other has. */
  cv: number
  expelled: Expulsion[]
  votes: Vote[]
}

/** Nobody was put out. */
export function create(): Moderation {
  return { cv: 0, expelled: [], votes: [] }
}

/** A player was put out. What was said of them before is over. */
export function expel(moderation: Moderation, row: Expulsion): void {
  moderation.cv++
  moderation.expelled = [...others(moderation, row.player), row]
  moderation.votes = moderation.votes.filter(({ against }) => against !== row.player)
  if (moderation.expelled.length <= EXPELLED_MAX) return
  // Who was only kicked is forgotten before who was banned.
  const kick = moderation.expelled.findIndex(({ ban }) => !ban)
  moderation.expelled.splice(Math.max(kick, 0), 1)
}

/** A player who was put out may come in again. */
export function pardon(moderation: Moderation, player: number): void {
  moderation.cv++
  moderation.expelled = others(moderation, player)
}

function others({ expelled }: Moderation, player: number): Expulsion[] {
  return expelled.filter((row) => row.player !== player)
}

/** Who was put out that is this member, or has this key; undefined if nobody is. */
export function expulsionOf(
  { expelled }: Moderation,
  inc: PeerId,
  key: Uint8Array,
): Expulsion | undefined {
  return expelled.find((row) => (row.ban ? sameBytes(row.key, key) : inc !== 0 && row.inc === inc))
}

/** A vote stands, or does not any more. */
export function vote(moderation: Moderation, { by, against }: Vote, stands: boolean): void {
  moderation.cv++
  const rest = moderation.votes.filter((other) => other.by !== by || other.against !== against)
  moderation.votes = rest
  if (!stands) return
  const theirs = rest.filter((other) => other.by === by)
  if (theirs.length >= VOTES_PER_PLAYER) rest.splice(rest.indexOf(theirs[0]!), 1)
  if (rest.length < VOTES_MAX) rest.push({ by, against })
}

/** The session knows that player no more. */
export function forget(moderation: Moderation, player: number): void {
  moderation.cv++
  moderation.votes = moderation.votes.filter(
    ({ by, against }) => by !== player && against !== player,
  )
}
