/**
 * The three kinds of messages on a process's stream to the hub, told apart by their first byte:
 * messages of the hub itself, and opaque datagrams that the hub relays, to and from another member,
 * or between a primary and a process that is not a member yet.
 *
 *     0  MESSAGE  a hub message to its end
 *     1  RELAY    peer: varint    the other member: target on the way up, source on the way down
 *                 datagram to the end
 *     2  KNOCK    caller: varint  the process, as the hub numbers its stream for the primary; 0 on
 *                                 the stream of that process itself
 *                 datagram to the end
 */

import type { PeerId } from '../machine.ts'
import {
  createReader,
  createWriter,
  finish,
  readU8,
  readVarint,
  writeRaw,
  writeU8,
  writeVarint,
} from './bytes.ts'

const RELAY = 1
const KNOCK = 2

/** The contents of one message of a hub stream. */
export type HubFrame =
  | { kind: 'message'; bytes: Uint8Array }
  | { kind: 'relay'; peer: PeerId; bytes: Uint8Array }
  | { kind: 'knock'; peer: number; bytes: Uint8Array }

export function frameMessage(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 1)
  framed.set(message, 1)
  return framed
}

export function frameRelay(peer: PeerId, datagram: Uint8Array): Uint8Array {
  return frameDatagram(RELAY, peer, datagram)
}

/** A datagram between a primary and a process that is not a member yet, ready for the stream. */
export function frameKnock(caller: number, datagram: Uint8Array): Uint8Array {
  return frameDatagram(KNOCK, caller, datagram)
}

function frameDatagram(tag: number, other: number, datagram: Uint8Array): Uint8Array {
  const writer = createWriter(datagram.length + 6)
  writeU8(writer, tag)
  writeVarint(writer, other)
  writeRaw(writer, datagram)
  return finish(writer)
}

/** Reads one message of the stream; null if malformed. The bytes are a view. */
export function readFrame(bytes: Uint8Array): HubFrame | null {
  const reader = createReader(bytes)
  const tag = readU8(reader)
  if (tag === 0 && !reader.failed) return { kind: 'message', bytes: bytes.subarray(1) }
  if (tag !== RELAY && tag !== KNOCK) return null
  const peer = readVarint(reader)
  const kind = tag === RELAY ? 'relay' : 'knock'
  return reader.failed ? null : { kind, peer, bytes: bytes.subarray(reader.at) }
}

// Addresses behind the hub. `relay:7` is a member: the hub names the sender, so only the hub can
// forge one, and datagrams to this address reach nobody else. `knock:7` is a process that is not a
// member yet, as the hub numbers it for the primary, which that process knows as `knock:0`.

const RELAYED = 'relay:'
const KNOCKED = 'knock:'

export function relayed(inc: PeerId): string {
  return `${RELAYED}${inc}`
}

/** The address of a process that is not a member yet; for that process, 0 is the primary. */
export function knocking(caller: number): string {
  return `${KNOCKED}${caller}`
}

/** Whether datagrams to that address go through the hub. */
export function isRelayed(address: string): boolean {
  return address.startsWith(RELAYED) || isKnocking(address)
}

/** Whether that address is valid only until a process is a member. */
export function isKnocking(address: string): boolean {
  return address.startsWith(KNOCKED)
}

// `rtc:7.3` is a WebRTC channel to member 7, of generation 3. The address is valid at one end only.
// At the other end is the member that sealed the signals.

const CHANNEL = /^rtc:([1-9][0-9]{0,15})\.[1-9][0-9]{0,15}$/

export function isChannel(address: string): boolean {
  return address.startsWith('rtc:')
}

export function channelTo(inc: PeerId, generation: number): string {
  return `rtc:${inc}.${generation}`
}

/** The member to whom a channel of that address leads; null for any other address. */
export function peerOf(address: string): PeerId | null {
  const [, inc] = CHANNEL.exec(address) ?? []
  return inc === undefined ? null : Number(inc)
}

/** Whether that address belongs to another member. */
export function isForged(from: string, inc: PeerId): boolean {
  return from.startsWith(RELAYED) ? from !== relayed(inc) : (peerOf(from) ?? inc) !== inc
}
