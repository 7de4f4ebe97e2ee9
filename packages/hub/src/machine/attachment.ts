/** Attaching: which stream speaks for which member of a session. */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import type { Closing } from '../../../holdfast/src/ports.ts'
import { toHex } from '../../../holdfast/src/wire/bytes.ts'
import * as sessionExpiry from './session-expiry.ts'
import * as challenge from './challenge.ts'
import { setMember } from './stream-limits.ts'
import type { ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as refusals from './refusals.ts'
import * as register from './register.ts'
import { notifyPlayers } from './listing.ts'
import * as budgets from './budgets.ts'
import {
  type Call,
  callOf,
  type Connection,
  isAttachedTo,
  registerOut,
  refuse,
  removedKey,
  send,
  broadcast,
  type Turn,
} from './state.ts'

// Seats: an address may have a bounded number of streams in one room, so that it cannot take every
// player's place (SE-13). A stream has a seat in the room that it found last or speaks in.

/** Takes a seat in a room. @returns the limit that was exceeded */
export function takeSeat({ hub, from }: Call, session: string): budgets.Exceeded | null {
  if (from.seat === session) return null
  const { seats } = from.account
  const taken = seats.get(session) ?? 0
  if (taken >= hub.budgets.limits.address.seats) {
    return budgets.refuse(hub.budgets, 'address', 'seats')
  }
  leaveSeat(from)
  from.seat = session
  seats.set(session, taken + 1)
  return null
}

export function leaveSeat(from: Connection): void {
  const { seat, account } = from
  if (seat === '') return
  const left = account.seats.get(seat)! - 1
  if (left > 0) account.seats.set(seat, left)
  else account.seats.delete(seat)
  from.seat = ''
}

/** How long a removed member still receives datagrams: its primary sends it the reason. */
export const REMOVED_GRACE_MS: Millis = 3_000

/** Attaches a stream to a member: from now on the stream speaks for it. */
export function attach(call: Call, message: ToHub & { kind: 'attach' }): void {
  const { hub, now, connection, from, out } = call
  const { request, session, inc, proof } = message
  const row = register.find(hub.registers, session)
  if (!row || !register.admits(row, inc, proof)) {
    const why = row ? `member ${inc} is not in session ${session}` : `no session ${session}`
    return refuse(connection, request, why, out)
  }
  // Its late requests would count again, after newer ones of the same member were refused.
  if (from.isReplaced) {
    return refuse(connection, request, `another stream speaks for member ${inc}`, out)
  }
  // The answer lists every attached member, and the newcomer pays for each.
  const crowd = refusals.spend(call, 'rows', hub.attached.get(session)?.size ?? 0)
  if (crowd) return refusals.answer(call, request, crowd)
  const full = takeSeat(call, session)
  if (full) return refusals.answer(call, request, full)
  replaceStream(call, session, inc)
  const members = hub.attached.get(session) ?? new Map<PeerId, number>()
  hub.attached.set(session, members)
  members.set(inc, connection)
  setMember(call, from, session, inc)
  register.setPresent(hub.registers, now, session, inc, true)
  sessionExpiry.noteAttached(hub, now, session, from.account)
  const present = [...members.keys()]
  const { register: known } = row.entry
  const leader = challenge.leaderCertificate(row, out)
  send(connection, { kind: 'attached', request, session, register: known, leader, present }, out)
  offerServers(call, session, row.members.find((member) => member.inc === inc)!.key)
  broadcast(call, session, { kind: 'present', session, inc, here: true }, inc)
  challenge.setPresent(hub.registers, now, session, inc, true, registerOut(call))
}

// STUN and TURN servers: a player hears of them once it is admitted, before its first link, and on
// each new stream. Only an attached member gets fresh credentials.

export function offerServers(call: Call, session: string, key: Uint8Array): void {
  const player = `${session} ${toHex(key)}`
  if (!call.out.servers || call.from.served === player) return
  call.from.served = player
  sendServers(call, session)
}

/** A member asks for fresh credentials. */
export function renewServers(call: Call, session: string): void {
  if (call.out.servers && isAttachedTo(call, session)) sendServers(call, session)
  else call.hub.counters.forged++
}

function sendServers(call: Call, session: string): void {
  const { connection, from, out } = call
  const met = refusals.spend(call, 'credentials', 1)
  if (met) return refusals.drop(call, met)
  send(connection, { kind: 'ice', session, ...out.servers!(from.served) }, out)
}

// A stream speaks for one member, and a member has one stream: its newest.
function replaceStream(call: Call, session: string, inc: PeerId): void {
  const { hub, connection, from } = call
  if (from.session !== session || from.inc !== inc) detach(call)
  const older = hub.attached.get(session)?.get(inc)
  if (older === undefined || older === connection) return
  const replaced = hub.connections.get(older)!
  replaced.isReplaced = true
  setMember(call, replaced, '', 0)
}

/** Detaches a stream from its member, and notifies the other members of its session. */
export function detach(call: Call): void {
  const { hub, now, connection, from } = call
  const { session, inc } = from
  setMember(call, from, '', 0)
  const members = hub.attached.get(session)
  if (members?.get(inc) !== connection) return
  members.delete(inc)
  if (members.size === 0) hub.attached.delete(session)
  register.setPresent(hub.registers, now, session, inc, false)
  sessionExpiry.noteDetached(hub, now, session)
  challenge.setPresent(hub.registers, now, session, inc, false, registerOut(call))
  broadcast(call, session, { kind: 'present', session, inc, here: false })
}

export function detachAll(turn: Turn, session: string): void {
  for (const [inc, connection] of [...(turn.hub.attached.get(session) ?? [])]) {
    detach(callOf(turn, connection)!)
    send(connection, { kind: 'present', session, inc, here: false }, turn.out)
  }
}

/** Closes the streams of all attached members. */
export function closeAll({ hub, out }: Turn, session: string, closing: Closing): void {
  for (const connection of [...(hub.attached.get(session)?.values() ?? [])]) {
    out.close(connection, closing)
  }
}

/**
 * Takes the primary's list of members. A member that is no longer listed is detached, but its
 * primary's messages still reach it for REMOVED_GRACE_MS.
 *
 * @returns false if the sender is not the primary
 */
export function setMembers(call: Call, message: ToHub & { kind: 'members' }): boolean {
  const { hub, now, from, out } = call
  const { session, members } = message
  const { registers } = hub
  const before = register.find(registers, session)?.members ?? []
  if (!register.setMembers(registers, session, from.inc, message, out)) {
    return false
  }
  notifyPlayers(register.find(registers, session)!, before, out)
  const listed = new Set(members.map(({ inc }) => inc))
  for (const [inc, connection] of [...(hub.attached.get(session) ?? [])]) {
    if (listed.has(inc)) continue
    detach(callOf(call, connection)!)
    const until = now + REMOVED_GRACE_MS
    hub.removed.set(removedKey(session, inc), { connection, session, inc, until })
  }
  return true
}

export function notifyRemoved({ hub, now, out }: Turn): void {
  for (const [key, { connection, session, inc, until }] of hub.removed) {
    if (until > now) break
    hub.removed.delete(key)
    if (hub.connections.get(connection)?.inc !== 0) continue
    send(connection, { kind: 'present', session, inc, here: false }, out)
  }
}
