/**
 * The register's machine: which member is primary and which is backup of each session.
 *
 * Everything else rests on one rule: the register of a session changes only by compare-and-set on
 * its epoch, and each change makes the epoch one larger. So of two members that want to change it
 * only one succeeds, and the epoch distinguishes each primary from earlier ones. A change is proved
 * by the secret of the member that makes it: the registered primary may add, drop, hand over and
 * end; the registered backup may take over.
 *
 * A change takes effect once the disk has it: until then the row carries it as `pending`, everybody
 * reads the old register, and no second change of that row is accepted. A change that the disk
 * refuses never happened. Only the list of members takes effect at once, for the primary sends it
 * again each time that it attaches; the disk gets it when it can.
 *
 * A session is not dropped from the list for one missed ping: it is `unreachable` after three, open
 * again at its next message, and removed after an hour of silence.
 */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import * as rounds from '../../../holdfast/src/rounds.ts'
import { proves } from '../../../holdfast/src/wire/digest.ts'
import {
  EPOCH_MAX,
  type Listed,
  type Register,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import { type Kept, readRecord, writeRecord } from './records.ts'
import { suits } from './rights.ts'
import {
  ASK_MS,
  type Directory,
  erase,
  inRoom,
  insert,
  type Pending,
  type Place,
  type Row,
  rowOf,
} from './rows.ts'

export { ASK_MS, create, type Directory, inRoom, type Place, placeOf, type Row } from './rows.ts'

/** Questions without an answer before a session is listed as unreachable. */
export const MISSED_MAX = 3
/**
 * A session whose primary has no backup and lost its stream for so long cannot be joined any more.
 */
export const GONE_MS: Millis = 3_000
/** After so long without YES_I_AM a member may recover the session: the lease is over by then. */
export const RECOVER_MS: Millis = 15_000
/** An unreachable session is removed after this silence. */
export const FORGET_MS: Millis = 3_600_000
/** Most sessions of one register. */
export const SESSIONS_MAX = 10_000

// How much a new round trip counts beside those before.
const RTT_WEIGHT = 1 / 8

/** A message that a directory sends by itself. */
export type Question =
  | { kind: 'areYouAlive'; session: string; nonce: number; heard: number }
  | { kind: 'challenge'; session: string; epoch: number; nonce: number }

/**
 * The sink of the directory's functions. `send` goes to the registered primary's number; `record`
 * names a session whose record must be written: `recordOf` returns it, `kept` or `unkept` follows.
 */
export interface DirectoryOut {
  send(to: PeerId, question: Question): void
  record(session: string): void
}

type Recorder = Pick<DirectoryOut, 'record'>

/** The request for a change. */
export type Demand = Omit<ToHub & { kind: 'change' }, 'kind' | 'request'>

/** Somebody looks for a session, or would found it. */
export type Add = ToHub & { kind: 'add' }
/** Who opens a session: hash of a proof, link key, player key. */
export type Founder = Pick<Add, 'hash' | 'link' | 'key'>

/** The options of a process that opens a session. */
export type Wish = Founder &
  Pick<Add, 'game' | 'room' | 'playersMax' | 'recovers' | 'topology' | 'terms'> & {
    /** Only members that were admitted as hosts serve. */
    hosts?: boolean
  }

/** Takes one record from disk. @returns false if it is not one of ours */
export function restore(directory: Directory, now: Millis, bytes: Uint8Array): boolean {
  const kept = readRecord(bytes)
  if (!kept) return false
  insert(directory, rowOf(kept, now))
  return true
}

/**
 * ADD_SERVER: a new session with its founder as primary (inc 1, epoch 1). It waits for the disk.
 *
 * @param session  an id that was never used before
 */
export function add(
  directory: Directory,
  now: Millis,
  wish: Wish,
  session: string,
  out: Recorder,
): Row {
  const { game, room, playersMax, topology, terms, recovers, hosts = false } = wish
  const register = { epoch: 1, primary: 1, backup: 0 }
  const place = { session, game, room, playersMax, topology, terms, register }
  const entry = { ...place, players: 1, standing: 'open' } as const
  const none = { members: [], entrants: [], invitations: [] }
  return begin(directory, now, { entry, recovers, hosts, ...none }, wish, out)
}

/**
 * The founder of a session leads it: a new one, or one that was kept, which goes on. It waits for
 * the disk.
 */
export function begin(
  directory: Directory,
  now: Millis,
  kept: Kept,
  { hash, link, key }: Founder,
  out: Recorder,
): Row {
  const inc = kept.entry.register.primary
  const members = [{ inc, player: inc, hash, link, key }]
  const row = { ...rowOf({ ...kept, members }, now), refused: false }
  const before = directory.rows.get(kept.entry.session) ?? null
  insert(directory, row)
  propose(row, row.entry.register, { isNew: true, before }, out)
  return row
}

/** The session of a room that somebody serves or will serve. */
export function living(directory: Directory, now: Millis, place: Place): Row | null {
  return inRoom(directory, place).find((row) => !isDead(row, now)) ?? null
}

/**
 * CHANGE_SERVER, a compare-and-set: true if the change waits for the disk now. A request that comes
 * twice fails the second time, and its sender sees from the register whether the change was its
 * own. While a change of this session is pending, a second one is refused.
 */
export function change(directory: Directory, now: Millis, demand: Demand, out: Recorder): boolean {
  if (!allows(directory, now, demand)) return false
  const row = directory.rows.get(demand.session)!
  const { primary, backup, expect } = demand
  const next = demand.why === 'end' ? null : { epoch: expect + 1, primary, backup }
  propose(row, next, CHANGED, out)
  return true
}

/** Ends a session that nobody wants any more. @returns false while a change of it waits */
export function forget(directory: Directory, session: string, out: Recorder): boolean {
  const row = directory.rows.get(session)
  if (!row || row.pending) return false
  propose(row, null, CHANGED, out)
  return true
}

/** Whether `change` would take it now. */
export function allows(directory: Directory, now: Millis, demand: Demand): boolean {
  const row = directory.rows.get(demand.session)
  if (!row || row.pending) return false
  return demand.expect === row.entry.register.epoch && mayChange(row, now, demand)
}

const CHANGED = { isNew: false, before: null }

function propose(
  row: Row,
  register: Register | null,
  from: Pick<Pending, 'isNew' | 'before'>,
  out: Recorder,
): void {
  row.pending = { register, ...from, isWriting: false }
  out.record(row.entry.session)
}

/**
 * The record of a session as the disk shall hold it, with its pending change; null to remove it.
 */
export function recordOf(directory: Directory, session: string): Uint8Array | null {
  const row = directory.rows.get(session)
  if (!row) return null
  if (row.pending) row.pending.isWriting = true
  row.writing = row.unkept.length
  const register = row.pending ? row.pending.register : row.entry.register
  if (register === null) return null
  return writeRecord({ ...row, entry: { ...row.entry, register } })
}

/**
 * The disk has what `recordOf` returned last: a change in it takes effect.
 *
 * @returns what became of the session; null if there was no change
 */
export function kept(
  directory: Directory,
  now: Millis,
  session: string,
): 'begun' | 'changed' | 'ended' | null {
  const row = directory.rows.get(session)
  row?.unkept.splice(0, row.writing)
  if (!row?.pending?.isWriting) return null
  const { register, isNew } = row.pending
  row.pending = null
  if (register === null) {
    erase(directory, row)
    return 'ended'
  }
  if (register.primary !== row.entry.register.primary) row.rttMs = null
  row.entry.register = register
  row.goneAt = Infinity
  row.lastYes = now
  row.missed = 0
  stand(row)
  return isNew ? 'begun' : 'changed'
}

/** The disk did not take what `recordOf` returned last: a change in it never happened. */
export function unkept(directory: Directory, session: string): boolean {
  const row = directory.rows.get(session)
  if (!row?.pending?.isWriting) return false
  const { isNew, before } = row.pending
  if (before) insert(directory, before)
  else if (isNew) erase(directory, row)
  row.pending = null
  return true
}

function mayChange(row: Row, now: Millis, demand: Demand): boolean {
  const { register } = row.entry
  if (register.epoch >= EPOCH_MAX || !suits(row, demand)) return false
  if (!admits(row, demand.inc, demand.proof)) return false
  // Whoever said goodbye gets no role.
  if (row.goodbyes.has(demand.primary) || row.goodbyes.has(demand.backup)) return false
  const mine = demand.primary === demand.inc
  switch (demand.why) {
    case 'add':
      return register.primary === demand.inc && mine && demand.backup !== 0
    case 'drop':
      return register.primary === demand.inc && mine && demand.backup === 0
    case 'takeover':
      return register.backup === demand.inc && mine && demand.backup === 0
    case 'end':
      return register.primary === demand.inc
    case 'handover':
      return register.primary === demand.inc && isHeir(register, demand)
    case 'recover':
      return mine && mayRecover(row, now, demand)
    default:
      demand.why satisfies never
      return false
  }
}

function isHeir({ backup }: Register, demand: Demand): boolean {
  return backup !== 0 && demand.primary === backup && demand.backup === 0
}

// Only a member whose stream is attached may recover, so that none of its earlier requests is still
// under way.
function mayRecover(row: Row, now: Millis, { inc, backup }: Demand): boolean {
  if (!row.recovers || backup !== 0 || inc === row.entry.register.primary) return false
  return row.present.has(inc) && isOver(row, now)
}

// Whether nobody may publish any more. A backup has its turn first. A primary that said goodbye
// leads no more. The disk has what a strict primary acknowledged, unless it refused a sheet, for
// then the primary goes on without. Any other may publish for as long as its lease lasts.
function isOver(row: Row, now: Millis): boolean {
  const { entry, goodbyes, strict, refused, goneAt, lastYes } = row
  const { primary, backup } = entry.register
  if (now - lastYes > RECOVER_MS) return true
  if (backup !== 0 && !goodbyes.has(backup)) return false
  return goodbyes.has(primary) || (strict === primary && !refused && now - goneAt > GONE_MS)
}

/** GET_THIS_SERVER. */
export function find(directory: Directory, session: string): Row | null {
  return directory.rows.get(session) ?? null
}

/**
 * Whether the proof shows that a process may speak for that member of the session. Nobody speaks
 * for a member that said goodbye.
 */
export function admits(row: Row, inc: PeerId, proof: Uint8Array): boolean {
  if (row.goodbyes.has(inc)) return false
  const member = row.members.find((listed) => listed.inc === inc)
  return member !== undefined && proves(proof, member.hash)
}

/**
 * The primary's list after a change of the view: it takes effect at once, and is written to disk
 * later.
 */
export function setMembers(
  directory: Directory,
  session: string,
  from: PeerId,
  { members, players }: { members: Listed[]; players: number },
  out: Recorder,
): boolean {
  const row = directory.rows.get(session)
  if (!row || row.entry.register.primary !== from) return false
  // By 0 nobody is meant, so nobody could be seen to come or to go.
  if (members.some(({ inc }) => inc === 0)) return false
  row.members = members
  row.entry.players = Math.min(players, members.length)
  stand(row)
  out.record(session)
  return true
}

/** YES_I_AM: a late one restores an unreachable session. */
export function yes(
  directory: Directory,
  now: Millis,
  answer: { session: string; epoch: number; nonce: number; players: number },
  from: PeerId,
): boolean {
  const row = directory.rows.get(answer.session)
  if (!row) return false
  const { register } = row.entry
  if (register.primary !== from || register.epoch !== answer.epoch) return false
  if (row.missed > 0 && answer.nonce === row.nonce) measured(row, now - row.askedAt)
  row.lastYes = now
  row.heard = answer.nonce
  row.missed = 0
  stand(row)
  return true
}

/** The primary's answer took so long: its round trip is smoothed. */
export function measured(row: Row, ms: Millis): void {
  row.rttMs = row.rttMs === null ? ms : row.rttMs + (ms - row.rttMs) * RTT_WEIGHT
}

/** Asks the next primaries, marks silent sessions, and removes those that were silent for long. */
export function wake(directory: Directory, now: Millis, out: DirectoryOut): void {
  const { rows, asking } = directory
  const all = (): string[] => Array.from(rows.values(), ({ entry }) => entry.session)
  for (const session of rounds.next(asking, now, ASK_MS, all)) {
    ask(directory, now, rows.get(session), out)
  }
}

function ask(directory: Directory, now: Millis, row: Row | undefined, out: DirectoryOut): void {
  // A question carries `heard`, which lengthens a lease that the pending change is about to end.
  if (!row || row.pending) return
  if (now - row.lastYes > FORGET_MS) return propose(row, null, CHANGED, out)
  row.missed++
  row.askedAt = now
  row.nonce = nextNonce(directory)
  stand(row)
  const { nonce, heard, entry } = row
  out.send(entry.register.primary, { kind: 'areYouAlive', session: entry.session, nonce, heard })
}

/** A number that no other question under way has. */
export function nextNonce(directory: Directory): number {
  directory.nonce = (directory.nonce + 1) >>> 0
  return directory.nonce
}

/** When `wake` is due. */
export function deadline(directory: Directory): Millis {
  return directory.rows.size === 0 ? Infinity : directory.asking.dueAt
}

// Whether nobody can serve the session: its primary does not answer, or is gone without a backup.
function isDead(row: Row, now: Millis): boolean {
  // The members that are left will recover it.
  if (row.recovers && row.members.some(({ inc }) => mayFollow(row, inc))) return false
  if (row.entry.standing === 'unreachable') return true
  return row.entry.register.backup === 0 && now - row.goneAt > GONE_MS
}

function mayFollow(row: Row, inc: PeerId): boolean {
  return inc !== row.entry.register.primary && row.present.has(inc)
}

/** The stream of a member came or went. */
export function present(
  directory: Directory,
  now: Millis,
  session: string,
  inc: PeerId,
  here: boolean,
): void {
  const row = directory.rows.get(session)
  if (!row) return
  if (here) row.present.add(inc)
  else row.present.delete(inc)
  if (row.entry.register.primary === inc) row.goneAt = here ? Infinity : now
}

// `standing` is derived, but the lobby reads it often and the disk must hold a whole entry.
function stand(row: Row): void {
  const { entry } = row
  if (row.missed > MISSED_MAX) entry.standing = 'unreachable'
  else entry.standing = entry.players >= entry.playersMax ? 'full' : 'open'
}
