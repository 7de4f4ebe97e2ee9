/**
 * The handshake that opens a link, and the envelope of its packets on carriers that are no
 * connection of their own.
 *
 *     connection: u32    0 for the three messages below, else the link that the packet is for
 *     packet or message to the end
 *
 * HELLO names the asker and proves it; ACCEPT gives the link its number; DENY carries the reason. A
 * repeated HELLO is answered again, so both may be lost; one with another nonce opens a new link,
 * which keeps nothing of the old one.
 */

import { fixed, message, record, text, u32, type ValueOf, varint, word } from '../wire/layout.ts'
import { DIGEST_BYTES } from '../wire/digest.ts'

/** Version of packets, frames and these messages. */
export const LINK_VERSION = 1
/** Bytes in front of each packet. */
export const ENVELOPE_BYTES = 4

/** The messages that open a link. */
export const handshakeLayout = message({
  hello: [
    1,
    record({
      version: varint,
      session: text(32),
      inc: varint,
      to: varint,
      proof: fixed(DIGEST_BYTES),
      /**
       * The version of the asker's view: a newer view than ours may have members that we do not
       * know.
       */
      mv: varint,
      nonce: u32,
    }),
  ],
  accept: [2, record({ nonce: u32, connection: u32 })],
  deny: [3, record({ nonce: u32, why: word(['version', 'notMember', 'badTicket']) })],
})
/** A message that opens a link. */
export type Handshake = ValueOf<typeof handshakeLayout>

/** The number in front, or 0 if the datagram is too short to have one. */
export function connectionOf(datagram: Uint8Array): number {
  if (datagram.length <= ENVELOPE_BYTES) return 0
  return ((datagram[0]! << 24) | (datagram[1]! << 16) | (datagram[2]! << 8) | datagram[3]!) >>> 0
}

/** Puts a packet into its envelope; valid until the next call with the same buffer. */
export function wrap(buffer: Uint8Array, connection: number, packet: Uint8Array): Uint8Array {
  buffer[0] = connection >>> 24
  buffer[1] = connection >>> 16
  buffer[2] = connection >>> 8
  buffer[3] = connection
  buffer.set(packet, ENVELOPE_BYTES)
  return buffer.subarray(0, ENVELOPE_BYTES + packet.length)
}
