/**
 * Challenges: before a takeover the hub asks the primary (SE-3).
 *
 * A backup that cannot reach its primary may be cut off, flooded, or lying. So while the primary's
 * stream to the hub is open, the hub asks it first, and an answer of its machine is a veto. Without
 * an answer within the bound, or when the stream ends, the hub makes the compare-and-set, which
 * alone decides. No member can end another's stream, and a kill ends the process's own: so a liar
 * gains nothing, and after a kill no takeover waits.
 *
 * A primary that answers the hub but does not reach its backup serves badly. A veto obliges it to
 * send to the backup through the relay, where the hub sees it; if no such datagram comes within
 * VETO_MS, its vetoes stop counting. Other members' reports about it do not count.
 *
 * Challenges and vetoes are in memory only. After a restart the hub knows no stream and no veto,
 * and makes the compare-and-set on request until the primary is attached again.
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

/** The primary has three round trips to answer, and this for its loop. */
export const CHALLENGE_LOOP_MS: Millis = 20
/** Lower bound of that time. */
export const CHALLENGE_MIN_MS: Millis = 100
/** Upper bound, also used while no round trip is known. */
export const CHALLENGE_MAX_MS: Millis = 250
/** Within this of a veto a datagram of the primary must reach the backup through the relay. */
export const VETO_MS: Millis = 1_000
/** A takeover requested again within this of a veto is vetoed again. */
export const AGAIN_MS: Millis = 250

const ROUND_TRIPS = 3

type Sender = Pick<RegisterOut, 'send'>

/** How long a primary has to answer. @param rttMs  its round trip, null if unknown */
export function boundOf(rttMs: Millis | null): Millis {
  if (rttMs === null) return CHALLENGE_MAX_MS
  const bound = ROUND_TRIPS * rttMs + CHALLENGE_LOOP_MS
  return Math.min(CHALLENGE_MAX_MS, Math.max(CHALLENGE_MIN_MS, bound))
}

/**
 * The backup requests the role, and the register allows it. The hub challenges the primary, unless
 * it has done so already or need not. After `free` the compare-and-set may be made.
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
  // Prevents members from making a primary spend its message allowance on answers.
  if (veto && now - veto.at < AGAIN_MS) return 'vetoed'
  const known = registers.challenges.get(session)
  if (known?.demand.expect === demand.expect) {
    // The same takeover is requested again: the newest request gets the answer.
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
 * The primary answers: it vetoes the takeover, or its veto has lapsed and the compare-and-set is
 * made. @returns null if no challenge waits for this answer
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
  // Datagrams sent before the challenge prove nothing. An earlier obligation keeps its start.
  const unproved = Math.min(now, before?.unproved ?? now)
  registers.vetoes.set(session, { epoch, at: now, unproved })
  return { challenge, isVeto: true }
}

/** Notes a datagram that one member relays to another. */
export function noteRelayed(registers: Registers, session: string, from: PeerId, to: PeerId): void {
  const veto = registers.vetoes.get(session)
  if (!veto || veto.unproved === Infinity) return
  const { primary, backup } = find(registers, session)?.entry.register ?? {}
  if (from === primary && to === backup) veto.unproved = Infinity
}

/** A member was attached or detached. */
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
  // The backup asks again on its next stream; no request of the old one is then in flight.
  if (inc === challenge.demand.inc) registers.challenges.delete(session)
  if (inc !== primary) return
  if (here) sendChallenge(registers, session, out)
  else challenge.until = now
}

/** The register changed: an open challenge is due now. */
export function closeChallenge(registers: Registers, now: Millis, session: string): void {
  const challenge = registers.challenges.get(session)
  if (challenge) challenge.until = now
  // The veto belonged to the epoch that ended.
  registers.vetoes.delete(session)
}

/** Removes and returns the challenges that are due: their compare-and-sets are made. */
export function takeDue(registers: Registers, now: Millis): Challenge[] {
  const due = [...registers.challenges.values()].filter(({ until }) => until <= now)
  for (const { demand } of due) registers.challenges.delete(demand.session)
  return due
}

export function deadline({ challenges }: Registers): Millis {
  let due = Infinity
  for (const { until } of challenges.values()) due = Math.min(due, until)
  return due
}

// Leader certificates: the hub signs the primary of an epoch and its link key, so a member can
// trust a new primary before, or without, a message from the hub.

/** The primary's certificate, signed once per epoch; null if its link key was never listed. */
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
