/**
 * The primary's side of a room that outlives its members: what it records it writes at the hub as
 * well, in sheets (sheets.ts).
 *
 *     whole    the whole state, first of all and again when the entries behind it are as many
 *     entries  of the log, behind what was written before
 *
 * A primary without a registered backup is **strict**: it acknowledges nothing that the hub does
 * not have on disk, so whoever opens the room after it, however it went, has all that was
 * acknowledged. With a backup that it reaches through the hub alone it is **relayed**: what it
 * acknowledges both have, and what is written lags by KEEP_MS at most; once their streams are
 * closed neither acknowledges more. Where members have paths of their own, a primary beside others
 * is **free**: it goes on without the hub for as long as its lease allows.
 *
 * The hub opens a room the sooner the stricter it believes the primary to be. So a primary is as
 * strict as it says from before the hub hears that, until the hub has on disk that it is less so.
 *
 * If the hub does not keep the room, because its disk is full or a limit was met, play goes on
 * without, and the application is told; it is tried again.
 */

import * as commit from '../replication/log.ts'
import * as durable from '../replication/durable.ts'
import * as chunks from '../wire/chunks.ts'
import type { Millis } from '../machine.ts'
import { termOf, termsSay } from '../machine.ts'
import type { Member } from '../replication/layouts.ts'
import {
  type AckPolicy,
  type FromHub,
  NOT_NEXT,
  SHEET_PIECE_MAX,
} from '../hub-protocol/messages.ts'
import { TYPES_MAX } from '../wire/fields/difference.ts'
import { fingerprint } from '../wire/digest.ts'
import { deltaLayout } from '../replication/layouts.ts'
import { encode } from '../wire/layout.ts'
import { settingsOf } from './output.ts'
import {
  entriesSegmentLayout,
  type Persistence,
  type Segment,
  writeSnapshotSegment,
} from './segments.ts'
import * as leases from './lease.ts'
import { notePersisted } from './lineage.ts'
import {
  createLead,
  mayContinue,
  is,
  type Lead,
  serves,
  type Session,
  type SessionOut,
  type Turn,
} from './state.ts'

/** While others are here, what was recorded is written after this. */
export const KEEP_MS: Millis = 100
/** A segment without an answer is written anew after this; one that was refused, */
export const ANSWER_MS: Millis = 2_000
/** after this. */
export const REFUSED_MS: Millis = 10_000
/** With so many bytes of entries, and as many as the whole state, that is written anew. */
export const ENTRIES_MIN: number = 64 * 1024
/** Most bytes of entries in one segment, and waiting for the hub; beyond, a snapshot is written. */
export const ENTRIES_MAX: number = 256 * 1024
/** What is on its way is written again beside the stream in rooms of fewer bytes than this. */
const AGAIN_MAX = 48 * 1024
/** Changes that are in no log, so many in one entry of a segment. */
const UNLOGGED_MAX = 32
/** By their promises members go on without the hub for so long beyond its last word. */
export const PROMISED_MAX_MS: Millis = 45_000

/**
 * The state of a member that begins to lead.
 *
 * @param heardAt  when the hub heard of it at the latest, for its lease
 * @param beside   who is here, by the log
 * @param founds   whether nobody led before; then nobody waits until the hub has so much of the log
 */
export function beginLead(
  session: Session,
  since: Millis,
  heardAt: Millis,
  beside: Iterable<Member>,
  { founds, free }: { founds: boolean; free: number } = { founds: false, free: -1 },
): Lead {
  const on = isKept(session)
  const believedAcks = founds ? 'strict' : believedOf(session, beside)
  const most = on ? PROMISED_MAX_MS - leases.LEASE_MS : Infinity
  // Whoever opens a kept room anew counts on the lease as whoever recovers a session does.
  const lease = leases.create(session.recovers || on, heardAt + leases.LEASE_MS, most)
  return createLead(since, lease, {
    ...{ on, always: termsSay(session.terms, 'strict', 'yes') },
    ...{ open: !founds && session.hub.up, free, believedAcks },
    ...{
      number: 0,
      sent: -1,
      kept: -1,
      entries: [],
      bytes: 0,
      unlogged: false,
      snapshotBytes: 0,
      entriesBytes: 0,
    },
    ...{ sentAcks: null, inFlight: false, sentAt: -Infinity, since: 0, why: '' },
    ...{ operations: 0, segments: 0, asked: { index: 0, sheets: 0 }, announced: null },
  })
}

// How our predecessor acknowledged at most, as far as the hub knows. It published nobody with a
// path before the hub knew of that, and said nothing else while such a member was here.
function believedOf({ client }: Session, beside: Iterable<Member>): AckPolicy {
  const published = new Set(client.view.members.filter(hasPath).map(({ inc }) => inc))
  for (const { inc } of beside) if (published.has(inc)) return 'free'
  return 'relayed'
}

/** Whether a session is kept beyond its last member, by its terms. */
export function isKept({ terms, keeps }: Pick<Session, 'terms' | 'keeps'>): boolean {
  return keeps && (termOf(terms, 'keep') ?? 0) > 0
}

/** An entry was recorded, with which the log is so long; `acts` if it is an operation. */
export function noteEntry(
  { persistence }: Lead,
  now: Millis,
  delta: Uint8Array,
  { length, acts }: { length: number; acts: boolean },
): void {
  if (acts) persistence.operations = length
  if (!persistence.on || persistence.sent < 0) return
  if (!isPending(persistence)) persistence.since = now
  persistence.entries.push(delta)
  persistence.bytes += delta.length
  if (persistence.bytes > ENTRIES_MAX) startOver(persistence)
}

/** Something that is kept, and in no log, changed. */
export function markUnlogged(session: Session, now: Millis): void {
  if (!('lead' in session.server)) return
  const { persistence } = session.server.lead
  if (!persistence.on || persistence.sent < 0 || persistence.unlogged) return
  if (!isPending(persistence)) persistence.since = now
  persistence.unlogged = true
}

function isPending({ sent, entries, unlogged }: Persistence): boolean {
  return sent < 0 || entries.length > 0 || unlogged
}

// What is written next is the whole state.
function startOver(persistence: Persistence): void {
  Object.assign(persistence, {
    ...{ sent: -1, entries: [], bytes: 0, unlogged: false, inFlight: false },
  })
}

// Guests and who only watches hold nothing of the state, and never will.
function isAlone({ me, server }: Session): boolean {
  // Asked with each datagram: the first who goes on is enough.
  for (const member of server.published.values()) {
    if (member.inc !== me && mayContinue(member)) return false
  }
  return true
}

// Whether that member may be reached without the hub.
function hasPath({ addresses }: Member): boolean {
  return addresses.length > 0
}

function isPathless({ server: { durable: own, published } }: Session): boolean {
  for (const member of own.members.values()) if (hasPath(member)) return false
  for (const member of published.values()) if (hasPath(member)) return false
  return true
}

// How we may acknowledge, by who is here.
function acksOf(session: Session, { always }: Persistence): AckPolicy {
  if (always || isAlone(session)) return 'strict'
  if (!isPathless(session)) return 'free'
  const { role } = session.server
  return role === 'backedup' || role === 'handing' ? 'relayed' : 'strict'
}

const STRICTNESS: Record<AckPolicy, number> = { free: 0, relayed: 1, strict: 2 }

function isStrict(session: Session, persistence: Persistence): boolean {
  const { on, always, why, believedAcks } = persistence
  if (!on || (why !== '' && !always)) return false
  const acks = acksOf(session, persistence)
  return acks === 'strict' || STRICTNESS[believedAcks] > STRICTNESS[acks]
}

/** How much of the log may be acknowledged as far as the hub must have it. */
export function limitOf(session: Session): number {
  if (!('lead' in session.server)) return Infinity
  const { persistence } = session.server.lead
  return isStrict(session, persistence) ? Math.max(persistence.kept, persistence.free) : Infinity
}

/**
 * How what is acknowledged stands where nobody but the primary has it: the hub has it, or it waits
 * for the hub. Null if nothing is kept, or for who does not serve.
 */
export function standing(session: Session): 'kept' | 'waiting' | null {
  if (!serves(session)) return null
  const { persistence } = session.server.lead
  if (!isStrict(session, persistence)) return null
  return persistence.open && persistence.kept >= 0 ? 'kept' : 'waiting'
}

/** The hub takes us for a member again: what was on its way may be lost. */
export function onAttached(session: Session): void {
  if (!('lead' in session.server)) return
  const { persistence } = session.server.lead
  startOver(persistence)
  persistence.open = true
  // A hub that was started anew may have room.
  persistence.why = ''
}

/** It does not. */
export function onDetached(session: Session): void {
  if ('lead' in session.server) session.server.lead.persistence.open = false
}

/** When something is to be written; Infinity if nothing is. */
export function deadline(session: Session): Millis {
  if (!serves(session)) return Infinity
  const { persistence } = session.server.lead
  if (!persistence.on || !persistence.open) return Infinity
  if (persistence.why !== '') return persistence.sentAt + REFUSED_MS
  if (persistence.inFlight) return persistence.sentAt + ANSWER_MS
  if (persistence.sent < 0 || persistence.sentAcks !== acksOf(session, persistence))
    return -Infinity
  if (!isPending(persistence)) return Infinity
  const waits = persistence.entries.length === 0 || !isStrict(session, persistence)
  return waits ? persistence.since + KEEP_MS : -Infinity
}

/** Writes what is due. */
export function flush(turn: Turn): void {
  const { session, now } = turn
  if (deadline(session) > now) return
  const { persistence } = (session as Session & { server: { lead: Lead } }).server.lead
  if (persistence.inFlight || persistence.why !== '') startOver(persistence)
  write(turn, persistence)
}

/**
 * Writes all that was not written yet, before we leave.
 *
 * @param aside  whether it is said beside the stream too, which may be closed, or lose what is on
 *   its way: then that is written again, if it is small
 * @returns whether what is written here follows on what the hub has on disk
 */
export function writeAll(turn: Turn, aside: boolean = false): boolean {
  const { session } = turn
  if (!serves(session)) return true
  const { persistence } = session.server.lead
  if (!persistence.on) return true
  if (!persistence.open && !aside) return false
  const isAgain =
    aside &&
    persistence.inFlight &&
    persistence.snapshotBytes + persistence.entriesBytes < AGAIN_MAX
  if (!isPending(persistence) && !isAgain) return !persistence.inFlight
  // What is on its way may be refused: nothing may stand behind it.
  if (persistence.inFlight) startOver(persistence)
  write(turn, persistence)
  return true
}

function write(turn: Turn, persistence: Persistence): void {
  const { session, now, out } = turn
  addUnlogged(persistence, out)
  const { entriesBytes, bytes, snapshotBytes } = persistence
  if (entriesBytes + bytes > Math.max(ENTRIES_MIN, snapshotBytes)) startOver(persistence)
  const from = persistence.sent < 0 ? null : persistence.sent
  const index = commit.lengthOf(session.server.log)
  // A word on how many are here is no segment.
  if (from === null || persistence.entries.length > 0) persistence.segments++
  persistence.asked = { index: persistence.operations, sheets: persistence.segments }
  let segment: Uint8Array = new Uint8Array(0)
  if (from === null) segment = snapshotSegmentOf(session, 'whole', out)
  // None at all say only how many are here.
  else if (persistence.entries.length > 0) {
    segment = out.seal(
      encode(entriesSegmentLayout, { entries: persistence.entries }),
      index,
      'entries',
    )
  }
  const acks = acksOf(session, persistence)
  if (from === null) Object.assign(persistence, { snapshotBytes: segment.length, entriesBytes: 0 })
  else persistence.entriesBytes += segment.length
  Object.assign(persistence, { sent: index, entries: [], bytes: 0, unlogged: false })
  Object.assign(persistence, { sentAcks: acks, inFlight: true, sentAt: now })
  if (STRICTNESS[acks] > STRICTNESS[persistence.believedAcks]) persistence.believedAcks = acks
  const next = session.server.durable.nextInc
  const time = Math.max(0, Math.round(out.time()))
  const number = ++persistence.number
  const said = { session: session.id, number, from, index, time, next, acks }
  for (const piece of chunks.cut(segment, SHEET_PIECE_MAX))
    out.hub({ kind: 'keep', ...said, ...piece })
}

// If the whole is written instead, it has them as well.
function addUnlogged(persistence: Persistence, out: SessionOut): void {
  const changes = out.parts.unloggedChanges()
  for (let at = 0; at < changes.length; at += UNLOGGED_MAX) {
    const entry = encode(deltaLayout, {
      kind: 'loose',
      changes: changes.slice(at, at + UNLOGGED_MAX),
    })
    persistence.entries.push(entry)
    persistence.bytes += entry.length
  }
}

function snapshotSegmentOf(session: Session, as: 'whole' | 'file', out: SessionOut): Uint8Array {
  const { keptTypes, server } = session
  const { lineage } = session
  const settings = settingsOf(session)
  const sheets = 'lead' in server ? server.lead.persistence.segments : 0
  const typed = { schema: fingerprint(keptTypes), types: '' }
  const isShort = new TextEncoder().encode(keptTypes).length <= TYPES_MAX
  if (isShort) typed.types = keptTypes
  const index = commit.lengthOf(server.log)
  const snapshot = durable.snapshot(server.durable, [
    ...out.parts.collect(),
    ...out.parts.unlogged(),
  ])
  return out.seal(
    writeSnapshotSegment({ settings, lineage: [...lineage], sheets, ...typed, index, snapshot }),
    index,
    as,
  )
}

/**
 * The room as it stands here, as one segment, for a file.
 *
 * @returns null for who neither serves nor stands by: the whole is not here
 */
export function save(session: Session, out: SessionOut): Segment | null {
  const { server } = session
  if (!serves(session) && server.role !== 'backup') return null
  return { bytes: snapshotSegmentOf(session, 'file', out), index: commit.lengthOf(server.log) }
}

/** The hub has a segment on disk, or says why not. */
export function onKept(turn: Turn, message: FromHub & { kind: 'kept' }): void {
  const { session, out } = turn
  if (message.session !== session.id || !is(session, 'leads')) return
  const { persistence } = session.server.lead
  const before = { ...persistence }
  // An older segment than the one that is on its way.
  const isNewest = message.number === persistence.number
  if (message.why === NOT_NEXT) return startOver(persistence)
  if (message.why !== '') {
    if (!persistence.inFlight) return
    startOver(persistence)
    persistence.why = message.why
  } else {
    persistence.kept = Math.max(persistence.kept, message.index)
    if (isNewest) {
      Object.assign(persistence, { inFlight: false, believedAcks: message.acks })
      notePersisted(session, persistence)
    }
    persistence.why = ''
  }
  const isFirst = before.kept < 0 && persistence.kept >= 0
  if (isFirst || before.why !== persistence.why) out.emit({ kind: 'kept', why: persistence.why })
}
