/**
 * The two kinds of messages on a member's stream to the hub, distinguished by their first byte:
 * messages to and from the hub itself, and datagrams for another member, which the hub relays
 * without looking inside.
 *
 *     0  MESSAGE  a hub message to its end
 *     1  RELAY    peer: varint   the other member: target on the way up, source on the way down
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

/** The contents of one message of a hub stream. */
export type HubFrame =
  | { kind: 'message'; bytes: Uint8Array }
  | { kind: 'relay'; peer: PeerId; bytes: Uint8Array }

/** A hub message, ready for the stream. */
export function frameMessage(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 1)
  framed.set(message, 1)
  return framed
}

/** A datagram for or from a member, ready for the stream. */
export function frameRelay(peer: PeerId, datagram: Uint8Array): Uint8Array {
  const writer = createWriter(datagram.length + 6)
  writeU8(writer, 1)
  writeVarint(writer, peer)
  writeRaw(writer, datagram)
  return finish(writer)
}

/** Reads one message of the stream; null if it is neither kind. The bytes are a view. */
export function readFrame(bytes: Uint8Array): HubFrame | null {
  const reader = createReader(bytes)
  const tag = readU8(reader)
  if (tag === 0 && !reader.failed) return { kind: 'message', bytes: bytes.subarray(1) }
  if (tag !== 1) return null
  const peer = readVarint(reader)
  return reader.failed ? null : { kind: 'relay', peer, bytes: bytes.subarray(reader.at) }
}
