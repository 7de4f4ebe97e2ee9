/**
 * Processes that ask a primary to let them in. A JOIN comes sealed in the handshake. The first
 * sealed packet opens a link, on which the primary answers, and which the process keeps as a
 * member.
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
import * as peers from './peers.ts'
import { type PendingJoin, JOIN_CHANNEL, type Runtime, type JobOf } from './state.ts'

/**
 * Most pending joins; one more replaces the oldest that was refused, or else the oldest without a
 * link.
 */
export const PENDING_JOINS_MAX = 64
/**
 * Most of them by one stream of the hub, with members that have no other path yet; one more
 * replaces one of these in the same way.
 */
export const PENDING_JOINS_PER_STREAM = 3
/** A pending join is dropped after this. */
export const PENDING_JOIN_MS: Millis = 10_000

/** A process that has proven its link key asks for membership. */
export function admit(run: Runtime, { peer: key, address, join: blob }: Request): Verdict {
  const { member, now } = run
  if (!takes(member.session) || member.session.leaving) return 'denied'
  if (!makeRoom(run, key, address)) {
    member.counters.unchecked++
    return 'later'
  }
  const peer = peers.blank(key, false)
  const number = member.nextPendingJoin++
  const until = now + PENDING_JOIN_MS
  const pending = { peer, address, number, join: blob!, refused: false, waits: null, until }
  member.pendingJoins.set(key, pending)
  member.dueAt = Math.min(member.dueAt, pending.until)
  return null
}

// A repeated request replaces its own entry.
function makeRoom(run: Runtime, key: PeerKey, address: string): boolean {
  const { pendingJoins, peers: members } = run.member
  pendingJoins.delete(key)
  const same = [...pendingJoins.values()].filter((pending) => pending.address === address)
  // A member that never attached keeps its KNOCK path until it is removed.
  const ghosts = [...members.values()].filter((peer) => peers.pathOf(peer) === address).length
  const isCrowd = isKnocking(address) && same.length + ghosts >= PENDING_JOINS_PER_STREAM
  if (!isCrowd && pendingJoins.size < PENDING_JOINS_MAX) return true
  const others = isCrowd ? same : [...pendingJoins.values()]
  // A refused entry has its answer, and stays only to repeat it if that was lost.
  const last = others.find(({ refused }) => refused) ?? others.find(({ peer }) => !peer.link)
  if (last) drop(run, last)
  return last !== undefined
}

/** The link of a pending join is open: has the signature of its JOIN checked. */
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
  dispatch.compute(
    run,
    { kind: 'verify', of: pending, join: claim },
    { kind: 'verify', key, signature, message },
  )
}

// JOINs of all versions begin with it; 0 if malformed.
function versionOf(blob: Uint8Array): number {
  const reader = createReader(blob)
  const version = readVarint(reader)
  return reader.failed ? 0 : version
}

function forged(run: Runtime, pending: PendingJoin): void {
  run.member.counters.forged++
  drop(run, pending)
}

export function onSignatureChecked(run: Runtime, job: JobOf<'verify'>, isRight: boolean): void {
  const { member } = run
  const { of: pending, join: claim } = job
  if (!isCurrent(run, pending)) return
  const { hubKey, session } = member
  if (!isRight || !hubKey) return forged(run, pending)
  const { link: of, key, rights, admission: signature } = claim
  const message = admissionOf({ session: session.id, link: of, key, rights })
  const question = { kind: 'verify', key: hubKey, signature, message } as const
  dispatch.compute(run, { kind: 'admission', of: pending, join: claim }, question)
}

export function onAdmissionChecked(
  run: Runtime,
  { of: pending, join: claim }: JobOf<'admission'>,
  isRight: boolean,
): void {
  if (!isCurrent(run, pending)) return
  if (!isRight || (claim.rights & (RIGHTS.play | RIGHTS.watch)) === 0) return forged(run, pending)
  askSession(run, pending, claim)
}

// A returning player waits on its link until its old row is removed.
function askSession(run: Runtime, pending: PendingJoin, claim: Join): void {
  const { member } = run
  pending.waits = null
  if (join(run.turn, pending.number, claim)) return
  if (isReturning(member.session, claim)) pending.waits = claim
  else drop(run, pending)
}

/** Something changed: retries joins that wait for their old rows. */
export function retryWaiting(run: Runtime): void {
  for (const pending of [...run.member.pendingJoins.values()]) {
    if (pending.waits) askSession(run, pending, pending.waits)
  }
}

function isCurrent({ member }: Runtime, { peer, number }: PendingJoin): boolean {
  return member.pendingJoins.get(peer.key!)?.number === number
}

/** Sends the session's answer; a joined process is a member from now on. */
export function answer(run: Runtime, number: number, answered: Joined): void {
  const { member, now } = run
  const pending = [...member.pendingJoins.values()].find((one) => one.number === number)
  if (!pending?.peer.link) return
  const { peer } = pending
  if (pending.peer.link.closed !== null) {
    drop(run, pending)
    // The process left meanwhile: its page closed, or it gave up joining.
    if (answered.kind === 'joined') onClosed(run.turn, answered.inc, 'left')
    return
  }
  const bytes = dispatch.framePart(JOIN_CHANNEL, encode(joinedLayout, answered))
  link.send(peer.link!, now, bytes)
  if (answered.kind !== 'joined') {
    pending.refused = true
    pending.until = now + PENDING_JOIN_MS
    return link.flush(peer.link!, now, dispatch.sinkOf(run, peer))
  }
  member.pendingJoins.delete(peer.key!)
  peers.identify(run, peer, answered.inc)
}

export function drop(run: Runtime, { peer }: PendingJoin): void {
  run.member.pendingJoins.delete(peer.key!)
  peers.hangUp(run, peer)
}

/** Drops expired joins, and all once we no longer serve. */
export function dropExpired(run: Runtime): void {
  const { member, now } = run
  const serves = takes(member.session)
  for (const pending of [...member.pendingJoins.values()]) {
    const { link: own } = pending.peer
    // Only if refused: a process that may be a member by now must be reported to the session.
    const isGone = pending.refused && own !== null && own.closed !== null
    const isOver = now >= pending.until || !serves || isGone
    if (isOver) drop(run, pending)
  }
}
