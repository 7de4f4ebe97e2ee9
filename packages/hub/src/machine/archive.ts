/**
 * The archive of a hub: persisted rooms, which outlive their members.
 *
 * The primary of a room writes **segments**: segment 0 is a snapshot, later ones are entries of the
 * log. The hub reads none of them. The room's record says how far the segments go and who wrote
 * them, and contains the session record, so that the room can be reopened as the same session. Each
 * write of a room is atomic, so a snapshot and its log always match.
 */

import { type Millis, type PeerId, termOf } from '../../../holdfast/src/machine.ts'
import { blob, decode, encode, record, varint, word } from '../../../holdfast/src/wire/layout.ts'
import {
  acks,
  type AckPolicy,
  type Entry,
  KEEP_MINUTES_MAX,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import { type SessionRecord, readRecord, writeRecord } from './records.ts'
import { type Place, placeOf } from './register.ts'

const MINUTE: Millis = 60_000
/** Prefix of the keys of segments, which sort after all other records. */
export const SEGMENTS_PREFIX = '~'
/** Prefix of the keys of stored rooms; session ids contain no space. */
export const ROOMS_PREFIX = 'kept '

/** Most bytes of a session's record. */
export const RECORD_MAX: number = 1024 * 1024

/** The record of a room on disk, or of the next write. */
export interface StoredRoom {
  /** The session record, with the newest register. */
  readonly session: SessionRecord
  /** The primary that wrote the segments; 0 if the room was reopened since. */
  readonly by: PeerId
  /** The length of the log with the last segment. */
  readonly index: number
  /** Session time at the last segment, in ms, and the wall clock. */
  readonly time: Millis
  readonly at: Millis
  /** The first member number that was never assigned. */
  readonly next: PeerId
  /** How that primary acknowledges. */
  readonly acks: AckPolicy
  readonly segments: number
  /** Of all segments. */
  readonly bytes: number
  /** Wall-clock time at which the room is dropped; 0 while its session lasts. */
  readonly until: Millis
  /** Whether the operator of the hub imported it. */
  readonly imported: boolean
}

export interface Waiter {
  readonly connection: number
  readonly number: number
  readonly index: number
  readonly acks: AckPolicy
}

interface Batch {
  /** Null removes the room. */
  stored: StoredRoom | null
  segments: Map<number, Uint8Array | null>
  waiters: Waiter[]
}

export interface ArchivedRoom {
  /** Its game and name. */
  place: string
  /** Null until the first write is done. */
  saved: StoredRoom | null
  /** The next write, and the one in progress. */
  next: Batch | null
  writing: Batch | null
  /** The address that founded it; '' after a restart of the hub. */
  founder: string
  /** Whether its session ended and no segment of it was refused. */
  complete: boolean
}

export interface Archive {
  rooms: Map<string, ArchivedRoom>
  /** Session id by `placeOf`. */
  places: Map<string, string>
  /** Wall clock minus the hub's clock. */
  wallOffset: Millis
}

export const archived = record({
  form: word(['kept', 'imported']),
  by: varint,
  index: varint,
  time: varint,
  at: varint,
  next: varint,
  /** A flag in 0.2: the primary was alone, and so strict. */
  acks,
  segments: varint,
  bytes: varint,
  until: varint,
  session: blob(RECORD_MAX),
})

export function create(): Archive {
  return { rooms: new Map(), places: new Map(), wallOffset: 0 }
}

/** How long a room with these terms is retained, in ms; 0 if it is not stored. */
export function keepMsOf({ terms }: Pick<Entry, 'terms'>): Millis {
  return Math.min(KEEP_MINUTES_MAX, termOf(terms, 'keep') ?? 0) * MINUTE
}

/** Wall-clock time at a moment of the hub's clock. */
export function wallOf({ wallOffset }: Archive, now: Millis): Millis {
  return Math.max(0, Math.round(now + wallOffset))
}

/** Restores one record from disk. @returns false if it is not a stored room */
export function restore(archive: Archive, bytes: Uint8Array): boolean {
  const read = decode(archived, bytes)
  const session = read && readRecord(read.session)
  if (!read || !session) return false
  const { form, ...rest } = read
  const saved = { ...rest, imported: form === 'imported', session }
  put(archive, session.entry, saved)
  return true
}

function put(archive: Archive, entry: Entry, saved: StoredRoom | null): ArchivedRoom {
  const place = placeOf(entry)
  const room = { place, saved, next: null, writing: null, founder: '', complete: false }
  archive.rooms.set(entry.session, room)
  archive.places.set(place, entry.session)
  return room
}

/** The room with all requested changes; null if it does not or will not exist. */
export function latestOf(room: ArchivedRoom | undefined): StoredRoom | null {
  if (!room) return null
  return room.next ? room.next.stored : room.writing ? room.writing.stored : room.saved
}

export function find(archive: Archive, place: Place): StoredRoom | null {
  return latestOf(archive.rooms.get(archive.places.get(placeOf(place)) ?? ''))
}

/** The session of a room that is stored or being written; null for none. */
export function sessionIn({ places }: Archive, place: Place): string | null {
  return places.get(placeOf(place)) ?? null
}

/** Whether a name is reserved for a replaced room: no new room may have it. */
export function isReserved({ rooms }: Archive, room: string): boolean {
  const [, session] = /~([0-9a-z-]+)$/.exec(room) ?? []
  return session !== undefined && rooms.has(session)
}

export function recordOf(session: string): string {
  return `${ROOMS_PREFIX}${session}`
}

/** The session of a room with a write in progress, or that is being renamed; null for none. */
export function pendingSession(archive: Archive, place: Place): string | null {
  const session = archive.places.get(placeOf(place)) ?? ''
  const room = archive.rooms.get(session)
  return room?.writing || isRenamed(room, latestOf(room)) ? session : null
}

function isRenamed(room: ArchivedRoom | undefined, stored: StoredRoom | null): boolean {
  return stored !== null && placeOf(stored.session.entry) !== room!.place
}

/** Adds changes to the next write of a room; a null room is removed. */
export function change(
  archive: Archive,
  entry: Entry,
  stored: StoredRoom | null,
  segments: ReadonlyMap<number, Uint8Array | null> = new Map(),
  waiter: Waiter | null = null,
): ArchivedRoom {
  const room = archive.rooms.get(entry.session) ?? put(archive, entry, null)
  room.next ??= { stored, segments: new Map(), waiters: [] }
  room.next.stored = stored
  for (const [segment, bytes] of segments) room.next.segments.set(segment, bytes)
  if (waiter) room.next.waiters.push(waiter)
  return room
}

/** Adds the removal of a room to its next write. @returns false if there is none */
export function drop(archive: Archive, session: string): boolean {
  const stored = latestOf(archive.rooms.get(session))
  if (!stored) return false
  change(archive, stored.session.entry, null, removals(stored.segments))
  return true
}

/** The removals of segments 0 to n - 1. */
export function removals(segments: number): Map<number, null> {
  return new Map(Array.from({ length: segments }, (_none, segment) => [segment, null]))
}

export function keyOf(session: string, segment: number): string {
  return `${SEGMENTS_PREFIX}${session} ${segment}`
}

export type Changes = readonly (readonly [key: string, value: Uint8Array | null])[]

/** Begins the next write of a room. @returns its records */
export function changesOf({ rooms }: Archive, session: string): Changes {
  const room = rooms.get(session)
  if (!room?.next || room.writing) return []
  room.writing = room.next
  room.next = null
  const { stored, segments } = room.writing
  const form = stored?.imported ? 'imported' : 'kept'
  const own = stored && ({ ...stored, form, session: writeRecord(stored.session) } as const)
  return [
    [recordOf(session), own && encode(archived, own)] as const,
    ...Array.from(segments, ([segment, bytes]) => [keyOf(session, segment), bytes] as const),
  ]
}

/** A write is done. @returns its waiters, and whether another write is requested */
export function confirmWrite(
  archive: Archive,
  session: string,
): { waiters: Waiter[]; more: boolean } {
  const room = archive.rooms.get(session)
  if (!room?.writing) return { waiters: [], more: false }
  const { stored, waiters } = room.writing
  room.saved = stored
  room.writing = null
  if (!stored && !room.next) erase(archive, session)
  else if (isRenamed(room, stored)) rename(archive, session, placeOf(stored!.session.entry))
  return { waiters, more: room.next !== null }
}

/** The write failed, and so do all later requests. @returns their waiters */
export function failWrite(archive: Archive, session: string): Waiter[] {
  const room = archive.rooms.get(session)
  if (!room?.writing) return []
  const waiters = [...room.writing.waiters, ...(room.next?.waiters ?? [])]
  Object.assign(room, { writing: null, next: null })
  if (!room.saved) erase(archive, session)
  return waiters
}

function rename({ rooms, places }: Archive, session: string, place: string): void {
  const room = rooms.get(session)!
  places.delete(room.place)
  places.set(place, session)
  room.place = place
}

function erase({ rooms, places }: Archive, session: string): void {
  const place = rooms.get(session)?.place ?? ''
  rooms.delete(session)
  if (places.get(place) === session) places.delete(place)
}
