/**
 * The directory's machine: who is primary and who is backup of which session.
 *
 * One rule carries the whole house: the register of a session changes only by
 * compare-and-set on its epoch, and each change makes the epoch one larger. So of two that
 * want to change it only one gets its way, and whoever serves in an epoch can be told from
 * whoever served before. A change is proved by the secret of the member that makes it: the
 * registered primary may add, drop, hand over and end; the registered backup may take over.
 *
 * A session is never dropped from the list for one missed ping: it is `unreachable` after
 * three, open again at its next word, and removed after an hour of silence.
 */

import type { Millis, Out, PeerId } from '../machine.ts'
import { proves } from '../wire/digest.ts'
import { decode, encode } from '../wire/layout.ts'
import {
  type Entry,
  type Listed,
  type Register,
  stored,
  type Topology,
  type Why,
} from './messages.ts'

/** How often each primary is asked ARE_YOU_ALIVE. */
export const ASK_MS: Millis = 2_000
/** Questions without an answer before a session is listed as unreachable. */
export const MISSED_MAX = 3
/** A primary without backup whose stream is gone for so long is no session to join any more. */
export const GONE_MS: Millis = 3_000
/** After so long without YES_I_AM a member may recover the session: the lease is over by then. */
export const RECOVER_MS: Millis = 15_000
/** An unreachable session is removed after this silence. */
export const FORGET_MS: Millis = 3_600_000
/** Most sessions of one register. */
export const SESSIONS_MAX = 10_000
/** Epochs stay below this, so that (epoch, count) fits one number elsewhere. */
export const EPOCH_MAX: number = 2 ** 21 - 1

/** One session: what is on disk, and how it answers lately. */
export interface Row {
  entry: Entry
  members: Listed[]
  /** Its members may recover it. */
  recovers: boolean
  /** Members whose streams are here. */
  present: Set<PeerId>
  /** The nonce of the last YES_I_AM. */
  heard: number
  /** When the primary last said YES_I_AM, or when this process started to know it. */
  lastYes: Millis
  /** The nonce of the question under way. */
  nonce: number
  /** Questions since the last answer. */
  missed: number
  /** When the primary's stream to the hub was lost; Infinity while it stands. */
  goneAt: Millis
}

/** All sessions of one directory. */
export interface Directory {
  rows: Map<string, Row>
  askAt: Millis
  nonce: number
}

/** What must be on disk before anybody hears of it: a session's record, or null to remove it. */
export interface Change {
  session: string
  bytes: Uint8Array | null
}

/** What a directory sends by itself. */
export type Question = { kind: 'areYouAlive'; session: string; nonce: number; heard: number }
/** What others are to be told. */
export type News =
  | { kind: 'changed'; session: string; register: Register }
  | { kind: 'ended'; session: string }

/** The sink of the directory's verbs; `send` goes to the registered primary's number. */
export type DirectoryOut = Out<Question, Change, News>

/** What a change asks for. */
export interface Demand {
  session: string
  inc: PeerId
  proof: Uint8Array
  expect: number
  primary: PeerId
  backup: PeerId
  why: Why
}

/** What whoever opens a session wants of it, and the hash of its own proof. */
export interface Wish {
  game: string
  room: string
  playersMax: number
  recovers: boolean
  topology: Topology
  hash: Uint8Array
}

/** An empty directory. */
export function create(now: Millis): Directory {
  return { rows: new Map(), askAt: now + ASK_MS, nonce: 0 }
}

/** Takes one record from disk. @returns false if it is not one of ours */
export function restore(directory: Directory, now: Millis, bytes: Uint8Array): boolean {
  const value = decode(stored, bytes)
  if (!value) return false
  directory.rows.set(value.entry.session, { ...value, ...lately(now) })
  return true
}

// What nobody needs to know after a restart.
function lately(
  now: Millis,
): Pick<Row, 'present' | 'heard' | 'lastYes' | 'nonce' | 'missed' | 'goneAt'> {
  return { present: new Set(), heard: 0, lastYes: now, nonce: 0, missed: 0, goneAt: Infinity }
}

/**
 * ADD_SERVER: a new session with its founder as primary (inc 1, epoch 1), or the one of the
 * same game and room that is there and answers.
 *
 * @param session an id that was never used before
 * @returns the row; null if the directory is full, or if `playersMax` is 0 and nobody is there
 */
export function add(
  directory: Directory,
  now: Millis,
  wish: Wish,
  session: string,
  out: DirectoryOut,
): { created: boolean; row: Row } | null {
  for (const row of directory.rows.values()) {
    const same = row.entry.game === wish.game && row.entry.room === wish.room
    if (same && !isDead(row, now)) return { created: false, row }
  }
  // Who may not serve does not open a session.
  if (wish.playersMax === 0) return null
  if (directory.rows.size >= SESSIONS_MAX) return null
  const row: Row = {
    entry: {
      session,
      game: wish.game,
      room: wish.room,
      register: { epoch: 1, primary: 1, backup: 0 },
      players: 1,
      playersMax: wish.playersMax,
      standing: 'open',
      topology: wish.topology,
    },
    members: [{ inc: 1, player: 1, hash: wish.hash }],
    recovers: wish.recovers,
    ...lately(now),
  }
  directory.rows.set(session, row)
  keep(row, out)
  return { created: true, row }
}

/**
 * CHANGE_SERVER, a compare-and-set. A request that comes twice fails the second time and gets
 * the register, from which the asker sees whether it was its own.
 */
export function change(
  directory: Directory,
  now: Millis,
  demand: Demand,
  out: DirectoryOut,
): { ok: boolean; register: Register } | null {
  const row = directory.rows.get(demand.session)
  if (!row) return null
  const { register } = row.entry
  if (demand.expect !== register.epoch || !mayChange(row, now, demand)) {
    return { ok: false, register }
  }
  if (demand.why === 'end') {
    remove(directory, row, out)
    return { ok: true, register }
  }
  row.entry.register = {
    epoch: register.epoch + 1,
    primary: demand.primary,
    backup: demand.backup,
  }
  row.goneAt = Infinity
  row.lastYes = now
  row.missed = 0
  stand(row)
  keep(row, out)
  out.emit({ kind: 'changed', session: demand.session, register: row.entry.register })
  return { ok: true, register: row.entry.register }
}

function mayChange(row: Row, now: Millis, demand: Demand): boolean {
  const { register } = row.entry
  if (register.epoch >= EPOCH_MAX || !vouched(row, demand.inc, demand.proof)) return false
  const mine = demand.primary === demand.inc
  switch (demand.why) {
    case 'add':
      return register.primary === demand.inc && mine && isMember(row, demand.backup)
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

function isHeir(register: Register, demand: Demand): boolean {
  return register.backup !== 0 && demand.primary === register.backup && demand.backup === 0
}

// Only from a member whose stream is here, so that nothing it asked before is still under way.
function mayRecover(row: Row, now: Millis, { inc, backup }: Demand): boolean {
  if (!row.recovers || backup !== 0 || inc === row.entry.register.primary) return false
  return row.present.has(inc) && now - row.lastYes > RECOVER_MS
}

/** GET_ALL_SERVERS of one game, or of all games if the name is empty. */
export function list(directory: Directory, game: string): Entry[] {
  return [...directory.rows.values()]
    .map((row) => row.entry)
    .filter((entry) => game === '' || entry.game === game)
}

/** GET_THIS_SERVER. */
export function find(directory: Directory, session: string): Row | null {
  return directory.rows.get(session) ?? null
}

/** Whether this member may speak for that number in the session. */
export function admits(
  directory: Directory,
  session: string,
  inc: PeerId,
  proof: Uint8Array,
): boolean {
  const row = directory.rows.get(session)
  return row !== undefined && vouched(row, inc, proof)
}

/** The primary's list after a change of the view. */
export function setMembers(
  directory: Directory,
  session: string,
  from: PeerId,
  members: Listed[],
  out: DirectoryOut,
): boolean {
  const row = directory.rows.get(session)
  if (!row || row.entry.register.primary !== from) return false
  row.members = members
  row.entry.players = new Set(members.map((member) => member.player)).size
  stand(row)
  keep(row, out)
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
  const { register } = row?.entry ?? {}
  if (!row || register?.primary !== from || register.epoch !== answer.epoch) return false
  row.lastYes = now
  row.heard = answer.nonce
  row.missed = 0
  stand(row)
  return true
}

/** Asks every primary in turn, marks the silent and removes the long silent. */
export function wake(directory: Directory, now: Millis, out: DirectoryOut): void {
  if (now < directory.askAt) return
  directory.askAt = now + ASK_MS
  for (const row of directory.rows.values()) {
    if (now - row.lastYes > FORGET_MS) {
      remove(directory, row, out)
      continue
    }
    row.missed++
    row.nonce = directory.nonce = (directory.nonce + 1) >>> 0
    stand(row)
    const { session, register } = row.entry
    const { nonce, heard } = row
    out.send(register.primary, { kind: 'areYouAlive', session, nonce, heard })
  }
}

/** When `wake` is due. */
export function deadline(directory: Directory): Millis {
  return directory.rows.size === 0 ? Infinity : directory.askAt
}

// Nobody can serve it: its primary does not answer, or is gone and has no backup.
function isDead(row: Row, now: Millis): boolean {
  // Those who are left will serve it.
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

function vouched(row: Row, inc: PeerId, proof: Uint8Array): boolean {
  const member = row.members.find((listed) => listed.inc === inc)
  return member !== undefined && proves(proof, member.hash)
}

function isMember(row: Row, inc: PeerId): boolean {
  return row.members.some((listed) => listed.inc === inc)
}

// The standing is derived, but the lobby reads it often and the disk must hold a whole entry.
function stand(row: Row): void {
  const { entry } = row
  if (row.missed > MISSED_MAX) entry.standing = 'unreachable'
  else entry.standing = entry.players >= entry.playersMax ? 'full' : 'open'
}

function keep(row: Row, out: DirectoryOut): void {
  const { entry, members, recovers } = row
  const bytes = encode(stored, { entry, members, recovers })
  out.record({ session: row.entry.session, bytes })
}

function remove(directory: Directory, row: Row, out: DirectoryOut): void {
  const { session } = row.entry
  directory.rows.delete(session)
  out.record({ session, bytes: null })
  out.emit({ kind: 'ended', session })
}
