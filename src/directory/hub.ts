/**
 * The hub, which `holdfast serve` runs: register, signalling and relay for any number of sessions,
 * as a machine, so that the simulator can kill it.
 *
 * Each stream is one remote process. Before it is a member it may list sessions, create one, and
 * exchange datagrams with the primary of the one that it found; once attached, proved by the secret
 * whose hash the primary listed, it relays datagrams to the other members and gets the news of its
 * session. The hub never looks inside what it relays. What it must not forget is in the register,
 * and on disk before any member learns of it; all else it learns again from members that come back.
 * A request about a session whose change is on its way to the disk waits for it, so no member gets
 * a register that is about to change.
 */

import * as bucket from '../bucket.ts'
import type { Millis, PeerId } from '../machine.ts'
import { DATAGRAM_MAX } from '../ports.ts'
import { HUB_VERSION, type ToHub, toHub } from './messages.ts'
import * as register from './register.ts'
import { decode } from '../wire/layout.ts'
import { readFrame } from '../wire/relay.ts'
import * as allowance from './allowance.ts'
import { attach, detach, setMembers, tellRemoved } from './attaching.ts'
import * as challenge from './challenge.ts'
import * as sessions from './sessions.ts'
import { type Call, directoryOut, type Hub, type HubOut } from './state.ts'
import { refuse, removedKey, say } from './state.ts'

export { create, type Hub, type HubOut } from './state.ts'

/** A stream is open. */
export function opened(hub: Hub, now: Millis, connection: number): void {
  hub.mute.set(connection, now)
  hub.connections.set(connection, {
    greeted: false,
    session: '',
    inc: 0,
    calls: '',
    created: 0,
    allowance: bucket.create(now, allowance.MESSAGES),
    relay: bucket.create(now, allowance.RELAY),
  })
}

/** A stream is gone: the other members of its session are notified (PEER_GONE). */
export function closed(hub: Hub, now: Millis, connection: number, out: HubOut): void {
  const from = hub.connections.get(connection)
  hub.connections.delete(connection)
  hub.mute.delete(connection)
  if (from) detach({ hub, now, connection, from, out })
  sessions.grantDue(hub, now, out)
}

/** A message of a stream. A stream that sends a malformed message is counted and closed. */
export function receive(
  hub: Hub,
  now: Millis,
  connection: number,
  bytes: Uint8Array,
  out: HubOut,
): void {
  const from = hub.connections.get(connection)
  if (!from) return
  const call = { hub, now, connection, from, out }
  const frame = readFrame(bytes)
  if (frame?.kind === 'relay' && from.inc !== 0) return relay(call, frame.peer, frame.bytes)
  if (frame?.kind === 'knock' && from.inc !== 0 && frame.peer !== 0) {
    return answerCaller(call, frame.peer, frame.bytes)
  }
  if (!allowance.spend(from.allowance, now, bytes.length, from.inc !== 0)) return flooded(call)
  if (frame?.kind === 'knock' && from.greeted) return knock(call, frame.peer, frame.bytes)
  // The sender is a member that was removed a moment ago, or no member.
  if (frame?.kind === 'relay' && from.greeted) return void hub.counters.astray++
  const message = frame?.kind === 'message' ? decode(toHub, frame.bytes) : null
  if (!message || (!from.greeted && message.kind !== 'hello')) {
    hub.counters.malformed++
    out.close(connection, 'malformed message')
    return
  }
  answer(call, message)
}

function flooded({ hub, connection, out }: Call): void {
  hub.counters.flooding++
  out.close(connection, 'too many messages')
}

function relay({ hub, now, from, out }: Call, to: PeerId, datagram: Uint8Array): void {
  const known = hub.attached.get(from.session)?.get(to)
  const target = known ?? hub.removed.get(removedKey(from.session, to))?.connection
  if (target === undefined) return void hub.counters.astray++
  // Datagrams may be lost: a member that sends too many loses some, and keeps its stream.
  if (!allowance.spendRelay(from.relay, now, datagram.length)) {
    return void hub.counters.congested++
  }
  challenge.relayed(hub.directory, from.session, from.inc, to)
  hub.counters.relayed++
  hub.counters.relayedBytes += datagram.length
  out.relay(target, from.inc, datagram)
}

// A process that is no member yet sends a datagram to the primary of the session that it found.
function knock(call: Call, to: number, datagram: Uint8Array): void {
  const { hub, connection, from, out } = call
  if (to !== 0 || datagram.length > DATAGRAM_MAX) return void hub.counters.astray++
  const row = register.find(hub.directory, from.calls)
  const primary = row && hub.attached.get(from.calls)?.get(row.entry.register.primary)
  if (primary === undefined || primary === null) {
    const why = row ? `the primary of session ${from.calls} is not attached` : 'no such session'
    return refuse(connection, 0, why, out)
  }
  out.knock(primary, connection, datagram)
}

// The primary answers it.
function answerCaller(call: Call, caller: number, datagram: Uint8Array): void {
  const { hub, now, from, out } = call
  const { session, inc } = from
  const primary = register.find(hub.directory, session)?.entry.register.primary
  const isCaller = hub.connections.get(caller)?.calls === session
  if (!allowance.spendRelay(from.relay, now, datagram.length)) hub.counters.congested++
  else if (inc !== primary || !isCaller || datagram.length > DATAGRAM_MAX) hub.counters.astray++
  else out.knock(caller, 0, datagram)
}

function answer(call: Call, message: ToHub): void {
  const { hub, now, connection, from, out } = call
  switch (message.kind) {
    case 'hello':
      return greet(call, message.version)
    case 'list':
      return sessions.list(call, message) ? undefined : flooded(call)
    case 'get':
      return sessions.get(call, message)
    case 'add':
      return sessions.add(call, message)
    case 'change':
      return sessions.change(call, message)
    case 'attach':
      if (sessions.mustWait(hub, message.session))
        return sessions.wait(call, message.session, message)
      return attach(call, message)
    case 'members': {
      const known = message.session === from.session
      if (!known || !setMembers(call, message)) hub.counters.forged++
      return
    }
    case 'yes':
      register.yes(hub.directory, now, message, from.session === message.session ? from.inc : 0)
      return
    case 'alive':
      return sessions.alive(call, message)
    case 'ping':
      return say(connection, { kind: 'pong', count: message.count }, out)
    default:
      message satisfies never
  }
}

function greet({ hub, connection, from, out }: Call, version: number): void {
  const { boot, key } = hub
  say(connection, { kind: 'welcome', version: HUB_VERSION, boot }, out)
  if (version === HUB_VERSION) {
    say(connection, { kind: 'signs', key }, out)
    from.greeted = true
    hub.mute.delete(connection)
  } else out.close(connection, `speaks version ${version}, this hub ${HUB_VERSION}`)
}

/** The disk has the records of these sessions as `recordOf` returned them last. */
export function kept(hub: Hub, now: Millis, ids: readonly string[], out: HubOut): void {
  for (const session of ids) {
    if (sessions.kept(hub, now, session, out)) goOn(hub, now, session, out)
  }
  sessions.grantDue(hub, now, out)
}

/** The disk did not take them: those who asked for the changes get the reason. */
export function unkept(
  hub: Hub,
  now: Millis,
  ids: readonly string[],
  why: string,
  out: HubOut,
): void {
  for (const session of ids) {
    if (sessions.unkept(hub, session, why, out)) goOn(hub, now, session, out)
  }
}

// The disk has answered: requests that waited for it are handled now.
function goOn(hub: Hub, now: Millis, session: string, out: HubOut): void {
  const waiting = hub.waiting.get(session) ?? []
  hub.waiting.delete(session)
  for (const { connection, message } of waiting) {
    const from = hub.connections.get(connection)
    if (from) answer({ hub, now, connection, from, out }, message)
  }
}

/** Asks the primaries whether they live, and closes streams that never sent HELLO. */
export function wake(hub: Hub, now: Millis, out: HubOut): void {
  for (const [connection, since] of hub.mute) {
    if (now - since < allowance.HELLO_MS) break
    hub.mute.delete(connection)
    hub.counters.mute++
    out.close(connection, `no hello within ${allowance.HELLO_MS} ms`)
  }
  tellRemoved(hub, now, out)
  sessions.grantDue(hub, now, out)
  register.wake(hub.directory, now, directoryOut(hub, out))
}

/** When `wake` is due. */
export function deadline(hub: Hub): Millis {
  const [oldest] = hub.mute.values()
  const muteAt = oldest === undefined ? Infinity : oldest + allowance.HELLO_MS
  const [gone] = hub.removed.values()
  const due = Math.min(register.deadline(hub.directory), challenge.deadline(hub.directory))
  return Math.min(muteAt, gone?.until ?? Infinity, due)
}
