/** Moderation: kicks, bans, pardons and votes. */

import { badValue, misfit } from '../machine.ts'
import { EXPULSION_WHY_MAX } from '../replication/layouts.ts'
import { mayExpel, votesNeeded } from '../session/moderation.ts'
import {
  MODERATION_PART,
  type ModerationRequest,
  moderationLayout,
  moderationOutcome,
} from '../session/messages.ts'
import { shown } from '../wire/fields/fields.ts'
import { decode, encode } from '../wire/layout.ts'
import { named } from '../wire/text/plain.ts'
import type { MemberInfo } from '../kind/kind.ts'
import { type Outcome, refused } from '../kind/outcomes.ts'
import type { PendingOperations } from './host.ts'
import type { Roster } from './roster.ts'

/** A player: a member, or the number of one who may be away. */
export type PlayerTarget = Pick<MemberInfo, 'player'> | number

/**
 * The outcome of a kick, a ban, a pardon or a vote: done; `refused`, with the reason; `unfit` for a
 * reason that is too long; or `lost`.
 */
export type ConductOutcome = Outcome<undefined, 'unfit' | 'refused' | 'lost'>

/** A player who is banned until the session ends. */
export interface Banned {
  /** The number of the player, for `pardon`. */
  readonly player: number
  /** The player's last name. */
  readonly name: string
  /** The reason; empty for none. */
  readonly why: string
}

/** A vote in progress. */
export interface Ballot {
  /** The member to be banned; null while away. */
  readonly against: MemberInfo | null
  /** The number of that player. */
  readonly player: number
  /** The present members that voted for it. */
  readonly by: readonly MemberInfo[]
  /** How many votes the ban takes now. */
  readonly needed: number
}

export function mayExpelIn({ inc, view }: Roster, terms: string): boolean {
  const row = view.members.find((member) => member.inc === inc)
  return row !== undefined && mayExpel(terms, row)
}

export function bannedIn({ view }: Roster): readonly Banned[] {
  return view.banned.map(({ player, name, why }) => ({ player, name: named(name), why }))
}

export function ballotsIn(roster: Roster): readonly Ballot[] {
  const { votes } = roster.view
  return [...new Set(votes.map(({ against }) => against))].map((player) => {
    const by = votes
      .filter(({ against }) => against === player)
      .flatMap((vote) => roster.findPlayer(vote.by) ?? [])
    const others = roster.members.filter((one) => one.player !== player && !one.watches)
    const needed = votesNeeded(others.length)
    return { against: roster.findPlayer(player), player, by, needed }
  })
}

/** Sends a moderation request, and waits for its outcome. @throws HoldfastError `bad-value` */
export function requestModeration(
  operations: PendingOperations,
  request: ModerationRequest,
): Promise<ConductOutcome> {
  return new Promise((resolve, reject) => {
    operations.ask(MODERATION_PART, {
      body: () => encode(moderationLayout, request),
      settle: (bytes) => resolve(outcomeOf(bytes)),
      lost: (why) => resolve(refused('lost', why)),
      reject,
    })
  })
}

// A recovered session has lost its outcomes; an empty one means done.
function outcomeOf(bytes: Uint8Array): ConductOutcome {
  if (bytes.length === 0) return { ok: true, value: undefined }
  const outcome = decode(moderationOutcome, bytes)
  if (outcome?.done) return { ok: true, value: undefined }
  return refused('refused', outcome?.why ?? 'the primary does not know this request')
}

export function playerOf(target: PlayerTarget): number {
  const player = typeof target === 'number' ? target : target?.player
  if (Number.isInteger(player) && player > 0) return player
  throw badValue(`a player is a member, or its number: ${shown(target)}`)
}

/** Checks a reason. @throws HoldfastError code `bad-value`, a misfit for one that is too long */
export function checkReason(why: string): string {
  if (typeof why !== 'string') throw badValue(`a reason is a text: ${shown(why)}`)
  const bytes = new TextEncoder().encode(why).length
  if (bytes <= EXPULSION_WHY_MAX) return why
  throw misfit(`a reason has at most ${EXPULSION_WHY_MAX} bytes of UTF-8: ${bytes}`)
}
