/**
 * Heartbeats: which hubs of a shared store are alive.
 *
 * Each hub has a record of its own and changes it every BEAT_MS. A hub that has seen the record of
 * another unchanged for STILL_MS fences that hub: it removes the record, by compare-and-set. Of the
 * removal and the other hub's next heartbeat only one succeeds, so a hub whose heartbeat the store
 * has acknowledged had not been fenced before, and one that was fenced finds that out. Names are
 * never used again: a hub without a record is gone for good.
 *
 * A primary hears that the hub heard it only after a heartbeat that began later was acknowledged.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { StoreChange, StoredRecord } from '../../../holdfast/src/ports.ts'
import { sameBytes } from '../../../holdfast/src/wire/digest.ts'
import { encode, record, u32, varint, word } from '../../../holdfast/src/wire/layout.ts'
import { type Heartbeat, type Hub, load, type OtherHub, type Turn } from './state.ts'

/** How often a hub changes its record, and reads those of the others. */
export const BEAT_MS: Millis = 500
/** A hub whose record has been unchanged for this long is fenced. */
export const STILL_MS: Millis = 2_000
/** If a stream to that hub has failed as well, this is long enough: one beat is missing. */
export const SUSPECT_MS: Millis = 700
/** And if the store has acknowledged a heartbeat that this hub began so much later. */
const LATER_MS: Millis = SUSPECT_MS - BEAT_MS - 50
/** After a longer gap between two reads the time that a record was unchanged starts at zero. */
const GAP_MS: Millis = 3 * BEAT_MS

/** Keys of heartbeats begin with this, and those of places with a digit. */
const PREFIX = 'hub '

const layout = record({ form: word(['hub']), boot: u32, beat: varint })

/** From now on this hub shares its store with others. @param hubs  those that it knows */
export function start(hub: Hub, now: Millis, hubs: Heartbeat['hubs'] = new Map()): void {
  hub.heartbeat = {
    ...{ rev: 0, beats: 0, requestedAt: null, change: null, ackedAt: now, dueAt: now },
    ...{ isFenced: false, isLeaving: false, hubs, deferred: new Set() },
  }
  hub.registers.confirmedAt = -Infinity
}

export function keyOf(boot: number): string {
  return PREFIX + boot.toString(36)
}

/** The hub whose heartbeat has that key; null if it is the key of something else. */
export function bootOf(key: string): number | null {
  return key.startsWith(PREFIX) ? Number.parseInt(key.slice(PREFIX.length), 36) : null
}

/** From now on this hub reads the heartbeat of that one. */
export function watch({ boot: own, heartbeat }: Hub, now: Millis, boot: number): void {
  if (!heartbeat || boot === own || heartbeat.hubs.has(boot)) return
  const seen = { rev: 0, since: now, readAt: now, stillRev: 0 }
  heartbeat.hubs.set(boot, { ...seen, isSuspect: false, goneAt: Infinity })
}

/** When that hub was found to be gone; Infinity if it may be alive. */
export function goneAt({ heartbeat }: Hub, boot: number): Millis {
  return heartbeat?.hubs.get(boot)?.goneAt ?? Infinity
}

/** Whether any hub that this one knows is gone. */
export function hasGone({ heartbeat }: Hub, now: Millis): boolean {
  for (const { goneAt: gone } of heartbeat?.hubs.values() ?? []) if (gone <= now) return true
  return false
}

/** Whether the store has not acknowledged a heartbeat for some time. */
export function isCutOff({ heartbeat }: Hub, now: Millis): boolean {
  return heartbeat !== null && now >= heartbeat.ackedAt + STILL_MS
}

/** Requests the next heartbeat, and reads those of the others. @returns false if it is not due */
export function wake({ hub, now, out }: Turn): boolean {
  const { heartbeat: own } = hub
  if (!own || own.dueAt > now) return false
  own.dueAt = now + BEAT_MS
  for (const other of own.hubs.values()) if (other.isSuspect) watchClosely(own, now, other)
  const isOver = own.isLeaving && own.rev === 0
  if (own.requestedAt === null && !isOver) request({ hub, now, out })
  for (const [boot, { goneAt: gone }] of own.hubs) {
    if (gone === Infinity) load({ hub, out }, keyOf(boot))
  }
  return true
}

/** A stream to that hub failed: it is fenced sooner, unless it beats. */
export function suspect({ heartbeat: own }: Hub, now: Millis, boot: number): void {
  const other = own?.hubs.get(boot)
  if (!own || !other || other.isSuspect) return
  other.isSuspect = true
  watchClosely(own, now, other)
}

// The record is read once it has been unchanged for long enough.
function watchClosely(own: Heartbeat, now: Millis, { since }: OtherHub): void {
  const due = since + SUSPECT_MS
  if (due > now) own.dueAt = Math.min(own.dueAt, due)
}

function request({ hub, now, out }: Turn): void {
  hub.heartbeat!.requestedAt = now
  out.record(keyOf(hub.boot))
}

/** Removes the record of this hub, whose places others may claim at once. */
export function leave(turn: Turn): void {
  const own = turn.hub.heartbeat
  if (!own || own.isLeaving) return
  own.isLeaving = true
  if (own.requestedAt === null) request(turn)
}

/** Begins the change of a heartbeat, or the removal of another hub's. */
export function begin({ boot: own, heartbeat }: Hub, key: string): StoreChange | null {
  const boot = bootOf(key)
  if (!heartbeat || boot === null) return null
  if (boot !== own) {
    const { rev = 0, stillRev } = heartbeat.hubs.get(boot) ?? {}
    return rev === 0 || rev !== stillRev ? null : { key, rev, value: null, blobs: [] }
  }
  if (heartbeat.requestedAt === null || heartbeat.change) return null
  const { rev, isLeaving } = heartbeat
  if (isLeaving && rev === 0) return null
  const beat = ++heartbeat.beats
  const value = isLeaving ? null : encode(layout, { form: 'hub', boot, beat })
  // Another hub must not take this one for dead because an answer was lost.
  heartbeat.change = { key, rev, value, blobs: [], within: BEAT_MS }
  return heartbeat.change
}

/** A change of `begin` is made. @param rev  of the record; 0 if it is removed */
export function confirmWrite(turn: Turn, boot: number, rev: number): void {
  const { hub, now, out } = turn
  const own = hub.heartbeat
  if (!own) return
  if (boot !== hub.boot) return remove(hub, now, boot)
  if (!own.change || own.requestedAt === null) return
  own.rev = rev
  own.ackedAt = own.requestedAt
  own.change = own.requestedAt = null
  hub.registers.confirmedAt = own.ackedAt
  for (const place of own.deferred) out.record(place)
  own.deferred.clear()
  if (own.isLeaving && rev !== 0) request(turn)
}

/** The change was not made: the next one is requested in its time. */
export function failWrite({ boot: own, heartbeat }: Hub, boot: number): void {
  if (heartbeat && boot === own) heartbeat.change = heartbeat.requestedAt = null
}

/** Compares a change of `begin` with what the store has. @returns whether it must be made again */
export function settleWrite(turn: Turn, boot: number, found: StoredRecord | null): boolean {
  const { hub, now } = turn
  const own = hub.heartbeat
  if (!own) return false
  if (boot !== hub.boot) {
    if (found) note(own.hubs.get(boot), now, found.rev)
    else remove(hub, now, boot)
    return false
  }
  if (!own.change) return false
  const { rev, value } = own.change
  const isMade = found && value ? sameBytes(found.value, value) : found === value
  if (isMade) confirmWrite(turn, boot, found?.rev ?? 0)
  // The first one may have been made, and removed again.
  else if (found && found.rev === rev) return true
  else own.isFenced = true
  return false
}

/** The record of another hub was read. @param found  null if there is none; why it is unreadable */
export function receive(turn: Turn, boot: number, found: StoredRecord | string | null): void {
  const { hub, now, out } = turn
  const other = hub.heartbeat?.hubs.get(boot)
  if (!other || typeof found === 'string') return
  if (!found) return remove(hub, now, boot)
  // While the store acknowledges no heartbeat of this hub, it may take none of the others.
  const isNew = other.rev !== found.rev || now - other.readAt > GAP_MS || isCutOff(hub, now)
  if (isNew) note(other, now, found.rev)
  other.readAt = now
  const isSuspect = other.isSuspect && hub.heartbeat!.ackedAt - other.since >= LATER_MS
  if (now - other.since < (isSuspect ? SUSPECT_MS : STILL_MS)) return
  other.stillRev = found.rev
  out.record(keyOf(boot))
}

/** A store tells of a heartbeat, perhaps late. */
export function hear(hub: Hub, now: Millis, boot: number, found: StoredRecord | null): void {
  if (!found) return remove(hub, now, boot)
  watch(hub, now, boot)
  const other = hub.heartbeat?.hubs.get(boot)
  if (other && found.rev > other.rev) note(other, now, found.rev)
}

function note(other: OtherHub | undefined, now: Millis, rev: number): void {
  if (other) Object.assign(other, { rev, since: now, readAt: now, isSuspect: false, stillRev: 0 })
}

function remove({ heartbeat }: Hub, now: Millis, boot: number): void {
  const other = heartbeat?.hubs.get(boot)
  if (other) other.goneAt = Math.min(other.goneAt, now)
}
