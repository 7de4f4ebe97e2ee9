/**
 * Addresses of relayed datagrams, `relay:7`: the hub says who sends them, so nobody but the hub can
 * send in another's name, and what goes there goes to nobody else.
 */

import type { PeerId } from '../machine.ts'

const RELAY = 'relay:'

/** The address of a member behind the hub. */
export function relayed(inc: PeerId): string {
  return `${RELAY}${inc}`
}

/** Whether datagrams to that address go through the hub. */
export function isRelayed(address: string): boolean {
  return address.startsWith(RELAY)
}

/** Whether the hub names another sender of a datagram than that member. */
export function isForged(from: string, inc: PeerId): boolean {
  return isRelayed(from) && from !== relayed(inc)
}
