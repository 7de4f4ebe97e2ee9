/**
 * Persisted rooms, which outlive their members: the primary writes segments into the archive, and
 * the next process that joins an empty room reopens it as the same session.
 *
 * Only the registered primary writes, on the stream by which it is attached, and each segment
 * follows the last one. Opening is an `add`: it gives the session a new epoch and primary in one
 * step, before the segments are read. So the former primary is fenced, and no later segments exist.
 *
 * A room may be opened at once if its session has ended, or if its primary is strict and its stream
 * is closed: a strict primary acknowledges nothing that is not persisted here. A primary that
 * reaches its backup only through the relay acknowledges nothing once their streams are closed: it
 * must have been silent for as long as its lease may last. Where others may play on without the
 * hub, by their promises (session/lease.ts), it must have been silent for longer still.
 */

import { INC_MAX, MEMBERS_MAX, type Millis, type PeerId } from '../../../holdfast/src/machine.ts'
import * as chunks from '../../../holdfast/src/wire/chunks.ts'
import * as archive from './archive.ts'
import type { StoredRoom } from './archive.ts'
import * as budgets from './budgets.ts'
import type { Exceeded } from './budgets.ts'
import {
  type FromHub,
  NOT_NEXT,
  SEGMENT_PIECE_MAX,
  SEGMENT_PIECES_MAX,
  SEGMENTS_MAX,
  SILENT_MS,
  TIME_MAX,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import * as moves from './moves.ts'
import * as places from './places.ts'
import * as refusals from './refusals.ts'
import * as register from './register.ts'
import type { Add, Row } from './register.ts'
import { detachAll } from './attachment.ts'
import * as goodbyes from './goodbyes.ts'
import {
  type At,
  type Call,
  type Hub,
  type HubOut,
  type Opening,
  type PendingRead,
  send,
  isAttachedTo,
  type Turn,
  wait,
} from './state.ts'

/** Time for a broken stream to be redialled, and for all streams after a restart of the hub. */
export const BACK_MS: Millis = 3_000
/** Time between two sweeps for expired rooms. */
export const SWEEP_MS: Millis = 10_000

type Keep = ToHub & { kind: 'keep' }

/** A piece of a segment. */
export function receiveSegment(call: Call, message: Keep): void {
  const { hub, from } = call
  const row = register.find(hub.registers, message.session)
  const isSound = message.time <= TIME_MAX && message.next <= INC_MAX
  const leads = row?.entry.register.primary === from.inc && isAttachedTo(call, message.session)
  if (!row || !isSound || !leads || archive.keepMsOf(row.entry) === 0) {
    hub.counters.forged++
    return
  }
  row.opener = 0
  // Another primary is about to take over: segments of its predecessor come too late.
  if (row.pending && row.pending.register?.primary !== from.inc) return
  // Its primary writes again once it has moved.
  if (hub.moves.has(message.session)) return
  const met = refusals.spend(call, 'keeps', message.bytes.length, message.session)
  if (met) return refuse(call, message, met)
  if (message.of > SEGMENT_PIECES_MAX) {
    return refuse(call, message, budgets.refuse(hub.budgets, 'room', 'kept'))
  }
  from.segment = chunks.take(message.piece === 0 ? null : from.segment, message)
  const bytes = from.segment && chunks.whole(from.segment)
  if (!bytes) return
  from.segment = null
  store(call, row, message, bytes)
}

function refuse({ hub, connection, out }: Call, message: Keep, met: Exceeded | string): void {
  const why = typeof met === 'string' ? met : budgets.reasonOf(hub.budgets, met)
  const { session, number, index, acks } = message
  markStoreFailed(hub, session)
  send(connection, { kind: 'kept', session, number, index, acks, why }, out)
}

function store(call: Call, row: Row, message: Keep, bytes: Uint8Array): void {
  const { hub, connection, from, out } = call
  const { session, index, acks, next, time } = message
  const at = archive.wallOf(hub.archive, call.now)
  const known = archive.latestOf(hub.archive.rooms.get(session))
  const before = message.from === null ? null : known
  if (message.from !== null && !follows(before, message, from.inc)) {
    return refuse(call, message, NOT_NEXT)
  }
  const segments = new Map<number, Uint8Array | null>(
    archive.removals(before ? 0 : (known?.segments ?? 0)),
  )
  // An empty message reports progress only.
  const isSegment = !before || bytes.length > 0
  if (isSegment) segments.set(before?.segments ?? 0, bytes)
  const stored: StoredRoom = {
    session: sessionOf(row),
    by: from.inc,
    index,
    time,
    at,
    next,
    acks,
    until: 0,
    segments: (before?.segments ?? 0) + (isSegment ? 1 : 0),
    bytes: (before?.bytes ?? 0) + bytes.length,
    imported: false,
  }
  const met = unfit(hub, from.account.place, known, stored)
  if (met) return refuse(call, message, met)
  const waiter = { connection, number: message.number, index, acks }
  const room = archive.change(hub.archive, row.entry, stored, segments, waiter)
  room.founder ||= from.account.place
  out.record(register.placeOf(row.entry))
}

function follows(stored: StoredRoom | null, { from, index }: Keep, by: number): boolean {
  if (!stored || stored.by !== by || stored.segments >= SEGMENTS_MAX) return false
  return from === stored.index && index >= stored.index
}

function unfit(
  hub: Hub,
  place: string,
  known: StoredRoom | null,
  stored: StoredRoom,
): Exceeded | null {
  const { room, address, hub: all } = hub.budgets.limits
  if (stored.bytes > room.kept) return budgets.refuse(hub.budgets, 'room', 'kept')
  if (known) return null
  const { rooms } = hub.archive
  if (rooms.size >= all.kept) return budgets.refuse(hub.budgets, 'hub', 'kept')
  let own = 0
  for (const { founder } of rooms.values()) if (founder === place) own++
  return own >= address.kept ? budgets.refuse(hub.budgets, 'address', 'kept') : null
}

// From here play goes on without the hub: members may get numbers that no segment contains.
function markStoreFailed({ registers }: Hub, session: string): void {
  const row = register.find(registers, session)
  if (row) row.storeFailed = true
}

function sessionOf(row: Row): StoredRoom['session'] {
  const { entry, members, recovers, hosts, entrants, invitations } = row
  return { entry, members, recovers, hosts, entrants, invitations }
}

/** The record of a stored room is persisted: answers the waiters for its segments. */
export function confirmWrite({ hub, out }: Turn, session: string): void {
  out.roomStored?.(session, '')
  const { waiters, more } = archive.confirmWrite(hub.archive, session)
  const room = hub.archive.rooms.get(session)
  const saved = room?.saved
  const row = register.find(hub.registers, session)
  if (row) row.strict = saved?.acks === 'strict' ? saved.by : 0
  answerWaiters(session, waiters, '', out)
  if (more) out.record(room!.place)
}

export function failWrite({ hub, out }: Turn, session: string, why: string): void {
  markStoreFailed(hub, session)
  out.roomStored?.(session, why)
  answerWaiters(session, archive.failWrite(hub.archive, session), why, out)
}

/** Another hub changed the record: segments that are under way do not follow what the store has. */
export function adopt(turn: Turn, place: string, stored: StoredRoom | null): void {
  const { hub } = turn
  const known = hub.archive.places.get(place)
  if (known !== undefined) failWrite(turn, known, NOT_NEXT)
  archive.adopt(hub.archive, place, stored)
}

function answerWaiters(
  session: string,
  waiters: readonly archive.Waiter[],
  why: string,
  out: HubOut,
): void {
  for (const { connection, ...segment } of waiters) {
    send(connection, { kind: 'kept', session, ...segment, why }, out)
  }
}

/**
 * Whether a stored room that nobody serves can be opened. @returns null if there is none; the ms
 * until it can be opened; or how it is opened
 */
export function openingOf({ hub, now }: At, place: register.Place): Opening | Millis | null {
  const stored = archive.find(hub.archive, place)
  if (!stored) return null
  const { session, register: last } = stored.session.entry
  const row = register.find(hub.registers, session)
  const waits = row ? waitOf(now, row, stored) : 0
  if (waits > 0) return waits
  const epoch = Math.max(last.epoch, row?.entry.register.epoch ?? 0) + 1
  const isComplete = row ? !row.storeFailed : (hub.archive.rooms.get(session)?.complete ?? false)
  const { primary } = row?.entry.register ?? last
  const gap = isComplete && knowsAllMembers(stored, primary) ? 0 : MEMBERS_MAX
  return { stored, epoch, inc: stored.next + gap }
}

// Whether the stored room knows every member number: a strict primary assigns no other.
function knowsAllMembers({ by, acks }: StoredRoom, primary: PeerId): boolean {
  // 0: the opener has written nothing so far.
  return by === 0 || (acks === 'strict' && by === primary)
}

// How many ms the session must stay unattended before its room may be opened.
function waitOf(now: Millis, row: Row, { by, index, acks }: StoredRoom): Millis {
  const { primary } = row.entry.register
  // A member that opened the room is strict until it has written (session/persistence.ts).
  const isOpening = row.opener === primary
  const isStrict = isOpening || (acks === 'strict' && by === primary)
  if (goodbyes.leftAll(row, { by, index })) return 0
  if (!isStrict) {
    // After a restart of the hub, or when it refused a segment, the archive may be incomplete.
    const silent = acks === 'relayed' && !row.storeFailed ? register.RECOVER_MS : SILENT_MS
    return Math.max(row.lastYes, row.knownAt) + silent - now
  }
  // The opener may be about to attach.
  const since = isOpening ? row.lastYes : -Infinity
  const goneAt = Number.isFinite(row.goneAt) ? row.goneAt : since
  return Math.max(goneAt, row.knownAt) + BACK_MS - now
}

/** Reopens a room as the same session, with a new epoch and primary. */
export function open(turn: Turn, { stored, epoch, inc }: Opening, founder: register.Founder): Row {
  const { hub, now, out } = turn
  const lead = { epoch, primary: inc, backup: 0 }
  const entry = { ...stored.session.entry, register: lead, players: 1 }
  detachAll(turn, entry.session)
  const session = { ...stored.session, entry: { ...entry, standing: 'open' as const } }
  const row = register.begin(hub.registers, now, session, founder, out)
  row.opener = inc
  const own = sessionOf(row)
  archive.change(hub.archive, entry, { ...stored, session: own, by: 0, next: inc + 1, until: 0 })
  return row
}

/**
 * A founder wants the room empty: the stored one moves to another name once its session has ended,
 * and the request waits for that. @returns false if the name is taken
 */
export function replaceRoom(call: Call, { stored }: Opening, message: Add): boolean {
  const { hub, connection, out } = call
  const { entry } = stored.session
  if (register.endSession(hub.registers, entry.session, out)) wait(call, entry, message)
  else {
    const begun = moves.begin(call, entry.session, entry, { connection, message })
    if (begun === 'taken') return false
    if (begun === 'busy') wait(call, entry, message)
  }
  return true
}

/** The session of a room ended: its retention starts. */
export function retain(turn: Turn, row: Row): void {
  const stored = archive.latestOf(turn.hub.archive.rooms.get(row.entry.session))
  if (stored) startRetention(turn, { ...stored, session: sessionOf(row) }, !row.storeFailed)
}

function startRetention({ hub, now, out }: Turn, stored: StoredRoom, complete: boolean): void {
  const { entry } = stored.session
  const until = archive.wallOf(hub.archive, now) + archive.keepMsOf(entry)
  const session = { ...stored.session, members: [] }
  archive.change(hub.archive, entry, { ...stored, session, until }).complete = complete
  out.record(register.placeOf(entry))
}

/**
 * Drops expired rooms. Retention starts here for a room whose session ended unrecorded, because the
 * write failed or the hub was killed before it.
 */
export function sweep(turn: Turn): void {
  const { hub, now } = turn
  if (now < hub.archivedAt) return
  hub.archivedAt = now + SWEEP_MS
  for (const [session, room] of hub.archive.rooms) {
    const stored = archive.latestOf(room)
    const { until = Infinity } = room.unloaded ?? stored ?? {}
    if (stored && until === 0) {
      if (!register.find(hub.registers, session)) startRetention(turn, stored, false)
    } else if (until > archive.wallOf(hub.archive, now)) places.unload(hub, room.place)
    else if (!places.load(turn, room.place)) drop(turn, session)
  }
}

/** Drops a stored room, at once or when its record is loaded. @returns false if there is none */
export function drop({ hub, out }: Turn, session: string): boolean {
  const { place = '' } = hub.archive.rooms.get(session) ?? {}
  if (places.load({ hub, out }, place)) return archive.expire(hub.archive, session)
  const isThere = archive.drop(hub.archive, session)
  if (isThere) out.record(place)
  return isThere
}

/** The answer to the process that opens a room. Session time continued since the last segment. */
export function openedOf(
  { hub, now }: At,
  { stored, inc }: Opening,
): (FromHub & { kind: 'added' })['opened'] {
  const { time, at, segments, imported } = stored
  return {
    inc,
    time: time + Math.max(0, archive.wallOf(hub.archive, now) - at),
    segments,
    imported,
  }
}

/** Whether the opener of the room at a place still waits for its segments. */
export function isOpening({ pendingReads }: Hub, place: string): boolean {
  for (const { asked } of pendingReads.values()) {
    if (asked.kind === 'add' && register.placeOf(asked.message) === place) return true
  }
  return false
}

/** Reads the segments of a room for a request. */
export function read({ hub, out }: Turn, pending: PendingRead): void {
  const { session } = pending
  const { place = '', saved = null } = hub.archive.rooms.get(session) ?? {}
  const read = ++hub.reads
  hub.pendingReads.set(read, pending)
  out.read(read, place, archive.segmentNames(session, saved?.segments ?? 0))
}

/** Sends the segments of a room in pieces. */
export function sendSegments(
  connection: number,
  session: string,
  segments: readonly Uint8Array[],
  out: HubOut,
): void {
  for (const bytes of segments) {
    for (const piece of chunks.cut(bytes, SEGMENT_PIECE_MAX)) {
      send(connection, { kind: 'segment', session, ...piece }, out)
    }
  }
}
