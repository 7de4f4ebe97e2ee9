/**
 * An independent reader of what Holdfast sends: written from docs/STANDARD.md alone, it imports
 * nothing of the implementation. Layouts and limits come from the tables of the document; what
 * the document says in prose (headers, frames, envelopes, states) is below, section by section.
 *
 * All verbs throw Malformed for what the document does not allow.
 */

import { createHash } from 'node:crypto'
import { limit, readType, type Standard } from './document.ts'
import { readState } from './fields.ts'
import { readUpdates } from './objects.ts'
import { readPieceBody } from './pieces.ts'
import { readSlots } from './slots.ts'
import {
  blob,
  type Cursor,
  double,
  integer,
  Malformed,
  type Read,
  readValue,
  rest,
  tell,
  type Value,
  varint,
} from './values.ts'

/** Sections 1, 8 to 18: a value of a type, a record or a message set, to the end of the bytes. */
export function readWhole(standard: Standard, type: string, bytes: Uint8Array): Value {
  const cursor = { bytes, at: 0 }
  const value = readValue(standard, readType(standard, type), cursor)
  const left = rest(cursor).length
  if (left > 0) throw new Malformed(`${left} bytes too many`)
  return value
}

/** Section 1.2. */
export function digest(...parts: Uint8Array[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return new Uint8Array(hash.digest()).slice(0, 16)
}

/** Section 1.2: 32-bit FNV-1a, as four bytes. */
export function fingerprint(text: Uint8Array): Uint8Array {
  let hash = 0x811c9dc5n
  for (const byte of text) hash = ((hash ^ BigInt(byte)) * 0x01000193n) & 0xffffffffn
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(Number(hash))
  return new Uint8Array(bytes)
}

/** Sections 4 and 21: a datagram whose ciphers hid nothing, so that 16 bytes more are all. */
export function readDatagram(standard: Standard, bytes: Uint8Array): Read {
  const cursor = { bytes, at: 0 }
  if (bytes.length > limit(standard, 'DATAGRAM_MAX')) throw new Malformed('a datagram too long')
  const kind = integer(cursor, 1)
  if (kind === 1) {
    if (integer(cursor, 1) !== limit(standard, 'SEAL_VERSION')) throw new Malformed('version')
    const index = integer(cursor, 4)
    const said = bytes.subarray(86, Math.max(86, bytes.length - 48))
    return { kind: 'first', index, said: readWhole(standard, 'SealFirst', said) }
  }
  if (kind === 2) {
    const [index, to] = [integer(cursor, 4), integer(cursor, 4)]
    const said = bytes.subarray(41, Math.max(41, bytes.length - 32))
    return { kind: 'second', index, to, said: readWhole(standard, 'SealSecond', said) }
  }
  const [to, width] = [integer(cursor, 4), kind % 16]
  if (![16, 32].includes(kind - width) || width < 1 || width > 3) throw new Malformed('kind')
  let counter = 0
  for (let byte = 0; byte < width; byte++) counter = counter * 256 + integer(cursor, 1)
  if (width > 1 && counter < 256 ** (width - 1)) throw new Malformed('a counter too long')
  const left = rest(cursor)
  if (left.length < 16) throw new Malformed('a tag too short')
  const text = left.subarray(0, left.length - 16)
  const head = { connection: to, counter }
  if (kind >= 32) return { kind: 'word', ...head, said: readWhole(standard, 'SealWord', text) }
  if (text[0]! % 2 === 1) return { kind: 'fragment', ...head, ...readFragment(standard, text) }
  return { kind: 'packet', ...head, packet: readPacket(standard, text) }
}

/** Section 5. */
export function readPacket(standard: Standard, bytes: Uint8Array): Read {
  const cursor = { bytes, at: 0 }
  if (bytes.length > limit(standard, 'PACKET_MAX')) throw new Malformed('a packet too long')
  if (bytes.length < 4) throw new Malformed('a header too short')
  const prefix = integer(cursor, 1)
  if ((prefix & 0b1100_0001) !== 0) throw new Malformed('a reserved bit of the prefix')
  const sequence = little(cursor)
  const short = (prefix & 0b0010_0000) !== 0
  const ack = short ? modulo(sequence - integer(cursor, 1)) : little(cursor)
  if (!short && modulo(sequence - ack) <= 255) throw new Malformed('a long ack that is near')
  let bits = 0
  for (let n = 0; n < 4; n++) {
    const follows = (prefix & (1 << (n + 1))) !== 0
    const byte = follows ? integer(cursor, 1) : 0xff
    if (follows && byte === 0xff) throw new Malformed('a byte of ack bits that says nothing')
    bits += byte * 256 ** n
  }
  return { sequence, ack, bits, frames: readFrames(standard, rest(cursor)) }
}

/** Section 5: one fragment. */
export function readFragment(standard: Standard, bytes: Uint8Array): Read {
  const cursor = { bytes, at: 0 }
  if (integer(cursor, 1) !== 1) throw new Malformed('no fragment')
  const sequence = little(cursor)
  const index = integer(cursor, 1)
  const count = integer(cursor, 1) + 1
  const share = rest(cursor)
  const most = limit(standard, 'FRAGMENT_BYTES_MAX') + (index === 0 ? 9 : 0)
  if (index >= count || count > limit(standard, 'FRAGMENTS_MAX')) throw new Malformed('index')
  if (share.length === 0 || share.length > most) throw new Malformed('the length of a share')
  return { sequence, index, count, share }
}

function little(cursor: Cursor): number {
  const low = integer(cursor, 1)
  return low + 256 * integer(cursor, 1)
}

function modulo(number: number): number {
  return ((number % 65536) + 65536) % 65536
}

/** Section 6: frames to the end. */
export function readFrames(standard: Standard, bytes: Uint8Array): Read[] {
  const cursor = { bytes, at: 0 }
  const frames: Read[] = []
  while (cursor.at < bytes.length) {
    const first = !frames.some(({ kind }) => kind === 'REL')
    frames.push(readFrame(standard, cursor, first))
  }
  return frames
}

function readFrame(standard: Standard, cursor: Cursor, firstPiece: boolean): Read {
  const byte = integer(cursor, 1)
  const kind = byte % 16
  const flags = byte >> 4
  const allowed = kind === 1 ? 3 : kind === 4 ? 1 : 0
  if ((flags & ~allowed) !== 0) throw new Malformed(`flags ${flags} of kind ${kind}`)
  switch (kind) {
    case 0:
      return { kind: 'PAD' }
    case 1: {
      const ends = { first: (flags & 1) !== 0, last: (flags & 2) !== 0 }
      const number: Read = firstPiece ? { piece: integer(cursor, 2) } : { gap: varint(cursor) }
      return { kind: 'REL', ...ends, ...number, bytes: body(standard, cursor, 'PIECE_MAX') }
    }
    case 2: {
      const channel = readChannel(standard, cursor)
      return { kind: 'UNREL', channel, bytes: body(standard, cursor, 'FRAME_MAX') }
    }
    case 3:
      return readParted(standard, cursor)
    case 4: {
      const t0 = double(cursor)
      if (flags === 0) return { kind: 'CLOCK', t0 }
      return { kind: 'CLOCK', t0, t1: double(cursor), t2: double(cursor) }
    }
    case 6:
      return { kind: 'CLOSE', reason: integer(cursor, 1) }
    case 8: {
      const delay = varint(cursor)
      if (delay > limit(standard, 'DELAY_MAX')) throw new Malformed(`a delay of ${delay}`)
      return { kind: 'ACKDELAY', delay }
    }
    default:
      throw new Malformed(`frames have no kind ${kind}`)
  }
}

function readParted(standard: Standard, cursor: Cursor): Read {
  const channel = readChannel(standard, cursor)
  const message = integer(cursor, 2)
  const split = integer(cursor, 1)
  const part = split >> 4
  const parts = (split % 16) + 1
  if (part >= parts) throw new Malformed(`part ${part} of ${parts}`)
  return { kind: 'UMSG', channel, message, part, parts, bytes: body(standard, cursor, 'PIECE_MAX') }
}

function readChannel(standard: Standard, cursor: Cursor): number {
  const channel = integer(cursor, 1)
  if (channel < limit(standard, 'CHANNEL_MIN')) throw new Malformed(`channel ${channel}`)
  return channel
}

function body(standard: Standard, cursor: Cursor, most: string): Uint8Array {
  return blob(cursor, limit(standard, most))
}

/** Section 7: a reliable message. */
export function readMessage(standard: Standard, bytes: Uint8Array): Read {
  if (bytes.length > limit(standard, 'MESSAGE_MAX')) throw new Malformed('a message too long')
  const cursor = { bytes, at: 0 }
  const channel = integer(cursor, 1)
  const set = standard.channels.get(channel)
  if (set === undefined) throw new Malformed(`channel ${channel} has no reliable messages`)
  return { channel, message: readWhole(standard, set, rest(cursor)) }
}

/** Section 16. */
export function readStream(standard: Standard, way: 'up' | 'down', bytes: Uint8Array): Read {
  if (bytes.length > limit(standard, 'STREAM_MESSAGE_MAX')) throw new Malformed('too long')
  const cursor = { bytes, at: 0 }
  const first = integer(cursor, 1)
  if (first > 2) throw new Malformed(`a stream message has no kind ${first}`)
  if (first === 2) return { kind: 'knock', caller: varint(cursor), datagram: rest(cursor) }
  if (first === 1) return { kind: 'relay', peer: varint(cursor), datagram: rest(cursor) }
  const set = way === 'up' ? 'ToHub' : 'FromHub'
  return { kind: 'message', message: readWhole(standard, set, rest(cursor)) }
}

/** What an example is an example of, read. */
function readExample(standard: Standard, what: string, bytes: Uint8Array): Value {
  const [kind, ...more] = what.split(' ')
  switch (kind) {
    case 'datagram':
      return readDatagram(standard, bytes)
    case 'packet':
      return readPacket(standard, bytes)
    case 'fragment':
      return readFragment(standard, bytes)
    case 'frames':
      return readFrames(standard, bytes)
    case 'message':
      return readMessage(standard, bytes)
    case 'updates':
      return readUpdates(standard, bytes)
    case 'slots':
      return readSlots(standard, bytes)
    case 'state':
      return readState(more.join(' '), bytes)
    case 'piece':
      return readPieceBody(standard, Number(more[0]), bytes)
    case 'stream':
      return readStream(standard, more[0] as 'up' | 'down', bytes)
    case 'digest':
      return digest(bytes)
    case 'proof':
      return digest(bytes, new TextEncoder().encode(more[0]))
    case 'fingerprint':
      return fingerprint(bytes)
    default:
      return readWhole(standard, what, bytes)
  }
}

/** The same in words; null for malformed. */
export function inWords(standard: Standard, what: string, bytes: Uint8Array): string | null {
  try {
    return tell(readExample(standard, what, bytes))
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}
