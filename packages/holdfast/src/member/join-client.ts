/**
 * How a process gets into a session, and back into it.
 *
 *     finding   asks the hub for the game and room: ADD_SERVER creates or finds the session
 *     opening   receives a stored, empty room from the hub, and becomes its primary
 *     asking    asks the primary to be let in, on a link for that: JOIN, JOINED
 *     in        attached to the hub as a member; more links follow
 *
 * A member that was removed or deposed rejoins in the same way, with a new incarnation and the same
 * key, so it is the same player (T34, T81). A join fails after JOIN_MS, and sooner if there is
 * surely no hub.
 */

import type { Points } from '../seal/state.ts'
import { createClock } from '../link/timing/clock.ts'
import type { ErrorCode, Millis } from '../machine.ts'
import { BASE_POINT, type Met } from '../ports.ts'
import {
  fromHub,
  HUB_VERSIONS,
  LATER,
  NO_GAME,
  NOT_ADMITTED,
  opensIn,
  SPENT,
  UNREADABLE,
  SILENT_MS,
  type ToHub,
  toHub,
  type FromHubOf,
} from '../hub-protocol/messages.ts'
import * as client from '../session/client.ts'
import { enter } from '../session/membership.ts'
import {
  type Joined,
  joinedLayout,
  claimOf,
  type Join,
  joinLayout,
  SESSION_VERSIONS,
} from '../session/messages.ts'
import { SEAL_VERSIONS } from '../seal/limits.ts'
import * as seal from '../seal/seal.ts'
import { nameOf } from '../seal/seal.ts'
import { type Member, COUNTER_MAX } from '../replication/layouts.ts'
import { renumber } from '../session/operations.ts'
import * as lineage from '../session/lineage.ts'
import { settledOf } from '../session/recovery.ts'
import { ANEW, found } from '../session/roles.ts'
import type { StoredState } from '../session/segments.ts'
import * as session from '../session/session.ts'
import { mayServe, type Session, nextRequest } from '../session/state.ts'
import { differenceOf } from '../wire/fields/difference.ts'
import { sameBytes, digest, proofOf } from '../wire/digest.ts'
import { decode, encode } from '../wire/layout.ts'
import { plain } from '../wire/text/plain.ts'
import { negotiate, formatVersions, encodeVersions } from '../wire/versions.ts'
import { isNewer, OUTDATED_ROOM, RELOAD } from '../wire/versions.ts'
import * as channels from './channels.ts'
import * as dispatch from './dispatch.ts'
import type { Unfit } from './stored-room.ts'
import * as storedRoom from './stored-room.ts'
import * as peers from './peers.ts'
import * as roomKey from './room-key.ts'
import {
  CLOSE,
  type CurveAnswer,
  freshKey,
  freshSession,
  JOIN_MS,
  type LinkKey,
  type Peer,
  type Resume,
  type Runtime,
  JOIN_CHANNEL,
  mayFound,
  type JobOf,
} from './state.ts'
import * as link from '../link/link.ts'
import { knocking } from '../wire/relay.ts'

/** A request without an answer is repeated after this. */
export const ASK_AGAIN_MS: Millis = 500
/** A peer that sent something within this time is reachable. */
const HEARD_MS: Millis = 1_000

/** How long all addresses are tried for the hub of our session; then another hub will do. */
export const FOREIGN_MS: Millis = 60_000

export function hubOpened(run: Runtime): void {
  run.member.hub = 'open'
  run.member.met = null
  noteStore(run, true)
  sendToHub(run, helloMessage())
  // A hub of another version answers the hello alone.
  askNext(run)
}

export function hubClosed(run: Runtime): void {
  const { member } = run
  const was = member.hub
  member.hub = 'closed'
  member.channels.askAt = Infinity
  session.onHubDown(member.session, run.out)
  member.askAt = Infinity
  if (member.phase === 'asking' || member.phase === 'opening') member.phase = 'finding'
  member.opening = null
  member.stored = null
  // The stored room may be another one when the hub is back.
  member.replacedRoom = null
  leaveJoinLink(run)
  if (was !== 'closed' && (was === 'attached' || member.phase === 'in'))
    run.ports.emit({ kind: 'hub', up: false })
}

export function receiveHub(run: Runtime, bytes: Uint8Array): void {
  const { member } = run
  const message = decode(fromHub, bytes)
  if (!message) return void member.counters.malformed++
  member.reconcileDue = true
  switch (message.kind) {
    case 'welcome':
      return onWelcome(run, message.version)
    case 'signs':
      return onHubKey(run, message.key)
    case 'added':
      return onAdded(run, message)
    case 'stored':
      return storedRoom.recall(run, message)
    case 'segment':
      return onSegment(run, message)
    case 'attached':
      return onAttached(run, message)
    case 'present':
      // Our primary has told the hub that we are no longer a member.
      if (member.hub === 'attached' && isSelf(member.session, message)) return rejoin(run)
      return session.receiveFromHub(run.turn, message)
    case 'ice':
      return channels.receiveServers(run, message)
    case 'store':
      return noteStore(run, message.answers)
    case 'invited': {
      const { request, why } = message
      return run.ports.emit({ kind: 'invited', request, why: plain(why) })
    }
    case 'refused':
      return onRefused(run, plain(message.why))
    case 'register':
      if (message.session === member.session.id) setNamedPrimary(run, message)
      return session.receiveFromHub(run.turn, message)
    default:
      session.receiveFromHub(run.turn, message)
  }
}

// On a new stream the store is taken to answer, until the hub says behind `signs` that it does not.
function noteStore({ member, ports }: Runtime, answers: boolean): void {
  if (answers === member.storeAnswers) return
  member.storeAnswers = answers
  ports.emit({ kind: 'store', answers })
}

// With several addresses another hub may answer than that of our session. It would create the room
// a second time.
function onHubKey({ member, now, ports }: Runtime, key: Uint8Array): void {
  const { hubKey: known } = member
  if (known && member.home !== '' && !sameBytes(known, key)) {
    member.foreignAt ??= now
    member.counters.foreign++
    if (now - member.foreignAt < FOREIGN_MS && ports.elsewhere?.()) return
  }
  member.foreignAt = null
  member.hubKey = key
}

// The hub knows the link key of the registered primary.
function setNamedPrimary(
  { member, now }: Runtime,
  { register, leader }: Pick<FromHubOf<'register'>, 'register' | 'leader'>,
): void {
  member.named = leader && { inc: register.primary, key: nameOf(leader.link) }
  const peer = member.peers.get(register.primary)
  if (leader && peer && peer.key === null) peer.askAt = now
}

function isSelf({ id, me }: Session, { session: of, inc, here }: FromHubOf<'present'>): boolean {
  return of === id && inc === me && !here
}

function onWelcome(run: Runtime, version: number): void {
  if (negotiate(HUB_VERSIONS, version) === null) {
    const [theirs, ours] = [version, HUB_VERSIONS].map(formatVersions)
    const cure = isNewer(HUB_VERSIONS, version) ? RELOAD : 'update the hub'
    return fail(run, 'version', `the hub speaks ${theirs}, this build ${ours}: ${cure}`)
  }
  run.member.greeted = true
}

// Sends the next request of a join.
function askNext(run: Runtime): void {
  const { member, now } = run
  member.askAt = now + ASK_AGAIN_MS
  if (member.phase === 'in') return sendToHub(run, attachMessage(run))
  if (member.unwanted) return
  if (member.linkKey.point === null) return makeKey(run)
  if (member.phase === 'asking' && isAnswerOverdue(run)) return findAgain(run)
  if (member.phase === 'finding') return requestSession(run)
  if (member.phase === 'asking' && !member.joinPeer) requestJoin(run)
}

/** The primary does not let us in: finds the session again, for another member may serve by now. */
export function findAgain(run: Runtime): void {
  leaveJoinLink(run)
  run.member.phase = 'finding'
}

/** Makes the key of our links, with which a join begins. */
export function makeKey(run: Runtime): void {
  const { linkKey, curves } = run.member
  if ([...curves.jobs.values()].some((job) => job.kind === 'key' && job.of === linkKey)) return
  const pairs = [[linkKey.secret, BASE_POINT]] as const
  dispatch.compute(run, { kind: 'key', of: linkKey }, { kind: 'agree', pairs })
}

export function onLinkKey(run: Runtime, of: LinkKey, answer: CurveAnswer): void {
  const [point] = Array.isArray(answer) ? (answer as Points) : []
  if (!point) return
  of.point = point
  if (of === run.member.linkKey && run.member.hub !== 'closed') askNext(run)
}

type Added = FromHubOf<'added'>

function onAdded(run: Runtime, answer: Added): void {
  const { member } = run
  // Nothing was requested before our key was made.
  if (member.phase !== 'finding' || member.linkKey.point === null) return
  if (member.unwanted) return undoFound(run, answer)
  const { entry } = answer
  const { replacedRoom } = member
  member.replacedRoom = null
  member.found = entry.session
  member.admission = answer.admission
  const { saved } = member.options
  roomKey.adoptTerms(run, answer)
  if (saved && (answer.opened || !answer.created))
    return fail(run, 'exists', storedRoom.isThere(member.options))
  if (answer.opened) return storedRoom.begin(run, answer)
  if (saved) {
    const as = { time: saved.time, imported: true }
    return resumeRoom(run, answer, as, storedRoom.load(run, saved))
  }
  if (answer.created) {
    becomePrimary(run, answer)
    return void (replacedRoom && run.ports.emit({ kind: 'aside', ...replacedRoom }))
  }
  setNamedPrimary(run, { register: entry.register, leader: answer.leader })
  // The hub may know the primary in a moment.
  if (!member.named) return
  member.phase = 'asking'
  askNext(run)
}

// Ends a session that the hub has created or opened for us and that has no members.
function undoFound(run: Runtime, answer: Added): void {
  if (answer.created || answer.opened) sendToHub(run, storedRoom.endMessage(run, answer))
  run.member.phase = 'out'
}

/**
 * Cancels the join. A request under way is awaited and its result left at once: a member that
 * vanishes without a goodbye stays in all lists until its timeout.
 */
export function withdraw(run: Runtime): void {
  const { member } = run
  const { phase, hub, joinPeer: peer, linkKey } = member
  if (phase === 'in') return session.leave(run.turn)
  member.unwanted = true
  // Without a request, or without our first message on the link, we are not let in.
  const isWaiting = phase === 'asking' ? peer?.link : hub === 'open' && linkKey.point !== null
  if (isWaiting && phase !== 'opening') return
  if (phase === 'opening') sendToHub(run, storedRoom.endMessage(run, member.opening!.answer))
  leaveJoinLink(run)
  member.phase = 'out'
}

// A piece of a stored room; once it is complete the session resumes, with us as its primary.
function onSegment(run: Runtime, message: FromHubOf<'segment'>): void {
  const { member } = run
  if (storedRoom.takeRecalled(run, message)) return
  const opened = member.opening
  if (!opened || !storedRoom.take(run, opened.incoming, message)) return
  member.opening = null
  resumeRoom(run, opened.answer, opened.as, storedRoom.read(run, opened.incoming))
}

// Resumes a stored or saved session. A room that this build cannot read stays at the hub.
function resumeRoom(
  run: Runtime,
  answer: Added,
  as: Omit<Opened, 'found'>,
  found: StoredState | Unfit,
): void {
  if (!('code' in found)) return becomePrimary(run, answer, { ...as, found })
  sendToHub(run, storedRoom.endMessage(run, answer))
  run.member.replacedRoom = storedRoom.asideOf(run, answer, found)
  if (!run.member.replacedRoom) return fail(run, found.code, found.why)
  run.member.phase = 'finding'
  askNext(run)
}

interface Opened {
  time: Millis
  /** Imported by the operator of the hub, or begun from a file. */
  imported: boolean
  found: StoredState
}

// We created the session, and are its primary, sole server and first client (T13).
function becomePrimary(run: Runtime, { entry, leader }: Added, kept: Opened | null = null): void {
  const { member, out } = run
  const { session: own, options } = member
  const { session: id, register } = entry
  own.id = id
  session.keepCertificate(own, { register, leader })
  own.me = register.primary
  own.player = kept ? storedRoom.playerOf(run, kept.found) : own.me
  const lastSeq = kept?.found.state.players.get(own.player)?.lastSeq ?? 0
  const resume = kept && isSame(member.resume, own) ? member.resume : null
  roomKey.foundRoom(run)
  renumber(own, resume !== null, lastSeq, out)
  const self: Member = {
    inc: own.me,
    player: own.player,
    name: options.name,
    kind: options.kind,
    addresses: options.addresses,
    registerHash: hashOf(own.secret),
    link: member.linkKey.point!,
    key: options.identity.key,
    rights: member.admission.rights,
  }
  // Session time is our clock, or goes on as it was.
  if (kept) storedRoom.resumeClock(run, entry.session, kept.time)
  enterSession(run, resume ? Math.max(0, member.recorded - lastSeq) : 0)
  member.clock.set = true
  const state = kept && storedRoom.restore(run, kept.found)
  if (kept && !state) return fail(run, 'store', storedRoom.NONE_OF_OURS.why)
  const { epoch } = register
  const from = kept && { ...kept.found, epoch, state, imported: kept.imported }
  found(run.turn, from ?? ANEW)
  enter(run.turn, self, resume?.settled ?? 0)
  if (kept) out.emit({ kind: 'welcome', to: [own.me] })
  // A rejoin finds the room, and must not begin it again.
  options.saved = null
}

export function onJoinAnswer(run: Runtime, peer: Peer, blob: Uint8Array): void {
  const { member } = run
  const answer = decode(joinedLayout, blob)
  if (!answer || member.phase !== 'asking') return void member.counters.malformed++
  if (answer.kind === 'joined') {
    const { view, lastSeq } = answer
    if (Math.max(view.mv, lastSeq) > COUNTER_MAX) return void member.counters.malformed++
    onJoined(run, answer)
    member.joinPeer = null
    peers.identify(run, peer, member.named!.inc)
    if (member.unwanted) session.leave(run.turn)
    return
  }
  closeJoinLink(run, peer, CLOSE.leaving)
  if (answer.kind === 'unfit') {
    return fail(run, 'schema', differenceOf(member.options.types, answer.types))
  }
  if (answer.code === 'notPrimary') findAgain(run)
  else fail(run, answer.code, answer.why)
}

function onJoined(run: Runtime, answer: Joined & { kind: 'joined' }): void {
  const { member, now, out } = run
  const { session: own } = member
  own.id = member.found
  own.me = answer.inc
  own.player = answer.player
  const same = isSame(member.resume, own)
  // Operations that were committed and published to us, and that the recovered session lacks.
  const lost = same ? Math.max(0, member.recorded - answer.lastSeq) : 0
  renumber(own, same, answer.lastSeq, out)
  // Another session has another time, and a set clock would take hours to follow it.
  if (member.home !== '' && member.home !== own.id) member.clock = createClock(now)
  enterSession(run, lost)
  // The primary sends us its own view on the link; until then this one is used.
  client.follow(run.turn, answer.view, null)
}

function enterSession(run: Runtime, lost: number): void {
  const { member } = run
  const { session: own } = member
  member.phase = 'in'
  member.giveUpAt = Infinity
  const { kind, hosts } = member.options
  own.recovers &&= mayServe({ kind, rights: member.admission.rights }, hosts)
  peers.createSeal(run, own.id)
  peers.updateSeal(run)
  // The hub answered a moment ago.
  own.hub = { up: true, since: run.now }
  member.resume = { session: own.id, player: own.player, inc: own.me, settled: 0 }
  run.ports.emit({ kind: 'joined', inc: own.me, player: own.player, lost })
  if (member.home !== '' && member.home !== own.id) {
    for (const { part, state } of member.mounts)
      part.reset?.(state, dispatch.partOut(run, part.channel))
    lineage.move(own, run.out)
  }
  member.home = own.id
  askNext(run)
}

function isSame(resume: Resume | null, own: Session): resume is Resume {
  return resume?.session === own.id && resume.player === own.player
}

function onAttached(run: Runtime, message: FromHubOf<'attached'>): void {
  const { member } = run
  if (message.session !== member.session.id) return
  member.hub = 'attached'
  member.askAt = Infinity
  setNamedPrimary(run, message)
  peers.leaveKnockPaths(run)
  session.onHubUp(run.turn)
  session.receiveFromHub(run.turn, message)
  run.ports.emit({ kind: 'hub', up: true })
}

// The hub has no such session or member, or its primary is not attached just now.
function onRefused(run: Runtime, why: string): void {
  const { member } = run
  if (member.unwanted && member.phase !== 'in') return void (member.phase = 'out')
  if (member.phase === 'finding') {
    member.unfound = why
    // The hub opens a room only once its last members cannot be playing any more.
    const opensAt = run.now + Math.min(opensIn(why) ?? 0, SILENT_MS)
    if (why.startsWith(LATER)) member.giveUpAt = Math.max(member.giveUpAt, opensAt + JOIN_MS)
    if (why === UNREADABLE || why === SPENT) {
      if (member.options.fresh && !member.options.saved) member.replacedRoom = { as: '', why }
      else if (why === SPENT) return fail(run, 'full', why)
    }
    // Asking again would change nothing.
    if (why.startsWith(NO_GAME)) return fail(run, 'no-such-game', `${why} (${member.options.hub})`)
    if (why.startsWith(NOT_ADMITTED)) {
      return fail(run, 'forbidden', why.slice(NOT_ADMITTED.length), opensIn(why))
    }
  }
  if (member.phase === 'asking') {
    // The primary may be reconnecting: finds the session again until the time is up.
    return findAgain(run)
  }
  if (member.phase !== 'in' || member.hub !== 'open') return
  // A hub that has just started lacks the primary's list. While the primary is reachable without
  // the hub we are still a member, and attach again.
  const { client, detectors, me } = member.session
  const { primary } = client.view
  const heardAt = primary === me ? -Infinity : (detectors.get(primary)?.lastReceived ?? -Infinity)
  if (run.now - heardAt > HEARD_MS) rejoin(run)
}

/** Rejoins as the same player with a new incarnation. */
export function rejoin(run: Runtime): void {
  const { member, now } = run
  if (member.phase !== 'in' || member.session.leaving) return
  member.counters.returns++
  const { pending, nextSeq, published } = member.session.client
  if (member.resume) member.resume.settled = settledOf(member.session.client)
  member.recorded = published.seqs.get(member.session.player) ?? 0
  const { point } = member.session
  member.session = freshSession(now, member.options, member.entropy, point)
  member.linkKey = freshKey(member.entropy)
  member.seal = null
  member.sealed = ''
  member.keys.clear()
  member.pendingJoins.clear()
  member.named = null
  member.session.client.pending = pending
  member.session.client.nextSeq = nextSeq
  member.stored = null
  channels.dropAll(run)
  member.peers.clear()
  member.replaced.clear()
  member.loopback.length = 0
  member.phase = 'finding'
  // The stream stays open without a member attached to it.
  if (member.hub === 'attached') member.hub = 'open'
  member.giveUpAt = now + JOIN_MS * BACK_FACTOR
  run.ports.emit({ kind: 'lost', lost: true })
  if (member.hub !== 'closed') askNext(run)
}

/** The join failed for good. @param opens  after how long the room opens, if the hub said */
export function fail(
  run: Runtime,
  code: ErrorCode,
  why: string,
  opens: Millis | null = null,
): void {
  run.member.phase = 'out'
  run.ports.emit({ kind: 'failed', code, why, opens })
}

/** Repeats requests without an answer, and gives up in the end. */
export function wake(run: Runtime): void {
  const { member, now } = run
  if (now >= giveUpTime(run)) {
    const { code, why } = failureOf(run)
    return fail(run, code, why, code === 'timeout' ? opensIn(member.unfound) : null)
  }
  if (now >= member.askAt && member.hub === 'open') askNext(run)
}

export function deadline(run: Runtime): Millis {
  const { member } = run
  if (member.phase === 'out') return Infinity
  return Math.min(giveUpTime(run), member.hub === 'open' ? member.askAt : Infinity)
}

// The link of a join: to the primary that the hub has named, with our JOIN in its handshake. The
// hub relays it and cannot read it. The primary answers on the link, which stays once we are a
// member.

/** A primary that is silent for so long before its answer may have been replaced. */
export const ANSWER_MS: Millis = 1_500

export function sendJoin(run: Runtime, to: string, join: Omit<Join, 'signature'>): void {
  const { curves, options } = run.member
  if ([...curves.jobs.values()].some((job) => job.kind === 'sign' && job.session === to)) return
  const message = claimOf(to, join)
  const { seed } = options.identity
  dispatch.compute(run, { kind: 'sign', session: to, join }, { kind: 'sign', seed, message })
}

export function onJoinSigned(run: Runtime, job: JobOf<'sign'>, signature: Uint8Array): void {
  const { member, now } = run
  const { phase, found, named } = member
  if (phase !== 'asking' || found !== job.session || member.joinPeer || !named) return
  peers.createSeal(run, found)
  const peer = peers.blank(named.key, true)
  const join = encode(joinLayout, { ...job.join, signature })
  member.joinPeer = peer
  const asked = { peer: named.key, to: named.inc, addresses: [knocking(0)], join }
  seal.ask(member.seal!, now, asked)
}

/** The primary's answer in the datagram, and how many arrivals it took; null for none. */
export function takeAnswer({ arrivals }: Runtime): { blob: Uint8Array; count: number } | null {
  for (let at = 0; at < arrivals.count; at++) {
    const { what, bytes } = arrivals.list[at]!
    if (what !== 'message' || bytes[0] !== JOIN_CHANNEL) continue
    return { blob: bytes.subarray(1), count: at + 1 }
  }
  return null
}

export function isAnswerOverdue({ member, now }: Runtime): boolean {
  const { joinPeer } = member
  return !joinPeer?.link ? false : now - joinPeer.link.lastReceived > ANSWER_MS
}

export function leaveJoinLink(run: Runtime): void {
  const { member } = run
  if (!member.joinPeer) return
  peers.hangUp(run, member.joinPeer)
  member.joinPeer = null
}

export function closeJoinLink(run: Runtime, peer: Peer, reason: number): void {
  if (peer.link) link.close(peer.link, run.now, reason, dispatch.sinkOf(run, peer))
  leaveJoinLink(run)
}

// The requests of a join, and the reasons why it fails.

// A first join fails as soon as the reason is sure. A process that was a member before has the
// right address, and waits longer.

/**
 * How long a first join tolerates what it found at the hub's address. While a hub restarts, a proxy
 * before it answers for an instant like a wrong address, and no socket listens for a few seconds.
 */
export const TOLERANCE_MS: Readonly<Record<Met['kind'], Millis>> = {
  denied: 0,
  wrong: 1_000,
  passing: 5_000,
}
/** A process that was a member before waits so many times longer. */
export const BACK_FACTOR = 4

/** The hub's address has no server, or one that is no hub. */
export function onMet({ member, now }: Runtime, what: Met): void {
  if (member.greeted) return
  const since = member.met?.kind === what.kind ? member.met.since : now
  member.met = { kind: what.kind, what: plain(what.what), since }
}

/** When to give up; Infinity for never. */
export function giveUpTime({ member }: Runtime): Millis {
  const { phase, met: found } = member
  if (phase === 'in' || phase === 'out') return Infinity
  if (!found) return member.giveUpAt
  return Math.min(member.giveUpAt, found.since + TOLERANCE_MS[found.kind])
}

/** The reason for giving up, as a sentence: what was found, and where. */
export function failureOf(run: Runtime): { code: ErrorCode; why: string } {
  const { member } = run
  const { options, met: found } = member
  if (found?.kind === 'denied') {
    return { code: 'forbidden', why: `the hub at ${options.hub} refuses us: ${found.what}` }
  }
  if (found) return { code: 'unreachable', why: `no hub at ${options.hub}: ${found.what}` }
  const within = `within ${(JOIN_MS * (member.home === '' ? 1 : BACK_FACTOR)) / 1_000} s`
  if (member.hub === 'closed') {
    const silent = `no hub at ${options.hub} answered ${within}: is it running?`
    const gone = `the hub at ${options.hub} went away, and did not come back ${within}`
    return { code: 'unreachable', why: member.greeted ? gone : silent }
  }
  if (!member.greeted) {
    const why = `no hub at ${options.hub}: who takes streams there says nothing that a hub says`
    return { code: 'unreachable', why }
  }
  if (member.phase === 'asking' && member.otherSeal !== 0) {
    const [theirs, ours] = [member.otherSeal, SEAL_VERSIONS].map(formatVersions)
    const cure = isNewer(SEAL_VERSIONS, member.otherSeal) ? RELOAD : OUTDATED_ROOM
    return { code: 'version', why: `the room speaks ${theirs}, this build ${ours}: ${cure}` }
  }
  const reason = storeReason(run)
  return { code: 'timeout', why: `${whyOutside(run)} ${within}${reason && `: ${reason}`}` }
}

// Empty if the store answers, or the hub gave a reason of its own.
function storeReason({ member: { storeAnswers, phase, unfound } }: Runtime): string {
  const isOther = storeAnswers || (phase !== 'asking' && unfound !== '')
  return isOther ? '' : 'the store of the hub does not answer'
}

// Why we are not in although there is a hub.
function whyOutside({ member }: Runtime): string {
  const { options, phase, unfound } = member
  const where = `${options.game}/${options.room} at ${options.hub}`
  if (phase === 'asking' || unfound === '') return `nobody let us into ${where}`
  if (mayFound(options)) return `the hub did not open ${where}: ${unfound}`
  const cause =
    options.kind === 'guest'
      ? 'serves: false opens none'
      : "primaries: 'hosts' wants one with a ticket of a host"
  return `the hub is there, but nobody that may serve ${where} (${cause}) came`
}

export function sendToHub(run: Runtime, message: ToHub): void {
  run.ports.hub(encode(toHub, message))
}

export function helloMessage(): ToHub {
  return { kind: 'hello', version: encodeVersions(HUB_VERSIONS) }
}

export function attachMessage({ member: { session: own } }: Runtime): ToHub {
  return {
    kind: 'attach',
    request: nextRequest(own),
    session: own.id,
    inc: own.me,
    proof: proofOf(own.secret, 'register'),
  }
}

/** Asks the hub for the game and room: it finds the session, or creates one with us as founder. */
export function requestSession(run: Runtime): void {
  const { member } = run
  const { options, session: own } = member
  sendToHub(run, {
    kind: 'add',
    request: nextRequest(own),
    game: options.game,
    room: options.room,
    // A process that may not serve opens no session: 0 asks for one that exists.
    playersMax: mayFound(options) ? options.playersMax : 0,
    recovers: options.recovers,
    topology: options.topology,
    terms: options.terms,
    hash: hashOf(own.secret),
    link: member.linkKey.point!,
    key: options.identity.key,
    hosts: options.hosts,
    ticket: options.ticket,
    fresh: member.replacedRoom !== null,
  })
}

export function requestJoin(run: Runtime): void {
  const { member } = run
  const { options, session: own } = member
  const asked = {
    version: encodeVersions(SESSION_VERSIONS),
    schema: own.schema,
    name: options.name,
    kind: options.kind,
    watches: options.watches,
    addresses: options.addresses,
    registerHash: hashOf(own.secret),
    link: member.linkKey.point!,
    key: options.identity.key,
    rights: member.admission.rights,
    admission: member.admission.signature,
    resume: member.resume?.session === member.found ? member.resume : null,
  }
  sendJoin(run, member.found, asked)
}

/** The hash by which the hub knows an incarnation, from its secret. */
export function hashOf(secret: Uint8Array): Uint8Array {
  return digest(proofOf(secret, 'register'))
}

/** The hub, a room to be opened or found, its server, or the state of the room. */
export type WaitingFor = 'hub' | 'room' | 'server' | 'state'

export interface Waiting {
  readonly waitingFor: WaitingFor
  /** Why that takes long, as a sentence; empty if unknown. */
  readonly reason: string
  /** Until when at most, on our clock; Infinity if unknown. */
  readonly until: Millis
}

export function waitingOf(run: Runtime): Waiting {
  const { hub, greeted, phase, met, unfound, giveUpAt } = run.member
  const until = giveUpTime(run)
  if (phase === 'in' || phase === 'out') return { waitingFor: 'state', reason: '', until }
  if (hub === 'closed' || !greeted) return { waitingFor: 'hub', reason: met?.what ?? '', until }
  if (phase === 'asking') return { waitingFor: 'server', reason: storeReason(run), until }
  const opens = unfound.startsWith(LATER) ? giveUpAt - JOIN_MS : until
  return { waitingFor: 'room', reason: unfound || storeReason(run), until: opens }
}
