/**
 * The packets of Mazewar on a LAN, bit for bit (M1-M23). All numbers are big-endian, bits stand
 * highest first, pads are zero on the way out and ignored on the way in.
 *
 *     header             id:4 length:12                       of what follows, in bytes
 *     0 heartbeat        heartbeat:32 source:32
 *     1 heartbeat ack    heartbeat:32 source:32 destination:32
 *     2 event            type:4 event:28 source:32 ABSOLUTE data
 *     3 event ack        event:28 pad:4 source:32 destination:32
 *     4 inquiry          source:32
 *     5 response         heartbeat:32 source:32 destination:32 ABSOLUTE { type:4 event:28 data }*
 *                        without the heartbeat it is understood too (M45)
 *     6 response ack     source:32 destination:32
 *     7 name             source:32 { byte:8 }*                ours, not of the source
 *
 *     ABSOLUTE           score:32 place:9 facing:2 cloaked:1 missiles:2 pad:2 MISSILE*
 *     MISSILE            id:2 place:9 heading:2 pad:3
 *     data    0 born     place:9 facing:2 pad:5          1 movement   facing:2 step:2 pad:4
 *             2 cloak    off:1 pad:7                     3 projection MISSILE
 *             4 hit      owner:32 MISSILE
 *
 * What comes in is hostile: `decode` returns null for anything that is not just so.
 */

import { type Bits, type BitSource, createBits, get, put, sourceOf } from './bits.ts'

/** 0 up, 1 down, 2 left, 3 right (M11). */
export type Heading = 0 | 1 | 2 | 3
/** A cell of the maze of 32 by 16: row * 32 + column (M11, M41). */
export type Cell = number

/** A missile in flight (M12). */
export interface Missile {
  /** Of its owner's: 0 to 3. */
  id: number
  cell: Cell
  heading: Heading
}

/** How a player stood before an event (M47). */
export interface Absolute {
  /** From -2^31 (M49). */
  score: number
  cell: Cell
  facing: Heading
  cloaked: boolean
  /** At most three (M43). */
  missiles: Missile[]
}

/** What a player does (M22). */
export type Action =
  | { kind: 'born'; cell: Cell; facing: Heading }
  /** A step or a turn (M23); a turn to where it faces already tells the state alone. */
  | { kind: 'movement'; facing: Heading; step: 'none' | 'forward' | 'backward' }
  | { kind: 'cloak'; on: boolean }
  | { kind: 'projection'; missile: Missile }
  /** Said by who was hit (M48). */
  | { kind: 'hit'; owner: number; missile: Missile }

/** An event that waits for acks, as a response lists it (M20). */
export interface Numbered {
  event: number
  action: Action
}

/** One packet. */
export type Packet =
  | { kind: 'heartbeat'; heartbeat: number; source: number }
  | { kind: 'heartbeat-ack'; heartbeat: number; source: number; destination: number }
  | ({ kind: 'event'; source: number; absolute: Absolute } & Numbered)
  | { kind: 'event-ack'; event: number; source: number; destination: number }
  | { kind: 'inquiry'; source: number }
  | {
      kind: 'response'
      /** The newest of its source; null where a response came without one (M45). */
      heartbeat: number | null
      source: number
      destination: number
      absolute: Absolute
      uncommitted: Numbered[]
    }
  | { kind: 'response-ack'; source: number; destination: number }
  /** The player's name, at most NAME_BYTES_MAX bytes; they may be no UTF-8. */
  | { kind: 'name'; source: number; name: readonly number[] }

const KINDS = [
  'heartbeat',
  'heartbeat-ack',
  'event',
  'event-ack',
  'inquiry',
  'response',
  'response-ack',
  'name',
] as const satisfies readonly Packet['kind'][]
const ACTIONS = ['born', 'movement', 'cloak', 'projection', 'hit'] as const
const STEPS = ['none', 'forward', 'backward'] as const
const HEADER_BYTES = 2
const LENGTH_MAX = 4095

/** Most bytes of a name. */
export const NAME_BYTES_MAX = 32
/** Most missiles of one player in flight (M43). */
export const MISSILES_MAX = 3

/** A packet as bytes. @throws RangeError if it has more than 4,095 of them, or 3 missiles */
export function encode(packet: Packet): Uint8Array {
  const bits = createBits()
  writeBody(bits, packet)
  const { length } = bits.bytes
  if (length > LENGTH_MAX) {
    throw new RangeError(`a packet has ${LENGTH_MAX} bytes at most behind its header: ${length}`)
  }
  const header = createBits()
  put(header, KINDS.indexOf(packet.kind), 4)
  put(header, length, 12)
  return Uint8Array.from([...header.bytes, ...bits.bytes])
}

function writeBody(bits: Bits, packet: Packet): void {
  switch (packet.kind) {
    case 'heartbeat':
      return words(bits, packet.heartbeat, packet.source)
    case 'heartbeat-ack':
      return words(bits, packet.heartbeat, packet.source, packet.destination)
    case 'event':
      put(bits, ACTIONS.indexOf(packet.action.kind), 4)
      put(bits, packet.event, 28)
      words(bits, packet.source)
      writeAbsolute(bits, packet.absolute)
      return writeAction(bits, packet.action)
    case 'event-ack':
      put(bits, packet.event, 28)
      put(bits, 0, 4)
      return words(bits, packet.source, packet.destination)
    case 'inquiry':
      return words(bits, packet.source)
    case 'response':
      if (packet.heartbeat !== null) words(bits, packet.heartbeat)
      words(bits, packet.source, packet.destination)
      writeAbsolute(bits, packet.absolute)
      for (const { event, action } of packet.uncommitted) {
        put(bits, ACTIONS.indexOf(action.kind), 4)
        put(bits, event, 28)
        writeAction(bits, action)
      }
      return
    case 'response-ack':
      return words(bits, packet.source, packet.destination)
    case 'name':
      words(bits, packet.source)
      for (const byte of packet.name.slice(0, NAME_BYTES_MAX)) put(bits, byte, 8)
      return
    default:
      packet satisfies never
  }
}

function words(bits: Bits, ...values: number[]): void {
  for (const value of values) put(bits, value, 32)
}

function writeAbsolute(bits: Bits, absolute: Absolute): void {
  const { score, cell, facing, cloaked, missiles } = absolute
  if (missiles.length > MISSILES_MAX) {
    throw new RangeError(`${MISSILES_MAX} missiles fly at most: ${missiles.length}`)
  }
  put(bits, score >>> 0, 32)
  put(bits, cell, 9)
  put(bits, facing, 2)
  put(bits, cloaked ? 1 : 0, 1)
  put(bits, missiles.length, 2)
  put(bits, 0, 2)
  for (const missile of missiles) writeMissile(bits, missile)
}

function writeMissile(bits: Bits, { id, cell, heading }: Missile): void {
  put(bits, id, 2)
  put(bits, cell, 9)
  put(bits, heading, 2)
  put(bits, 0, 3)
}

function writeAction(bits: Bits, action: Action): void {
  switch (action.kind) {
    case 'born':
      put(bits, action.cell, 9)
      put(bits, action.facing, 2)
      return put(bits, 0, 5)
    case 'movement':
      put(bits, action.facing, 2)
      put(bits, STEPS.indexOf(action.step), 2)
      return put(bits, 0, 4)
    case 'cloak':
      put(bits, action.on ? 0 : 1, 1)
      return put(bits, 0, 7)
    case 'projection':
      return writeMissile(bits, action.missile)
    case 'hit':
      words(bits, action.owner)
      return writeMissile(bits, action.missile)
    default:
      action satisfies never
  }
}

/**
 * A packet of these bytes, all of them; null if they are none.
 *
 * @param me  whose id the destination of a response is: that tells whether it has a heartbeat,
 *   where it could be read both ways (M45)
 */
export function decode(bytes: Uint8Array, me: number | null = null): Packet | null {
  if (bytes.length < HEADER_BYTES) return null
  const kind = KINDS[bytes[0]! >> 4]
  const length = (bytes[0]! & 15) * 256 + bytes[1]!
  if (!kind || length !== bytes.length - HEADER_BYTES) return null
  const whole = readWhole(bytes, kind)
  if (kind !== 'response' || isFor(whole, me)) return whole
  const bare = readWhole(bytes, 'bare')
  return isFor(bare, me) ? bare : (whole ?? bare)
}

function isFor(packet: Packet | null, me: number | null): boolean {
  return packet?.kind === 'response' && packet.destination === me
}

// To its last bit; a bare response has no heartbeat.
function readWhole(bytes: Uint8Array, kind: Packet['kind'] | 'bare'): Packet | null {
  const source = sourceOf(bytes, HEADER_BYTES, bytes.length)
  const packet = readBody(source, kind)
  return packet && !source.failed && source.at === source.end ? packet : null
}

function readBody(from: BitSource, kind: Packet['kind'] | 'bare'): Packet | null {
  switch (kind) {
    case 'heartbeat':
      return { kind, heartbeat: get(from, 32), source: get(from, 32) }
    case 'heartbeat-ack':
      return { kind, heartbeat: get(from, 32), source: get(from, 32), destination: get(from, 32) }
    case 'event':
      return readEvent(from)
    case 'event-ack': {
      const event = get(from, 28)
      get(from, 4)
      return { kind, event, source: get(from, 32), destination: get(from, 32) }
    }
    case 'inquiry':
      return { kind, source: get(from, 32) }
    case 'response':
      return readResponse(from, get(from, 32))
    case 'bare':
      return readResponse(from, null)
    case 'response-ack':
      return { kind, source: get(from, 32), destination: get(from, 32) }
    case 'name':
      return readName(from)
    default:
      return kind satisfies never
  }
}

function readEvent(from: BitSource): Packet | null {
  const type = get(from, 4)
  const event = get(from, 28)
  const source = get(from, 32)
  const absolute = readAbsolute(from)
  const action = readAction(from, type)
  // Who moves goes the way that it faces; who turns does not move (M59).
  const moves = action?.kind === 'movement' && action.step !== 'none'
  if (!action || (moves && action.facing !== absolute.facing)) return null
  return { kind: 'event', event, source, absolute, action }
}

function readResponse(from: BitSource, heartbeat: number | null): Packet | null {
  const [source, destination] = [get(from, 32), get(from, 32)]
  const absolute = readAbsolute(from)
  const uncommitted: Numbered[] = []
  while (!from.failed && from.at < from.end) {
    const type = get(from, 4)
    const event = get(from, 28)
    const action = readAction(from, type)
    if (!action) return null
    uncommitted.push({ event, action })
  }
  return { kind: 'response', heartbeat, source, destination, absolute, uncommitted }
}

function readName(from: BitSource): Packet | null {
  const source = get(from, 32)
  const name: number[] = []
  while (!from.failed && from.at < from.end) name.push(get(from, 8))
  return name.length > NAME_BYTES_MAX ? null : { kind: 'name', source, name }
}

function readAbsolute(from: BitSource): Absolute {
  const score = get(from, 32) | 0
  const cell = get(from, 9)
  const facing = get(from, 2) as Heading
  const cloaked = get(from, 1) === 1
  const count = get(from, 2)
  get(from, 2)
  const missiles = Array.from({ length: count }, () => readMissile(from))
  return { score, cell, facing, cloaked, missiles }
}

function readMissile(from: BitSource): Missile {
  const missile = { id: get(from, 2), cell: get(from, 9), heading: get(from, 2) as Heading }
  get(from, 3)
  return missile
}

function readAction(from: BitSource, type: number): Action | null {
  const kind = ACTIONS[type]
  switch (kind) {
    case 'born': {
      const born = { kind, cell: get(from, 9), facing: get(from, 2) as Heading }
      get(from, 5)
      return born
    }
    case 'movement': {
      const facing = get(from, 2) as Heading
      const step = STEPS[get(from, 2)]
      get(from, 4)
      return step ? { kind, facing, step } : null
    }
    case 'cloak': {
      const on = get(from, 1) === 0
      get(from, 7)
      return { kind, on }
    }
    case 'projection':
      return { kind, missile: readMissile(from) }
    case 'hit':
      return { kind, owner: get(from, 32), missile: readMissile(from) }
    default:
      return null
  }
}
