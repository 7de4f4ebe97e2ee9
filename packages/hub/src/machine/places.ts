/**
 * The store's records: one for each place, a room of a game.
 *
 * A record contains the session of its place, the stored room, or both as the same session. It
 * changes only by compare-and-set on its revision, so of two hubs that change one place only one
 * succeeds. A store may not say what became of a change (`unknown`), and may report a conflict with
 * our own change whose answer was lost. So each record names its writer. A hub that finds its own
 * mark has succeeded; one that finds the old revision repeats the change, because the first may
 * still be on its way.
 */

import {
  decode,
  encode,
  flag,
  maybe,
  record,
  u32,
  varint,
  word,
} from '../../../holdfast/src/wire/layout.ts'
import { acks } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { StoreChange, StoredRecord } from '../../../holdfast/src/ports.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import { sameBytes } from '../../../holdfast/src/wire/digest.ts'
import * as archive from './archive.ts'
import { stored as sessionLayout } from './records.ts'
import * as elsewhere from './elsewhere.ts'
import * as moves from './moves.ts'
import * as register from './register.ts'
import type { Place } from './register.ts'
import {
  type Hub,
  load as loadRecord,
  type PlaceRecord,
  type PlaceState,
  type Turn,
  type Writing,
} from './state.ts'

/** The fields of a stored room. */
export const ROOM_FIELDS = {
  ...{ by: varint, index: varint, time: varint, at: varint, next: varint, acks },
  ...{ segments: varint, bytes: varint, until: varint },
} as const
export const roomLayout = record({ imported: flag, ...ROOM_FIELDS })
export const placeLayout = record({
  form: word(['place']),
  boot: u32,
  write: varint,
  lasts: flag,
  session: sessionLayout,
  stored: maybe(roomLayout),
})

export function encodePlace({ boot, write, lasts, session, stored }: PlaceRecord): Uint8Array {
  const own = { form: 'links', ...session } as const
  return encode(placeLayout, { form: 'place', boot, write, lasts, session: own, stored })
}

/** Decodes a record; null if it is none. */
export function readPlace(bytes: Uint8Array): PlaceRecord | null {
  const read = decode(placeLayout, bytes)
  if (read?.session.form !== 'links') return null
  const { boot, write, lasts, stored } = read
  const { form: _, ...session } = read.session
  return { boot, write, lasts, session, stored }
}

/** The state of a place, created if it is unknown. */
function stateOf({ places }: Hub, key: string): PlaceState {
  const known = places.get(key)
  if (known) return known
  const created = { rev: 0, writing: null }
  places.set(key, created)
  return created
}

/**
 * Begins the next change of a place's record, with all that must be written of it; `confirmWrite`,
 * `failWrite` or `settleWrite` follows. @returns null if a change is in progress, or there is
 * nothing to change
 */
export function begin(hub: Hub, key: string): StoreChange | null {
  if (archive.unloadedAt(hub.archive, key) !== null) return null
  if (hub.heartbeat?.rev === 0) {
    // The other hubs take one without a heartbeat for gone.
    hub.heartbeat.deferred.add(key)
    return null
  }
  const claimed = elsewhere.claimedAt(hub, key)
  // Another hub has changed the record: this one no longer writes it.
  if (!claimed && hub.elsewhere.has(key)) return null
  if (claimed) hub.places.set(key, { writing: null, ...hub.places.get(key), rev: claimed.rev })
  const state = stateOf(hub, key)
  if (state.writing) return null
  const moving = moves.at(hub, key)
  const content: Content | null =
    claimed ?? (moving ? ofMove(hub, key, moving) : contentOf(hub, key))
  if (!content || (!content.record && state.rev === 0 && content.session === null)) {
    if (state.rev === 0) hub.places.delete(key)
    return null
  }
  const { record: known, blobs = [], session } = content
  const mark = { boot: hub.boot, write: ++hub.writes }
  const value = known && encodePlace({ ...known, ...mark })
  // A moving session keeps its segments.
  const from = moving && !moving.move.isWritten ? { from: moving.move.from } : {}
  const change = { key, rev: state.rev, value, blobs, ...from }
  state.writing = { change, session, kind: claimed ? 'claim' : moving ? 'move' : 'session' }
  return change
}

interface Content {
  /** Null for none: the record is removed. */
  readonly record: Omit<PlaceRecord, 'boot' | 'write'> | null
  readonly session: string | null
  readonly blobs?: StoreChange['blobs']
}

function contentOf(hub: Hub, key: string): Content {
  const row = register.rowAt(hub.registers, key)
  const id = archive.roomAt(hub.archive, key)
  const lasting = row && register.recordOf(hub.registers, row.entry.session)
  const blobs = id === null ? [] : archive.beginWrite(hub.archive, id)
  const stored = archive.latestOf(hub.archive.rooms.get(id ?? ''))
  // Of a session that ends its stored room keeps the newest record.
  const session = lasting ?? (stored && (row ?? stored.session))
  const record = session && { lasts: lasting !== null, session, stored }
  return { record, session: row?.entry.session ?? id, blobs }
}

// The new record of a moving session, then the removal of the old one; null for neither.
function ofMove(hub: Hub, key: string, { session, move }: Moving): Content | null {
  if ((key === move.from) !== move.isWritten) return null
  if (move.isWritten) return { record: null, session }
  const row = register.recordOf(hub.registers, session)
  const stored = hub.archive.rooms.get(session)?.saved ?? null
  const known = row ?? stored?.session
  if (!known) return null
  const renamed = { ...known, entry: { ...known.entry, ...move.to } }
  return { record: { lasts: row !== null, session: renamed, stored }, session }
}

type Moving = NonNullable<ReturnType<typeof moves.at>>

/** Adds a record of the store. A session that is at two places was about to move. */
export function restore(hub: Hub, now: Millis, known: PlaceRecord, rev: number): void {
  if (elsewhere.isElsewhere(hub, known)) return elsewhere.note(hub, now, known, rev)
  const { session } = known
  const { entry } = session
  hub.places.set(register.placeOf(entry), { rev, writing: null })
  const other = placeIn(hub, entry.session)
  if (other) {
    if (isSame(hub, known)) moves.resume(hub, entry.session, [other, entry])
    return
  }
  if (known.lasts) register.restore(hub.registers, now, session)
  if (known.stored) archive.restore(hub.archive, { ...known.stored, session })
}

// Until a move is made the session changes at neither place. If they differ, a hub that was fenced
// has written the new place after another one had claimed the old: that one counts.
function isSame({ registers, archive: { rooms } }: Hub, known: PlaceRecord): boolean {
  const { session } = known.session.entry
  const row = register.find(registers, session)
  const stored = rooms.get(session)?.saved ?? null
  const own = row ?? stored!.session
  const one = { lasts: row !== null, session: own, stored }
  return sameBytes(encodePlace(nameless(one)), encodePlace(nameless(known)))
}

function nameless({ lasts, session, stored }: Omit<PlaceRecord, 'boot' | 'write'>): PlaceRecord {
  const entry = { ...session.entry, room: '' }
  return { boot: 0, write: 0, lasts, session: { ...session, entry }, stored }
}

/** Whether a record that was restored is of no use, and must be removed. */
export function isStale(hub: Hub, key: string): boolean {
  if (register.rowAt(hub.registers, key) || moves.at(hub, key)) return false
  return hub.places.has(key) && archive.roomAt(hub.archive, key) === null
}

/** Unloads the record of a stored room that nobody uses. */
export function unload(hub: Hub, key: string): void {
  const { rev = 0, writing = null } = hub.places.get(key) ?? {}
  const session = archive.roomAt(hub.archive, key)
  if (session === null || rev === 0 || writing) return
  if (register.rowAt(hub.registers, key) || hub.moves.has(session)) return
  // Its retention is about to start.
  if (hub.archive.rooms.get(session)?.saved?.until === 0) return
  if (archive.unload(hub.archive, session, rev)) hub.places.delete(key)
}

/** Loads the record of an unloaded room. @returns false if there is none at the place */
export function load({ hub, out }: Pick<Turn, 'hub' | 'out'>, key: string): boolean {
  if (archive.unloadedAt(hub.archive, key) === null) return false
  loadRecord({ hub, out }, key)
  return true
}

/** Restores a record that was loaded; null if another hub has removed it. */
export function loaded(hub: Hub, now: Millis, key: string, found: StoredRecord | null): void {
  const before = hub.archive.rooms.get(archive.unloadedAt(hub.archive, key) ?? '')
  archive.adopt(hub.archive, key, null)
  const known = found && readPlace(found.value)
  if (!known) return
  restore(hub, now, known, found.rev)
  const room = hub.archive.rooms.get(known.session.entry.session)
  if (!room || before?.unloaded?.rev !== found.rev) return
  Object.assign(room, { founder: before.founder, complete: before.complete })
}

function placeIn({ registers, archive: { rooms } }: Hub, session: string): Place | null {
  return (
    register.find(registers, session)?.entry ?? rooms.get(session)?.saved?.session.entry ?? null
  )
}

/**
 * The change in progress ended.
 *
 * @param rev  the revision of the record now, by default as before; 0 for none
 */
export function end(hub: Hub, key: string, rev = stateOf(hub, key).rev): Writing | null {
  const { writing } = stateOf(hub, key)
  if (rev === 0) hub.places.delete(key)
  else hub.places.set(key, { rev, writing: null })
  return writing
}

/**
 * Compares the change in progress with what the store has: whether it was made, was made and then
 * replaced by another, may still be made, or lost against another. Of a change that was replaced
 * only a founding can be told, by the session's id; of any other the register tells its sender.
 */
export function judge(
  hub: Hub,
  key: string,
  found: StoredRecord | null,
): 'made' | 'replaced' | 'open' | 'lost' {
  const { writing } = stateOf(hub, key)
  if (!writing) return 'lost'
  const { value, rev } = writing.change
  // The mark in it is nobody else's.
  const isMade = found && value ? sameBytes(found.value, value) : found === value
  if (isMade) return 'made'
  const row = register.find(hub.registers, writing.session ?? '')
  // Who reopens a stored room goes on with its session, as another hub may have.
  const isFounding = row?.pending?.isNew && row.pending.isWriting && row.opener === 0
  const has = isFounding && found ? readPlace(found.value) : null
  if (has && has.session.entry.session === writing.session) return 'replaced'
  return (found?.rev ?? 0) === rev ? 'open' : 'lost'
}
