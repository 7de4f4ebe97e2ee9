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
import { type Acks, type FromHub, NOT_NEXT, SHEET_PIECE_MAX } from '../hub-protocol/messages.ts'
import { TYPES_MAX } from '../wire/fields/difference.ts'
import { fingerprint } from '../wire/digest.ts'
import { deltaLayout } from '../replication/layouts.ts'
import { encode } from '../wire/layout.ts'
import { settingsOf } from './output.ts'
import { entriesLayout, type Keeping, type Sheet, writeWhole } from './sheets.ts'
import * as leases from './lease.ts'
import { persisted } from './lineage.ts'
import {
  createLead,
  goesOn,
  is,
  type Lead,
  serves,
  type Session,
  type SessionOut,
  type Turn,
} from './state.ts'

/** While others are here, what was recorded is written after this. */
export const KEEP_MS: Millis = 100
/** A sheet without an answer is written anew after this; one that was refused, */
export const ANSWER_MS: Millis = 2_000
/** after this. */
export const REFUSED_MS: Millis = 10_000
/** With so many bytes of entries, and as many as the whole state, that is written anew. */
export const ENTRIES_MIN: number = 64 * 1024
/** Most bytes of entries in one sheet; and that wait for the hub. Beyond, the whole is written. */
export const ENTRIES_MAX: number = 256 * 1024
/** What is on its way is written again beside the stream in rooms of fewer bytes than this. */
const AGAIN_MAX = 48 * 1024
/** Changes that are in no log, so many in one entry of a sheet. */
const LOOSE_MAX = 32
/** By their promises members go on without the hub for so long beyond its last word. */
export const PROMISED_MAX_MS: Millis = 45_000

/**
 * The state of a member that begins to lead.
 *
 * @param heardAt  when the hub heard of it at the latest, for its lease
 * @param beside   who is here, by the log
 * @param founds   whether nobody led before; then nobody waits until the hub has so much of the log
 */
export function leads(
  session: Session,
  since: Millis,
  heardAt: Millis,
  beside: Iterable<Member>,
  { founds, free }: { founds: boolean; free: number } = { founds: false, free: -1 },
): Lead {
  const on = isKept(session)
  const believed = founds ? 'strict' : believedOf(session, beside)
  const most = on ? PROMISED_MAX_MS - leases.LEASE_MS : Infinity
  // Whoever opens a kept room anew counts on the lease as whoever recovers a session does.
  const lease = leases.create(session.recovers || on, heardAt + leases.LEASE_MS, most)
  return createLead(since, lease, {
    ...{ on, always: termsSay(session.terms, 'strict', 'yes') },
    ...{ open: !founds && session.hub.up, free, believed },
    ...{ number: 0, sent: -1, kept: -1, entries: [], bytes: 0, loose: false, whole: 0, behind: 0 },
    ...{ said: null, flying: false, sentAt: -Infinity, since: 0, why: '' },
    ...{ operations: 0, sheets: 0, asked: { index: 0, sheets: 0 }, told: null },
  })
}

// How our predecessor acknowledged at most, as far as the hub knows. It published nobody with a
// path before the hub knew of that, and said nothing else while such a member was here.
function believedOf({ client }: Session, beside: Iterable<Member>): Acks {
  const published = new Set(client.view.members.filter(hasPath).map(({ inc }) => inc))
  for (const { inc } of beside) if (published.has(inc)) return 'free'
  return 'relayed'
}

/** Whether a session is kept beyond its last member, by its terms. */
export function isKept({ terms, keeps }: Pick<Session, 'terms' | 'keeps'>): boolean {
  return keeps && (termOf(terms, 'keep') ?? 0) > 0
}

/** An entry was recorded, with which the log is so long; `acts` if it is an operation. */
export function note(
  { keeping }: Lead,
  now: Millis,
  delta: Uint8Array,
  { length, acts }: { length: number; acts: boolean },
): void {
  if (acts) keeping.operations = length
  if (!keeping.on || keeping.sent < 0) return
  if (!isOwed(keeping)) keeping.since = now
  keeping.entries.push(delta)
  keeping.bytes += delta.length
  if (keeping.bytes > ENTRIES_MAX) forget(keeping)
}

/** Something that is kept, and in no log, changed. */
export function stir(session: Session, now: Millis): void {
  if (!('lead' in session.server)) return
  const { keeping } = session.server.lead
  if (!keeping.on || keeping.sent < 0 || keeping.loose) return
  if (!isOwed(keeping)) keeping.since = now
  keeping.loose = true
}

function isOwed({ sent, entries, loose }: Keeping): boolean {
  return sent < 0 || entries.length > 0 || loose
}

// What is written next is the whole state.
function forget(keeping: Keeping): void {
  Object.assign(keeping, { sent: -1, entries: [], bytes: 0, loose: false, flying: false })
}

// Guests and who only watches hold nothing of the state, and never will.
function isLone({ me, server }: Session): boolean {
  // Asked with each datagram: the first who goes on is enough.
  for (const member of server.published.values()) {
    if (member.inc !== me && goesOn(member)) return false
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
function acksOf(session: Session, { always }: Keeping): Acks {
  if (always || isLone(session)) return 'strict'
  if (!isPathless(session)) return 'free'
  const { role } = session.server
  return role === 'backedup' || role === 'handing' ? 'relayed' : 'strict'
}

const STRICTNESS: Record<Acks, number> = { free: 0, relayed: 1, strict: 2 }

function isStrict(session: Session, keeping: Keeping): boolean {
  const { on, always, why, believed } = keeping
  if (!on || (why !== '' && !always)) return false
  const acks = acksOf(session, keeping)
  return acks === 'strict' || STRICTNESS[believed] > STRICTNESS[acks]
}

/** How much of the log may be acknowledged as far as the hub must have it. */
export function limitOf(session: Session): number {
  if (!('lead' in session.server)) return Infinity
  const { keeping } = session.server.lead
  return isStrict(session, keeping) ? Math.max(keeping.kept, keeping.free) : Infinity
}

/**
 * How what is acknowledged stands where nobody but the primary has it: the hub has it, or it waits
 * for the hub. Null if nothing is kept, or for who does not serve.
 */
export function standing(session: Session): 'kept' | 'waiting' | null {
  if (!serves(session)) return null
  const { keeping } = session.server.lead
  if (!isStrict(session, keeping)) return null
  return keeping.open && keeping.kept >= 0 ? 'kept' : 'waiting'
}

/** The hub takes us for a member again: what was on its way may be lost. */
export function attached(session: Session): void {
  if (!('lead' in session.server)) return
  const { keeping } = session.server.lead
  forget(keeping)
  keeping.open = true
  // A hub that was started anew may have room.
  keeping.why = ''
}

/** It does not. */
export function detached(session: Session): void {
  if ('lead' in session.server) session.server.lead.keeping.open = false
}

/** When something is to be written; Infinity if nothing is. */
export function deadline(session: Session): Millis {
  if (!serves(session)) return Infinity
  const { keeping } = session.server.lead
  if (!keeping.on || !keeping.open) return Infinity
  if (keeping.why !== '') return keeping.sentAt + REFUSED_MS
  if (keeping.flying) return keeping.sentAt + ANSWER_MS
  if (keeping.sent < 0 || keeping.said !== acksOf(session, keeping)) return -Infinity
  if (!isOwed(keeping)) return Infinity
  const waits = keeping.entries.length === 0 || !isStrict(session, keeping)
  return waits ? keeping.since + KEEP_MS : -Infinity
}

/** Writes what is due. */
export function flush(turn: Turn): void {
  const { session, now } = turn
  if (deadline(session) > now) return
  const { keeping } = (session as Session & { server: { lead: Lead } }).server.lead
  if (keeping.flying || keeping.why !== '') forget(keeping)
  write(turn, keeping)
}

/**
 * Writes all that was not written yet, before we leave.
 *
 * @param aside  whether it is said beside the stream too, which may be closed, or lose what is on
 *   its way: then that is written again, if it is small
 * @returns whether what is written here follows on what the hub has on disk
 */
export function leave(turn: Turn, aside: boolean = false): boolean {
  const { session } = turn
  if (!serves(session)) return true
  const { keeping } = session.server.lead
  if (!keeping.on) return true
  if (!keeping.open && !aside) return false
  const isAgain = aside && keeping.flying && keeping.whole + keeping.behind < AGAIN_MAX
  if (!isOwed(keeping) && !isAgain) return !keeping.flying
  // What is on its way may be refused: nothing may stand behind it.
  if (keeping.flying) forget(keeping)
  write(turn, keeping)
  return true
}

function write(turn: Turn, keeping: Keeping): void {
  const { session, now, out } = turn
  gatherLoose(keeping, out)
  const { behind, bytes, whole } = keeping
  if (behind + bytes > Math.max(ENTRIES_MIN, whole)) forget(keeping)
  const from = keeping.sent < 0 ? null : keeping.sent
  const index = commit.lengthOf(session.server.log)
  // A word on how many are here is no sheet.
  if (from === null || keeping.entries.length > 0) keeping.sheets++
  keeping.asked = { index: keeping.operations, sheets: keeping.sheets }
  let sheet: Uint8Array = new Uint8Array(0)
  if (from === null) sheet = wholeOf(session, 'whole', out)
  // None at all say only how many are here.
  else if (keeping.entries.length > 0) {
    sheet = out.seal(encode(entriesLayout, { entries: keeping.entries }), index, 'entries')
  }
  const acks = acksOf(session, keeping)
  if (from === null) Object.assign(keeping, { whole: sheet.length, behind: 0 })
  else keeping.behind += sheet.length
  Object.assign(keeping, { sent: index, entries: [], bytes: 0, loose: false })
  Object.assign(keeping, { said: acks, flying: true, sentAt: now })
  if (STRICTNESS[acks] > STRICTNESS[keeping.believed]) keeping.believed = acks
  const next = session.server.durable.nextInc
  const time = Math.max(0, Math.round(out.time()))
  const number = ++keeping.number
  const said = { session: session.id, number, from, index, time, next, acks }
  for (const piece of chunks.cut(sheet, SHEET_PIECE_MAX))
    out.hub({ kind: 'keep', ...said, ...piece })
}

// If the whole is written instead, it has them as well.
function gatherLoose(keeping: Keeping, out: SessionOut): void {
  const loose = out.parts.looseChanges()
  for (let at = 0; at < loose.length; at += LOOSE_MAX) {
    const entry = encode(deltaLayout, { kind: 'loose', changes: loose.slice(at, at + LOOSE_MAX) })
    keeping.entries.push(entry)
    keeping.bytes += entry.length
  }
}

function wholeOf(session: Session, as: 'whole' | 'file', out: SessionOut): Uint8Array {
  const { keptTypes, server } = session
  const { lineage } = session
  const settings = settingsOf(session)
  const sheets = 'lead' in server ? server.lead.keeping.sheets : 0
  const typed = { schema: fingerprint(keptTypes), types: '' }
  const isShort = new TextEncoder().encode(keptTypes).length <= TYPES_MAX
  if (isShort) typed.types = keptTypes
  const index = commit.lengthOf(server.log)
  const snapshot = durable.snapshot(server.durable, [...out.parts.collect(), ...out.parts.loose()])
  return out.seal(
    writeWhole({ settings, lineage: [...lineage], sheets, ...typed, index, snapshot }),
    index,
    as,
  )
}

/**
 * The room as it stands here, as one sheet, for a file.
 *
 * @returns null for who neither serves nor stands by: the whole is not here
 */
export function save(session: Session, out: SessionOut): Sheet | null {
  const { server } = session
  if (!serves(session) && server.role !== 'backup') return null
  return { bytes: wholeOf(session, 'file', out), index: commit.lengthOf(server.log) }
}

/** The hub has a sheet on disk, or says why not. */
export function answered(turn: Turn, message: FromHub & { kind: 'kept' }): void {
  const { session, out } = turn
  if (message.session !== session.id || !is(session, 'leads')) return
  const { keeping } = session.server.lead
  const before = { ...keeping }
  // An older sheet than the one that is on its way.
  const isNewest = message.number === keeping.number
  if (message.why === NOT_NEXT) return forget(keeping)
  if (message.why !== '') {
    if (!keeping.flying) return
    forget(keeping)
    keeping.why = message.why
  } else {
    keeping.kept = Math.max(keeping.kept, message.index)
    if (isNewest) {
      Object.assign(keeping, { flying: false, believed: message.acks })
      persisted(session, keeping)
    }
    keeping.why = ''
  }
  const isFirst = before.kept < 0 && keeping.kept >= 0
  if (isFirst || before.why !== keeping.why) out.emit({ kind: 'kept', why: keeping.why })
}
