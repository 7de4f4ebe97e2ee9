/**
 * Streams that a hub passes on: a process may come in by any hub of a shared store, and the hub
 * that decides about its room has its stream, with all that it says, as if it came in there.
 *
 * A hub passes on a stream from the first request about another hub's room until one about a room
 * of its own. Lists and pings are its own matter, and so are limits: both hubs charge. A stream
 * that came from another hub is not passed on again, but ended there; the hub that it came from
 * reads the record and finds out.
 */

import {
  type FromHub,
  fromHub,
  type ToHub,
  toHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import type { Closing } from '../../../holdfast/src/ports.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../../holdfast/src/wire/relay.ts'
import { detach } from './attachment.ts'
import * as elsewhere from './elsewhere.ts'
import * as heartbeat from './heartbeat.ts'
import { type Place, placeOf } from './register.ts'
import { setMember } from './stream-limits.ts'
import {
  type Call,
  callOf,
  type Connection,
  type Elsewhere,
  load,
  MOVED,
  type Routed,
  type Turn,
  wait,
} from './state.ts'
import * as tender from './tender.ts'

/** How long requests about an unknown session wait for the store to tell of it. */
export const LOOKUP_MS: Millis = 1_000
/** Most unknown sessions that are asked for at once. */
const LOOKUPS_MAX = 10_000

const LOST: Closing = { kind: 'again', why: 'the hub of this room is gone: join again' }

/** Passes a request on, or defers it until its room is claimed. @returns false if it is for here */
export function route(call: Call, message: ToHub): boolean {
  const { hub, from } = call
  switch (message.kind) {
    case 'hello':
    case 'list':
    case 'ping':
      return false
    case 'add':
    case 'get':
    case 'change':
    case 'attach': {
      const other = elsewhere.placeOfRequest(hub, message)
      if (other) goElsewhere(call, message, other)
      else if (!from.passed) return message.kind !== 'add' && lookUp(call, message)
      else if (message.kind === 'add' || hub.registers.rows.has(message.session)) {
        return !takeBack(call, message)
      } else send(call, from.passed.to, message)
      return true
    }
    default:
      if (!from.passed) return false
      send(call, from.passed.to, message)
      return true
  }
}

function goElsewhere(call: Call, message: Routed, { entry, tender: to }: Elsewhere): void {
  const { hub, now, connection, from, out } = call
  if (from.isPassed) return out.close(connection, MOVED)
  const isGone = heartbeat.goneAt(hub, to) <= now
  if ((isGone || from.passed?.to !== to) && !takeBack(call, message)) return
  if (isGone) {
    wait(call, entry, message)
    return tender.claim(call, entry)
  }
  if (!from.passed) {
    // The stream may have been a member's of a room of this hub.
    detach(call)
    from.passed = { to, place: placeOf(entry), inc: 0, request: null }
    send(call, to, { kind: 'hello', version: from.version })
  }
  // The link to that hub may have failed with the first message: see `retries`.
  const passed = from.passed as Connection['passed']
  if (!passed) return wait(call, entry, message)
  if (message.kind === 'attach') passed.inc = message.inc
  passed.request = message
  send(call, to, message)
}

// Another hub may have founded the session a moment ago. @returns whether the request waits
function lookUp(call: Call, message: Exclude<Routed, { kind: 'add' }>): boolean {
  const { hub, now } = call
  const { session } = message
  if (hub.registers.rows.has(session)) return false
  const isOwn = session.startsWith(`${hub.boot.toString(36)}-`)
  if (isOwn && !hub.archive.rooms.has(session)) return false
  const until = hub.lookups.get(session) ?? now + LOOKUP_MS
  // `endLookups` forgets it once nobody waits.
  if (until <= now) return false
  if (hub.lookups.size >= LOOKUPS_MAX && !hub.lookups.has(session)) return false
  hub.lookups.set(session, until)
  wait(call, lookupPlace(session), message)
  return true
}

// Where requests about an unknown session wait: no room has such a place.
function lookupPlace(session: string): Place {
  return { game: '', room: session }
}

/** Ends lookups. @returns the places whose requests no longer wait */
export function endLookups({ hub, now }: Turn): string[] {
  const due: string[] = []
  for (const [session, until] of hub.lookups) {
    const key = placeOf(lookupPlace(session))
    const isKnown = hub.sessionsElsewhere.has(session) || hub.registers.rows.has(session)
    if (until > now && !isKnown) continue
    if (isKnown || !hub.waiting.has(key)) hub.lookups.delete(session)
    due.push(key)
  }
  return due
}

function send({ connection, out }: Call, to: number, message: ToHub): void {
  out.pass(connection, to, frameMessage(encode(toHub, message)))
}

// Stops passing a stream on. @returns false if that closed it, because it was attached at the other
// hub and its process would not notice that it no longer is
function takeBack(call: Call, { kind }: Routed): boolean {
  const { connection, from, out } = call
  if (!from.passed) return true
  const isMember = from.inc !== 0
  from.passed = null
  setMember(call, from, '', 0)
  out.unpass(connection)
  if (!isMember || kind === 'add' || kind === 'attach') return true
  out.close(connection, LOST)
  return false
}

/** Ends the streams that are passed to hubs that are gone, even if their links are not. */
export function sweep(turn: Turn): void {
  const { hub, now, out } = turn
  if (!heartbeat.hasGone(hub, now)) return
  for (const [connection, { passed }] of [...hub.connections]) {
    if (!passed || heartbeat.goneAt(hub, passed.to) > now) continue
    out.unpass(connection)
    end(turn, connection, null)
  }
}

/** The other hub says something to a stream that was passed to it. */
export function receive(turn: Turn, connection: number, bytes: Uint8Array): void {
  const call = callOf(turn, connection)
  if (!call?.from.passed) return
  const { from, out } = call
  const frame = readFrame(bytes)
  if (frame?.kind === 'relay') return out.relay(connection, frame.peer, frame.bytes)
  if (frame?.kind === 'knock') return out.knock(connection, frame.peer, frame.bytes)
  const message = frame && decode(fromHub, frame.bytes)
  // The process has had these from its own hub.
  if (!message || message.kind === 'welcome' || message.kind === 'signs') return
  if (message.kind === 'store') return
  const { passed } = from
  if ('request' in message && message.request === passed?.request?.request) passed.request = null
  noteMember(call, message)
  out.send(connection, bytes)
  from.lastRequestAt = turn.now
}

function noteMember(call: Call, message: FromHub): void {
  const { from } = call
  if (message.kind === 'attached') setMember(call, from, message.session, from.passed!.inc)
  const isAway = message.kind === 'present' && !message.here && message.session === from.session
  if (isAway && message.inc === from.inc) setMember(call, from, '', 0)
}

/**
 * The other hub ended the stream, or is not reached: a member must come again.
 *
 * @param closing  of the other hub; null if it is not reached
 * @returns the request that is this hub's to answer by now
 */
export function end(turn: Turn, connection: number, closing: Closing | null): Routed | null {
  const call = callOf(turn, connection)
  if (!call?.from.passed) return null
  const { hub, from, out } = call
  const { place, request } = call.from.passed
  from.passed = null
  const isRouted = closing === null || closing.why === MOVED.why
  if (from.inc !== 0 || !isRouted) {
    out.close(connection, closing ?? LOST)
    return null
  }
  const other = hub.elsewhere.get(place)
  if (!other) return request
  // Until the record tells which hub has the place by now.
  if (request) wait(call, other.entry, request)
  load(turn, place)
  return null
}

/** The places whose hub lives but was not reached, and whose requests are routed again. */
export function retries({ hub, now }: Turn): string[] {
  return [...hub.waiting.keys()].filter((key) => {
    const other = hub.elsewhere.get(key)
    return other !== undefined && heartbeat.goneAt(hub, other.tender) > now
  })
}
