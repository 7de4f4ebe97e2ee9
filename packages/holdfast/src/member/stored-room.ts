/**
 * Opens a stored room: the hub has made this process the primary of the session, and sends the
 * segments that the last primary wrote. They restore the session without its members;
 * players are the same when they come back.
 */

import { type Millis, termsSay, type ErrorCode } from '../machine.ts'
import * as clock from '../link/timing/clock.ts'
import * as rooms from '../hub-protocol/messages.ts'
import {
  SEGMENT_PIECES_MAX,
  type ToHub,
  UNREADABLE,
  type FromHubOf,
} from '../hub-protocol/messages.ts'
import type { Saved } from '../hub-protocol/saved-room.ts'
import * as chunks from '../wire/chunks.ts'
import { expulsionOf } from '../replication/moderation.ts'
import { apply, type Durable } from '../replication/durable.ts'
import { PLAYERS_KEPT_MAX } from '../replication/layouts.ts'
import * as recovery from '../session/recovery.ts'
import * as segments from '../session/segments.ts'
import { nextRequest, type SegmentKind } from '../session/state.ts'
import { digest, proofOf, sameBytes, fingerprint } from '../wire/digest.ts'
import { negotiate, formatVersions } from '../wire/versions.ts'
import { fits, isSealed, NOTHING_BEFORE, open, seal as sealed } from './room-key.ts'
import type { ReplacedRoom, IncomingRoom, Runtime, MemberOptions, Member } from './state.ts'
import type { Part } from '../kind/protocol/part.ts'
import { differenceOf } from '../wire/fields/difference.ts'

type Added = FromHubOf<'added'>

/** Most bytes of a room that a hub sends. */
export const ROOM_MAX: number = 4 * 1024 * 1024

/** The hub has made us the primary, and sends the room. */
export function begin(run: Runtime, answer: Added): void {
  const { opened, entry } = answer
  if (!opened || opened.segments > rooms.SEGMENTS_MAX) return void run.member.counters.malformed++
  run.member.opening = { answer, as: opened, incoming: incomingRoom(entry, opened.segments) }
  run.member.phase = 'opening'
}

function incomingRoom(
  { session, terms }: Pick<IncomingRoom, 'session' | 'terms'>,
  count: number,
): IncomingRoom {
  return { session, terms, count, segments: [], bytes: 0, incoming: null }
}

/** We recover our session and the register has our epoch: the hub sends what it stored. */
export function recall(run: Runtime, message: FromHubOf<'stored'>): void {
  const { member } = run
  const { id, terms } = member.session
  if (message.session !== id || message.segments > rooms.SEGMENTS_MAX) {
    return void member.counters.malformed++
  }
  if (message.segments === 0) return recovery.onStored(run.turn, null)
  member.stored = incomingRoom({ session: id, terms }, message.segments)
}

/** A piece of that. @returns whether one was expected */
export function takeRecalled(run: Runtime, message: FromHubOf<'segment'>): boolean {
  const { member } = run
  const { stored } = member
  if (!stored) return false
  if (!take(run, stored, message)) return true
  member.stored = null
  const found = stored.session === member.session.id ? read(run, stored) : NONE_OF_OURS
  recovery.onStored(run.turn, 'code' in found ? null : found)
  return true
}

/** Takes a piece of a segment. @returns whether the room is complete */
export function take(
  { member: { counters } }: Runtime,
  room: IncomingRoom,
  message: FromHubOf<'segment'>,
): boolean {
  if (message.session !== room.session) return false
  room.bytes += message.bytes.length
  if (message.of > SEGMENT_PIECES_MAX || room.bytes > ROOM_MAX) {
    counters.malformed++
    return false
  }
  room.incoming = chunks.take(room.incoming, message)
  const bytes = room.incoming && chunks.whole(room.incoming)
  if (!bytes) return false
  room.incoming = null
  room.segments.push(bytes)
  return room.segments.length === room.count
}

/** The bytes are no room of Holdfast. */
export const NONE_OF_OURS: Unfit = { code: 'store', why: UNREADABLE }

// The hub has digests of it; a host of 0.2 has the rest in a file.
const AT_A_HOST: Unfit = {
  code: 'store',
  why: 'a host of Holdfast 0.2 has this room in a file of its own: export it there',
}

const NO_KEY: Unfit = {
  code: 'forbidden',
  why: 'this room is kept sealed: its link carries the key, and this one has another or none',
}
const NOT_SEALED: Unfit = {
  code: 'forbidden',
  why: 'what the hub has of this room is not sealed, and this link carries a key',
}

/** Reads a stored room; or why this build cannot: then it stays at the hub as it is. */
export function read(
  run: Runtime,
  { session, terms, segments: all }: IncomingRoom,
): segments.StoredState | Unfit {
  if (termsSay(terms, 'kept', 'hosts')) return AT_A_HOST
  const found = readAll(run, unsealed(run, session, terms, all))
  return 'code' in found ? found : (settle(run, found) ?? found)
}

/** Reads a saved room; or why this build cannot. Its own terms say whether it is sealed. */
export function load(run: Runtime, saved: Saved): segments.StoredState | Unfit {
  const { session, terms, segments: all } = saved
  const isOpen = !isSealed(terms)
  return readAll(run, isOpen ? plainly(all) : unsealed(run, session, terms, all))
}

/** The name under which the hub keeps an unreadable room, if `fresh` replaces it; else null. */
export function asideOf(
  { member: { options } }: Runtime,
  { opened, entry }: Added,
  { code, why }: Unfit,
): ReplacedRoom | null {
  const isLaid = options.fresh && opened !== null && code !== 'banned'
  return isLaid ? { as: rooms.asideOf(entry), why } : null
}

/** Ends a session of which we are the primary and which we did not begin. */
export function endMessage({ member }: Runtime, { entry }: Added): ToHub {
  const { session: own } = member
  const { session, register } = entry
  const proof = proofOf(own.secret, 'register')
  const demand = { session, inc: register.primary, proof, expect: register.epoch }
  const none = { primary: 0, backup: 0, why: 'end' } as const
  return { kind: 'change', request: nextRequest(own), ...demand, ...none }
}

export function isThere({ game, room }: Pick<MemberOptions, 'game' | 'room'>): string {
  return `${game}/${room} is there already: a saved room begins where nobody is and nothing is kept`
}

function readAll(
  { member }: Runtime,
  all: readonly segments.Segment[] | Unfit,
): segments.StoredState | Unfit {
  if ('code' in all) return all
  const found = segments.read(all)
  if (!found) return ofOtherVersion(all[0]) ?? NONE_OF_OURS
  const ours = adapted(member, found)
  if ('code' in ours) return ours
  const row = expulsionOf(found.state.moderation, 0, member.options.identity.key)
  if (row?.ban) return { code: 'banned', why: `this player was banned: ${row.why}` }
  return ours
}

function ofOtherVersion(whole: segments.Segment | undefined): Unfit | null {
  const versions = whole ? segments.versionsOf(whole.bytes) : null
  if (versions === null || negotiate(segments.SEGMENT_VERSIONS, versions) !== null) return null
  const [theirs, ours] = [versions, segments.SEGMENT_VERSIONS].map(formatVersions)
  const why = `what is kept of this room is of ${theirs}, and this build reads ${ours}`
  return { code: 'version', why }
}

const plainly = (all: readonly Uint8Array[]): segments.Segment[] =>
  all.map((bytes) => ({ bytes, index: null }))

// All segments in order. With a key only segments sealed with it count, whatever terms the hub
// sends.
function unsealed(
  { member, ports: { ciphers } }: Runtime,
  session: string,
  terms: string,
  all: readonly Uint8Array[],
): segments.Segment[] | Unfit {
  const { roomKey } = member.options
  if (!roomKey) return isSealed(terms) ? NO_KEY : plainly(all)
  const found: segments.Segment[] = []
  let before = NOTHING_BEFORE
  for (const bytes of all) {
    const opened = open(ciphers, roomKey, { session, before }, bytes)
    if (!opened) break
    found.push(opened)
    before = digest(bytes)
  }
  if (found.length === all.length) return found
  if (!isSealed(terms)) return NOT_SEALED
  return fits(ciphers, roomKey, terms) ? NONE_OF_OURS : NO_KEY
}

// With a key, the settings of the founder come from the sealed room. A room of 0.2 lacks them, and
// the terms from the hub must name the key.
function settle({ member, ports }: Runtime, { settings }: segments.StoredState): Unfit | null {
  const { session, options } = member
  if (!options.roomKey) return null
  if (settings) Object.assign(session, settings)
  return isSealed(session.terms) && fits(ports.ciphers, options.roomKey, session.terms)
    ? null
    : NOT_SEALED
}

/** A segment as it is stored: with a room key sealed, and chained to the one before it. */
export function seal(
  { member, ports }: Runtime,
  segment: Uint8Array,
  index: number,
  as: SegmentKind,
): Uint8Array {
  const { id: session, terms } = member.session
  const { roomKey } = member.options
  if (!roomKey || !isSealed(terms)) return segment
  const before = as === 'entries' ? member.segmentBefore : NOTHING_BEFORE
  const bytes = sealed(ports.ciphers, roomKey, { session, index, before }, segment)
  if (as !== 'file') member.segmentBefore = digest(bytes)
  return bytes
}

/** Our former player, by our key; else a new one. */
export function playerOf({ member }: Runtime, { state }: segments.StoredState): number {
  const { key } = member.options.identity
  const row = [...state.players.values()].find((one) => sameBytes(one.key, key))
  if (row) return row.player
  // The hub of a saved room does not know the numbers that the room has used.
  const { me } = member.session
  return me < state.nextInc ? state.nextInc++ : me
}

/** Restores the parts. @returns the state without members; null if a part rejects its own */
export function restore(run: Runtime, found: segments.StoredState): Durable | null {
  const { out, member } = run
  const { state, parts, changes } = found
  if (!out.parts.reopen(parts, changes)) return null
  state.mv += state.members.size
  state.members.clear()
  makeRoom(state, member.session.player)
  return state
}

// A room that is full of players needs a free row for the one that opens it.
function makeRoom(state: Durable, us: number): void {
  for (const player of [...state.players.keys()]) {
    if (state.players.size < PLAYERS_KEPT_MAX) return
    if (player !== us) apply(state, { kind: 'forget', player })
  }
}

/** Session time resumes as stored; never backwards, if we were in the room. */
export function resumeClock({ member, now }: Runtime, session: string, time: Millis): void {
  const wasIn = member.home === session && member.clock.set
  const own = wasIn ? clock.timeAt(member.clock, now) : 0
  member.clock = { ...clock.createClock(now), time: Math.max(own, time), set: true }
}

// Stored rooms of another build.

export interface Unfit {
  readonly code: ErrorCode
  readonly why: string
}

/** Converts a stored room of another build: a part whose types differ must read the other's. */
export function adapted(
  { session, options, mounts }: Member,
  found: segments.StoredState,
): segments.StoredState | Unfit {
  const { keptTypes } = session
  if (found.schema === fingerprint(keptTypes)) return found
  const unfit = (difference: string): Unfit => {
    return { code: 'schema', why: `what is kept of this room is of another build: ${difference}` }
  }
  // Types that are too long to be stored as text cannot be converted.
  if (found.schema !== fingerprint(found.types)) {
    return unfit(differenceOf(options.keptTypes, found.types))
  }
  const [here, there] = [byPart(keptTypes), byPart(found.types)]
  let adapted = found
  for (const [part, lines] of there) {
    if (here.get(part) === lines) continue
    const reader = mounts.find((mount) => mount.part.keptAs === part)
    if (!reader) return unfit(differenceOf(options.keptTypes, found.types))
    const made = reread(adapted, reader.part, lines)
    if (typeof made === 'string') return unfit(made)
    adapted = made
  }
  return adapted
}

function reread(
  found: segments.StoredState,
  part: Part,
  lines: string,
): segments.StoredState | string {
  const kept = found.parts.find((one) => one.part === part.channel)
  if (!kept) return found
  const isOwn = (one: { part: number }): boolean => one.part === part.channel
  const behind = found.changes.filter(isOwn).map(({ bytes }) => bytes)
  const bytes = part.reread!(lines, kept.bytes, behind)
  if (typeof bytes === 'string') return bytes
  const parts = found.parts.map((one) => (one === kept ? { ...one, bytes } : one))
  return { ...found, parts, changes: found.changes.filter((one) => !isOwn(one)) }
}

// The lines of each part: by its channel, or by their last word.
function byPart(text: string): Map<string, string> {
  const parts = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [part = ''] = / part \d+ /.exec(line) ?? /\w*$/.exec(line) ?? []
    if (line !== '') parts.set(part, `${parts.get(part) ?? ''}${line}\n`)
  }
  return parts
}
