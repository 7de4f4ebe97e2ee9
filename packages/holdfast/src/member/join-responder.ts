/**
 * Those who ask a primary to let them in. Their JOIN comes in the handshake, so nobody on the way
 * reads it; with their first sealed packet they have a link, on which the primary answers, and
 * which is theirs once they are members. Nothing is promised to who does not get so far.
 */

import * as link from '../link/link.ts'
import { admissionOf } from '../hub-protocol/messages.ts'
import { type Millis, RIGHTS } from '../machine.ts'
import { isKnocking } from '../wire/relay.ts'
import { pointOf, type PeerKey, type Request, type Verdict } from '../seal/state.ts'
import { isReturning, join, otherVersion } from '../session/membership.ts'
import { onClosed } from '../session/session.ts'
import {
  claimOf,
  type Join,
  type Joined,
  joinedLayout,
  joinLayout,
  SESSION_VERSIONS,
} from '../session/messages.ts'
import { takes } from '../session/state.ts'
import { createReader, readVarint } from '../wire/bytes.ts'
import { sameBytes } from '../wire/digest.ts'
import { isName } from '../wire/text/plain.ts'
import { negotiate } from '../wire/versions.ts'
import { decode, encode } from '../wire/layout.ts'
import * as dispatch from './dispatch.ts'
import { compute, framePart } from './dispatch.ts'
import * as peers from './peers.ts'
import * as linkKeys from './link-keys.ts'
import { type PendingJoin, type CurveJob, JOIN_CHANNEL, type Runtime } from './state.ts'

/**
 * Most callers at once; one more takes the place of the oldest that was refused, or else of the
 * oldest that has no link.
 */
export const PENDING_JOINS_MAX = 64
/**
 * Most of them by one stream at the hub, with members that have no other way yet; one more takes
 * the place of one of these in the same way.
 */
export const PENDING_JOINS_PER_STREAM = 3
/** A caller that does not become a member is forgotten after this. */
export const PENDING_JOIN_MS: Millis = 10_000

/** Somebody with a link key, which it has shown, asks for membership. */
export function admit(run: Runtime, { peer: key, address, join: blob }: Request): Verdict {
  const { member, now } = run
  if (!takes(member.session) || member.session.leaving) return 'denied'
  if (!makeRoom(run, key, address)) {
    member.counters.unchecked++
    return 'later'
  }
  const peer = peers.blank(run, key, false)
  const number = member.nextPendingJoin++
  const until = now + PENDING_JOIN_MS
  const pending = { peer, address, number, join: blob!, refused: false, waits: null, until }
  member.pendingJoins.set(key, pending)
  member.dueAt = Math.min(member.dueAt, pending.until)
  return null
}

// One that asks anew takes its own place.
function makeRoom(run: Runtime, key: PeerKey, address: string): boolean {
  const { pendingJoins, peers: members } = run.member
  pendingJoins.delete(key)
  const same = [...pendingJoins.values()].filter((pending) => pending.address === address)
  // A member that never attached goes by the number of a caller until it is removed.
  const ghosts = [...members.values()].filter(({ path }) => path === address).length
  const isCrowd = isKnocking(address) && same.length + ghosts >= PENDING_JOINS_PER_STREAM
  if (!isCrowd && pendingJoins.size < PENDING_JOINS_MAX) return true
  const others = isCrowd ? same : [...pendingJoins.values()]
  // Whoever was refused has its answer, and is here only to ask for it again if it was lost.
  const last = others.find(({ refused }) => refused) ?? others.find(({ peer }) => !peer.link)
  if (last) drop(run, last)
  return last !== undefined
}

/** A caller's link stands: its signature is checked, and then the session hears of it. */
export function onLinkUp(run: Runtime, pending: PendingJoin, path: string): void {
  const { member } = run
  const { peer, join: blob } = pending
  const before = member.peers.get(member.keys.get(peer.key!) ?? 0)
  if (before) peers.unlink(run, before)
  peers.open(run, peer, path)
  const version = versionOf(blob)
  if (negotiate(SESSION_VERSIONS, version) === null)
    return answer(run, pending.number, otherVersion(version))
  const claim = decode(joinLayout, blob)
  if (!claim || !isName(claim.name)) {
    member.counters.malformed++
    return drop(run, pending)
  }
  if (!sameBytes(claim.link, pointOf(peer.key!)!)) return forged(run, pending)
  const { key, signature } = claim
  const message = claimOf(member.session.id, claim)
  compute(
    run,
    { kind: 'verify', of: pending, join: claim },
    { kind: 'verify', key, signature, message },
  )
}

// All versions begin so; 0 if it is none.
function versionOf(blob: Uint8Array): number {
  const reader = createReader(blob)
  const version = readVarint(reader)
  return reader.failed ? 0 : version
}

function forged(run: Runtime, pending: PendingJoin): void {
  run.member.counters.forged++
  drop(run, pending)
}

/** The signature of a JOIN is checked. */
export function onSignatureChecked(
  run: Runtime,
  job: CurveJob & { kind: 'verify' },
  isRight: boolean,
): void {
  const { member } = run
  const { of: pending, join: claim } = job
  if (!isCurrent(run, pending)) return
  const { hubKey, session } = member
  if (!isRight || !hubKey) return forged(run, pending)
  const { link: of, key, rights, admission: signature } = claim
  const message = admissionOf({ session: session.id, link: of, key, rights })
  const question = { kind: 'verify', key: hubKey, signature, message } as const
  compute(run, { kind: 'admission', of: pending, join: claim }, question)
}

/** The hub's signature to what the player of a JOIN may do is checked. */
export function onAdmissionChecked(
  run: Runtime,
  { of: pending, join: claim }: CurveJob & { kind: 'admission' },
  isRight: boolean,
): void {
  if (!isCurrent(run, pending)) return
  if (!isRight || (claim.rights & (RIGHTS.play | RIGHTS.watch)) === 0) return forged(run, pending)
  askSession(run, pending, claim)
}

// Whoever comes back waits on its link until its old row is out.
function askSession(run: Runtime, pending: PendingJoin, claim: Join): void {
  const { member } = run
  pending.waits = null
  if (join(run.turn, pending.number, claim)) return
  if (isReturning(member.session, claim)) pending.waits = claim
  else drop(run, pending)
}

/** Something changed: those who wait for their old rows are asked about again. */
export function retryWaiting(run: Runtime): void {
  for (const pending of [...run.member.pendingJoins.values()]) {
    if (pending.waits) askSession(run, pending, pending.waits)
  }
}

function isCurrent({ member }: Runtime, { peer, number }: PendingJoin): boolean {
  return member.pendingJoins.get(peer.key!)?.number === number
}

/** The session has an answer for a caller: a member it lets in under its number from now on. */
export function answer(run: Runtime, number: number, answered: Joined): void {
  const { member, now } = run
  const pending = [...member.pendingJoins.values()].find((one) => one.number === number)
  if (!pending?.peer.link) return
  const { peer } = pending
  if (pending.peer.link.closed !== null) {
    drop(run, pending)
    // It went while we let it in: a page that closes, or a join that is given up.
    if (answered.kind === 'joined') onClosed(run.turn, answered.inc, 'left')
    return
  }
  const bytes = framePart(JOIN_CHANNEL, encode(joinedLayout, answered))
  link.send(peer.link!, now, bytes)
  if (answered.kind !== 'joined') {
    pending.refused = true
    pending.until = now + PENDING_JOIN_MS
    return link.flush(peer.link!, now, dispatch.sinkOf(run, peer))
  }
  member.pendingJoins.delete(peer.key!)
  peers.identify(run, peer, answered.inc)
}

/** What a caller has to say before it is a member is its JOIN alone. */
export function drop(run: Runtime, { peer }: PendingJoin): void {
  run.member.pendingJoins.delete(peer.key!)
  linkKeys.hangUp(run, peer)
}

/** Forgets those who asked long ago, and all when we do not let anybody in any more. */
export function dropExpired(run: Runtime): void {
  const { member, now } = run
  const serves = takes(member.session)
  for (const pending of [...member.pendingJoins.values()]) {
    const { link: own } = pending.peer
    // Of one that may be a member by now the session has to hear that it went.
    const isGone = pending.refused && own !== null && own.closed !== null
    const isOver = now >= pending.until || !serves || isGone
    if (isOver) drop(run, pending)
  }
}
