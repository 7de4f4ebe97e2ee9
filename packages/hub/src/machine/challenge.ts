/**
 * Before a takeover the hub asks the primary (SE-3).
 *
 * A backup that cannot hear its primary may be cut off, flooded, or lie. So while the primary's
 * stream to the hub stands, the hub asks it first, and an answer of its machine is a veto. None
 * within the bound, or the end of the stream, lets the compare-and-set be made, which alone
 * decides. No member can end a stream of another, and a kill ends its own: so a liar gains
 * nothing, and after a kill nobody waits.
 *
 * A primary that answers the hub and does not reach its backup serves badly. A veto obliges it
 * to send to the backup through the relay, where the hub sees it; its veto counts no more once
 * none came for VETO_MS. What others say about it does not count.
 *
 * All of it is in memory alone. After a restart the hub knows no stream and no veto, and makes the
 * compare-and-set as soon as it is asked, until the primary is attached again.
 */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import { leaderCertificateOf, type Leader } from '../../../holdfast/src/hub-protocol/messages.ts'
import {
  type Challenge,
  type Registers,
  type RegisterOut,
  find,
  noteRoundTrip,
  nextNonce,
  type Row,
  type Veto,
} from './register.ts'
import type { HubOut } from './state.ts'

/** A primary has three round trips for its answer, and this for its loop. */
export const CHALLENGE_LOOP_MS: Millis = 20
/** It has no less, */
export const CHALLENGE_MIN_MS: Millis = 100
/** and no more; also where no round trip is known. */
export const CHALLENGE_MAX_MS: Millis = 250
/** So long after a veto a datagram of the primary must have come to its backup by the relay. */
export const VETO_MS: Millis = 1_000
/** Asked for again within this of a veto, a takeover gets the same answer. */
export const AGAIN_MS: Millis = 250

const ROUND_TRIPS = 3

type Sender = Pick<RegisterOut, 'send'>

/** How long a primary has for its answer. @param rttMs its round trip, null if none is known */
export function boundOf(rttMs: Millis | null): Millis {
  if (rttMs === null) return CHALLENGE_MAX_MS
  const bound = ROUND_TRIPS * rttMs + CHALLENGE_LOOP_MS
  return Math.min(CHALLENGE_MAX_MS, Math.max(CHALLENGE_MIN_MS, bound))
}

/**
 * The backup asks for the role, by a demand that the register allows: its primary is asked, or was,
 * or need not be. Where that is `free` the compare-and-set may be made.
 */
export function ask(
  registers: Registers,
  now: Millis,
  connection: number,
  demand: Challenge['demand'],
  out: Sender,
): 'asked' | 'vetoed' | 'free' {
  const { session } = demand
  const row = find(registers, session)
  const veto = vetoOf(registers, session)
  if (!row?.present.has(row.entry.register.primary) || hasLapsed(veto, now)) {
    registers.challenges.delete(session)
    return 'free'
  }
  // So that nobody makes a primary spend its allowance on answers.
  if (veto && now - veto.at < AGAIN_MS) return 'vetoed'
  const known = registers.challenges.get(session)
  if (known?.demand.expect === demand.expect) {
    // The same takeover, asked for again: the newest request gets the answer.
    registers.challenges.set(session, { ...known, connection, demand })
    return 'asked'
  }
  const nonce = nextNonce(registers)
  const until = now + boundOf(row.rttMs)
  registers.challenges.set(session, { nonce, askedAt: now, until, connection, demand })
  sendChallenge(registers, session, out)
  return 'asked'
}

function vetoOf(registers: Registers, session: string): Veto | null {
  const veto = registers.vetoes.get(session)
  return veto && veto.epoch === find(registers, session)?.entry.register.epoch ? veto : null
}

function hasLapsed(veto: Veto | null, now: Millis): boolean {
  return veto !== null && now - veto.unproved >= VETO_MS
}

function sendChallenge(registers: Registers, session: string, out: Sender): void {
  const { nonce, demand } = registers.challenges.get(session)!
  const { primary } = find(registers, session)!.entry.register
  out.send(primary, { kind: 'challenge', session, epoch: demand.expect, nonce })
}

/**
 * The stream of a member answers: by a veto, or the compare-and-set is made. @returns null if it is
 * not the answer that is waited for
 */
export function answer(
  registers: Registers,
  now: Millis,
  { session, epoch, nonce }: { session: string; epoch: number; nonce: number },
  from: PeerId,
): { challenge: Challenge; isVeto: boolean } | null {
  const row = find(registers, session)
  const challenge = registers.challenges.get(session)
  if (!row || !challenge) return null
  const { register } = row.entry
  if (register.primary !== from || register.epoch !== epoch) return null
  if (challenge.nonce !== nonce || challenge.demand.expect !== epoch) return null
  noteRoundTrip(row, now - challenge.askedAt)
  registers.challenges.delete(session)
  const before = vetoOf(registers, session)
  if (hasLapsed(before, now)) return { challenge, isVeto: false }
  // What was sent before it was asked proves nothing; what it owes already it owes since then.
  const unproved = Math.min(now, before?.unproved ?? now)
  registers.vetoes.set(session, { epoch, at: now, unproved })
  return { challenge, isVeto: true }
}

/** A datagram goes from one member to another through the relay. */
export function noteRelayed(registers: Registers, session: string, from: PeerId, to: PeerId): void {
  const veto = registers.vetoes.get(session)
  if (!veto || veto.unproved === Infinity) return
  const { primary, backup } = find(registers, session)?.entry.register ?? {}
  if (from === primary && to === backup) veto.unproved = Infinity
}

/** The stream of a member came or went. */
export function setPresent(
  registers: Registers,
  now: Millis,
  session: string,
  inc: PeerId,
  here: boolean,
  out: Sender,
): void {
  const challenge = registers.challenges.get(session)
  const { primary } = find(registers, session)?.entry.register ?? {}
  if (!challenge) return
  // The backup asks again by its next stream; nothing of the old stream is then under way.
  if (inc === challenge.demand.inc) registers.challenges.delete(session)
  if (inc !== primary) return
  if (here) sendChallenge(registers, session, out)
  else challenge.until = now
}

/** The register changed: an open challenge is due now. */
export function closeChallenge(registers: Registers, now: Millis, session: string): void {
  const challenge = registers.challenges.get(session)
  if (challenge) challenge.until = now
  // It was of the epoch that is over.
  registers.vetoes.delete(session)
}

/** Removes and returns the challenges that are due: for them the compare-and-set is made. */
export function takeDue(registers: Registers, now: Millis): Challenge[] {
  const due = [...registers.challenges.values()].filter(({ until }) => until <= now)
  for (const { demand } of due) registers.challenges.delete(demand.session)
  return due
}

/** When `takeDue` has something. */
export function deadline({ challenges }: Registers): Millis {
  let due = Infinity
  for (const { until } of challenges.values()) due = Math.min(due, until)
  return due
}

// Leader certificates: the hub signs the primary of an epoch and its link key. So a member believes
// a new primary before, or without, a message of the hub.

/** The certificate of the primary, signed once an epoch; null if its key was never listed. */
export function leaderCertificate(row: Row, out: HubOut): Leader | null {
  const { session, register } = row.entry
  const { epoch, primary } = register
  if (row.certificate?.epoch === epoch) return row.certificate.leader
  const link = row.members.find(({ inc }) => inc === primary)?.link
  if (!link) return null
  const leader = { link, grant: out.sign(leaderCertificateOf({ session, epoch, primary, link })) }
  row.certificate = { epoch, leader }
  return leader
}
