/**
 * What `holdfast serve` is: register, signalling and relay for any number of sessions, as a
 * machine, so that the simulator can kill it.
 *
 * Each stream is one process out there. Before it is a member it may look around, create a
 * session and ask a primary to let it in; once attached, proved by the secret whose hash the
 * primary listed, it relays datagrams to the other members and hears the news of its session.
 * The hub never looks inside what it relays. What it must not forget is in the register, and
 * on disk before anybody hears of it; all else it learns anew from those who come back.
 */

import type { Millis, PeerId } from '../machine.ts'
import {
  type Entry,
  type FromHub,
  fromHub,
  HUB_VERSION,
  MEMBERS_MAX,
  type Register,
  type ToHub,
  toHub,
} from '../register/messages.ts'
import * as register from '../register/register.ts'
import * as allowance from './allowance.ts'
import type { Allowance } from './allowance.ts'
import { decode, encode } from '../wire/layout.ts'
import { frameMessage, readFrame } from '../wire/relay.ts'

/** Longest answer to `list`. */
export const LIST_MAX = 200

/** One stream. */
export interface Connection {
  /** It said hello in a version that we speak. */
  greeted: boolean
  session: string
  /** Of the member it speaks for, or 0. */
  inc: PeerId
  /** The session whose primary it asked last: that one may reply. */
  asked: string
  /** Sessions that it created. */
  created: number
  allowance: Allowance
}

/** All the hub knows. */
export interface Hub {
  directory: register.Directory
  /** Differs after each start. */
  boot: number
  connections: Map<number, Connection>
  /** Streams that have not said hello, and since when; oldest first. */
  mute: Map<number, Millis>
  /** For each session its attached members' streams. */
  attached: Map<string, Map<PeerId, number>>
  /** Counts sessions that were created since the start. */
  created: number
  counters: HubCounters
}

/** What the hub counts, for its metrics. */
export interface HubCounters {
  relayed: number
  relayedBytes: number
  /** Relayed datagrams whose target is not attached. */
  astray: number
  /** Relayed datagrams dropped because their target's stream is behind. */
  congested: number
  malformed: number
  /** Replies, lists of members and answers by whom they are not for. */
  forged: number
  /** Streams that were closed for saying too much, or no hello. */
  flooding: number
  mute: number
  changes: number
  /** Compare-and-sets that failed. */
  conflicts: number
}

/** What the hub does outside of itself. Records are durable before later sends leave. */
export interface HubOut {
  send(connection: number, bytes: Uint8Array): void
  /** Hands on a datagram, unreliably: what cannot leave at once is dropped. */
  relay(connection: number, from: PeerId, datagram: Uint8Array): void
  record(change: register.Change): void
  close(connection: number, why: string): void
}

/** A hub that has read its disk. @param boot a random number of 32 bits */
export function create(now: Millis, boot: number): Hub {
  return {
    directory: register.create(now),
    boot,
    connections: new Map(),
    mute: new Map(),
    attached: new Map(),
    created: 0,
    counters: {
      relayed: 0,
      relayedBytes: 0,
      astray: 0,
      congested: 0,
      malformed: 0,
      forged: 0,
      flooding: 0,
      mute: 0,
      changes: 0,
      conflicts: 0,
    },
  }
}

/** A stream is open. */
export function opened(hub: Hub, now: Millis, connection: number): void {
  hub.mute.set(connection, now)
  hub.connections.set(connection, {
    greeted: false,
    session: '',
    inc: 0,
    asked: '',
    created: 0,
    allowance: allowance.create(now),
  })
}

/** A stream is gone: the others of its session hear of it (PEER_GONE). */
export function closed(hub: Hub, now: Millis, connection: number, out: HubOut): void {
  const gone = hub.connections.get(connection)
  hub.connections.delete(connection)
  hub.mute.delete(connection)
  if (gone) detach(hub, now, connection, gone, out)
}

// The stream speaks for nobody any more.
function detach(hub: Hub, now: Millis, connection: number, from: Connection, out: HubOut): void {
  const gone = { session: from.session, inc: from.inc }
  from.session = ''
  from.inc = 0
  const members = hub.attached.get(gone.session)
  if (gone.inc === 0 || members?.get(gone.inc) !== connection) return
  members.delete(gone.inc)
  if (members.size === 0) hub.attached.delete(gone.session)
  register.present(hub.directory, now, gone.session, gone.inc, false)
  tell(
    hub,
    gone.session,
    { kind: 'present', session: gone.session, inc: gone.inc, here: false },
    out,
  )
}

/** A message of a stream. Whoever sends what nobody could mean is counted and shown the door. */
export function receive(
  hub: Hub,
  now: Millis,
  connection: number,
  bytes: Uint8Array,
  out: HubOut,
): void {
  const from = hub.connections.get(connection)
  if (!from) return
  const frame = readFrame(bytes)
  if (frame?.kind === 'relay') return relay(hub, from, frame.peer, frame.bytes, out)
  if (!allowance.spend(from.allowance, now, bytes.length, from.inc !== 0)) {
    hub.counters.flooding++
    return out.close(connection, 'too many messages')
  }
  const message = frame && decode(toHub, frame.bytes)
  if (!message || (!from.greeted && message.kind !== 'hello')) {
    hub.counters.malformed++
    out.close(connection, 'malformed message')
    return
  }
  answer(hub, now, connection, from, message, out)
}

function relay(hub: Hub, from: Connection, to: PeerId, datagram: Uint8Array, out: HubOut): void {
  const target = hub.attached.get(from.session)?.get(to)
  if (from.inc === 0 || target === undefined) {
    hub.counters.astray++
    return
  }
  hub.counters.relayed++
  hub.counters.relayedBytes += datagram.length
  out.relay(target, from.inc, datagram)
}

function answer(
  hub: Hub,
  now: Millis,
  connection: number,
  from: Connection,
  message: ToHub,
  out: HubOut,
): void {
  switch (message.kind) {
    case 'hello':
      return greet(hub, connection, from, message.version, out)
    case 'list':
      return list(hub, connection, message, out)
    case 'get':
      return get(hub, connection, message, out)
    case 'add':
      return add(hub, now, connection, from, message, out)
    case 'change':
      return change(hub, now, connection, message, out)
    case 'attach':
      return attach(hub, now, connection, from, message, out)
    case 'members': {
      const known = message.session === from.session
      if (!known || !setMembers(hub, from, message, out)) hub.counters.forged++
      return
    }
    case 'yes':
      register.yes(hub.directory, now, message, from.session === message.session ? from.inc : 0)
      return
    case 'signal':
      return signal(hub, connection, from, message, out)
    case 'reply':
      return reply(hub, from, message, out)
    case 'ping':
      return say(connection, { kind: 'pong', count: message.count }, out)
    default:
      message satisfies never
  }
}

function greet(hub: Hub, connection: number, from: Connection, version: number, out: HubOut): void {
  say(connection, { kind: 'welcome', version: HUB_VERSION, boot: hub.boot }, out)
  if (version === HUB_VERSION) {
    from.greeted = true
    hub.mute.delete(connection)
  } else out.close(connection, `speaks version ${version}, this hub ${HUB_VERSION}`)
}

// GET_ALL_SERVERS: one message for each session, ended by LAST_MESSAGE (T21).
function list(hub: Hub, connection: number, message: ToHub & { kind: 'list' }, out: HubOut): void {
  const { request } = message
  for (const entry of register.list(hub.directory, message.game).slice(0, LIST_MAX)) {
    say(connection, { kind: 'entry', request, entry }, out)
  }
  say(connection, { kind: 'last', request }, out)
}

function get(hub: Hub, connection: number, message: ToHub & { kind: 'get' }, out: HubOut): void {
  const { request, session } = message
  const row = register.find(hub.directory, session)
  if (!row) return refuse(connection, request, `no session ${session}`, out)
  const known = row.entry.register
  say(connection, { kind: 'register', request, session, ok: true, register: known }, out)
}

function add(
  hub: Hub,
  now: Millis,
  connection: number,
  from: Connection,
  message: ToHub & { kind: 'add' },
  out: HubOut,
): void {
  // Who looks for a session is in none: it was removed from the one that it was in.
  detach(hub, now, connection, from, out)
  const unfit = unfitWish(from, message)
  if (unfit) return refuse(connection, message.request, unfit, out)
  const id = `${hub.boot.toString(36)}-${(hub.created + 1).toString(36)}`
  const added = register.add(hub.directory, now, message, id, directoryOut(hub, out))
  if (!added) {
    const full = `this hub holds ${register.SESSIONS_MAX} sessions already`
    const why = message.playersMax === 0 ? 'nobody serves it' : full
    return refuse(connection, message.request, why, out)
  }
  if (added.created) {
    hub.created++
    from.created++
  }
  const { created } = added
  const entry: Entry = added.row.entry
  say(connection, { kind: 'added', request: message.request, created, entry }, out)
}

function unfitWish(from: Connection, wish: ToHub & { kind: 'add' }): string | null {
  const { game, room, playersMax } = wish
  if (game === '' || room === '') return 'a session needs a game and a room'
  // 0 asks for one that is there.
  if (playersMax > MEMBERS_MAX) {
    return `a session takes 1 to ${MEMBERS_MAX} players: ${playersMax}`
  }
  if (from.created < allowance.SESSIONS_PER_STREAM) return null
  return `one stream creates ${allowance.SESSIONS_PER_STREAM} sessions at most`
}

function change(
  hub: Hub,
  now: Millis,
  connection: number,
  message: ToHub & { kind: 'change' },
  out: HubOut,
): void {
  const row = register.find(hub.directory, message.session)
  const speaks = hub.attached.get(message.session)?.get(message.inc) === connection
  if (row && message.why === 'recover' && !speaks) {
    const { request, session } = message
    const known = row.entry.register
    return say(connection, { kind: 'register', request, session, ok: false, register: known }, out)
  }
  // Who asked waits for nothing but the disk; the others hear of it after.
  const news: register.News[] = []
  const directory = directoryOut(hub, out)
  const done = register.change(hub.directory, now, message, {
    ...directory,
    emit: (event) => void news.push(event),
  })
  const { request, session } = message
  if (!done) return refuse(connection, request, `no session ${session}`, out)
  if (done.ok) hub.counters.changes++
  else hub.counters.conflicts++
  say(connection, { kind: 'register', request, session, ok: done.ok, register: done.register }, out)
  for (const event of news) directory.emit(event)
}

function attach(
  hub: Hub,
  now: Millis,
  connection: number,
  from: Connection,
  message: ToHub & { kind: 'attach' },
  out: HubOut,
): void {
  const { request, session, inc, proof } = message
  const row = register.find(hub.directory, session)
  if (!row || !register.admits(hub.directory, session, inc, proof)) {
    const why = row ? `member ${inc} is not in session ${session}` : `no session ${session}`
    return refuse(connection, request, why, out)
  }
  closedBefore(hub, from, connection)
  const members = hub.attached.get(session) ?? new Map<PeerId, number>()
  hub.attached.set(session, members)
  members.set(inc, connection)
  from.session = session
  from.inc = inc
  register.present(hub.directory, now, session, inc, true)
  const present = [...members.keys()]
  say(
    connection,
    { kind: 'attached', request, session, register: row.entry.register, present },
    out,
  )
  tell(hub, session, { kind: 'present', session, inc, here: true }, out, inc)
}

// A stream speaks for one member only: attaching anew detaches.
function closedBefore(hub: Hub, from: Connection, connection: number): void {
  const members = hub.attached.get(from.session)
  if (from.inc !== 0 && members?.get(from.inc) === connection) members.delete(from.inc)
}

function setMembers(
  hub: Hub,
  from: Connection,
  message: ToHub & { kind: 'members' },
  out: HubOut,
): boolean {
  const { session, members } = message
  return register.setMembers(hub.directory, session, from.inc, members, directoryOut(hub, out))
}

function signal(
  hub: Hub,
  connection: number,
  from: Connection,
  message: ToHub & { kind: 'signal' },
  out: HubOut,
): void {
  const { session, blob } = message
  const row = register.find(hub.directory, session)
  const primary = row && hub.attached.get(session)?.get(row.entry.register.primary)
  if (primary === undefined || primary === null) {
    return refuse(connection, 0, `the primary of session ${session} is not attached`, out)
  }
  from.asked = session
  say(primary, { kind: 'signal', session, from: connection, blob }, out)
}

function reply(hub: Hub, from: Connection, message: ToHub & { kind: 'reply' }, out: HubOut): void {
  const { session } = message
  const primary = register.find(hub.directory, session)?.entry.register.primary
  if (from.session !== session || from.inc === 0 || from.inc !== primary) {
    hub.counters.forged++
    return
  }
  if (hub.connections.get(message.to)?.asked !== session) return
  say(message.to, { kind: 'reply', session, blob: message.blob }, out)
}

/** Asks the primaries whether they live, and closes streams that never said hello. */
export function wake(hub: Hub, now: Millis, out: HubOut): void {
  for (const [connection, since] of hub.mute) {
    if (now - since < allowance.HELLO_MS) break
    hub.mute.delete(connection)
    hub.counters.mute++
    out.close(connection, `no hello within ${allowance.HELLO_MS} ms`)
  }
  register.wake(hub.directory, now, directoryOut(hub, out))
}

/** When `wake` is due. */
export function deadline(hub: Hub): Millis {
  const [oldest] = hub.mute.values()
  const muteAt = oldest === undefined ? Infinity : oldest + allowance.HELLO_MS
  return Math.min(muteAt, register.deadline(hub.directory))
}

function directoryOut(hub: Hub, out: HubOut): register.DirectoryOut {
  return {
    record: (kept) => out.record(kept),
    send: (to, question) => {
      const stream = hub.attached.get(question.session)?.get(to)
      if (stream !== undefined) say(stream, question, out)
    },
    emit: (news) => {
      if (news.kind === 'changed') tellRegister(hub, news.session, news.register, out)
    },
  }
}

function tellRegister(hub: Hub, session: string, changed: Register, out: HubOut): void {
  tell(hub, session, { kind: 'register', request: 0, session, ok: true, register: changed }, out)
}

function tell(hub: Hub, session: string, news: FromHub, out: HubOut, but: PeerId = 0): void {
  for (const [inc, connection] of hub.attached.get(session) ?? []) {
    if (inc !== but) say(connection, news, out)
  }
}

function refuse(connection: number, request: number, why: string, out: HubOut): void {
  say(connection, { kind: 'refused', request, why }, out)
}

function say(connection: number, message: FromHub, out: HubOut): void {
  out.send(connection, frameMessage(encode(fromHub, message)))
}
