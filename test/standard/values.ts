/** Values by the types of the document: section 1 of docs/STANDARD.md, and nothing else. */

import type { Fields, Standard, Type } from './document.ts'

/** A value that was read: fields in order, with `kind` in front in a message. */
export type Value =
  | number
  | string
  | boolean
  | null
  | Uint8Array
  | Value[]
  | { [field: string]: Value }

/** A record that was read: fields by their names. */
export type Read = { [field: string]: Value }

/** What was read is not what the document allows. */
export class Malformed extends Error {}

/** A place in bytes. */
export interface Cursor {
  bytes: Uint8Array
  at: number
}

/** The next bytes. @throws Malformed */
export function take(cursor: Cursor, count: number): Uint8Array {
  const { bytes, at } = cursor
  if (count > bytes.length - at) throw new Malformed(`${count} bytes wanted, past the end`)
  cursor.at += count
  return bytes.subarray(at, at + count)
}

/** Whatever is left. */
export function rest(cursor: Cursor): Uint8Array {
  return take(cursor, cursor.bytes.length - cursor.at)
}

/** A big-endian integer of so many bytes. @throws Malformed */
export function integer(cursor: Cursor, count: number): number {
  return take(cursor, count).reduce((sum, byte) => sum * 256 + byte, 0)
}

/** LEB128 in its shortest form. @throws Malformed */
export function varint(cursor: Cursor): number {
  let value = 0n
  for (let count = 0n; count < 8n; count++) {
    const byte = integer(cursor, 1)
    value |= BigInt(byte & 0x7f) << (7n * count)
    if (byte >= 0x80) continue
    if (byte === 0 && count > 0n) throw new Malformed('a varint in a longer form')
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed('a varint above 2^53 - 1')
    return Number(value)
  }
  throw new Malformed('a varint of more than 8 bytes')
}

/** A double. @throws Malformed */
export function double(cursor: Cursor): number {
  const value = Buffer.from(take(cursor, 8)).readDoubleBE()
  if (!Number.isFinite(value)) throw new Malformed('a number that is not finite')
  return value
}

/** UTF-8. @throws Malformed */
export function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Malformed('text that is no UTF-8')
  }
}

/** A varint length of at most max, then so many bytes. @throws Malformed */
export function blob(cursor: Cursor, max: number): Uint8Array {
  const length = varint(cursor)
  if (length > max) throw new Malformed(`${length} bytes where ${max} are allowed`)
  return take(cursor, length)
}

/** One value of that type. @throws Malformed */
export function readValue(standard: Standard, type: Type, cursor: Cursor): Value {
  switch (type.kind) {
    case 'u8':
    case 'u16':
    case 'u32':
      return integer(cursor, Number(type.kind.slice(1)) / 8)
    case 'varint':
      return varint(cursor)
    case 'f64':
      return double(cursor)
    case 'flag':
      return flag(cursor)
    case 'bytes':
      return take(cursor, type.max)
    case 'blob':
      return blob(cursor, type.max)
    case 'text':
      return utf8(blob(cursor, type.max))
    case 'word': {
      const word = type.words[integer(cursor, 1)]
      if (word === undefined) throw new Malformed('a word that is not in the list')
      return word
    }
    case 'maybe':
      return flag(cursor) ? readValue(standard, type.item, cursor) : null
    case 'list':
      return readList(standard, type, cursor)
    case 'all':
      return readAll(standard, type, cursor)
    case 'named':
      return readNamed(standard, type.name, cursor)
    default:
      return type satisfies never
  }
}

function flag(cursor: Cursor): boolean {
  const byte = integer(cursor, 1)
  if (byte > 1) throw new Malformed(`a flag of ${byte}`)
  return byte === 1
}

function readList(standard: Standard, type: Type & { kind: 'list' }, cursor: Cursor): Value[] {
  const count = varint(cursor)
  if (count > type.max) throw new Malformed(`${count} items where ${type.max} are allowed`)
  return Array.from({ length: count }, () => readValue(standard, type.item, cursor))
}

function readAll(standard: Standard, type: Type & { kind: 'all' }, cursor: Cursor): Value[] {
  const items: Value[] = []
  while (cursor.at < cursor.bytes.length) items.push(readValue(standard, type.item, cursor))
  return items
}

/** Who reads what the document says in prose, behind the fields of a record or message. */
export const PROSE = new Map<string, (standard: Standard, cursor: Cursor, value: Read) => void>()

function readNamed(standard: Standard, name: string, cursor: Cursor): Value {
  const set = standard.sets.get(name)
  const fields = standard.records.get(name)
  if (set) {
    const tag = integer(cursor, 1)
    const found = set.get(tag)
    if (!found) throw new Malformed(`${name} has no tag ${tag}`)
    const value = { kind: found.kind, ...readFields(standard, found.fields, cursor) }
    PROSE.get(`${name} ${found.kind}`)?.(standard, cursor, value)
    return value
  }
  if (!fields) throw new Error(`the document has neither a record nor a set ${name}`)
  const value = readFields(standard, fields, cursor)
  PROSE.get(name)?.(standard, cursor, value)
  // A proof or a hash is one value, however many names it has.
  return name === 'Digest' ? value['value']! : value
}

function readFields(standard: Standard, fields: Fields, cursor: Cursor): Read {
  return Object.fromEntries(fields.map(([name, type]) => [name, readValue(standard, type, cursor)]))
}

/** A value as the examples write it. */
export function tell(value: Value): string {
  if (value === null) return '-'
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}`
  if (Array.isArray(value)) return `[${value.map(inside).join(' ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const { kind, ...fields } = value
  const said = Object.entries(fields).map(([name, field]) => `${name}=${inside(field)}`)
  return (typeof kind === 'string' && !isField(value) ? [kind, ...said] : entries(value)).join(' ')
}

// A member has a field of that name, which does not come first.
function isField(value: { [field: string]: Value }): boolean {
  return Object.keys(value)[0] !== 'kind'
}

function entries(value: { [field: string]: Value }): string[] {
  return Object.entries(value).map(([name, field]) => `${name}=${inside(field)}`)
}

function inside(value: Value): string {
  const record = value !== null && typeof value === 'object' && !Array.isArray(value)
  return record && !(value instanceof Uint8Array) ? `(${tell(value)})` : tell(value)
}
