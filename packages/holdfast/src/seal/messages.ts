/**
 * Layouts of the datagrams of sealing; docs/STANDARD.md, section 21, has every byte.
 *
 *     message 1   1:8  version:8  index:32  Noise message 1  mac1:128  mac2:128
 *     message 2   2:8  index:32  to:32  Noise message 2  mac1:128
 *     cookie      3:8  to:32  salt:128  sealed cookie:256
 *     version     4:8  version:8  to:32
 *     packet      0x11 to 0x13:8  to:32  counter: 1 to 3 bytes  sealed text
 *     word        0x21 to 0x23:8  to:32  counter: 1 to 3 bytes  sealed word
 */

import { KEY_BYTES, TAG_BYTES } from '../ports.ts'
import { joined } from '../wire/bytes.ts'
import * as layout from '../wire/layout.ts'
import {
  CHALLENGE_BYTES,
  FIRST_MIN,
  MAC_BYTES,
  SEAL_SESSION_MAX,
  SEAL_VERSION,
  SEAL_VERSIONS,
  SEALED_JOIN_MAX,
} from './limits.ts'
import { encodeVersions } from '../wire/versions.ts'
import { FIRST_KEYS } from './noise.ts'

/** First bytes of datagrams. Packets and words have the length of their counter in two bits. */
export const KIND = {
  first: 1,
  second: 2,
  cookie: 3,
  version: 4,
  packet: 0x10,
  word: 0x20,
} as const

/** Bytes of message 1 before Noise's. */
export const FIRST_HEAD = 6
/** Bytes of message 2 before Noise's. */
export const SECOND_HEAD = 9
export const COOKIE_DATAGRAM: number = 5 + MAC_BYTES + MAC_BYTES + TAG_BYTES
export const SECOND_MIN: number = SECOND_HEAD + KEY_BYTES + TAG_BYTES + MAC_BYTES

const { blob, fixed, flag, maybe, message, record, text, u32, u8, varint, word } = layout

/** The prologue, which both ends must share. */
export const prologueLayout = record({ version: varint, session: text(SEAL_SESSION_MAX) })

/** The sealed payload of message 1. */
export const firstLayout = record({
  /** The initiator's incarnation; 0 if it has none yet. */
  from: varint,
  to: varint,
  /** Drawn for each new link. */
  link: u32,
  /** It asks for new keys of an established link. */
  again: flag,
  /** Larger than in any earlier message 1 of this initiator to this peer. */
  counter: varint,
  /** The version of the initiator's view. */
  mv: varint,
  join: maybe(blob(SEALED_JOIN_MAX)),
  /** Zeros, so that it is longer than any answer. */
  pad: blob(FIRST_MIN),
})
export type First = layout.ValueOf<typeof firstLayout>

export const WHYS = ['notMember', 'gone', 'full', 'badTicket', 'denied'] as const
/** Why a link is refused; `gone`: the link to be rekeyed does not exist. */
export type Why = (typeof WHYS)[number]

/** The sealed payload of message 2. */
export const secondLayout = message({
  yes: [1, record({})],
  no: [2, record({ why: word(WHYS) })],
})

/** Messages of the seal itself, under keys. */
export const wordLayout = message({
  /** The sender has the keys; the first on a link is answered with the same. */
  here: [1, record({})],
  challenge: [2, record({ number: fixed(CHALLENGE_BYTES) })],
  answer: [3, record({ number: fixed(CHALLENGE_BYTES) })],
})
export type Word = layout.ValueOf<typeof wordLayout>

const versionLayout = record({ kind: u8, version: u8, to: u32 })

const LABEL = new TextEncoder().encode('holdfast')

/** @param version  as message 1 offers it */
export function prologueOf(session: string, version: number = SEAL_VERSION): Uint8Array {
  return joined(LABEL, layout.encode(prologueLayout, { version, session }))
}

/** The payload of message 1, filled up to its shortest length. */
export function encodeFirst(first: Omit<First, 'pad'>): Uint8Array {
  const bare = layout.encode(firstLayout, { ...first, pad: new Uint8Array(0) })
  const rest = FIRST_HEAD + FIRST_KEYS + TAG_BYTES + 2 * MAC_BYTES
  const short = Math.max(0, FIRST_MIN - rest - bare.length)
  return layout.encode(firstLayout, { ...first, pad: new Uint8Array(short) })
}

export function versionDatagram(to: number): Uint8Array {
  return layout.encode(versionLayout, {
    kind: KIND.version,
    version: encodeVersions(SEAL_VERSIONS),
    to,
  })
}

export function readVersion(bytes: Uint8Array): { version: number; to: number } | null {
  return layout.decode(versionLayout, bytes)
}

export function indexAt(bytes: Uint8Array, at: number): number {
  const [a, b, c, d] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!]
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}

export function putIndex(bytes: Uint8Array, at: number, index: number): void {
  bytes[at] = index >>> 24
  bytes[at + 1] = index >>> 16
  bytes[at + 2] = index >>> 8
  bytes[at + 3] = index
}

/** The counter has the fewest bytes that hold it; a key is replaced before three are too few. */
export function writeHead(into: Uint8Array, kind: number, to: number, counter: number): number {
  const width = headBytes(counter) - 5
  into[0] = kind | width
  putIndex(into, 1, to)
  for (let byte = 0; byte < width; byte++) into[5 + byte] = counter >>> (8 * (width - 1 - byte))
  return 5 + width
}

export function headBytes(counter: number): number {
  return counter < 0x100 ? 6 : counter < 0x10000 ? 7 : 8
}

/** The counter of a packet or word; -1 if its length is none of them, or longer than needed. */
export function readCounter(bytes: Uint8Array): number {
  const width = bytes[0]! & 0xf
  if (width < 1 || width > 3 || bytes.length < 5 + width + TAG_BYTES) return -1
  let counter = 0
  for (let byte = 0; byte < width; byte++) counter = counter * 0x100 + bytes[5 + byte]!
  const shortest = width === 1 || counter >= 2 ** (8 * (width - 1))
  return shortest ? counter : -1
}
