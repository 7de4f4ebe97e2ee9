/**
 * Tenders: which hub of a shared store decides about a place.
 *
 * While a session lasts, the hub that wrote the record of its place is its tender, and no other hub
 * changes that record. Once the tender is gone (heartbeat.ts), any hub that gets a request for the
 * place claims it: that hub writes the record with its own name. The session's members notice what
 * they would notice if their hub restarted.
 *
 * A move that the tender did not complete has left the session at two places. So a claim reads the
 * other one as well, and takes both or none.
 */

import { asideOf, asideSession, type Entry } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import type { StoredRecord } from '../../../holdfast/src/ports.ts'
import * as archive from './archive.ts'
import * as elsewhere from './elsewhere.ts'
import * as heartbeat from './heartbeat.ts'
import * as places from './places.ts'
import * as register from './register.ts'
import { type Place, placeOf } from './register.ts'
import * as sessionExpiry from './session-expiry.ts'
import { type Claim, type Claimed, type Hub, load, type PlaceRecord, type Turn } from './state.ts'

/** The places of a hub that is gone for this long are claimed though nobody asks for them. */
export const ABANDONED_MS: Millis = 30_000
/** Most of them that are claimed at once. */
const CLAIMS_MAX = 64

/** Claims places whose tender is gone: those that requests wait for, and in time all others. */
export function sweep(turn: Turn): void {
  const { hub, now } = turn
  if (!heartbeat.hasGone(hub, now)) return
  const used = new Set<number>()
  let left = CLAIMS_MAX
  for (const [key, known] of hub.elsewhere) {
    const goneAt = heartbeat.goneAt(hub, known.tender)
    used.add(known.tender)
    if (goneAt > now || hub.claimedPlaces.has(key)) continue
    if (!hub.waiting.has(key) && (now - goneAt < ABANDONED_MS || left-- <= 0)) continue
    claim(turn, known.entry)
  }
  for (const [boot, { goneAt }] of hub.heartbeat!.hubs) {
    if (goneAt <= now && !used.has(boot)) hub.heartbeat!.hubs.delete(boot)
  }
}

/** Claims the place of a session whose tender is gone. */
export function claim({ hub, out }: Pick<Turn, 'hub' | 'out'>, entry: Entry): void {
  const { room, session } = entry
  const both = [placeOf(entry), placeOf(twinOf(entry))]
  // All hubs claim the former place of a moving session first.
  const keys = asideSession(room) === session ? both.toReversed() : both
  if (keys.some((key) => hub.claimedPlaces.has(key))) return
  const reads = (): Claimed => ({ record: null, rev: 0, state: 'reads' })
  hub.claims.set(session, { session, places: new Map(keys.map((key) => [key, reads()])) })
  for (const key of keys) {
    hub.claimedPlaces.set(key, session)
    load({ hub, out }, key)
  }
}

// Where the session is as well if a move was interrupted (moves.ts).
function twinOf({ game, room, session }: Entry): Place {
  const isAside = asideSession(room) === session
  return { game, room: isAside ? room.slice(0, -session.length - 1) : asideOf({ room, session }) }
}

/** The record of a place was read. @returns the places whose requests no longer wait for a claim */
export function receive(turn: Turn, key: string, found: StoredRecord | string | null): string[] {
  const { hub } = turn
  const claim = elsewhere.claimAt(hub, key)
  const one = claim?.places.get(key)
  if (!claim || one?.state !== 'reads') return []
  if (typeof found === 'string') {
    // The next sweep claims again.
    end(hub, claim)
    return []
  }
  Object.assign(one, { record: found && places.readPlace(found.value), rev: found?.rev ?? 0 })
  one.state = 'none'
  for (const { state } of claim.places.values()) if (state === 'reads') return []
  return decide(turn, claim)
}

/**
 * The record of a place that was another hub's was read. @returns whether it is that hub's no more
 */
export function refresh(
  { hub, now }: Turn,
  key: string,
  found: StoredRecord | string | null,
): boolean {
  const before = hub.elsewhere.get(key)
  if (typeof found === 'string' || !before || hub.claimedPlaces.has(key)) return false
  const record = found && places.readPlace(found.value)
  settle(hub, now, key, record && { record, rev: found!.rev })
  return hub.elsewhere.get(key)?.tender !== before.tender
}

/** A store tells of a change, perhaps late. @returns whether requests may know more now */
export function hear(turn: Turn, key: string, found: StoredRecord | null): boolean {
  const { hub, now } = turn
  const room = hub.archive.rooms.get(archive.roomAt(hub.archive, key) ?? '')
  const isOwn = register.rowAt(hub.registers, key) ?? hub.places.get(key)?.writing
  if (isOwn || room?.next || hub.claimedPlaces.has(key)) return false
  const known = hub.elsewhere.get(key) ?? room?.unloaded ?? hub.places.get(key)
  const { rev = 0 } = known ?? {}
  if (found && found.rev <= rev) return false
  const record = found && places.readPlace(found.value)
  const { session = '' } = record?.session.entry ?? {}
  // News of a session that this hub has at another place are old.
  if (hub.registers.rows.has(session) || hub.moves.has(session)) return false
  const before = hub.archive.rooms.get(session)?.place
  if (before !== undefined) archive.adopt(hub.archive, before, null)
  elsewhere.forget(hub, key)
  archive.adopt(hub.archive, key, null)
  if (record) places.restore(hub, now, record, found!.rev)
  places.unload(hub, key)
  return true
}

function decide({ hub, now, out }: Turn, claim: Claim): string[] {
  const { session } = claim
  let isTended = false
  const free: [key: string, one: Claimed][] = []
  for (const [key, one] of claim.places) {
    const { record, rev } = one
    if (!record || record.session.entry.session !== session || !record.lasts) {
      settle(hub, now, key, record && { record, rev })
    } else if (isFree(hub, now, key, record.boot)) free.push([key, one])
    else isTended = settle(hub, now, key, { record, rev })
  }
  if (isTended || free.length === 0) {
    const concerned = end(hub, claim)
    if (isTended) for (const [key, { rev }] of free) removeStale({ hub, out }, key, rev)
    return concerned
  }
  for (const [, one] of free) one.state = 'waits'
  writeNext({ hub, out }, claim)
  return []
}

// @returns whether there is something left to write
function writeNext({ out }: Pick<Turn, 'hub' | 'out'>, { places: all }: Claim): boolean {
  for (const [key, one] of all) {
    if (one.state !== 'waits') continue
    one.state = 'writes'
    out.record(key)
    return true
  }
  return false
}

// Removes what a hub wrote after it was fenced: another hub has the session at its former place.
function removeStale({ hub, out }: Pick<Turn, 'hub' | 'out'>, key: string, rev: number): void {
  elsewhere.forget(hub, key)
  hub.places.set(key, { rev, writing: null })
  out.record(key)
}

// The tender is gone, or this hub wrote its name there in a claim that it gave up.
function isFree(hub: Hub, now: Millis, key: string, boot: number): boolean {
  if (boot === hub.boot) return !register.rowAt(hub.registers, key)
  return heartbeat.goneAt(hub, boot) <= now
}

// Notes what the store has at a place that is not claimed. @returns whether another hub has it
function settle(
  hub: Hub,
  now: Millis,
  key: string,
  found: { record: PlaceRecord; rev: number } | null,
): boolean {
  const isKnown = hub.elsewhere.has(key)
  elsewhere.forget(hub, key)
  if (!found) return false
  if (elsewhere.isElsewhere(hub, found.record)) {
    elsewhere.note(hub, now, found.record, found.rev)
    return true
  }
  const isOpen = isKnown && !register.rowAt(hub.registers, key)
  if (isOpen) places.restore(hub, now, found.record, found.rev)
  return false
}

// @returns the places of the claim
function end({ claims, claimedPlaces }: Hub, claim: Claim): string[] {
  const keys = [...claim.places.keys()]
  for (const key of keys) claimedPlaces.delete(key)
  claims.delete(claim.session)
  return keys
}

/** A claim is written at a place. @returns the places whose requests no longer wait for it */
export function confirmWrite({ hub, now, out }: Turn, key: string, rev: number): string[] {
  const claim = elsewhere.claimAt(hub, key)
  const written = claim?.places.get(key)
  // A claim that was given up may still be written.
  if (!claim || written?.state !== 'writes') return []
  Object.assign(written, { rev, state: 'made' })
  if (writeNext({ hub, out }, claim)) return []
  const made = [...claim.places].filter(([, { state }]) => state === 'made')
  const concerned = end(hub, claim)
  for (const [place, one] of made) {
    elsewhere.forget(hub, place)
    places.restore(hub, now, { ...one.record!, boot: hub.boot }, one.rev)
  }
  for (const [place] of made) if (places.isStale(hub, place)) out.record(place)
  const move = hub.moves.get(claim.session)
  if (move) out.record(move.from)
  return concerned
}

/** The write of a claim was not made. @param found  what the store has instead, if that is known */
export function failWrite({ hub, now }: Turn, key: string, found?: StoredRecord | null): string[] {
  const claim = elsewhere.claimAt(hub, key)
  const concerned = claim ? end(hub, claim) : []
  const record = found ? places.readPlace(found.value) : null
  if (found !== undefined) settle(hub, now, key, record && { record, rev: found!.rev })
  return found === undefined ? [] : concerned
}

/**
 * This hub was fenced: it forgets its rooms and goes on under another name. The caller has closed
 * all streams.
 */
export function startOver({ hub, now }: Turn, boot: number): void {
  const { boot: before, registers } = hub
  const { hubs, isLeaving } = hub.heartbeat!
  Object.assign(hub, { boot, registers: register.create(now) })
  heartbeat.start(hub, now, hubs)
  hub.heartbeat!.isLeaving = isLeaving
  hub.counters.fenced++
  for (const row of registers.rows.values()) {
    const { rev = 0 } = hub.places.get(placeOf(row.entry)) ?? {}
    elsewhere.note(hub, now, { boot: before, session: row }, rev)
    sessionExpiry.untrack(hub, row.entry.session)
  }
  // `note` watches a hub that is gone already.
  heartbeat.hear(hub, now, before, null)
  for (const [session, room] of hub.archive.rooms) {
    if (room.unloaded) continue
    const { rev = 0 } = hub.places.get(room.place) ?? {}
    Object.assign(room, { next: null, writing: null })
    if (!archive.unload(hub.archive, session, rev)) archive.adopt(hub.archive, room.place, null)
  }
  for (const one of [hub.places, hub.moves, hub.pendingRequests, hub.pendingReads]) one.clear()
  for (const one of [hub.claims, hub.claimedPlaces, hub.lookups, hub.waiting]) one.clear()
  hub.removed.clear()
}
