/**
 * Addresses behind the hub. `relay:7` is a member: the hub says who sends, so nobody but the hub
 * can send in another's name, and what goes there goes to nobody else. `knock:7` is a process that
 * is no member yet, as the hub numbers it for the primary; to that process the primary is
 * `knock:0`.
 */

import type { PeerId } from '../machine.ts'

const RELAY = 'relay:'
const KNOCK = 'knock:'

/** The address of a member behind the hub. */
export function relayed(inc: PeerId): string {
  return `${RELAY}${inc}`
}

/** The address of a process that is no member yet; 0 is the primary, for such a process. */
export function knocking(caller: number): string {
  return `${KNOCK}${caller}`
}

/** Whether datagrams to that address go through the hub. */
export function isRelayed(address: string): boolean {
  return address.startsWith(RELAY) || isKnocking(address)
}

/** Whether that address is of use only until a process is a member. */
export function isKnocking(address: string): boolean {
  return address.startsWith(KNOCK)
}

/** Whether the hub names another sender of a datagram than that member. */
export function isForged(from: string, inc: PeerId): boolean {
  return from.startsWith(RELAY) && from !== relayed(inc)
}
