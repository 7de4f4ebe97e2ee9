/**
 * The primary's side of a stored room: it also writes what it records to the hub, in segments
 * (segments.ts).
 *
 *     snapshot  the whole state: first, and again once the entries after it are as large
 *     entries   entries of the log that were not written yet
 *
 * A primary without a registered backup is **strict**: it acknowledges nothing before the hub has
 * it on disk. A primary that reaches its backup only through the hub is **relayed**: both have what
 * it acknowledges, the disk lags by at most KEEP_MS, and once their streams are closed neither
 * acknowledges anything. Where members have direct paths, a primary with other members is **free**:
 * it continues without the hub for as long as its lease allows.
 *
 * The stricter the hub believes the primary to be, the sooner another member may open the room. So
 * a primary becomes strict before it tells the hub, and less strict only after the hub has that on
 * disk.
 *
 * If the hub cannot store the room, play continues unstored, the application is notified, and the
 * primary retries.
 */

import * as commit from '../replication/log.ts'
import * as durable from '../replication/durable.ts'
import * as chunks from '../wire/chunks.ts'
import { type Millis, termOf, termsSay } from '../machine.ts'
import { type Member, deltaLayout } from '../replication/layouts.ts'
import {
  type AckPolicy,
  NOT_NEXT,
  SEGMENT_PIECE_MAX,
  type FromHubOf,
} from '../hub-protocol/messages.ts'
import { TYPES_MAX } from '../wire/fields/difference.ts'
import { fingerprint } from '../wire/digest.ts'
import { encode } from '../wire/layout.ts'
import { settingsOf } from './output.ts'
import {
  entriesSegmentLayout,
  type Persistence,
  type Segment,
  SNAPSHOT_MAX,
  writeSnapshotSegment,
} from './segments.ts'
import * as leases from './lease.ts'
import { notePersisted } from './lineage.ts'
import {
  mayContinue,
  is,
  type Lead,
  serves,
  type Session,
  type SessionOut,
  type Turn,
} from './state.ts'

/** With other members present, records are written to the hub after this. */
export const KEEP_MS: Millis = 100
/** A segment without an answer is written again after this. */
export const ANSWER_MS: Millis = 2_000
/** A refused segment is written again after this. */
export const REFUSED_MS: Millis = 10_000
/** A new snapshot is written once the entries reach this size and that of the last snapshot. */
export const ENTRIES_MIN: number = 64 * 1024
/** Most bytes of entries in one segment or waiting; beyond that a snapshot is written. */
export const ENTRIES_MAX: number = 256 * 1024
/** Rooms smaller than this repeat what is under way beside the stream when they close. */
const AGAIN_MAX = 48 * 1024
/** Most unlogged changes in one entry of a segment. */
const UNLOGGED_MAX = 32
/** With promises, members continue for at most this long after the hub's last message. */
export const PROMISED_MAX_MS: Millis = 45_000

/**
 * The state of a member that begins to lead.
 *
 * @param heardAt  when the hub last heard from it at the latest; its lease counts from then
 * @param beside   the members, by the log
 * @param founds   whether nobody led before; `free` entries then need no ack of the hub
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
  // Opening a stored room relies on the lease, as recovering a session does.
  const lease = leases.create(session.recovers || on, heardAt + leases.LEASE_MS, most)
  const persistence: Persistence = {
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
    ...{ operations: 0, segments: 0, asked: { index: 0, segments: 0 }, announced: null },
  }
  return {
    ...{ lease, persistence, leased: true, since, sweepAt: since, waitingAt: Infinity },
    ...{ yields: false, ending: null, slow: false },
    passedOver: new Map(),
    allowances: new Map(),
    waiting: new Map(),
    refreshed: new Map(),
    absent: new Map(),
  }
}

// The strictest policy that the hub may believe of our predecessor. It published no member with a
// path before the hub knew it was free, and stayed free while such a member was present.
function believedOf({ client }: Session, beside: Iterable<Member>): AckPolicy {
  const published = new Set(client.view.members.filter(hasPath).map(({ inc }) => inc))
  for (const { inc } of beside) if (published.has(inc)) return 'free'
  return 'relayed'
}

/** Whether the session's settings keep its room beyond its last member. */
export function isKept({ terms, keeps }: Pick<Session, 'terms' | 'keeps'>): boolean {
  return keeps && (termOf(terms, 'keep') ?? 0) > 0
}

/** An entry was recorded; the log now has `length` entries. `acts` is true for an operation. */
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

/** Stored state that is in no log has changed. */
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

// The next segment is a snapshot.
function startOver(persistence: Persistence): void {
  const fresh = { sent: -1, entries: [], bytes: 0, unlogged: false, inFlight: false }
  Object.assign(persistence, fresh)
}

// Guests and watchers never hold any of the state.
function isAlone({ me, server }: Session): boolean {
  for (const member of server.published.values()) {
    if (member.inc !== me && mayContinue(member)) return false
  }
  return true
}

// Whether the member may be reachable without the hub.
function hasPath({ addresses }: Member): boolean {
  return addresses.length > 0
}

function isPathless({ server: { durable: own, published } }: Session): boolean {
  for (const member of own.members.values()) if (hasPath(member)) return false
  for (const member of published.values()) if (hasPath(member)) return false
  return true
}

// The policy that the present members allow.
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

/** The length of the log that may be acknowledged, by what the hub has on disk. */
export function limitOf(session: Session): number {
  if (!('lead' in session.server)) return Infinity
  const { persistence } = session.server.lead
  return isStrict(session, persistence) ? Math.max(persistence.kept, persistence.free) : Infinity
}

/**
 * Whether a strict primary's records are on the hub's disk or wait for it; null for other
 * primaries, other members, and rooms that are not stored.
 */
export function standing(session: Session): 'kept' | 'waiting' | null {
  if (!serves(session)) return null
  const { persistence } = session.server.lead
  if (!isStrict(session, persistence)) return null
  return persistence.open && persistence.kept >= 0 ? 'kept' : 'waiting'
}

/** We are attached to the hub again; segments that were under way may be lost. */
export function onAttached(session: Session): void {
  if (!('lead' in session.server)) return
  const { persistence } = session.server.lead
  startOver(persistence)
  persistence.open = true
  // A restarted hub may have room.
  persistence.why = ''
}

export function onDetached(session: Session): void {
  if ('lead' in session.server) session.server.lead.persistence.open = false
}

/** When `flush` is due; Infinity if nothing waits. */
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

export function flush(turn: Turn): void {
  const { session, now } = turn
  if (deadline(session) > now) return
  const { persistence } = (session as Session & { server: { lead: Lead } }).server.lead
  if (persistence.inFlight || persistence.why !== '') startOver(persistence)
  write(turn, persistence)
}

/**
 * Writes everything that was not written yet, before we leave.
 *
 * @param aside  whether it is also sent beside the stream, which may be closed or lose what is
 *   under way: that is then repeated, if it is small
 * @returns whether this continues what the hub has on disk
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
  // The hub may refuse what is under way, so nothing may build on it.
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
  if (from === null || persistence.entries.length > 0) persistence.segments++
  persistence.asked = { index: persistence.operations, segments: persistence.segments }
  let segment: Uint8Array | null = new Uint8Array(0)
  if (from === null) segment = snapshotSegmentOf(session, 'whole', out)
  // An empty segment only reports the policy and `next`.
  else if (persistence.entries.length > 0) {
    segment = out.seal(
      encode(entriesSegmentLayout, { entries: persistence.entries }),
      index,
      'entries',
    )
  }
  // As if the hub had refused it: it is tried again later.
  if (!segment) {
    startOver(persistence)
    persistence.sentAt = now
    return noteRefusal(persistence, TOO_LARGE, out)
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
  const head = { session: session.id, number, from, index, time, next, acks }
  for (const piece of chunks.cut(segment, SEGMENT_PIECE_MAX))
    out.hub({ kind: 'keep', ...head, ...piece })
}

// A snapshot contains these changes too.
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

/** Why a room is not stored, or not saved to a file. */
export const TOO_LARGE: string = `its state has more than ${SNAPSHOT_MAX} bytes`

/** Null for a room that is too large. */
function snapshotSegmentOf(
  session: Session,
  as: 'whole' | 'file',
  out: SessionOut,
): Uint8Array | null {
  const { keptTypes, server } = session
  const { lineage } = session
  const settings = settingsOf(session)
  const segments = 'lead' in server ? server.lead.persistence.segments : 0
  const typed = { schema: fingerprint(keptTypes), types: '' }
  const isShort = new TextEncoder().encode(keptTypes).length <= TYPES_MAX
  if (isShort) typed.types = keptTypes
  const index = commit.lengthOf(server.log)
  const snapshot = durable.snapshot(server.durable, [
    ...out.parts.collect(),
    ...out.parts.unlogged(),
  ])
  if (snapshot.length > SNAPSHOT_MAX) return null
  return out.seal(
    writeSnapshotSegment({ settings, lineage: [...lineage], segments, ...typed, index, snapshot }),
    index,
    as,
  )
}

/** The room as one segment, for a file; null unless we are primary or backup, or if too large. */
export function save(session: Session, out: SessionOut): Segment | null {
  if (!serves(session) && session.server.role !== 'backup') return null
  const bytes = snapshotSegmentOf(session, 'file', out)
  return bytes && { bytes, index: commit.lengthOf(session.server.log) }
}

/** The hub stored a segment, or reports why it did not. */
export function onKept(turn: Turn, message: FromHubOf<'kept'>): void {
  const { session, out } = turn
  if (message.session !== session.id || !is(session, 'leads')) return
  const { persistence } = session.server.lead
  const before = { ...persistence }
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

function noteRefusal(persistence: Persistence, why: string, out: SessionOut): void {
  if (persistence.why === why) return
  persistence.why = why
  out.emit({ kind: 'kept', why })
}
