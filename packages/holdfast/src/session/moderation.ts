/**
 * Moderation (SE-4): kicks, bans, pardons and votes.
 *
 * An expulsion is an entry of the log, so it outlives the primary. The primary of the time removes
 * the player's members in the usual ways: a backup after the register has dropped it, and the
 * primary itself by a hand-over. Link keys end with the view.
 */

import { isHost, mayPlay } from '../machine.ts'
import { expulsionOf } from '../replication/moderation.ts'
import type { Durable } from '../replication/durable.ts'
import { EXPELLED_MAX, type Expulsion, type Member } from '../replication/layouts.ts'
import { decode, encode } from '../wire/layout.ts'
import { remove } from './membership.ts'
import { moderationLayout, moderationOutcome, type ModerationRequest } from './messages.ts'
import { hold } from './output.ts'
import { record } from './replicate.ts'
import { type Performed, leadOf, serves, type Session, type Turn } from './state.ts'

/** Besides hosts, these may expel players: the founder, a majority of the players, or nobody. */
export const EXPELLERS = ['founder', 'vote', 'hosts'] as const
export type Expellers = (typeof EXPELLERS)[number]

// The player of the first member.
const FOUNDER = 1
// Least votes that expel a player.
const VOTES_MIN = 2

export function expellersOf(terms: string): Expellers {
  const [, given] = /(?:^|;)expellers=([a-z]{1,16})(?:;|$)/.exec(terms) ?? []
  return EXPELLERS.find((word) => word === given) ?? 'founder'
}

/** Whether a member may expel others without a vote. */
export function mayExpel(
  terms: string,
  { player, rights }: Pick<Member, 'player' | 'rights'>,
): boolean {
  if (!mayPlay(rights)) return false
  return isHost(rights) || (expellersOf(terms) === 'founder' && player === FOUNDER)
}

/** Whether a member may vote: not once it was expelled, even while it is still a member. */
export function mayVote(
  { moderation }: Durable,
  { inc, key }: Pick<Member, 'inc' | 'key'>,
): boolean {
  return expulsionOf(moderation, inc, key) === undefined
}

/** The number of votes that expel a player, given the number of other present players. */
export function votesNeeded(others: number): number {
  return Math.max(VOTES_MIN, Math.floor(others / 2) + 1)
}

export function moderate(turn: Turn, body: Uint8Array, by: Member): Performed {
  const { session } = turn
  const request = decode(moderationLayout, body)
  const why = request ? refusalOf(session, request, by) : 'it is no request that this build knows'
  if (request && why === '') carryOut(turn, request, by)
  const outcome = encode(moderationOutcome, { done: why === '', why })
  return { outcome, changes: [], news: [], refused: why !== '' }
}

function refusalOf(session: Session, request: ModerationRequest, by: Member): string {
  const { durable } = session.server
  const expellers = expellersOf(session.terms)
  if (!session.rules.mayVote(durable, by)) return 'you were put out yourself'
  if (request.kind === 'vote') {
    if (expellers !== 'vote') return 'players of this room do not vote'
  } else if (!mayExpel(session.terms, by)) {
    return `${expellers === 'founder' ? 'the founder and hosts' : 'hosts'} put players out here`
  }
  if (request.kind === 'pardon') return ''
  const { player } = request
  if (player === by.player) return 'nobody puts themselves out: leave instead'
  if (!durable.players.has(player)) return `no player ${player} is here`
  const theirs = [...durable.members.values()].filter((member) => member.player === player)
  const isHostly = theirs.some(({ rights }) => isHost(rights))
  if (isHostly && !isHost(by.rights)) return 'hosts are put out by hosts alone'
  if (request.kind === 'expel' && request.ban) return roomFor(durable)
  return ''
}

function roomFor({ moderation }: Durable): string {
  if (moderation.expelled.filter(({ ban }) => ban).length < EXPELLED_MAX) return ''
  return `${EXPELLED_MAX} players are banned: pardon one of them first`
}

function carryOut(turn: Turn, request: ModerationRequest, by: Member): void {
  const { session } = turn
  const { durable } = session.server
  if (request.kind === 'pardon') record(turn, request)
  else if (request.kind === 'expel') expel(turn, request)
  else {
    const { player: against, stands } = request
    record(turn, { kind: 'vote', by: by.player, against, stands })
    const ban = roomFor(durable) === ''
    if (isVotedOut(session, against))
      expel(turn, { player: against, ban, why: 'most players want it' })
  }
  hold(turn, { kind: 'moderation', moderation: { ...durable.moderation } })
  enforce(turn)
}

function expel(turn: Turn, { player, ban, why }: Pick<Expulsion, 'player' | 'ban' | 'why'>): void {
  const { session } = turn
  const { durable } = session.server
  const [member] = [...durable.members.values()].filter((here) => here.player === player)
  const { key } = durable.players.get(player)!
  // A repeated request, whose answer was lost with a primary: the player is already out.
  const before = durable.moderation.expelled.find((row) => row.player === player)
  if (!member && before && (before.ban || !ban)) return
  const { inc = 0, name = '' } = member ?? {}
  record(turn, { kind: 'expel', player, inc, name, key, ban, why })
}

// Votes of absent players count again once they return.
function isVotedOut({ server: { durable }, rules }: Session, player: number): boolean {
  const voices = [...durable.members.values()].filter((member) => {
    return mayPlay(member.rights) && rules.mayVote(durable, member)
  })
  const others = new Set(voices.map((member) => member.player))
  others.delete(player)
  const { votes } = durable.moderation
  const wanted = votes.filter(({ by, against }) => against === player && others.has(by)).length
  return wanted >= votesNeeded(others.size)
}

/** As the primary: removes expelled members, and ourselves by a hand-over. */
export function enforce(turn: Turn): void {
  const { session } = turn
  if (!serves(session)) return
  const { durable } = session.server
  for (const { inc, key } of [...durable.members.values()]) {
    const row = expulsionOf(durable.moderation, inc, key)
    if (!row) continue
    if (inc === session.me) leadOf(session).yields = true
    else remove(turn, inc, row.ban ? 'banned' : 'kicked')
  }
}
