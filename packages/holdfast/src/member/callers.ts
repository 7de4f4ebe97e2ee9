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
import { closed } from '../session/session.ts'
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
import { agreed } from '../wire/versions.ts'
import { decode, encode } from '../wire/layout.ts'
import * as dispatch from './dispatch.ts'
import { compute, framePart } from './dispatch.ts'
import * as peers from './peers.ts'
import * as sealing from './sealing.ts'
import { type Caller, type CurveJob, ENTRANCE_CHANNEL, type Runtime } from './state.ts'

/**
 * Most callers at once; one more takes the place of the oldest that was refused, or else of the
 * oldest that has no link.
 */
export const CALLERS_MAX = 64
/**
 * Most of them by one stream at the hub, with members that have no other way yet; one more takes
 * the place of one of these in the same way.
 */
export const CALLERS_PER_STREAM = 3
/** A caller that does not become a member is forgotten after this. */
export const CALLER_MS: Millis = 10_000

/** Somebody with a link key, which it has shown, asks for membership. */
export function admit(run: Runtime, { peer: key, address, join: blob }: Request): Verdict {
  const { member, now } = run
  if (!takes(member.session) || member.session.leaving) return 'denied'
  if (!makeRoom(run, key, address)) {
    member.counters.unchecked++
    return 'later'
  }
  const peer = peers.blank(run, key, false)
  const number = member.nextCaller++
  const until = now + CALLER_MS
  const caller = { peer, address, number, join: blob!, refused: false, waits: null, until }
  member.callers.set(key, caller)
  member.dueAt = Math.min(member.dueAt, caller.until)
  return null
}

// One that asks anew takes its own place.
function makeRoom(run: Runtime, key: PeerKey, address: string): boolean {
  const { callers, peers: members } = run.member
  callers.delete(key)
  const same = [...callers.values()].filter((caller) => caller.address === address)
  // A member that never attached goes by the number of a caller until it is removed.
  const ghosts = [...members.values()].filter(({ path }) => path === address).length
  const isCrowd = isKnocking(address) && same.length + ghosts >= CALLERS_PER_STREAM
  if (!isCrowd && callers.size < CALLERS_MAX) return true
  const others = isCrowd ? same : [...callers.values()]
  // Whoever was refused has its answer, and is here only to ask for it again if it was lost.
  const last = others.find(({ refused }) => refused) ?? others.find(({ peer }) => !peer.link)
  if (last) drop(run, last)
  return last !== undefined
}

/** A caller's link stands: its signature is checked, and then the session hears of it. */
export function stands(run: Runtime, caller: Caller, path: string): void {
  const { member } = run
  const { peer, join: blob } = caller
  const before = member.peers.get(member.keys.get(peer.key!) ?? 0)
  if (before) peers.unlink(run, before)
  peers.open(run, peer, path)
  const version = versionOf(blob)
  if (agreed(SESSION_VERSIONS, version) === null)
    return answer(run, caller.number, otherVersion(version))
  const wish = decode(joinLayout, blob)
  if (!wish || !isName(wish.name)) {
    member.counters.malformed++
    return drop(run, caller)
  }
  if (!sameBytes(wish.link, pointOf(peer.key!)!)) return forged(run, caller)
  const { key, signature } = wish
  const message = claimOf(member.session.id, wish)
  compute(
    run,
    { kind: 'verify', of: caller, join: wish },
    { kind: 'verify', key, signature, message },
  )
}

// All versions begin so; 0 if it is none.
function versionOf(blob: Uint8Array): number {
  const reader = createReader(blob)
  const version = readVarint(reader)
  return reader.failed ? 0 : version
}

function forged(run: Runtime, caller: Caller): void {
  run.member.counters.forged++
  drop(run, caller)
}

/** The signature of a JOIN is checked. */
export function checked(run: Runtime, job: CurveJob & { kind: 'verify' }, isRight: boolean): void {
  const { member } = run
  const { of: caller, join: wish } = job
  if (!isCurrent(run, caller)) return
  const { hubKey, session } = member
  if (!isRight || !hubKey) return forged(run, caller)
  const { link: of, key, rights, admission: signature } = wish
  const message = admissionOf({ session: session.id, link: of, key, rights })
  const question = { kind: 'verify', key: hubKey, signature, message } as const
  compute(run, { kind: 'admission', of: caller, join: wish }, question)
}

/** The hub's signature to what the player of a JOIN may do is checked. */
export function admitted(
  run: Runtime,
  { of: caller, join: wish }: CurveJob & { kind: 'admission' },
  isRight: boolean,
): void {
  if (!isCurrent(run, caller)) return
  if (!isRight || (wish.rights & (RIGHTS.play | RIGHTS.watch)) === 0) return forged(run, caller)
  ask(run, caller, wish)
}

// Whoever comes back waits on its link until its old row is out.
function ask(run: Runtime, caller: Caller, wish: Join): void {
  const { member } = run
  caller.waits = null
  if (join(run.turn, caller.number, wish)) return
  if (isReturning(member.session, wish)) caller.waits = wish
  else drop(run, caller)
}

/** Something changed: those who wait for their old rows are asked about again. */
export function askAgain(run: Runtime): void {
  for (const caller of [...run.member.callers.values()]) {
    if (caller.waits) ask(run, caller, caller.waits)
  }
}

function isCurrent({ member }: Runtime, { peer, number }: Caller): boolean {
  return member.callers.get(peer.key!)?.number === number
}

/** The session has an answer for a caller: a member it lets in under its number from now on. */
export function answer(run: Runtime, number: number, answered: Joined): void {
  const { member, now } = run
  const caller = [...member.callers.values()].find((one) => one.number === number)
  if (!caller?.peer.link) return
  const { peer } = caller
  if (caller.peer.link.closed !== null) {
    drop(run, caller)
    // It went while we let it in: a page that closes, or a join that is given up.
    if (answered.kind === 'joined') closed(run.turn, answered.inc, 'left')
    return
  }
  const bytes = framePart(ENTRANCE_CHANNEL, encode(joinedLayout, answered))
  link.send(peer.link!, now, bytes)
  if (answered.kind !== 'joined') {
    caller.refused = true
    caller.until = now + CALLER_MS
    return link.flush(peer.link!, now, dispatch.sinkOf(run, peer))
  }
  member.callers.delete(peer.key!)
  peers.name(run, peer, answered.inc)
}

/** What a caller has to say before it is a member is its JOIN alone. */
export function drop(run: Runtime, { peer }: Caller): void {
  run.member.callers.delete(peer.key!)
  sealing.hangUp(run, peer)
}

/** Forgets those who asked long ago, and all when we do not let anybody in any more. */
export function tend(run: Runtime): void {
  const { member, now } = run
  const serves = takes(member.session)
  for (const caller of [...member.callers.values()]) {
    const { link: own } = caller.peer
    // Of one that may be a member by now the session has to hear that it went.
    const isGone = caller.refused && own !== null && own.closed !== null
    const isOver = now >= caller.until || !serves || isGone
    if (isOver) drop(run, caller)
  }
}
