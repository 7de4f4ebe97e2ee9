/**
 * A member of a session: routes datagrams, messages, views and outcomes between link, session and
 * parts. It depends on the session, which provides the view, and on the interface of the parts.
 *
 * Each call takes the current time, handles its input, delivers messages to ourselves, and flushes
 * every link once.
 */

import { assert, mayPlay, type Millis, type PeerId } from '../machine.ts'
import type { Effects, PartView } from '../kind/protocol/part.ts'
import * as clock from '../link/timing/clock.ts'
import { createArrivals } from '../link/link.ts'
import { endedPlayers } from '../session/client.ts'
import { type ToHub, toHub } from '../hub-protocol/messages.ts'
import { encode } from '../wire/layout.ts'
import type { PeerMessage, View } from '../session/messages.ts'
import * as operations from '../session/operations.ts'
import * as persistence from '../session/persistence.ts'
import * as session from '../session/session.ts'
import type { PartState } from '../replication/durable.ts'
import {
  nextRequest,
  type SessionEvent,
  type SessionOut,
  type Parts,
  type Turn,
} from '../session/state.ts'
import type { SealSink } from '../seal/state.ts'
import { STALL_MS } from '../session/failure-detector.ts'
import { SWEEP_MS } from '../session/server.ts'
import * as channels from './channels.ts'
import * as dispatch from './dispatch.ts'
import { guard, guarded } from './dispatch.ts'
import type { Met } from '../ports.ts'
import * as joinClient from './join-client.ts'
import * as joinResponder from './join-responder.ts'
import * as links from './links.ts'
import * as storedRoom from './stored-room.ts'
import * as paths from '../paths/paths.ts'
import * as peers from './peers.ts'
import * as roomExport from './room-export.ts'
import * as roomKey from './room-key.ts'
import { steerClock } from './links.ts'
import {
  type CurveAnswer,
  type CurveJob,
  type Member,
  type MemberPorts,
  type Runtime,
  type Unsaved,
  CLOSE,
  mountOf,
} from './state.ts'
import { isTrueOf } from '../session/role-table.ts'

// A step that throws half-way (dispatch.ts) leaves a state that cannot be trusted.
//
// A member that serves, or asks to, fails as if it had been killed: its backup may have another
// state, and nothing of the failed step has left. Any other member rejoins as the same player and
// receives the whole state again; after BREAKS_MAX failures it gives up too.

/** A member whose state broke so often within BREAKS_MS gives up. */
export const BREAKS_MAX = 3
export const BREAKS_MS: Millis = 60_000

/** Abandons a broken state. @returns whether there was one */
export function leaveBroken(run: Runtime): boolean {
  const { member, now } = run
  const { broken, phase, session } = member
  if (broken === '' || phase === 'out') return false
  const { role } = session.server
  const isServer = (['leads', 'serves', 'asks'] as const).some((trait) => isTrueOf(role, trait))
  member.breaks = [...member.breaks.filter((at) => now - at < BREAKS_MS), now]
  if (!isServer && phase === 'in' && !session.leaving && member.breaks.length < BREAKS_MAX) {
    member.broken = ''
    session.steps = 0
    joinClient.rejoin(run)
    return true
  }
  const again = isServer ? 'this member served' : 'it happened again and again'
  joinClient.fail(run, 'broken', `an error in Holdfast ${broken}; ${again}, and gave up`)
  return true
}

const GONE = 'the server and its backup are gone: what they held is lost'
// Most messages to ourselves that one call may cause; more means an endless loop, which is a bug.
const LOOPBACK_MAX = 100_000

export function wire(member: Member, ports: MemberPorts): Runtime {
  let turn: Turn | null = null
  const run: Runtime = {
    member,
    ports,
    now: 0,
    arrivals: createArrivals(),
    deliver: (to, bytes) => deliver(run, to, bytes),
    out: null as unknown as SessionOut,
    seals: null as unknown as SealSink,
    // One for all packets of an instant.
    get turn() {
      const { session: own } = member
      if (turn?.now !== run.now || turn.session !== own) {
        turn = { session: own, now: run.now, out: run.out }
      }
      return turn
    },
    outs: new Map(),
  }
  run.out = createOut(run)
  run.seals = links.createSeals(run)
  return run
}

function createOut(run: Runtime): SessionOut {
  // One message to many is encoded once.
  let last: PeerMessage | null = null
  let lastBytes: Uint8Array = new Uint8Array(0)
  return {
    send: (to, message) => {
      if (message !== last) lastBytes = dispatch.frameSession(message)
      last = message
      deliver(run, to, lastBytes)
    },
    hub: (message) => run.ports.hub(encode(toHub, message)),
    time: () => sessionTime(run, run.now),
    seal: (segment, index, as) => storedRoom.seal(run, segment, index, as),
    answer: (asker, joined) => joinResponder.answer(run, asker, joined),
    emit: (event) => onSessionEvent(run, event),
    parts: partsOf(run),
  }
}

function partsOf(run: Runtime): Parts {
  const { member } = run
  return {
    perform: (part, body, by) => {
      const mount = mountOf(member, part)
      // `perform` changes nothing, so an operation that throws is simply not performed.
      const done = guarded(run, 'an operation', null, () => {
        return mount?.part.perform?.(mount.state, run.now, body, by.inc, by.player) ?? null
      })
      if (!done) return null
      const { outcome, refused = false } = done
      const all: (Effects & { part: number })[] = [{ part, ...done }, ...(done.also ?? [])]
      const changes = all.flatMap((one) => one.changes.map((bytes) => ({ part: one.part, bytes })))
      const news = all.flatMap((one) => (one.news ? [{ part: one.part, bytes: one.news }] : []))
      return { outcome, refused, changes, news }
    },
    news: (part, from, bytes) => dispatch.receiveForPart(run, from, part, bytes),
    show: (part, news, player) => {
      const mount = mountOf(member, part)
      return mount?.part.show?.(mount.state, news, player) ?? news
    },
    change: ({ part, bytes }) => {
      const mount = mountOf(member, part)
      mount?.part.apply?.(mount.state, bytes)
    },
    keeps: (player) =>
      member.mounts.some(({ part, state }) => part.keeps?.(state, player) ?? false),
    collect: () =>
      member.mounts.flatMap(({ part, state }) =>
        part.snapshot ? [{ part: part.channel, bytes: part.snapshot(state) }] : [],
      ),
    published: () =>
      member.mounts.flatMap(({ part, state }) =>
        part.published ? [{ part: part.channel, bytes: part.published(state) }] : [],
      ),
    reopen: (parts, changes) => reopen(member, parts, changes),
    unlogged: () => unlogged(member, ({ part, state }) => (part.whole ? [part.whole(state)] : [])),
    unloggedChanges: () => unlogged(member, ({ part, state }) => part.changes?.(state) ?? []),
    restore: (parts) => {
      const isWhole = replace(member, parts)
      if (!isWhole) member.counters.unrestored++
      return isWhole
    },
  }
}

// State of the parts that is in no log.
function unlogged(
  { mounts }: Member,
  how: (mount: Member['mounts'][number]) => Uint8Array[],
): PartState[] {
  return mounts.flatMap((mount) => how(mount).map((bytes) => ({ part: mount.part.channel, bytes })))
}

function reopen(
  member: Member,
  parts: readonly PartState[],
  changes: readonly PartState[],
): boolean {
  if (!replace(member, parts, true)) return false
  for (const { part, state } of member.mounts) {
    const isOwn = (one: PartState): boolean => one.part === part.channel
    const behind = changes.filter(isOwn).map(({ bytes }) => bytes)
    const whole = parts.find(isOwn)
    if (part.find && whole) part.find(state, [whole.bytes, ...behind])
    for (const change of behind) part.apply?.(state, change)
  }
  return true
}

// Returns whether each durable part was given its state, and accepted it. With `ofBuilds` the state
// comes from another build, which may have had other parts.
function replace({ mounts }: Member, parts: readonly PartState[], ofBuilds = false): boolean {
  const given = new Map(parts.map(({ part, bytes }) => [part, bytes]))
  const durable = mounts.filter(({ part }) => part.restore !== undefined)
  const taken = durable.filter(({ part, state }) => {
    const bytes = given.get(part.channel)
    return bytes === undefined ? ofBuilds : part.restore!(state, bytes)
  })
  return taken.length === durable.length && (ofBuilds || given.size === durable.length)
}

function deliver(run: Runtime, to: number, bytes: Uint8Array): number {
  const { member } = run
  if (to !== member.session.me) return links.send(run, to, bytes)
  member.loopback.push(bytes)
  return 0
}

function onSessionEvent(run: Runtime, event: SessionEvent): void {
  const { member } = run
  switch (event.kind) {
    case 'role':
      member.reconcileDue = true
      // The new primary's clock is session time.
      if (!member.clock.set && member.phase === 'in') steerClock(run)
      break
    case 'view':
      onView(run, event)
      break
    case 'welcome':
      return welcome(run, event.to)
    case 'unheard':
      return links.beatByRelay(run, event.peer)
    case 'askRoom':
      return roomExport.answer(run, event, knownTime(run))
    case 'room':
      return roomExport.take(run, event)
    case 'removed':
      if (event.why !== 'returned') return joinClient.rejoin(run)
      // The same player joined from another place, and the newest wins (S-5).
      return joinClient.fail(run, 'elsewhere', 'this player plays elsewhere now')
    case 'abandoned':
      // No member serves the session any more, and none will.
      return joinClient.fail(run, 'unreachable', GONE)
    default:
      break
  }
  run.ports.emit(event)
}

function onView(run: Runtime, { view, before, why }: SessionEvent & { kind: 'view' }): void {
  const { member } = run
  member.reconcileDue = true
  roomKey.follow(run, view, before)
  const { id, me, topology, terms } = member.session
  const watching = view.members.filter(({ rights }) => !mayPlay(rights))
  member.watchers = new Set(watching.map(({ inc }) => inc))
  if (why === 'returned' && view.primary === member.session.me) noteReplaced(run, view, before)
  roomExport.forget(run, view)
  const left = why === 'left'
  const mesh = topology === 'mesh'
  const ended = endedPlayers(member.session)
  const seen: PartView = { session: id, me, mesh, terms, left, ended, ...view }
  member.session.steps++
  for (const { part, state } of member.mounts) {
    part.view?.(state, run.now, seen, dispatch.partOut(run, part.channel))
  }
  member.session.steps--
}

// Each change removes one member.
function noteReplaced({ member }: Runtime, { members }: View, before: View | null): void {
  const here = new Set(members.map(({ inc }) => inc))
  for (const { inc } of before?.members ?? []) if (!here.has(inc)) member.replaced.add(inc)
}

function welcome(run: Runtime, those: readonly PeerId[]): void {
  const { member } = run
  for (const { part, state } of member.mounts) {
    for (const bytes of part.welcome?.(state) ?? []) {
      for (const to of those) operations.sendPartSnapshot(run.turn, part.channel, to, bytes)
    }
  }
  for (const to of those) {
    operations.completeSnapshot(run.turn, to)
    links.measure(run, to)
  }
}

// Handles one input.
function take(run: Runtime, now: Millis, where: string, handle: () => void): void {
  begin(run, now)
  guard(run, where, handle)
  end(run)
}

/** Handles a datagram. The bytes are valid only during the call. */
export function datagram(run: Runtime, now: Millis, from: string, bytes: Uint8Array): void {
  take(run, now, 'a datagram', () => links.datagram(run, from, bytes))
}

export function refused(run: Runtime, now: Millis, address: string): void {
  take(run, now, 'a refusal of the system', () => peers.refused(run, address))
}

/** The end of a channel has a signal for its other end. */
export function signalled(run: Runtime, now: Millis, peer: PeerId, bytes: Uint8Array): void {
  take(run, now, 'a signal', () => channels.send(run, peer, bytes))
}

/** A channel to that member is open. */
export function channelOpened(run: Runtime, now: Millis, peer: PeerId, address: string): void {
  take(run, now, 'a channel', () => {
    if (channels.opened(run, peer, address)) peers.onCandidate(run, peer, address, false)
  })
}

/** A channel ended, or did not open. */
export function channelClosed(run: Runtime, now: Millis, address: string): void {
  take(run, now, 'a channel', () => {
    const inc = channels.closed(run, address)
    if (inc !== null) peers.onCandidate(run, inc, address, true)
  })
}

/** A member begins: what its join needs is computed while the hub is dialled. */
export function started(run: Runtime, now: Millis): void {
  take(run, now, 'the start', () => joinClient.makeKey(run))
}

export function hubOpened(run: Runtime, now: Millis): void {
  take(run, now, 'the stream to the hub', () => joinClient.hubOpened(run))
}

export function hubClosed(run: Runtime, now: Millis): void {
  take(run, now, 'the stream to the hub', () => joinClient.hubClosed(run))
}

/** The hub's address has no server, or one that is no hub; no hub has answered there yet. */
export function hubMet(run: Runtime, now: Millis, met: Met): void {
  take(run, now, 'what is at the address of the hub', () => joinClient.onMet(run, met))
}

export function computed(run: Runtime, now: Millis, job: number, answer: CurveAnswer): void {
  take(run, now, 'an answer of curves', () => {
    const found = dispatch.takeJob(run, job)
    if (found) onComputed(run, found, answer)
  })
}

function onComputed(run: Runtime, job: CurveJob, answer: CurveAnswer): void {
  switch (job.kind) {
    case 'key':
      return joinClient.onLinkKey(run, job.of, answer)
    case 'seal':
      return links.onAgreed(run, job, answer)
    case 'sign':
      return answer instanceof Uint8Array ? joinClient.onJoinSigned(run, job, answer) : undefined
    case 'verify':
      return joinResponder.onSignatureChecked(run, job, answer === true)
    case 'admission':
      return joinResponder.onAdmissionChecked(run, job, answer === true)
    case 'grant':
      return dispatch.onGrantChecked(run, job, answer === true)
  }
}

export function hubMessage(run: Runtime, now: Millis, bytes: Uint8Array): void {
  take(run, now, 'a message of the hub', () => joinClient.receiveHub(run, bytes))
}

/** Asks the primary for an operation on a part. @returns its number @throws HoldfastError */
export function submit(run: Runtime, now: Millis, part: number, body: Uint8Array): number {
  begin(run, now)
  const seq = operations.submit(run.turn, part, body)
  end(run)
  return seq
}

/** The application changed the state of a part: sends what is dirty. */
export function touched(run: Runtime, now: Millis): void {
  begin(run, now)
  end(run)
}

/** As the primary: hands the role to the backup. @returns whether there is a backup to take it */
export function handOver(run: Runtime, now: Millis, atOnce: boolean): boolean {
  begin(run, now)
  const begun = guarded(run, 'a hand-over', false, () => session.handOver(run.turn, atOnce))
  end(run)
  return begun
}

/** The event `invited` brings the answer. @returns the request's number; 0 while not attached */
export function invite(
  run: Runtime,
  now: Millis,
  invitation: { digest: Uint8Array; uses: number; rights: number },
): number {
  begin(run, now)
  const { hub, session: own } = run.member
  const request = hub === 'attached' ? nextRequest(own) : 0
  if (request !== 0) joinClient.sendToHub(run, { kind: 'invite', request, ...invitation })
  end(run)
  return request
}

/** Leaves the session: the primary is asked to remove us, or the role is handed over. */
export function leave(run: Runtime, now: Millis): void {
  const { phase, session: own } = run.member
  take(run, now, 'a goodbye', () => {
    if (phase === 'in' && !own.leaving) session.leave(run.turn)
  })
}

/** Cancels a join: leaves the session that it entered or is about to enter. */
export function withdraw(run: Runtime, now: Millis): void {
  begin(run, now)
  joinClient.withdraw(run)
  end(run)
}

/**
 * Closes all links and stops; unsent messages are lost.
 *
 * @param aside  whether messages to the hub from here on also go into a beacon
 * @returns the messages that attach a new stream, which the beacon begins with; null for no beacon
 */
export function stop(run: Runtime, now: Millis, aside: boolean = false): ToHub[] | null {
  begin(run, now)
  const { member } = run
  // Our own operations are recorded before the last segment is written.
  deliverLoopback(run)
  const { session: own, phase } = member
  const isWhole = phase === 'in' && session.shutDown(run.turn, aside)
  dispatch.flush(run)
  for (const peer of [...member.peers.values()]) links.close(run, peer, CLOSE.leaving)
  // After the links: the hub relays nothing for a member that has said goodbye.
  if (phase === 'in') session.farewell(own, run.out)
  channels.dropAll(run)
  end(run)
  // A primary that is letting us in need not.
  if (member.joinPeer) joinClient.closeJoinLink(run, member.joinPeer, CLOSE.leaving)
  member.phase = 'out'
  return aside && isWhole ? [joinClient.helloMessage(), joinClient.attachMessage(run)] : null
}

function onStalled(run: Runtime, stalledMs: Millis): void {
  session.onStalled(run.turn, stalledMs)
  for (const peer of run.member.peers.values()) paths.forgive(peer.paths, run.now, stalledMs)
}

/** Does what is due. @param dueAt  when the runtime should have called, which shows a stall */
export function wake(run: Runtime, now: Millis, dueAt: Millis = now): void {
  begin(run, now)
  const { member } = run
  // Each has its own guard: an error must not skip the others.
  guard(run, 'the clock', () => {
    if (now - dueAt > STALL_MS) onStalled(run, now - dueAt)
    joinClient.wake(run)
    if (now < member.sweepAt) return
    member.sweepAt = now + SWEEP_MS
    links.sweep(run)
  })
  guard(run, 'the clock', () => session.wake(run.turn))
  for (const { part, state } of member.mounts) {
    guard(run, 'the clock', () => part.wake?.(state, now, dispatch.partOut(run, part.channel)))
  }
  guard(run, 'the clock', () => links.wake(run))
  end(run)
}

/** Whether play depends on the hub: not if a member of a star reaches its primary directly. */
export function needsHub({ member }: Pick<Runtime, 'member'>): boolean {
  const { phase, peers: all, session: own } = member
  if (phase !== 'in' || own.server.role !== 'idle' || own.topology === 'mesh') return true
  const primary = all.get(own.client.view.primary)
  return !primary?.link || paths.isByRelay(primary.paths)
}

export function deadline(run: Runtime): Millis {
  const { member } = run
  const due = Math.min(
    joinClient.deadline(run),
    member.phase === 'in' ? member.sweepAt : Infinity,
    session.deadline(member.session),
    links.deadline(run),
    ...member.mounts.map(({ part, state }) => part.deadline?.(state) ?? Infinity),
  )
  // Work that threw may stay due forever.
  return Math.max(due, member.calmUntil)
}

/** Session time: the primary's clock, continued across changes of primary (L9). */
export function sessionTime(run: Runtime, now: Millis): Millis {
  return clock.timeAt(run.member.clock, now)
}

export function save(run: Runtime, now: Millis): Uint8Array | Unsaved {
  begin(run, now)
  return roomExport.fileOf(run, knownTime(run))
}

/** Asks the primary for the room as a file; the event `file` answers, if it does. */
export function askRoom(run: Runtime, now: Millis, request: number): void {
  begin(run, now)
  roomExport.ask(run, request)
  end(run)
}

// NaN while session time is unknown.
function knownTime(run: Runtime): Millis {
  return knowsTime(run) ? sessionTime(run, run.now) : NaN
}

/** Whether session time is known; before that, it is our own clock. */
export function knowsTime({ member }: Runtime): boolean {
  return member.clock.set
}

function begin(run: Runtime, now: Millis): void {
  run.now = now
  const offset = knowsTime(run) ? sessionTime(run, now) - now : NaN
  for (const { part, state } of run.member.mounts) part.clock?.(state, offset)
}

function end(run: Runtime): void {
  guard(run, 'the end of a call', () => settle(run))
  // A broken state sends nothing.
  if (leaveBroken(run)) guard(run, 'the end of a call', () => settle(run))
}

function settle(run: Runtime): void {
  const { member } = run
  deliverLoopback(run)
  if (member.reconcileDue && member.phase === 'in') links.reconcile(run)
  for (const { part, state } of member.mounts) {
    part.flush?.(state, run.now, dispatch.partOut(run, part.channel))
    for (const peer of part.dirty?.(state, run.now) ?? []) dispatch.scheduleWrite(run, peer)
  }
  for (const { part, state } of member.mounts) {
    if (part.hasChanges?.(state)) persistence.markUnlogged(member.session, run.now)
  }
  session.endIfLast(run.turn)
  persistence.flush(run.turn)
  dispatch.flush(run)
}

function deliverLoopback(run: Runtime): void {
  const { member } = run
  for (let count = 0; member.loopback.length > 0; count++) {
    assert(count < LOOPBACK_MAX, 'messages to ourselves come to an end')
    const bytes = member.loopback.shift()!
    guard(run, 'a message to ourselves', () => dispatch.takeMessage(run, member.session.me, bytes))
  }
}
