/**
 * Fields that hold other fields: a value or null, values in order or by key, fields within a field.
 * They nest at most DEPTH_MAX deep.
 *
 * Each is one field of its state, compared and sent as a whole when anything in it changes. A value
 * that often changes alone is better a separate field or object.
 */

import { badValue, misfit, within } from '../../machine.ts'
import {
  type BitReader,
  type BitWriter,
  failBits,
  readBits,
  writeBits,
  pack,
  writePacked,
  openPacked,
} from '../bits.ts'
import {
  decoded,
  decoder,
  encoder,
  type Field,
  type Quantised,
  readRun,
  shown,
  writeRun,
} from './fields.ts'
import { bitsFor, readPlace } from './scale.ts'

/** Named fields. */
export type Fields = Record<string, Field<unknown>>
/** The values of named fields. A state is immutable: a change makes a new one. */
export type StateOf<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<infer Value> ? Value : never
}

/** Most fields of one type or struct: a mask is one 32-bit number. */
export const FIELDS_MAX = 32
/** Deepest nesting of fields. */
export const DEPTH_MAX = 8
/** Most values of a list or a map. */
export const ITEMS_MAX = 1_024
/** Longest key of a map, in bytes of UTF-8. */
export const KEY_BYTES_MAX = 64

const KEY_BITS = bitsFor(KEY_BYTES_MAX)

// Names begin with a letter, so that texts and errors can recognise them.
const NAME = /^[\p{L}_$][\p{L}\p{N}_$-]{0,63}$/u

/** Checks fields. @throws HoldfastError `bad-value` for none, more than 32, or an invalid one */
export function namesOf(what: string, fields: Fields): string[] {
  if (typeof fields !== 'object' || fields === null) {
    throw badValue(`${what} takes fields, such as { hue: u8 }: ${shown(fields)}`)
  }
  const names = Object.keys(fields)
  if (names.length === 0 || names.length > FIELDS_MAX) {
    throw badValue(`${what} has 1 to ${FIELDS_MAX} fields: ${names.length}`)
  }
  for (const name of names) checkField(name, fields[name])
  return names
}

/** Another build's name for one of our fields; undefined if it lacks the field. */
export function formerName(
  { name, field }: { readonly name: string; readonly field: Field<unknown> },
  has: (name: string) => boolean,
): string | undefined {
  const { was } = field as { was?: string }
  return [name, was].find((one) => one !== undefined && has(one))
}

function checkField(name: string, field: unknown): void {
  if (!NAME.test(name) || name === '__proto__') {
    throw badValue(`"${name.slice(0, 64)}" is no name of a field: letters, digits, _, - and $`)
  }
  if (isField(field)) return
  throw badValue(`field ${name} is no field, such as u8 or text(20): ${shown(field)}`)
}

function isField(field: unknown): boolean {
  const { text, quantise } = (field ?? {}) as { text?: unknown; quantise?: unknown }
  return typeof text === 'string' && typeof quantise === 'function'
}

/** The properties that a field inherits from the fields in it. @throws HoldfastError `bad-value` */
function holding(
  what: string,
  inner: readonly Field<unknown>[],
): { depth: number; copied: boolean } {
  for (const field of inner) {
    if (!isField(field)) throw badValue(`${what} holds a field, such as u8: ${shown(field)}`)
    if ('sees' in field) throw badValue(`${what} holds no secret: a secret is a field of a piece`)
  }
  const depth = 1 + Math.max(...inner.map((field) => field.depth ?? 1))
  if (depth > DEPTH_MAX) {
    throw badValue(`fields stand ${DEPTH_MAX} deep in each other at most: ${what} is at ${depth}`)
  }
  return { depth, copied: inner.some(({ copied }) => copied === true) }
}

/** Quantises a value of a field. @throws HoldfastError `bad-value` that begins with `where` */
export function quantiseInner<Value>(
  where: string,
  field: Field<Value>,
  value: Value,
  into: Quantised,
  at: number,
): void {
  try {
    field.quantise(value, into, at)
  } catch (error) {
    throw within(where, error)
  }
}

/** A value or null, initially null. @throws HoldfastError `bad-value` */
export function optional<Value>(field: Field<Value>): Field<Value | null, 'optional'> {
  const held = holding('optional', [field])
  if (field.kind === 'optional')
    throw badValue('an optional of an optional has one null: leave one out')
  const { size } = field
  return {
    kind: 'optional',
    text: `optional ${field.text}`,
    ...held,
    initial: null,
    size: 1 + size,
    bits: 1 + field.bits,
    grown: (value, each) => (value === null ? null : each(field, value)),
    quantise: (value, into, at) => {
      if (value === null) putNull(into, at, size)
      else {
        into[at] = 1
        field.quantise(value, into, at + 1)
      }
    },
    valueAt: (from, at) => (from[at] === 1 ? field.valueAt(from, at + 1) : null),
    write: (writer, from, at) => {
      writeBits(writer, from[at] as number, 1)
      if (from[at] === 1) field.write(writer, from, at + 1)
    },
    read: (reader, into, at) => {
      if (readBits(reader, 1) === 0) return putNull(into, at, size)
      into[at] = 1
      field.read(reader, into, at + 1)
    },
  }
}

// Every null fills the same places, so that nulls are equal.
function putNull(into: Quantised, at: number, size: number): void {
  for (let place = at; place <= at + size; place++) into[place] = 0
}

function checkMost(what: string, max: number): void {
  if (Number.isInteger(max) && max >= 1 && max <= ITEMS_MAX) return
  throw badValue(`a ${what} takes 1 to ${ITEMS_MAX} values: ${shown(max)}`)
}

/** At most `max` values in order, initially none. @throws HoldfastError `bad-value` */
export function list<Value>(field: Field<Value>, max: number): Field<readonly Value[], 'list'> {
  const held = holding('list', [field])
  checkMost('list', max)
  const countBits = bitsFor(max)
  return {
    kind: 'list',
    text: `list ${max} ${field.text}`,
    ...held,
    initial: Object.freeze([]),
    size: 1,
    bits: countBits + max * field.bits,
    grown: (value, each) =>
      Array.isArray(value) ? value.map((one: unknown) => each(field, one)) : value,
    quantise: (value, into, at) => {
      if (!Array.isArray(value)) throw badValue(`must be a list: ${shown(value)}`)
      if (value.length > max) throw misfit(`takes ${max} values: ${value.length}`)
      into[at] = packList(field, value as readonly Value[], countBits)
    },
    valueAt: (from, at) => {
      const reader = openPacked(from[at] as string)
      const item: Quantised = []
      const values: Value[] = []
      for (let left = readBits(reader, countBits); left > 0; left--) {
        field.read(reader, item, 0)
        values.push(field.valueAt(item, 0))
      }
      return Object.freeze(values)
    },
    write: (writer, from, at) => writePacked(writer, from[at] as string),
    read: (reader, into, at) => {
      const count = readPlace(reader, max, countBits)
      const item: Quantised = []
      into[at] = pack((writer) => {
        writeBits(writer, count, countBits)
        for (let i = 0; i < count; i++) if (!take(reader, field, item, writer)) return
      })
    },
  }
}

function packList<Value>(field: Field<Value>, values: readonly Value[], countBits: number): string {
  const item: Quantised = []
  return pack((writer) => {
    writeBits(writer, values.length, countBits)
    for (let i = 0; i < values.length; i++) {
      quantiseInner(`value ${i}`, field, values[i]!, item, 0)
      field.write(writer, item, 0)
    }
  })
}

// A failed value's output is never read, and reading ends there, so a forged count costs nothing.
function take(
  reader: BitReader,
  field: Field<unknown>,
  item: Quantised,
  writer: BitWriter,
): boolean {
  field.read(reader, item, 0)
  field.write(writer, item, 0)
  return !reader.failed
}

/**
 * At most `max` values by key, initially none. A key is a text of at most 64 bytes of UTF-8. Keys
 * are in the order of their bytes, so equal maps are equal bytes. A state shows a map as an object
 * without a prototype, so any key is safe: it inherits no names.
 *
 * @throws HoldfastError `bad-value`
 */
export function map<Value>(
  field: Field<Value>,
  max: number,
): Field<Readonly<Record<string, Value>>, 'map'> {
  const held = holding('map', [field])
  checkMost('map', max)
  const countBits = bitsFor(max)
  return {
    kind: 'map',
    text: `map ${max} ${field.text}`,
    ...held,
    initial: emptyMap(),
    size: 1,
    bits: countBits + max * (KEY_BITS + 8 * KEY_BYTES_MAX + field.bits),
    grown: (value, each) => {
      if (!isRecord(value)) return value
      const values = emptyMap<unknown>()
      for (const [key, one] of Object.entries(value)) values[key] = each(field, one)
      return values
    },
    quantise: (value, into, at) => {
      into[at] = packMap(field, value, keysOf(value, max), countBits)
    },
    valueAt: (from, at) => {
      const reader = openPacked(from[at] as string)
      const item: Quantised = []
      const values = emptyMap<Value>()
      for (let left = readBits(reader, countBits); left > 0; left--) {
        const key = decoder.decode(readRun(reader, KEY_BYTES_MAX, KEY_BITS))
        field.read(reader, item, 0)
        values[key] = field.valueAt(item, 0)
      }
      return Object.freeze(values)
    },
    write: (writer, from, at) => writePacked(writer, from[at] as string),
    read: (reader, into, at) => {
      into[at] = takeMap(reader, field, readPlace(reader, max, countBits), countBits)
    },
  }
}

function packMap<Value>(
  field: Field<Value>,
  values: Readonly<Record<string, Value>>,
  keys: readonly Key[],
  countBits: number,
): string {
  const item: Quantised = []
  return pack((writer) => {
    writeBits(writer, keys.length, countBits)
    for (const { key, bytes } of keys) {
      writeRun(writer, bytes, KEY_BITS)
      quantiseInner(`key ${shown(key)}`, field, values[key]!, item, 0)
      field.write(writer, item, 0)
    }
  })
}

function takeMap(
  reader: BitReader,
  field: Field<unknown>,
  count: number,
  countBits: number,
): string {
  const item: Quantised = []
  let before: Uint8Array | null = null
  return pack((writer) => {
    writeBits(writer, count, countBits)
    for (let i = 0; i < count; i++) {
      before = takeKey(reader, before, writer)
      if (!take(reader, field, item, writer)) return
    }
  })
}

function emptyMap<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>
}

function takeKey(reader: BitReader, before: Uint8Array | null, writer: BitWriter): Uint8Array {
  const key = readRun(reader, KEY_BYTES_MAX, KEY_BITS)
  decoded(reader, key)
  if (before !== null && byBytes(before, key) >= 0) failBits(reader)
  writeRun(writer, key, KEY_BITS)
  return key
}

function byBytes(one: Uint8Array, other: Uint8Array): number {
  const shared = Math.min(one.length, other.length)
  for (let i = 0; i < shared; i++) if (one[i] !== other[i]) return one[i]! - other[i]!
  return one.length - other.length
}

/** Compares two texts by their UTF-8 bytes: below 0, 0 if they are equal, or above 0. */
export function byUtf8(one: string, other: string): number {
  return byBytes(encoder.encode(one), encoder.encode(other))
}

/** A key, and its UTF-8. */
interface Key {
  readonly key: string
  readonly bytes: Uint8Array
}

function keysOf(value: unknown, max: number): Key[] {
  if (!isRecord(value)) throw badValue(`must be an object of values by key: ${shown(value)}`)
  const names = Object.keys(value)
  if (names.length > max) throw misfit(`takes ${max} keys: ${names.length}`)
  const keys = names.map((key) => ({ key, bytes: encoder.encode(key) }))
  const long = keys.find(({ bytes }) => bytes.length > KEY_BYTES_MAX)
  if (long) throw misfit(`a key takes ${KEY_BYTES_MAX} bytes: ${long.bytes.length}`)
  keys.sort((one, other) => byBytes(one.bytes, other.bytes))
  const same = keys.find(({ bytes }, i) => i > 0 && byBytes(keys[i - 1]!.bytes, bytes) === 0)
  if (same) throw misfit(`two keys are the same in UTF-8: ${shown(same.key)}`)
  return keys
}

/** Whether a value is an object of named values: not a Map, a Date or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Fields within a field, initially theirs. @throws HoldfastError `bad-value` as `object` */
export function struct<F extends Fields>(fields: F): Field<Readonly<StateOf<F>>, 'struct'> {
  const names = namesOf('a struct', fields)
  const inner = names.map((name) => fields[name]!)
  let size = 0
  const parts = names.map((name, i) => {
    const field = inner[i]!
    size += field.size
    return { name, field, from: size - field.size }
  })
  const initial = Object.fromEntries(parts.map(({ name, field }) => [name, field.initial]))
  return {
    kind: 'struct',
    text: `struct (${parts.map(({ name, field }) => `${name}: ${field.text}`).join('; ')})`,
    ...holding('struct', inner),
    initial: Object.freeze(initial) as Readonly<StateOf<F>>,
    size,
    bits: inner.reduce((sum, { bits }) => sum + bits, 0),
    grown: (value, each) => grownStruct(parts, value, each),
    quantise: (value, into, at) => {
      if (!isRecord(value)) throw badValue(`must be an object of fields: ${shown(value)}`)
      const odd = Object.keys(value).find((name) => !names.includes(name))
      if (odd !== undefined) throw badValue(`has no field called ${shown(odd)}`)
      const values: Record<string, unknown> = value
      for (const { name, field, from } of parts) {
        quantiseInner(`field ${name}`, field, values[name], into, at + from)
      }
    },
    valueAt: (from, at) => {
      const values: Record<string, unknown> = {}
      for (const part of parts) values[part.name] = part.field.valueAt(from, at + part.from)
      return Object.freeze(values) as Readonly<StateOf<F>>
    },
    write: (writer, from, at) => {
      for (const part of parts) part.field.write(writer, from, at + part.from)
    },
    read: (reader, into, at) => {
      for (const part of parts) part.field.read(reader, into, at + part.from)
    },
  }
}

function grownStruct(
  parts: readonly { readonly name: string; readonly field: Field<unknown> }[],
  value: unknown,
  each: (field: Field<unknown>, value: unknown) => unknown,
): unknown {
  if (!isRecord(value)) return value
  const entries = parts.map((part) => {
    const source = formerName(part, (name) => Object.hasOwn(value, name))
    const { field } = part
    return [part.name, source === undefined ? field.initial : each(field, value[source])] as const
  })
  return Object.fromEntries(entries)
}
