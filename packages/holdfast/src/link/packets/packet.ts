/**
 * Headers of packets and fragments, as in the public reliable 1.0 standard.
 *
 *     packet    prefix:8  sequence:16  ack:8 or 16  ack bits:0 to 4 bytes   4 to 9, then frames
 *     fragment  1:8  sequence:16  fragment:8  fragments-1:8                 5 bytes, then its share
 *
 *     prefix    bit 0      0: a packet; 1: a fragment
 *               bits 1-4   byte 0-3 of the ack bits is not 0xff and follows
 *               bit 5      the ack is one byte: sequence - ack, at most 255
 *               bits 6-7   0
 *
 * All integers are little-endian. Ack bit n means sequence ack - n, bit 0 ack itself; an end that
 * has received nothing sends ack 65535 and no bits. A healthy link elides all ack bits, so its
 * header is 4 bytes. Each header has one legal encoding; any other is malformed. A packet is its
 * fragments' shares in order; the first holds its header.
 */

/** Shortest header of a packet, in bytes. */
export const HEADER_MIN = 4
/** Longest header of a packet, in bytes. */
export const HEADER_MAX = 9
/** Length of a fragment's header in bytes. */
export const FRAGMENT_HEADER = 5

const FRAGMENT_BIT = 1
const SHORT_ACK_BIT = 32
const RESERVED_BITS = 0xc0

/** The header of a packet. All numbers are as on the wire, wrapped. */
export interface Header {
  /** 0 to 65535. */
  sequence: number
  /** 0 to 65535. */
  ack: number
  /** 32 bits, unsigned. */
  ackBits: number
}

/** The header of a fragment. */
export interface FragmentHeader {
  /** The sequence of the whole packet, 0 to 65535. */
  sequence: number
  /** 0 to count - 1. */
  index: number
  /** 1 to 256. */
  count: number
}

export function createHeader(): Header {
  return { sequence: 0, ack: 0, ackBits: 0 }
}

export function isFragment(bytes: Uint8Array): boolean {
  return (bytes[0]! & FRAGMENT_BIT) !== 0
}

/** @param bytes  with room for HEADER_MAX bytes @returns the offset after the header */
export function writeHeader(
  bytes: Uint8Array,
  at: number,
  sequence: number,
  ack: number,
  ackBits: number,
): number {
  const behind = (sequence - ack) & 0xffff
  let prefix = behind <= 255 ? SHORT_ACK_BIT : 0
  let end = at + 1
  bytes[end++] = sequence & 0xff
  bytes[end++] = sequence >>> 8
  if (behind <= 255) {
    bytes[end++] = behind
  } else {
    bytes[end++] = ack & 0xff
    bytes[end++] = ack >>> 8
  }
  for (let index = 0; index < 4; index++) {
    const byte = (ackBits >>> (index * 8)) & 0xff
    if (byte === 0xff) continue
    prefix |= 2 << index
    bytes[end++] = byte
  }
  bytes[at] = prefix
  return end
}

/** @returns the offset after the header; -1 if it is malformed or not in its one legal form */
export function readHeader(bytes: Uint8Array, at: number, into: Header): number {
  if (bytes.length - at < HEADER_MIN) return -1
  const prefix = bytes[at]!
  if ((prefix & (RESERVED_BITS | FRAGMENT_BIT)) !== 0) return -1
  const sequence = bytes[at + 1]! | (bytes[at + 2]! << 8)
  let end = at + 3
  if ((prefix & SHORT_ACK_BIT) !== 0) {
    into.ack = (sequence - bytes[end++]!) & 0xffff
  } else {
    if (bytes.length - end < 2) return -1
    into.ack = bytes[end]! | (bytes[end + 1]! << 8)
    end += 2
    if (((sequence - into.ack) & 0xffff) <= 255) return -1
  }
  into.sequence = sequence
  return readAckBits(bytes, end, prefix, into)
}

function readAckBits(bytes: Uint8Array, at: number, prefix: number, into: Header): number {
  let bits = 0
  let end = at
  for (let index = 0; index < 4; index++) {
    let byte = 0xff
    if ((prefix & (2 << index)) !== 0) {
      if (end >= bytes.length) return -1
      byte = bytes[end++]!
      if (byte === 0xff) return -1
    }
    bits |= byte << (index * 8)
  }
  into.ackBits = bits >>> 0
  return end
}

/** Reads the header of a fragment, null if malformed. @param max  most fragments of a packet */
export function readFragment(bytes: Uint8Array, max: number): FragmentHeader | null {
  if (bytes.length <= FRAGMENT_HEADER || bytes[0] !== FRAGMENT_BIT) return null
  const index = bytes[3]!
  const count = bytes[4]! + 1
  if (index >= count || count > max) return null
  return { sequence: bytes[1]! | (bytes[2]! << 8), index, count }
}
