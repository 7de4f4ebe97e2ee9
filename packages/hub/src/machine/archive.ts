/**
 * The archive of a hub: persisted rooms, which outlive their members.
 *
 * The primary of a room writes **segments**: segment 0 is a snapshot, later ones are entries of the
 * log. The hub reads none of them. The record of the place (places.ts) says how far the segments go
 * and who wrote them, and contains the session record, so that the room can be reopened as the same
 * session. Each change of it comes with its segments, so a snapshot and its log always match.
 */

import { type Millis, type PeerId, termOf } from '../../../holdfast/src/machine.ts'
import {
  type AckPolicy,
  type Entry,
  KEEP_MINUTES_MAX,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import type { SessionRecord } from './records.ts'
import type { StoreChange } from '../../../holdfast/src/ports.ts'
import { type Place, placeOf } from './register.ts'

const MINUTE: Millis = 60_000
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

/** The summary of a stored room whose record is not in memory. */
export interface Unloaded extends Place {
  /** The revision of the record. */
  readonly rev: number
  readonly bytes: number
  readonly at: Millis
  /** As in its record; -Infinity if it is to be removed. */
  readonly until: Millis
}

export interface ArchivedRoom {
  /** Its game and name. */
  place: string
  /** Null until the first write is done, and while it is unloaded. */
  saved: StoredRoom | null
  /** The summary of an unloaded room; null while the record is in memory. */
  unloaded: Unloaded | null
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

/** Adds a room that the store has, in place of what is known of it. */
export function restore(archive: Archive, stored: StoredRoom): void {
  const { entry } = stored.session
  erase(archive, entry.session)
  put(archive, entry, stored)
}

/** Replaces what is known of the room of a place by what the store has. */
export function adopt(archive: Archive, place: string, stored: StoredRoom | null): void {
  const session = archive.places.get(place)
  if (session !== undefined) erase(archive, session)
  if (stored) restore(archive, stored)
}

function put(archive: Archive, entry: Entry, saved: StoredRoom | null): ArchivedRoom {
  const place = placeOf(entry)
  const room = {
    ...{ place, saved, unloaded: null, next: null, writing: null },
    ...{ founder: '', complete: false },
  }
  archive.rooms.set(entry.session, room)
  archive.places.set(place, entry.session)
  return room
}

/** Unloads the record of a room. @returns false if the room has changes that are not written */
export function unload({ rooms }: Archive, session: string, rev: number): boolean {
  const room = rooms.get(session)
  if (!room?.saved || room.next || room.writing) return false
  const { session: known, bytes, at, until } = room.saved
  const { game, room: name } = known.entry
  Object.assign(room, { saved: null, unloaded: { game, room: name, rev, bytes, at, until } })
  return true
}

/** Marks an unloaded room for removal. @returns false if it was marked already */
export function expire({ rooms }: Archive, session: string): boolean {
  const room = rooms.get(session)
  if (!room?.unloaded || room.unloaded.until === -Infinity) return false
  room.unloaded = { ...room.unloaded, until: -Infinity }
  return true
}

/** The session of an unloaded room at a place; null for none. */
export function unloadedAt({ rooms, places }: Archive, place: string): string | null {
  const session = places.get(place)
  return session !== undefined && rooms.get(session)?.unloaded ? session : null
}

/** The room with all requested changes; null if it does not or will not exist. */
export function latestOf(room: ArchivedRoom | undefined): StoredRoom | null {
  if (!room) return null
  return room.next ? room.next.stored : room.writing ? room.writing.stored : room.saved
}

export function find(archive: Archive, place: Place): StoredRoom | null {
  return latestOf(archive.rooms.get(archive.places.get(placeOf(place)) ?? ''))
}

/** The session of the room at a place, also of one that is being removed; null for none. */
export function roomAt({ places }: Archive, place: string): string | null {
  return places.get(place) ?? null
}

/** Whether a write of the room of a place is in progress, or it is about to be removed. */
export function isPending(archive: Archive, place: Place): boolean {
  const room = archive.rooms.get(roomAt(archive, placeOf(place)) ?? '')
  return room !== undefined && (room.writing !== null || latestOf(room) === null)
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

/** The name of a segment in the store. */
function segmentName(session: string, segment: number): string {
  return `${session} ${segment}`
}

/** The names of segments 0 to n - 1. */
export function segmentNames(session: string, segments: number): string[] {
  return Array.from({ length: segments }, (_none, segment) => segmentName(session, segment))
}

/** Begins the next write of a room. @returns the changes of its segments */
export function beginWrite({ rooms }: Archive, session: string): StoreChange['blobs'] {
  const room = rooms.get(session)
  if (!room?.next || room.writing) return []
  room.writing = room.next
  room.next = null
  return Array.from(room.writing.segments, ([segment, bytes]) => {
    return [segmentName(session, segment), bytes] as const
  })
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
  return { waiters, more: room.next !== null }
}

/** The write failed, and so do all later requests. @returns their waiters */
export function failWrite(archive: Archive, session: string): Waiter[] {
  const room = archive.rooms.get(session)
  if (!room) return []
  const waiters = [...(room.writing?.waiters ?? []), ...(room.next?.waiters ?? [])]
  Object.assign(room, { writing: null, next: null })
  if (!room.saved) erase(archive, session)
  return waiters
}

/** Gives a room another place. */
export function rename({ rooms, places }: Archive, session: string, to: Place): void {
  const room = rooms.get(session)
  if (!room) return
  places.delete(room.place)
  room.place = placeOf(to)
  places.set(room.place, session)
  room.saved = renamed(room.saved, to)
  if (room.next) room.next.stored = renamed(room.next.stored, to)
}

function renamed(stored: StoredRoom | null, to: Place): StoredRoom | null {
  if (!stored) return null
  const { session } = stored
  return { ...stored, session: { ...session, entry: { ...session.entry, ...to } } }
}

function erase({ rooms, places }: Archive, session: string): void {
  const place = rooms.get(session)?.place ?? ''
  rooms.delete(session)
  if (places.get(place) === session) places.delete(place)
}
