/**
 * Reads a whole capture by the document and keeps count: every datagram and stream message to
 * its last byte, and what stands inside them (reliable messages out of their pieces, entries of
 * the log, snapshots, states) as well. Imports nothing of the implementation.
 */

import { limit, type Standard, type TypeText } from './document.ts'
import { readUpdates } from './objects.ts'
import { pieceOf, readPieceBody } from './pieces.ts'
import { digest, readDatagram, readMessage, readStream, readWhole } from './reader.ts'
import { readSlots } from './slots.ts'
import { Malformed, type Read, type Value } from './values.ts'

/** One thing that was sent, by the name of the process that sent or got it. */
export type Sent =
  | { way: 'datagram'; node: string; bytes: Uint8Array }
  | { way: 'up' | 'down'; node: string; bytes: Uint8Array }
  | { way: 'disk'; node: string; key: string; bytes: Uint8Array }

/** One thing that was read: who sent or got it, and its place in the capture. */
export interface Met {
  node: string
  /** Whom a datagram goes to; empty if it is not known. */
  to: string
  value: Read
  at: number
}

/** What was read. */
export interface Ledger {
  /** How often each kind was met, as `Peer view` or `frame REL`. */
  counts: Map<string, number>
  /** All of one kind, in order. */
  met: Map<string, Met[]>
}

interface Pieces {
  next: number
  early: Map<number, Read>
  open: Uint8Array[]
}

/** Hears the bytes of each message, by the name of its set or record and its kind. */
export type Hear = (set: string, kind: string, node: string, bytes: Uint8Array) => void

interface Reading extends Ledger {
  hear: Hear
  standard: Standard
  streams: Map<string, Pieces>
  snapshots: Map<string, Uint8Array[]>
  /** The place in the capture, and whom it goes to. */
  at: number
  to: string
  /** Whose each number of keys is, and of which link. */
  ends: Map<number, End>
  /** The part of an operation, by who sent it and its number. */
  parts: Map<string, Value>
  /** Names of players. */
  players: Map<Value, string>
  /** Types of pieces that were told. */
  kinds: Map<Value, number>
}

/** Reads it all. @throws Malformed that says where, and what it does not understand */
export function readCapture(
  standard: Standard,
  sent: readonly Sent[],
  types: readonly TypeText[],
  pieceTypes: readonly string[] = [],
  hear: Hear = () => {},
): Ledger {
  const reading: Reading = {
    hear,
    standard: { ...standard, types, pieceTypes },
    counts: new Map(),
    met: new Map(),
    streams: new Map(),
    snapshots: new Map(),
    at: 0,
    to: '',
    ends: endsOf(standard, sent),
    parts: new Map(),
    players: new Map(),
    kinds: new Map(),
  }
  for (const [index, one] of sent.entries()) {
    reading.at = index
    try {
      readSent(reading, one)
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      const hex = Buffer.from(one.bytes.subarray(0, 40)).toString('hex')
      throw new Malformed(`${one.way} ${index} of ${one.node}: ${error.message}: ${hex}`)
    }
  }
  return reading
}

interface End {
  node: string
  link: number
}

// Both ends say in the handshake by which number each knows its keys; the first says of which link.
function endsOf(standard: Standard, sent: readonly Sent[]): Map<number, End> {
  const ends = new Map<number, End>()
  for (const one of sent) {
    const bytes = datagramOf(one)
    if (bytes?.[0] !== 1 && bytes?.[0] !== 2) continue
    const read = handshakeOf(standard, bytes)
    if (!read) continue
    const { node } = one
    const index = read['index'] as number
    if (read['kind'] === 'first') {
      ends.set(index, { node, link: (read['said'] as Read)['link'] as number })
    } else if (index !== 0)
      ends.set(index, { node, link: ends.get(read['to'] as number)?.link ?? 0 })
  }
  return ends
}

// One that is malformed is told with its place when its turn comes.
function handshakeOf(standard: Standard, bytes: Uint8Array): Read | null {
  try {
    return readDatagram(standard, bytes)
  } catch {
    return null
  }
}

// What a node sent, itself or through the hub; what it was sent was sent by somebody.
function datagramOf({ way, bytes }: Sent): Uint8Array | null {
  if (way === 'datagram') return bytes
  return way === 'up' && bytes[0] !== 0 ? bytes.subarray(relayed(bytes)) : null
}

// Behind the number of who it is for.
function relayed(bytes: Uint8Array): number {
  return 2 + bytes.subarray(1).findIndex((byte) => byte < 0x80)
}

/** Whom a datagram, or one that is relayed, goes to; empty if nobody. */
export function hearers(standard: Standard, sent: readonly Sent[]): string[] {
  const ends = endsOf(standard, sent)
  return sent.map((one) => {
    const bytes = datagramOf(one)
    if (!bytes || bytes[0]! < 16) return ''
    return ends.get(Buffer.from(bytes).readUInt32BE(1))?.node ?? ''
  })
}

function readSent(reading: Reading, one: Sent): void {
  const { way, node, bytes } = one
  const { standard } = reading
  reading.to = ''
  if (way === 'disk') {
    if (!isPlace(one.key)) return void takeRecord(reading, node, segmentOf(reading, one), bytes)
    return void takeRecord(reading, node, 'Stored', bytes)
  }
  if (way === 'datagram') return takeDatagram(reading, node, bytes, true)
  const message = readStream(standard, way, bytes)
  const isDatagram = message['datagram'] !== undefined
  if (!isDatagram) {
    const inner = message['message'] as Read
    reading.hear(way === 'up' ? 'ToHub' : 'FromHub', said(inner['kind']), node, bytes)
  }
  note(reading, `stream ${said(message['kind'])}`, node, message)
  if (isDatagram) {
    return takeDatagram(reading, node, message['datagram'] as Uint8Array, way === 'up')
  }
  const inner = message['message'] as Read
  note(reading, `${way === 'up' ? 'ToHub' : 'FromHub'} ${said(inner['kind'])}`, node, inner)
}

/** The entry of the session that a record of a place has. */
export function entryOf(stored: Read): Read {
  return (stored['session'] as Read)['entry'] as Read
}

// Section 18: the key of a place begins with the length of the game's name; that of a segment with
// the id of a session, and it ends with a number.
function isPlace(key: string): boolean {
  return /^\d+ \S+ \S+$/.test(key)
}

// Whether segments are sealed the terms of the session say, which were written before.
function segmentOf({ met }: Reading, { key }: { key: string }): string {
  const written = met.get('record Stored') ?? []
  const terms = written.map(({ value }) => entryOf(value)['terms'])
  if (terms.some((one) => said(one!).includes('sealed='))) return 'Sealed'
  return key.endsWith(' 0') ? 'Whole' : 'Entries'
}

function takeDatagram(reading: Reading, node: string, bytes: Uint8Array, own: boolean): void {
  const { standard } = reading
  const read = readDatagram(standard, bytes)
  const end = reading.ends.get(read['connection'] as number)
  if (end) reading.to = end.node
  note(reading, `datagram ${said(read['kind'])}`, node, read)
  if (read['kind'] !== 'packet') return takeSealing(reading, node, read, own ? bytes : null)
  const frames = (read['packet'] as Read)['frames'] as Read[]
  for (const frame of frames) {
    note(reading, `frame ${said(frame['kind'])}`, node, frame)
  }
  // What was relayed is read once, where it was sent.
  if (!own) return
  reading.hear('Packet', '', node, bytes)
  for (const frame of frames) if (frame['kind'] === 'UNREL') takeUpdates(reading, node, frame)
  const key = `${node} ${reading.to} ${end?.link}`
  const pieces = reading.streams.get(key) ?? { next: 1, early: new Map(), open: [] }
  reading.streams.set(key, pieces)
  for (const message of takePieces(standard, pieces, frames)) takeMessage(reading, node, message)
}

/** Section 21: what sealing says itself. */
function takeSealing(reading: Reading, node: string, read: Read, bytes: Uint8Array | null): void {
  const of = said(read['kind'])
  const message = read['said'] as Read
  if (bytes) reading.hear('Seal', of, node, bytes)
  if (of === 'first') {
    note(reading, 'record SealFirst', node, message)
    // It goes several times, and on several ways.
    if (message['join'] !== null && bytes) takeRecord(reading, node, 'Join', message['join']!)
  } else noteSet(reading, node, of === 'second' ? 'SealSecond' : 'SealWord', message)
}

/** Section 6, REL: the messages that these frames complete. */
function takePieces(standard: Standard, pieces: Pieces, frames: Read[]): Uint8Array[] {
  const messages: Uint8Array[] = []
  let before = 0
  for (const frame of frames) {
    if (frame['kind'] !== 'REL') continue
    const gap = frame['gap'] as number | undefined
    before = gap === undefined ? nearest(frame['piece'] as number, pieces.next) : before + 1 + gap
    if (before < 1) throw new Malformed(`piece ${before}`)
    if (before >= pieces.next + limit(standard, 'REORDER_MAX')) throw new Malformed('too far ahead')
    if (before >= pieces.next) pieces.early.set(before, frame)
  }
  for (;;) {
    const piece = pieces.early.get(pieces.next)
    if (!piece) return messages
    pieces.early.delete(pieces.next++)
    if ((piece['first'] === true) !== (pieces.open.length === 0)) throw new Malformed('no first')
    pieces.open.push(piece['bytes'] as Uint8Array)
    if (piece['last'] === true) messages.push(joined(pieces.open.splice(0)))
  }
}

function nearest(low: number, near: number): number {
  const base = near - (near % 65536) + low
  const all = [base - 65536, base, base + 65536]
  return all.reduce((best, one) => (Math.abs(one - near) < Math.abs(best - near) ? one : best))
}

function joined(parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

function takeMessage(reading: Reading, node: string, bytes: Uint8Array): void {
  const { channel, message } = readMessage(reading.standard, bytes)
  const inner = message as Read
  const set = reading.standard.channels.get(channel as number)!
  reading.hear(set, said(inner['kind']), node, bytes)
  noteSet(reading, node, set, inner)
  if (channel === 4) {
    note(reading, `bytes of ${said(inner['kind'])}`, node, { bytes: bytes.slice(1) })
    return takeEntries(reading, node, inner)
  }
  if (channel !== 0) return
  switch (inner['kind']) {
    case 'replicate':
      return takeDelta(reading, node, inner['delta'] as Uint8Array)
    case 'snapshot':
    case 'testimony':
      return takeSnapshot(reading, node, inner)
    case 'news': {
      const set = reading.standard.channels.get(inner['part'] as number)!
      const told = takeSet(reading, node, set, inner['bytes'] as Uint8Array)
      if (set === 'Pieces') learn(reading, told['rows'] ?? told['entries']!)
      return note(reading, `bytes of ${set}`, node, { bytes: inner['bytes']! })
    }
    case 'operation':
      return takeOperation(reading, node, inner)
    case 'done':
      return takeOutcome(reading, node, partOf(reading, reading.to, inner['seq']!), inner)
    case 'change':
      return meet(reading, inner['add'] ? [inner['add']] : [])
    case 'view':
      return meet(reading, (inner['view'] as Read)['members']!)
    default:
  }
}

// Members bear the names of their processes.
function meet({ players }: Reading, members: Value): void {
  for (const { player, name } of members as Read[]) players.set(player!, name as string)
}

function learn({ kinds }: Reading, told: Value): void {
  for (const one of told as Read[]) {
    const row = (one['row'] ?? one) as Read
    if (row['type'] !== undefined) kinds.set(row['id']!, row['type'] as number)
  }
}

function takeOperation(reading: Reading, node: string, { seq, part, body }: Read): void {
  reading.parts.set(`${node} ${said(seq)}`, part!)
  if (part === 0) takeSet(reading, node, 'Wish', body as Uint8Array)
  if (part === 5) takeRecord(reading, node, 'Call', body!)
  if (part === 7) takeBody(reading, node, seq!, body as Uint8Array)
}

// The body of an update says of which piece it is, and not of which type.
function takeBody(reading: Reading, node: string, seq: Value, bytes: Uint8Array): void {
  const { standard } = reading
  const id = pieceOf(bytes)
  const read = readPieceBody(standard, reading.kinds.get(id) ?? 0, bytes)
  note(reading, `body ${said(read['kind'])}`, node, { ...read, seq, tagged: read['seq'] ?? 0 })
  reading.hear('Update', said(read['kind']), node, bytes)
  note(reading, 'bytes of body', node, { bytes, type: reading.kinds.get(id) ?? 0 })
  if (read['kind'] !== 'update') return
  const how = [read['hold'], read['loose'] === true ? 'loose' : '', read['z'] ? 'raised' : '']
  for (const one of how) if (one !== '') note(reading, `update: ${said(one)}`, node, read)
}

function partOf({ parts }: Reading, node: string, seq: Value): Value {
  return parts.get(`${node} ${said(seq)}`) ?? null
}

// Of what a primary asks itself nothing is on the wire but the outcome.
function takeOutcome(reading: Reading, node: string, part: Value, done: Read): void {
  const { player, seq, outcome } = done
  const bytes = outcome as Uint8Array
  if (part === 0) return void takeRecord(reading, node, 'Conduct', bytes)
  if (part === 5) return void takeRecord(reading, node, 'Answer', bytes)
  if (part !== 7)
    return note(reading, 'outcome of nobody seen', node, { seq: seq!, outcome: bytes })
  const read = takeSet(reading, node, 'PieceOutcome', bytes)
  const where = player === undefined ? 'outcome that was told' : 'outcome in the log'
  note(reading, where, node, { ...read, seq: seq!, player: player ?? 0 })
  note(reading, 'bytes of PieceOutcome', node, { bytes })
}

function takeDelta(reading: Reading, node: string, bytes: Uint8Array): void {
  const delta = takeSet(reading, node, 'Delta', bytes)
  if (delta['kind'] === 'add') meet(reading, [delta['member']!])
  if (delta['kind'] !== 'operation') return
  const { player, seq, changes } = delta
  takeOutcome(reading, node, partOf(reading, reading.players.get(player!) ?? '', seq!), delta)
  for (const { part, bytes: change } of changes as Read[]) {
    if (part === 5) takeRecord(reading, node, 'Row', change!)
    else takeChange(reading, node, change!)
  }
}

function takeChange(reading: Reading, node: string, bytes: Value): void {
  const change = takeSet(reading, node, 'PieceChange', bytes)
  note(reading, 'bytes of PieceChange', node, { bytes })
  learn(reading, change['rows'] ?? [change])
}

function takeSnapshot(reading: Reading, node: string, message: Read): void {
  const pieces = message['piece'] === 0 ? [] : (reading.snapshots.get(node) ?? [])
  reading.snapshots.set(node, pieces)
  if (pieces.length !== message['piece']) throw new Malformed('pieces out of order')
  pieces.push(message['bytes'] as Uint8Array)
  if (pieces.length < (message['of'] as number)) return
  const type = message['kind'] === 'snapshot' ? 'Snapshot' : 'Testimony'
  const snapshot = takeRecord(reading, node, type, joined(pieces))
  meet(reading, snapshot['members'] ?? [])
  for (const { part, bytes } of snapshot['parts'] as Read[]) {
    if (part === 5) takeSet(reading, node, 'News', bytes!)
    else takeChange(reading, node, bytes!)
  }
}

function takeUpdates(reading: Reading, node: string, frame: Read): void {
  const isSlots = frame['channel'] === 8
  reading.hear(isSlots ? 'Slots' : 'Objects', 'frame', node, frame['bytes'] as Uint8Array)
  if (isSlots) {
    const read = readSlots(reading.standard, frame['bytes'] as Uint8Array)
    note(reading, 'slots frame', node, read)
    for (const event of read['events'] as Read[]) note(reading, 'slot event', node, event)
    return
  }
  note(reading, 'update frame', node, frame)
  if (frame['channel'] !== 4) throw new Malformed(`unreliable channel ${said(frame['channel'])}`)
  for (const update of readUpdates(reading.standard, frame['bytes'] as Uint8Array)) {
    const ages = update['ages'] as number[] | null | undefined
    note(reading, 'update', node, update)
    if (ages) note(reading, `update with ages ${ages.length}`, node, update)
  }
}

function takeEntries(reading: Reading, node: string, message: Read): void {
  const kind = said(message['kind'])
  const told = (message['entries'] ?? message['state'] ?? [message['entry']]) as (
    | Read
    | undefined
  )[]
  for (const entry of told) {
    if (!entry) continue
    const what = entry['fields'] === undefined ? 'is gone' : 'stands'
    note(reading, `entry of ${kind}`, node, entry)
    note(reading, `entry that ${what}`, node, entry)
  }
  if (kind === 'request') note(reading, `request to ${said(message['what'])}`, node, message)
  if (kind === 'refuse') note(reading, `refuse ${said(message['why'])}`, node, message)
}

function readRecord({ standard }: Reading, type: string, bytes: Value): Read {
  return readWhole(standard, type, bytes as Uint8Array) as Read
}

function takeRecord(reading: Reading, node: string, type: string, bytes: Value): Read {
  const read = readRecord(reading, type, bytes)
  reading.hear(type, '', node, bytes as Uint8Array)
  note(reading, `record ${type}`, node, read)
  return read
}

function takeSet(reading: Reading, node: string, set: string, bytes: Value): Read {
  const read = readRecord(reading, set, bytes)
  reading.hear(set, said(read['kind']), node, bytes as Uint8Array)
  noteSet(reading, node, set, read)
  return read
}

function noteSet(reading: Reading, node: string, set: string, value: Value): void {
  const read = value as Read
  note(reading, `${set} ${said(read['kind'])}`, node, read)
}

function note({ counts, met, at, to }: Reading, what: string, node: string, value: Read): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
  const all = met.get(what)
  if (all) all.push({ node, to, value, at })
  else met.set(what, [{ node, to, value, at }])
}

function said(value: Value | undefined): string {
  return typeof value === 'number' || typeof value === 'string' ? `${value}` : ''
}

/** Whether a proof is the one whose hash was given (section 1.2). */
export function proves(proof: Value, hash: Value): boolean {
  return Buffer.from(digest(proof as Uint8Array)).equals(Buffer.from(hash as Uint8Array))
}
