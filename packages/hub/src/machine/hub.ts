/**
 * The hub, which `holdfast serve` runs: register, signalling and relay for any number of sessions,
 * as a machine that the simulator can kill.
 *
 * Each stream is one remote process. Before it is a member it may list sessions, create one, and
 * exchange datagrams with the primary of the session it found. To attach, it proves the secret
 * whose hash the primary listed; then it relays datagrams to other members and receives its
 * session's changes. The hub never looks inside what it relays. State that must survive is in the
 * register, and on disk before any member learns of it; the hub relearns everything else from
 * returning members. Requests about a session with a write in flight wait for it, so no member gets
 * a register that is about to change.
 */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import {
  type Closing,
  DATAGRAM_MAX,
  type StoreChange,
  type StoredRecord,
} from '../../../holdfast/src/ports.ts'
import { negotiate, encodeVersions, formatVersions } from '../../../holdfast/src/wire/versions.ts'
import { HUB_VERSIONS, type ToHub, toHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as register from './register.ts'
import { decode } from '../../../holdfast/src/wire/layout.ts'
import { readFrame } from '../../../holdfast/src/wire/relay.ts'
import { placeOf } from '../../../holdfast/src/wire/text/ip.ts'
import * as archive from './archive.ts'
import * as sessionExpiry from './session-expiry.ts'
import { attach, detach, setMembers, notifyRemoved, leaveSeat, renewServers } from './attachment.ts'
import * as budgets from './budgets.ts'
import * as closedRooms from './closed-rooms.ts'
import * as challenge from './challenge.ts'
import * as heartbeat from './heartbeat.ts'
import * as streamLimits from './stream-limits.ts'
import * as goodbyes from './goodbyes.ts'
import * as moves from './moves.ts'
import * as passing from './passing.ts'
import * as persistence from './persistence.ts'
import * as places from './places.ts'
import * as refusals from './refusals.ts'
import * as relayedPairs from './relayed-pairs.ts'
import * as sessions from './sessions.ts'
import * as storeReach from './store-reach.ts'
import * as tender from './tender.ts'
import {
  type Call,
  callOf,
  type Connection,
  registerOut,
  type Hub,
  refuse,
  removedKey,
  send,
  waitNoMore,
  type Turn,
  wait,
} from './state.ts'

export { noteFailure } from './store-reach.ts'
export { leave, isCutOff, start as startSharing, suspect } from './heartbeat.ts'
export { receive as receivePassed } from './passing.ts'
export { startOver } from './tender.ts'
export { receiveTicket, receiveVerdict } from './sessions.ts'
export { create, type Hub, type HubOut, type Turn } from './state.ts'

/**
 * A stream from that IP address opened; it is closed at once if a limit is exceeded.
 *
 * @param isPassed  whether another hub passed it on
 */
export function addStream(
  { hub, now, out }: Turn,
  connection: number,
  address: string,
  isPassed = false,
): void {
  const from: Connection = {
    ...{ greeted: false, version: 0, isPassed, passed: null },
    session: '',
    inc: 0,
    isReplaced: false,
    foundSession: '',
    pendingAdd: null,
    readTicket: null,
    pendingConsult: null,
    approved: '',
    served: '',
    created: 0,
    founded: new Set(),
    account: budgets.accountOf(hub.budgets, now, placeOf(address)),
    buckets: {},
    seat: '',
    segment: null,
    lastMessageAt: now,
    lastRequestAt: now,
    reportedAt: new Map(),
    relayed: relayedPairs.create(now),
  }
  hub.mute.set(connection, now)
  hub.connections.set(connection, from)
  streamLimits.admitStream({ hub, now, connection, from, out })
}

/** A stream closed: the other members of its session are notified (PEER_GONE). */
export function removeStream(turn: Turn, connection: number): void {
  const call = callOf(turn, connection)
  turn.hub.connections.delete(connection)
  turn.hub.mute.delete(connection)
  if (call) {
    if (call.from.passed) turn.out.unpass(connection)
    if (turn.hub.heartbeat) waitNoMore(turn.hub, connection)
    leaveSeat(call.from)
    call.from.account.streams.delete(connection)
    detach(call)
    sessionExpiry.endUnattended(turn, call.from.founded)
  }
  sessions.proceedDue(turn)
}

/** A message from a stream. A malformed one is counted and closes the stream. */
export function receive(turn: Turn, connection: number, bytes: Uint8Array): void {
  const call = callOf(turn, connection)
  if (!call) return
  const { hub, now, from, out } = call
  from.lastMessageAt = now
  const frame = readFrame(bytes)
  if (from.passed && frame && frame.kind !== 'message') {
    if (mayRelay(call, frame.bytes.length)) out.pass(connection, from.passed.to, bytes)
    return
  }
  if (frame?.kind === 'relay' && from.inc !== 0) return relay(call, frame.peer, frame.bytes)
  if (frame?.kind === 'knock' && from.inc !== 0 && frame.peer !== 0) {
    return answerCaller(call, frame.peer, frame.bytes)
  }
  // A long message from a non-member costs more; its datagrams are charged by bytes as well.
  const isLong = from.inc === 0 && frame?.kind !== 'knock'
  if (!refusals.charge(call, 'messages', isLong ? 1 + bytes.length / 1024 : 1)) return
  if (frame?.kind === 'knock' && from.greeted) return knock(call, frame.peer, frame.bytes)
  // The sender was removed a moment ago, or never was a member.
  if (frame?.kind === 'relay' && from.greeted) return void hub.counters.astray++
  const message = frame?.kind === 'message' ? decode(toHub, frame.bytes) : null
  if (!message || (!from.greeted && message.kind !== 'hello')) {
    hub.counters.malformed++
    out.close(connection, { kind: 'refused', why: 'malformed message' })
    return
  }
  dispatch(call, message)
}

// Datagrams may be lost: a member over its limit loses some, and its stream only if it goes on.
function mayRelay(call: Call, bytes: number): boolean {
  const met =
    refusals.spend(call, 'relayedPackets', 1) ?? refusals.spend(call, 'relayedBytes', bytes)
  if (!met) return true
  call.hub.counters.congested++
  refusals.drop(call, met)
  return false
}

function relay(call: Call, to: PeerId, datagram: Uint8Array): void {
  const { hub, from, out } = call
  if (!mayRelay(call, datagram.length)) return
  const known = hub.attached.get(from.session)?.get(to)
  const target = known ?? hub.removed.get(removedKey(from.session, to))?.connection
  if (target === undefined) return void hub.counters.astray++
  challenge.noteRelayed(hub.registers, from.session, from.inc, to)
  relayedPairs.note(from.relayed, call.now, to)
  hub.counters.relayed++
  hub.counters.relayedBytes += datagram.length
  out.relay(target, from.inc, datagram)
}

// A process that has not joined sends a datagram to the primary of the session that it found.
function knock(call: Call, to: number, datagram: Uint8Array): void {
  const { hub, connection, from, out } = call
  if (to !== 0 || datagram.length > DATAGRAM_MAX) return void hub.counters.astray++
  from.lastRequestAt = call.now
  const met = refusals.spend(call, 'joins', datagram.length, from.foundSession)
  if (met) return refusals.drop(call, met)
  const row = register.find(hub.registers, from.foundSession)
  if (!row) return refuse(connection, 0, 'no such session', out)
  const primary = hub.attached.get(from.foundSession)?.get(row.entry.register.primary)
  if (primary === undefined) {
    const why = `the primary of session ${from.foundSession} is not attached`
    return refuse(connection, 0, why, out)
  }
  out.knock(primary, connection, datagram)
}

// The primary's answer to such a datagram.
function answerCaller(call: Call, caller: number, datagram: Uint8Array): void {
  const { hub, from, out } = call
  const { session, inc } = from
  if (!mayRelay(call, datagram.length)) return
  const primary = register.find(hub.registers, session)?.entry.register.primary
  const isCaller = hub.connections.get(caller)?.foundSession === session
  if (inc !== primary || !isCaller || datagram.length > DATAGRAM_MAX) hub.counters.astray++
  else out.knock(caller, 0, datagram)
}

function dispatch(call: Call, message: ToHub): void {
  const { hub, now, connection, from, out } = call
  if (message.kind !== 'hello' && message.kind !== 'ping') from.lastRequestAt = now
  if (hub.heartbeat && passing.route(call, message)) return
  switch (message.kind) {
    case 'hello':
      return greet(call, message.version)
    case 'list':
      return sessions.list(call, message)
    case 'get':
      return sessions.get(call, message)
    case 'add':
      return sessions.add(call, message)
    case 'change':
      return sessions.change(call, message)
    case 'attach': {
      const row = register.find(hub.registers, message.session)
      if (row?.pending) return wait(call, row.entry, message)
      return attach(call, message)
    }
    case 'members': {
      if (!refusals.charge(call, 'rows', message.members.length)) return
      const known = message.session === from.session
      if (!known || !setMembers(call, message)) hub.counters.forged++
      else goodbyes.endIfDeserted(call, message.session)
      return
    }
    case 'yes':
      register.receiveYes(
        hub.registers,
        now,
        message,
        from.session === message.session ? from.inc : 0,
      )
      return
    case 'invite':
      return sessions.invite(call, message)
    case 'keep':
      return persistence.receiveSegment(call, message)
    case 'gone':
      return goodbyes.receiveGoodbye(call, message)
    case 'alive':
      return sessions.alive(call, message)
    case 'ice':
      return renewServers(call, message.session)
    case 'ping':
      return send(connection, { kind: 'pong', count: message.count }, out)
    default:
      message satisfies never
  }
}

function greet(call: Call, version: number): void {
  const { hub, connection, from, out } = call
  const { boot, key } = hub
  send(connection, { kind: 'welcome', version: encodeVersions(HUB_VERSIONS), boot }, out)
  if (negotiate(HUB_VERSIONS, version) !== null) {
    send(connection, { kind: 'signs', key }, out)
    from.greeted = true
    from.version = version
    hub.mute.delete(connection)
    storeReach.greet(call)
  } else {
    const why = `speaks ${formatVersions(version)}, this hub ${formatVersions(HUB_VERSIONS)}`
    out.close(connection, { kind: 'refused', why })
  }
}

/** Restores one record of the store. @returns false if it is not the hub's */
export function restore(
  hub: Hub,
  now: Millis,
  place: string,
  { value, rev }: StoredRecord,
): boolean {
  const boot = heartbeat.bootOf(place)
  if (boot !== null) {
    heartbeat.watch(hub, now, boot)
    return true
  }
  const known = places.readPlace(value)
  if (!known || register.placeOf(known.session.entry) !== place) return false
  places.restore(hub, now, known, rev)
  return true
}

/** Begins the next change of a record: see `places.begin`. */
export function beginWrite(hub: Hub, key: string): StoreChange | null {
  return heartbeat.bootOf(key) === null ? places.begin(hub, key) : heartbeat.begin(hub, key)
}

/** The change of a place is persisted. @param rev  of its record; 0 if that was removed */
export function confirmWrite(turn: Turn, place: string, rev: number): void {
  const boot = heartbeat.bootOf(place)
  if (boot !== null) {
    heartbeat.confirmWrite(turn, boot, rev)
    return sweepHubs(turn)
  }
  if (!turn.hub.places.get(place)?.writing) return
  const writing = places.end(turn.hub, place, rev)
  const session = writing?.session ?? null
  const concerned = placesOf(turn.hub, place, session)
  if (writing?.kind === 'claim') {
    for (const one of tender.confirmWrite(turn, place, rev)) endWrite(turn, one)
  } else if (session !== null && writing?.kind === 'move') {
    if (moves.confirmWrite(turn, session)) closedRooms.endIfClosed(turn, session, place)
  } else if (session !== null) {
    persistence.confirmWrite(turn, session)
    sessions.confirmWrite(turn, session)
  }
  for (const one of concerned) endWrite(turn, one)
  sessions.proceedDue(turn)
}

/** The change was not made: the requests behind it are refused with the reason. */
export function failWrite(turn: Turn, place: string, why: string): void {
  const { hub } = turn
  const boot = heartbeat.bootOf(place)
  if (boot !== null) return heartbeat.failWrite(hub, boot)
  if (!hub.places.get(place)?.writing) return
  const writing = places.end(hub, place)
  const session = writing?.session ?? null
  const concerned = placesOf(hub, place, session)
  if (writing?.kind === 'claim') return void tender.failWrite(turn, place)
  if (writing?.kind === 'move') moves.failWrite(turn, session!, why)
  else {
    sessions.refuseEntrants(turn, place, why)
    if (session !== null) {
      persistence.failWrite(turn, session, why)
      sessions.failWrite(turn, session, why)
    }
  }
  for (const one of concerned) endWrite(turn, one)
}

// A heartbeat came or failed. If a hub is gone its streams end before its places are claimed.
function sweepHubs(turn: Turn): void {
  storeReach.sweep(turn)
  passing.sweep(turn)
  tender.sweep(turn)
}

// The place of a write, and both of a move: requests wait there.
function placesOf({ moves: all }: Hub, place: string, session: string | null): Set<string> {
  const move = all.get(session ?? '')
  return new Set(move ? [place, move.from, register.placeOf(move.to)] : [place])
}

/**
 * Nobody knows what became of the change, or it lost: compares it with what the store has now.
 * @returns whether the same change must be made again
 */
export function settleWrite(turn: Turn, place: string, found: StoredRecord | null): boolean {
  const { hub } = turn
  const boot = heartbeat.bootOf(place)
  if (boot !== null) {
    const isOpen = heartbeat.settleWrite(turn, boot, found)
    sweepHubs(turn)
    return isOpen
  }
  if (!hub.places.get(place)?.writing) return false
  const outcome = places.judge(hub, place, found)
  if (outcome === 'open') return true
  if (outcome !== 'lost') confirmWrite(turn, place, found?.rev ?? 0)
  if (outcome === 'made') return false
  const writing = outcome === 'lost' ? places.end(hub, place, found?.rev ?? 0) : null
  if (writing?.kind === 'claim') {
    for (const one of tender.failWrite(turn, place, found)) resumeWaiting(turn, one)
    return false
  }
  const concerned = placesOf(hub, place, writing?.session ?? null)
  sessions.adopt(turn, place, found && places.readPlace(found.value), found?.rev ?? 0)
  for (const one of concerned) endWrite(turn, one)
  sessions.proceedDue(turn)
  return false
}

/**
 * Ends a start: unloads the records that nobody uses. @returns the places whose records must be
 * written or removed, because moves were interrupted
 */
export function restored(hub: Hub): string[] {
  for (const place of [...hub.places.keys()]) places.unload(hub, place)
  const stale = [...hub.places.keys()].filter((place) => places.isStale(hub, place))
  return [...stale, ...Array.from(hub.moves.values(), ({ from }) => from)]
}

/** The other hub ended a stream that was passed on, or is not reached: then without a closing. */
export function endPassed(turn: Turn, connection: number, closing: Closing | null = null): void {
  const message = passing.end(turn, connection, closing)
  const call = callOf(turn, connection)
  if (call && message) dispatch(call, message)
}

/** The record of a place was read. @param found  null if there is none; why it cannot be read */
export function receiveRecord(
  turn: Turn,
  place: string,
  found: StoredRecord | string | null,
): void {
  const { hub, now } = turn
  hub.loads.delete(place)
  const boot = heartbeat.bootOf(place)
  if (boot !== null) {
    heartbeat.receive(turn, boot, found)
    return sweepHubs(turn)
  }
  for (const one of tender.receive(turn, place, found)) resumeWaiting(turn, one)
  if (tender.refresh(turn, place, found)) resumeWaiting(turn, place)
  if (typeof found === 'string') {
    // Those of another hub's room wait for the next claim.
    if (!hub.elsewhere.has(place)) sessions.refuseWaiting(turn, place, found)
    return
  }
  if (isUnknown(hub, place)) {
    if (found) tender.hear(turn, place, found)
    if (!isUnknown(hub, place)) return resumeWaiting(turn, place)
    return sessions.refuseReserved(turn, place)
  }
  const { unloaded } = hub.archive.rooms.get(archive.unloadedAt(hub.archive, place) ?? '') ?? {}
  if (!unloaded) return
  places.loaded(hub, now, place, found)
  const session = archive.roomAt(hub.archive, place)
  const { until = 0 } = archive.latestOf(hub.archive.rooms.get(session ?? '')) ?? {}
  // Another hub may have opened it meanwhile.
  const isExpired = until > 0 && until <= archive.wallOf(hub.archive, now)
  const isOver = isExpired || unloaded.until === -Infinity
  if (isOver && session !== null) persistence.drop(turn, session)
  resumeWaiting(turn, place)
}

function isUnknown(hub: Hub, place: string): boolean {
  if (hub.elsewhere.has(place) || hub.claimedPlaces.has(place)) return false
  if (hub.places.get(place)?.writing || archive.roomAt(hub.archive, place) !== null) return false
  return !register.rowAt(hub.registers, place) && !moves.at(hub, place)
}

/** A shared store tells of a record that changed; null if it was removed. */
export function receiveNews(turn: Turn, key: string, found: StoredRecord | null): void {
  const boot = heartbeat.bootOf(key)
  if (boot !== null) {
    heartbeat.hear(turn.hub, turn.now, boot, found)
    return sweepHubs(turn)
  }
  if (!tender.hear(turn, key, found)) return
  resumeWaiting(turn, key)
  for (const place of passing.endLookups(turn)) resumeWaiting(turn, place)
}

/** Stored segments were read. @param found  null if one is missing or cannot be read */
export function receiveSegments(
  turn: Turn,
  read: number,
  found: readonly Uint8Array[] | null,
): void {
  const place = sessions.receiveSegments(turn, read, found)
  if (place !== null) resumeWaiting(turn, place)
}

// The write is over. A record that was just loaded stays until the next sweep, because the
// application may be deciding about the request that needed it.
function endWrite(turn: Turn, place: string): void {
  resumeWaiting(turn, place)
  places.unload(turn.hub, place)
}

// Handles the requests that waited for a write or a record.
function resumeWaiting(turn: Turn, place: string): void {
  const row = register.rowAt(turn.hub.registers, place)
  if (row) goodbyes.endIfDeserted(turn, row.entry.session)
  const waiting = turn.hub.waiting.get(place) ?? []
  turn.hub.waiting.delete(place)
  for (const { connection, message } of waiting) {
    const call = callOf(turn, connection)
    if (call) dispatch(call, message)
  }
}

/** Does what is due: probes primaries, closes streams that never sent HELLO, runs all sweeps. */
export function wake(turn: Turn): void {
  const { hub, now } = turn
  if (heartbeat.wake(turn)) {
    sweepHubs(turn)
    for (const place of passing.endLookups(turn)) resumeWaiting(turn, place)
    for (const place of passing.retries(turn)) resumeWaiting(turn, place)
  }
  storeReach.sweep(turn)
  const { hello } = hub.budgets.limits.stream
  for (const [connection, since] of hub.mute) {
    if (now - since < hello) break
    hub.mute.delete(connection)
    hub.counters.mute++
    const met = budgets.refuse(hub.budgets, 'stream', 'hello')
    refusals.close(callOf(turn, connection)!, met, 'refused')
  }
  streamLimits.sweep(turn)
  sessionExpiry.sweep(turn)
  closedRooms.sweep(turn)
  persistence.sweep(turn)
  notifyRemoved(turn)
  sessions.proceedDue(turn)
  register.wake(hub.registers, now, registerOut(turn))
}

export function deadline(hub: Hub): Millis {
  const [oldest] = hub.mute.values()
  const { hello } = hub.budgets.limits.stream
  const muteAt = oldest === undefined ? Infinity : oldest + hello
  const [gone] = hub.removed.values()
  const due = Math.min(register.deadline(hub.registers), challenge.deadline(hub.registers))
  const archivedAt = hub.archive.rooms.size === 0 ? Infinity : hub.archivedAt
  const beatAt = Math.min(hub.heartbeat?.dueAt ?? Infinity, storeReach.deadline(hub))
  return Math.min(muteAt, gone?.until ?? Infinity, due, hub.sweepAt, archivedAt, beatAt)
}
