/**
 * The register: the primary and the backup of each session.
 *
 * One rule carries everything else: a session's register changes only by compare-and-set on its
 * epoch, and each change increments the epoch. So of two members that want to change it only one
 * succeeds, and the epoch fences each primary from earlier ones. The secret of the requesting
 * member proves a change: the registered primary may add, drop, hand over and end; the registered
 * backup may take over.
 *
 * A change takes effect once it is persisted. Until then the row carries it as `pending`, all
 * readers see the old register, and a second change of that row is refused. A change whose write
 * fails never happened. Only the list of members takes effect at once, because the primary resends
 * it whenever it attaches.
 *
 * A missed ping does not delist a session: it is `unreachable` after three, open again at its next
 * message, and removed after an hour of silence.
 */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import * as rounds from '../../../holdfast/src/rounds.ts'
import {
  type Entry,
  EPOCH_MAX,
  type Leader,
  type Listed,
  type Register,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Entrant } from '../../../holdfast/src/hub-protocol/tickets.ts'
import { proves } from '../../../holdfast/src/wire/digest.ts'
import { type Invitation, type SessionRecord, allowsRoles } from './records.ts'

/** How often each primary is sent ARE_YOU_ALIVE. */
export const ASK_MS: Millis = 2_000
/** Unanswered probes before a session is listed as unreachable. */
export const MISSED_MAX = 3
/** Without a backup, a session cannot be joined once its primary's stream is gone this long. */
export const GONE_MS: Millis = 3_000
/** Without YES_I_AM for this long a member may recover the session: the lease is over by then. */
export const RECOVER_MS: Millis = 15_000
/** After this silence an unreachable session is removed. */
export const FORGET_MS: Millis = 3_600_000
/** Most sessions of one register. */
export const SESSIONS_MAX = 10_000

// Weight of a new sample in the smoothed round trip.
const RTT_WEIGHT = 1 / 8

/** A takeover that waits for the primary's answer. */
export interface Challenge {
  nonce: number
  askedAt: Millis
  /** Without an answer by then the compare-and-set is made. */
  until: Millis
  /** The stream that requested the takeover, and its newest request. */
  connection: number
  demand: Change
}

/** A primary's answer that it is alive. */
export interface Veto {
  epoch: number
  at: Millis
  /** Since when no datagram of the primary was relayed to the backup; Infinity once one was. */
  unproved: Millis
}

/** A change that is not persisted yet. */
interface Pending {
  /** The register after the change; null removes the session. */
  register: Register | null
  /** Whether it creates or reopens the session, which has no members until then. */
  isNew: boolean
  /** The row that a new one replaces; null if there was none. */
  before: Row | null
  isWriting: boolean
}

interface Goodbye {
  /** The epoch in which it was primary until then; 0 if it was not. */
  readonly epoch: number
  /** The length of its log, if it was primary. */
  readonly index: number
}

export type Place = Pick<Entry, 'game' | 'room'>

/** One session: its record on disk, and how its primary has responded. */
export interface Row extends SessionRecord {
  /** Members whose streams are attached. */
  present: Set<PeerId>
  /** The nonce of the last YES_I_AM that counts for the primary's lease. */
  heard: number
  /** When the primary last sent YES_I_AM, or when this hub first knew the session. */
  lastYes: Millis
  /** The newest YES_I_AM: `heard` is it once a heartbeat of the hub confirms it. */
  yes: { nonce: number; at: Millis }
  /** When this hub began to decide about the session: founding, start of the hub, or claim. */
  knownAt: Millis
  /** The nonce of the open probe. */
  nonce: number
  /** Probes since the last answer. */
  missed: number
  /** When the open probe was sent. */
  askedAt: Millis
  /** Smoothed round trip to the primary; null until known. */
  rttMs: Millis | null
  /** When the primary's stream to the hub was lost; Infinity while it is attached. */
  goneAt: Millis
  /** The member that reopened the room and has written nothing since; 0 for none. */
  opener: PeerId
  /** Whether a segment was refused, or may have been: true after a restart of the hub. */
  storeFailed: boolean
  /** The primary whose newest segment is strict (persistence.ts); 0 for none. */
  strict: PeerId
  /** Members that said goodbye (goodbyes.ts). */
  goodbyes: Map<PeerId, Goodbye>
  pending: Pending | null
  /** Entrants and invitations not yet persisted; how many of them the current write contains. */
  unsaved: (Entrant | Invitation)[]
  savingCount: number
  /** The newest leader certificate; null before the first. */
  certificate: { epoch: number; leader: Leader } | null
}

export interface Registers {
  rows: Map<string, Row>
  challenges: Map<string, Challenge>
  vetoes: Map<string, Veto>
  /** The ids of the sessions of each game, and of each room of a game. */
  places: Map<string, Set<string>>
  /** The sessions whose primaries are probed next. */
  asking: rounds.Rounds<string>
  nonce: number
  /** Each YES_I_AM before that counts for its lease: until then the store knew this hub alive. */
  confirmedAt: Millis
}

/** A probe of a primary. */
export type Question =
  | { kind: 'areYouAlive'; session: string; nonce: number; heard: number }
  | { kind: 'challenge'; session: string; epoch: number; nonce: number }

/**
 * The sink of these functions. `send` addresses the primary by its number; `record` names a place
 * (`placeOf`) whose record must be written: `recordOf` returns its session, then `confirmWrite` or
 * `failWrite` follows.
 */
export interface RegisterOut {
  send(to: PeerId, question: Question): void
  record(place: string): void
}

type Recorder = Pick<RegisterOut, 'record'>

/** The request for a change. */
export type Demand = Omit<Change, 'kind' | 'request'>

type Change = ToHub & { kind: 'change' }

export type Add = ToHub & { kind: 'add' }
/** The founder of a session: hash of its proof, link key, player key. */
export type Founder = Pick<Add, 'hash' | 'link' | 'key'>

/** The options of a new session. */
export type SessionOptions = Founder &
  Pick<Add, 'game' | 'room' | 'playersMax' | 'recovers' | 'topology' | 'terms'> & {
    /** Whether only members admitted as hosts serve. */
    hosts?: boolean
  }

/** Adds a session that the store has. */
export function restore(registers: Registers, now: Millis, record: SessionRecord): void {
  insert(registers, rowOf(record, now))
}

/**
 * ADD_SERVER: a new session with its founder as primary (inc 1, epoch 1), once persisted.
 *
 * @param session  an id that was never used before
 */
export function add(
  registers: Registers,
  now: Millis,
  wish: SessionOptions,
  session: string,
  out: Recorder,
): Row {
  const { game, room, playersMax, topology, terms, recovers, hosts = false } = wish
  const register = { epoch: 1, primary: 1, backup: 0 }
  const standing = 'open' as const
  const entry = { session, game, room, playersMax, topology, terms, register, players: 1, standing }
  const none = { members: [], entrants: [], invitations: [] }
  return begin(registers, now, { entry, recovers, hosts, ...none }, wish, out)
}

export function begin(
  registers: Registers,
  now: Millis,
  record: SessionRecord,
  { hash, link, key }: Founder,
  out: Recorder,
): Row {
  const inc = record.entry.register.primary
  const members = [{ inc, player: inc, hash, link, key }]
  const row = { ...rowOf({ ...record, members }, now), storeFailed: false }
  const before = registers.rows.get(record.entry.session) ?? null
  insert(registers, row)
  row.pending = {
    register: row.entry.register,
    isNew: true,
    before,
    isWriting: false,
  }
  out.record(placeOf(row.entry))
  return row
}

/** The session of a room that has or will have a primary. */
export function findAlive(registers: Registers, now: Millis, place: Place): Row | null {
  const row = inRoom(registers, place)
  return row && !isDead(row, now) ? row : null
}

/**
 * CHANGE_SERVER, a compare-and-set: true if the change now waits to be persisted. A repeated
 * request fails, and its sender sees from the register whether the change was its own. While a
 * change of the session is pending, a second one is refused.
 */
export function change(registers: Registers, now: Millis, demand: Demand, out: Recorder): boolean {
  if (!allows(registers, now, demand)) return false
  const row = registers.rows.get(demand.session)!
  const { primary, backup, expect } = demand
  const next = demand.why === 'end' ? null : { epoch: expect + 1, primary, backup }
  propose(row, next, out)
  return true
}

/** Ends a session. @returns false while a change is pending */
export function endSession(registers: Registers, session: string, out: Recorder): boolean {
  const row = registers.rows.get(session)
  if (!row || row.pending) return false
  propose(row, null, out)
  return true
}

/** Whether `change` would accept the request now. */
export function allows(registers: Registers, now: Millis, demand: Demand): boolean {
  const row = registers.rows.get(demand.session)
  if (!row || row.pending) return false
  return demand.expect === row.entry.register.epoch && mayChange(row, now, demand)
}

function propose(row: Row, register: Register | null, out: Recorder): void {
  row.pending = { register, isNew: false, before: null, isWriting: false }
  out.record(placeOf(row.entry))
}

/** While a session moves, all requests about it wait as for a change. */
export function setMoving(row: Row): void {
  const { register } = row.entry
  row.pending = { register, isNew: false, before: null, isWriting: false }
}

/** Gives a session another place. */
export function rename(registers: Registers, session: string, { game, room }: Place): void {
  const row = registers.rows.get(session)
  if (!row) return
  remove(registers, row)
  Object.assign(row.entry, { game, room })
  insert(registers, row)
}

/** The record of a session to write, with its pending change; null to remove it. */
export function recordOf(registers: Registers, session: string): SessionRecord | null {
  const row = registers.rows.get(session)
  if (!row) return null
  if (row.pending) row.pending.isWriting = true
  row.savingCount = row.unsaved.length
  const register = row.pending ? row.pending.register : row.entry.register
  if (register === null) return null
  return { ...row, entry: { ...row.entry, register } }
}

/**
 * The last record of `recordOf` is persisted: its change takes effect. @returns what became of the
 * session; null if there was no change
 */
export function confirmWrite(
  registers: Registers,
  now: Millis,
  session: string,
): 'begun' | 'changed' | 'ended' | null {
  const row = registers.rows.get(session)
  row?.unsaved.splice(0, row.savingCount)
  if (!row?.pending?.isWriting) return null
  const { register, isNew } = row.pending
  row.pending = null
  if (register === null) {
    remove(registers, row)
    return 'ended'
  }
  setRegister(row, now, register)
  updateStanding(row)
  return isNew ? 'begun' : 'changed'
}

/** The write failed: its change never happened. @returns whether there was one */
export function failWrite(registers: Registers, session: string): boolean {
  const row = registers.rows.get(session)
  if (!row?.pending?.isWriting) return false
  withdraw(registers, row)
  return true
}

/** Withdraws the pending change of a session, written or not. */
export function withdraw(registers: Registers, row: Row): void {
  if (!row.pending) return
  const { isNew, before } = row.pending
  if (before) insert(registers, before)
  else if (isNew) remove(registers, row)
  row.pending = null
}

/**
 * Another hub changed the record of a session. Its list of members counts, unless the primary is
 * attached here: its own list is newer. @returns whether the register changed
 */
export function adopt(registers: Registers, now: Millis, record: SessionRecord): boolean {
  const row = registers.rows.get(record.entry.session)!
  const before = row.entry.register
  const { register } = record.entry
  const isMoved = before.epoch !== register.epoch
  const { recovers, hosts, entrants, invitations } = record
  Object.assign(row, { recovers, hosts, entrants, invitations, unsaved: [], savingCount: 0 })
  if (isMoved || !row.present.has(register.primary)) {
    row.members = record.members
    row.entry.players = record.entry.players
  }
  if (isMoved) setRegister(row, now, register)
  updateStanding(row)
  return isMoved
}

function setRegister(row: Row, now: Millis, register: Register): void {
  if (register.primary !== row.entry.register.primary) row.rttMs = null
  row.entry.register = register
  row.goneAt = Infinity
  row.lastYes = now
  row.missed = 0
}

function mayChange(row: Row, now: Millis, demand: Demand): boolean {
  const { register } = row.entry
  if (register.epoch >= EPOCH_MAX || !allowsRoles(row, demand)) return false
  if (!admits(row, demand.inc, demand.proof)) return false
  // A member that said goodbye gets no role.
  if (row.goodbyes.has(demand.primary) || row.goodbyes.has(demand.backup)) return false
  const isPrimary = register.primary === demand.inc
  const mine = demand.primary === demand.inc
  switch (demand.why) {
    case 'add':
      return isPrimary && mine && demand.backup !== 0
    case 'drop':
      return isPrimary && mine && demand.backup === 0
    case 'takeover':
      return register.backup === demand.inc && mine && demand.backup === 0
    case 'end':
      return isPrimary
    case 'handover': {
      const isToBackup = register.backup !== 0 && demand.primary === register.backup
      return isPrimary && isToBackup && demand.backup === 0
    }
    case 'recover':
      return mine && mayRecover(row, now, demand)
    default:
      demand.why satisfies never
      return false
  }
}

// Only an attached member may recover, so that none of its earlier requests is in flight.
function mayRecover(row: Row, now: Millis, { inc, backup }: Demand): boolean {
  if (!row.recovers || backup !== 0 || inc === row.entry.register.primary) return false
  return row.present.has(inc) && isOver(row, now)
}

// Whether no member may publish any more. The backup has precedence. A primary that said goodbye is
// primary no longer. A strict primary acknowledged only what is persisted, unless a segment was
// refused and it went on without the hub. Any other may publish as long as its lease lasts.
function isOver(row: Row, now: Millis): boolean {
  const { entry, goodbyes, strict, storeFailed, goneAt, lastYes } = row
  const { primary, backup } = entry.register
  if (now - lastYes > RECOVER_MS) return true
  if (backup !== 0 && !goodbyes.has(backup)) return false
  return goodbyes.has(primary) || (strict === primary && !storeFailed && now - goneAt > GONE_MS)
}

export function find(registers: Registers, session: string): Row | null {
  return registers.rows.get(session) ?? null
}

/** Whether the proof is the member's. A member that said goodbye cannot attach. */
export function admits(row: Row, inc: PeerId, proof: Uint8Array): boolean {
  if (row.goodbyes.has(inc)) return false
  const member = row.members.find((listed) => listed.inc === inc)
  return member !== undefined && proves(proof, member.hash)
}

/** Takes the primary's list of members after a view change: valid at once, persisted later. */
export function setMembers(
  registers: Registers,
  session: string,
  from: PeerId,
  { members, players }: { members: Listed[]; players: number },
  out: Recorder,
): boolean {
  const row = registers.rows.get(session)
  if (!row || row.entry.register.primary !== from) return false
  // Number 0 means no member, whose coming and going would go unnoticed.
  if (members.some(({ inc }) => inc === 0)) return false
  row.members = members
  row.entry.players = Math.min(players, members.length)
  updateStanding(row)
  out.record(placeOf(row.entry))
  return true
}

/** YES_I_AM: even a late one restores an unreachable session. */
export function receiveYes(
  registers: Registers,
  now: Millis,
  answer: { session: string; epoch: number; nonce: number; players: number },
  from: PeerId,
): boolean {
  const row = registers.rows.get(answer.session)
  if (!row) return false
  const { register } = row.entry
  if (register.primary !== from || register.epoch !== answer.epoch) return false
  if (row.missed > 0 && answer.nonce === row.nonce) noteRoundTrip(row, now - row.askedAt)
  row.lastYes = now
  // A slow heartbeat may have confirmed the one before this.
  confirmYes(registers, row)
  row.yes = { nonce: answer.nonce, at: now }
  confirmYes(registers, row)
  row.missed = 0
  updateStanding(row)
  return true
}

function confirmYes({ confirmedAt }: Registers, row: Row): void {
  if (row.yes.at < confirmedAt) row.heard = row.yes.nonce
}

export function noteRoundTrip(row: Row, ms: Millis): void {
  row.rttMs = row.rttMs === null ? ms : row.rttMs + (ms - row.rttMs) * RTT_WEIGHT
}

/** Probes the next primaries, marks silent sessions, and removes long-silent ones. */
export function wake(registers: Registers, now: Millis, out: RegisterOut): void {
  const { rows, asking } = registers
  const all = (): string[] => Array.from(rows.values(), ({ entry }) => entry.session)
  for (const session of rounds.next(asking, now, ASK_MS, all)) {
    ask(registers, now, rows.get(session), out)
  }
}

function ask(registers: Registers, now: Millis, row: Row | undefined, out: RegisterOut): void {
  // A probe carries `heard`, which would extend a lease that the pending change is about to end.
  if (!row || row.pending) return
  if (now - row.lastYes > FORGET_MS) return propose(row, null, out)
  row.missed++
  row.askedAt = now
  row.nonce = nextNonce(registers)
  updateStanding(row)
  confirmYes(registers, row)
  const { nonce, heard, entry } = row
  out.send(entry.register.primary, { kind: 'areYouAlive', session: entry.session, nonce, heard })
}

/** A nonce that no other open probe has. */
export function nextNonce(registers: Registers): number {
  registers.nonce = (registers.nonce + 1) >>> 0
  return registers.nonce
}

export function deadline(registers: Registers): Millis {
  return registers.rows.size === 0 ? Infinity : registers.asking.dueAt
}

// Whether no member can serve it: its primary does not answer, or is gone without a backup.
function isDead(row: Row, now: Millis): boolean {
  const { primary, backup } = row.entry.register
  // The remaining members will recover it.
  const mayFollow = row.members.some(({ inc }) => inc !== primary && row.present.has(inc))
  if (row.recovers && mayFollow) return false
  if (row.entry.standing === 'unreachable') return true
  return backup === 0 && now - row.goneAt > GONE_MS
}

/** A member was attached or detached. */
export function setPresent(
  registers: Registers,
  now: Millis,
  session: string,
  inc: PeerId,
  here: boolean,
): void {
  const row = registers.rows.get(session)
  if (!row) return
  if (here) row.present.add(inc)
  else row.present.delete(inc)
  if (row.entry.register.primary === inc) row.goneAt = here ? Infinity : now
}

// `standing` is derived, but lobbies read it often and the stored entry must be complete.
function updateStanding(row: Row): void {
  const { entry } = row
  if (row.missed > MISSED_MAX) entry.standing = 'unreachable'
  else entry.standing = entry.players >= entry.playersMax ? 'full' : 'open'
}

export function create(now: Millis): Registers {
  const asked = { challenges: new Map(), vetoes: new Map() }
  const asking = rounds.create<string>(now + ASK_MS)
  const none = { rows: new Map(), places: new Map(), nonce: 0 }
  return { ...none, ...asked, asking, confirmedAt: Infinity }
}

// Adds a row, replacing one of the same session.
function insert(registers: Registers, row: Row): void {
  const { entry } = row
  const before = registers.rows.get(entry.session)
  if (before) remove(registers, before)
  registers.rows.set(entry.session, row)
  for (const place of placesOf(entry)) {
    const ids = registers.places.get(place) ?? new Set()
    registers.places.set(place, ids.add(entry.session))
  }
}

/** Removes a session from memory. */
export function remove(registers: Registers, { entry }: Row): void {
  registers.rows.delete(entry.session)
  for (const place of placesOf(entry)) {
    const ids = registers.places.get(place)
    ids?.delete(entry.session)
    if (ids?.size === 0) registers.places.delete(place)
  }
}

function placesOf({ game, room }: Place): [string, string] {
  return [`game ${game}`, `room ${placeOf({ game, room })}`]
}

/** A room as a key. The length separates game and room unambiguously. */
export function placeOf({ game, room }: Place): string {
  return `${game.length} ${game} ${room}`
}

/** The session of a place, dead or not; null for none. */
export function inRoom(registers: Registers, place: Place): Row | null {
  return rowAt(registers, placeOf(place))
}

/** As `inRoom`, by key. */
export function rowAt(registers: Registers, place: string): Row | null {
  const session = registers.places.get(`room ${place}`)?.values().next().value ?? ''
  return registers.rows.get(session) ?? null
}

// A fresh row. It names every field: V8 gives an object that was spread and then extended a hidden
// class of its own, half a kilobyte.
function rowOf(record: SessionRecord, now: Millis): Row {
  const { entry, members, recovers, hosts, entrants, invitations } = record
  return {
    entry,
    members,
    recovers,
    hosts,
    entrants,
    invitations,
    present: new Set(),
    heard: 0,
    lastYes: now,
    yes: { nonce: 0, at: now },
    knownAt: now,
    nonce: 0,
    missed: 0,
    askedAt: now,
    rttMs: null,
    goneAt: Infinity,
    pending: null,
    unsaved: [],
    savingCount: 0,
    certificate: null,
    opener: 0,
    goodbyes: new Map(),
    storeFailed: true,
    strict: 0,
  }
}
