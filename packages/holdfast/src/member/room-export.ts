/**
 * A room as a file. The primary and the backup hold the whole room; other members ask the primary.
 * Only the primary exports a room with secrets: a backup lacks objects that are hidden from it.
 */

import { REASON_MAX } from '../hub-protocol/messages.ts'
import { SAVED_MAX, type Saved, writeSaved } from '../hub-protocol/saved-room.ts'
import type { Millis, PeerId } from '../machine.ts'
import * as persistence from '../session/persistence.ts'
import { SNAPSHOT_PIECE_MAX, type View, type PeerMessageOf } from '../session/messages.ts'
import { serves } from '../session/state.ts'
import * as chunks from '../wire/chunks.ts'
import { plain } from '../wire/text/plain.ts'
import { fits, isSealed } from './room-key.ts'
import type { Export, Runtime, Unsaved } from './state.ts'

/** Pieces sent at a time: few enough to leave a link room for other traffic. */
const WINDOW = 8
/** Most files sent at a time; a transfer is dropped after this without a request. */
const EXPORTS_MAX = 4
const IDLE_MS: Millis = 10_000
/** Shortest interval between two files for one member; a file takes milliseconds to make. */
const EACH_MS: Millis = 1_000
/** Shortest interval between any two files. */
const APART_MS: Millis = 100

const no = (code: Unsaved['code'], why: string): Unsaved => ({ code, why })

/** The room as a file, if it is here; or why not. @param time  session time; NaN while unknown */
export function fileOf(run: Runtime, time: Millis): Uint8Array | Unsaved {
  const unfit = whyNot(run)
  if (unfit) return unfit
  const saved = save(run, time)
  if ('code' in saved) return saved
  if (Number.isNaN(time)) return no('not-ready', 'session time is not known yet')
  const bytes = writeSaved(saved)
  if (bytes.length <= SAVED_MAX) return bytes
  return no('full', `the room has ${bytes.length} bytes, and a file ${SAVED_MAX} at most`)
}

const OPEN_SECRET = no(
  'forbidden',
  'it has secrets, and without keepRoom.key whoever has the file reads them',
)
const NO_KEY = no('forbidden', 'this room is sealed: whoever saves it needs its key')
// A backup lacks objects that it may not see.
const SECRET = no('forbidden', 'it has secrets, so its server alone may')

function whyNot({ member: { session, options }, ports }: Runtime): Unsaved | null {
  if (options.hides && !isSealed(session.terms)) return OPEN_SECRET
  if (!fits(ports.ciphers, options.roomKey, session.terms)) return NO_KEY
  return options.hides && !serves(session) ? SECRET : null
}

function save(run: Runtime, time: Millis): Saved | Unsaved {
  const { member, out } = run
  const { session, options } = member
  const segment = persistence.save(session, out)
  if (!segment && holds(run)) return no('full', persistence.TOO_LARGE)
  if (!segment) return no('not-ready', 'the whole room is with the server and its backup')
  const { id, terms, topology, playersMax, recovers } = session
  const { game, room, hosts } = options
  return {
    ...{ game, room, session: id, terms, topology, playersMax, recovers, hosts },
    epoch: session.server.epoch,
    next: session.server.durable.nextInc,
    time: Math.max(0, Math.round(time)),
    index: segment.index ?? 0,
    entrants: [],
    segments: [segment.bytes],
  }
}

export function holds({ member: { session } }: Runtime): boolean {
  return serves(session) || session.server.role === 'backup'
}

/** Asks the primary; the event `file` brings the answer. Drops a transfer under way. */
export function ask({ member, out }: Runtime, request: number): void {
  const { primary } = member.session.client.view
  member.file = { request, incoming: null }
  if (primary !== 0) out.send(primary, { kind: 'askRoom', request, piece: 0 })
}

/** As primary: a member asks for the file, or for its next pieces. */
export function answer(
  run: Runtime,
  { from, request, piece }: { from: PeerId; request: number; piece: number },
  time: Millis,
): void {
  const { member, out } = run
  const begun = member.exports.get(from)
  if (piece > 0) {
    // Each piece is sent once, in order.
    if (begun?.request === request && begun.next === piece) sendOn(run, from, begun)
    return
  }
  const since = run.now - (member.exported.get(from) ?? -Infinity)
  if (since < EACH_MS || run.now - member.exportedAt < APART_MS) return
  if (!begun && !hasRoom(run)) return
  member.exported.set(from, run.now)
  const file = member.options.hides ? SECRET : fileOf(run, time)
  if ('code' in file) {
    const { code, why } = file
    const none = { request, piece: 0, of: 1, bytes: new Uint8Array(0) }
    return out.send(from, { kind: 'room', ...none, code, why: why.slice(0, REASON_MAX) })
  }
  const made = { request, pieces: [...chunks.cut(file, SNAPSHOT_PIECE_MAX)], next: 0, at: run.now }
  member.exportedAt = run.now
  member.exports.set(from, made)
  sendOn(run, from, made)
}

/** Ends transfers to members that left, and all once we do not serve. */
export function forget({ member }: Runtime, { members, primary }: View): void {
  const here = new Set(primary === member.session.me ? members.map(({ inc }) => inc) : [])
  for (const known of [member.exports, member.exported]) {
    for (const inc of known.keys()) if (!here.has(inc)) known.delete(inc)
  }
}

// A member that is turned away asks again.
function hasRoom({ member: { exports }, now }: Runtime): boolean {
  for (const [inc, { at }] of exports) if (now - at > IDLE_MS) exports.delete(inc)
  return exports.size < EXPORTS_MAX
}

function sendOn({ member, out, now }: Runtime, to: PeerId, made: Export): void {
  const { request, pieces, next } = made
  Object.assign(made, { at: now, next: next + WINDOW })
  for (const piece of pieces.slice(next, made.next)) {
    out.send(to, { kind: 'room', request, ...piece, code: 'ok', why: '' })
  }
  if (made.next >= pieces.length) member.exports.delete(to)
}

/** A piece of the file that we asked for, or why there is none. */
export function take(run: Runtime, message: PeerMessageOf<'room'>): void {
  const { member, ports } = run
  const { file } = member
  if (message.request !== file?.request) return
  if (message.code !== 'ok') {
    member.file = null
    return ports.emit({ kind: 'file', unsaved: { code: message.code, why: plain(message.why) } })
  }
  if (message.of > SAVED_MAX / SNAPSHOT_PIECE_MAX + 1) return void member.counters.malformed++
  const before = file.incoming?.pieces.length ?? 0
  // A repeated piece.
  if (message.piece !== before) return
  file.incoming = chunks.take(file.incoming, message)
  const bytes = file.incoming && chunks.whole(file.incoming)
  if (!bytes) return goOn(run, file.request, file.incoming?.pieces.length ?? 0)
  member.file = null
  ports.emit({ kind: 'file', bytes })
}

function goOn({ member, out, ports }: Runtime, request: number, piece: number): void {
  ports.emit({ kind: 'file', bytes: null })
  const { primary } = member.session.client.view
  if (piece % WINDOW === 0 && primary !== 0) out.send(primary, { kind: 'askRoom', request, piece })
}
