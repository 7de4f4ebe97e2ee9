/**
 * An object's state, field by field: the game declares it once and every side encodes it alike.
 *
 *     const Dot = schema({ pos: vec2(0, 100, 0.1), hue: u8 })
 *
 * Numbers are quantised to the game's step and take the fewest bits; types are inferred.
 *
 * All kinds of number fields follow one rule: a number goes to the field's nearest value, half a
 * step goes up, and a number beyond the range becomes its end, because a game's physics overshoots.
 * NaN, infinities and non-numbers are refused by an error that names the field.
 *
 * A state is kept quantised and has changed if a quantised value has. A message carries any subset
 * of the fields, named by a mask: bit i is field i in the order of the schema.
 */

import { badValue, within } from '../../machine.ts'
import {
  type BitReader,
  bitsAreWhole,
  type BitWriter,
  createBitReader,
  createBitWriter,
  finishBits,
  padBits,
  readBits,
  writeBits,
} from '../bits.ts'
import { type ByteReader, type ByteWriter, fail } from '../bytes.ts'
import type { Field, Quantised } from './fields.ts'
import { type Fields, namesOf, type StateOf } from './nested.ts'
import { placeOf, readPlace, type Scale } from './scale.ts'

export * from './fields.ts'
export * from './nested.ts'

/** A field with its place in a quantised state. */
export interface Column {
  readonly name: string
  readonly field: Field<unknown>
  /** The field's first place, and the one after its last. */
  readonly at: number
  readonly end: number
  /** Numbers in steps are handled here, not by their field: that is twice as fast. */
  readonly scale: Scale | null
}

/** A type's fields, ready to encode. */
export interface Schema<F extends Fields> {
  readonly fields: F
  /** Text of everything both sides must agree on. */
  readonly text: string
  readonly names: readonly string[]
  /** The fields in order: field i of a mask is the i-th. */
  readonly columns: readonly Column[]
  /** The index of each field, by name. */
  readonly places: ReadonlyMap<string, number>
  /** The mask of all fields. */
  readonly all: number
  /** Places in a quantised state. */
  readonly size: number
  /** The most bytes that `writeFields` writes. */
  readonly bytesMax: number
}

/** @throws HoldfastError `bad-value` for no fields, more than 32, or an invalid field */
export function schema<F extends Fields>(fields: F): Schema<F> {
  const names = namesOf('a type', fields)
  const columns: Column[] = []
  let size = 0
  let bits = names.length
  for (const name of names) {
    const field = fields[name]!
    const end = size + field.size
    columns.push({ name, field, at: size, end, scale: field.scale ?? null })
    size = end
    bits += field.bits
  }
  const parts = names.map((name) => `${name}: ${fields[name]!.text}`)
  const bytesMax = Math.ceil(bits / 8)
  const places = new Map(names.map((name, i) => [name, i]))
  const all = 2 ** names.length - 1
  return { fields, text: `{ ${parts.join(', ')} }`, names, columns, places, all, size, bytesMax }
}

/** @throws HoldfastError `bad-value` above `most` bytes, with the bytes of each field */
export function checkSize(what: string, type: Schema<Fields>, most: number): void {
  if (type.bytesMax <= most) return
  const parts = type.columns.map(({ name, field }) => `${name} ${field.bits / 8}`)
  const sum = `${[`mask ${type.names.length / 8}`, ...parts].join(' + ')} = ${type.bytesMax}`
  throw badValue(`${what} has at most ${most} bytes, to fit one datagram: ${sum}`)
}

/** A state, quantised. @throws HoldfastError `bad-value`: the field, what it takes, the value */
export function quantise<F extends Fields>(type: Schema<F>, state: StateOf<F>): Quantised {
  const quantised: Quantised = []
  for (const column of type.columns) quantiseField(column, state[column.name], quantised)
  return quantised
}

function quantiseField({ name, field, at, scale }: Column, value: unknown, into: Quantised): void {
  try {
    if (scale !== null && Number.isFinite(value)) {
      into[at] = placeOf(scale, value as number)
    } else {
      field.quantise(value, into, at)
    }
  } catch (error) {
    throw within(`field ${name}`, error)
  }
}

// `into` must not change if a later field throws, so a patch is quantised here first.
const draft: Quantised = []

/**
 * Applies a change to a quantised state. Unknown names are skipped.
 *
 * @returns the mask of the fields whose quantised value changed
 * @throws HoldfastError `bad-value`: the field, what it takes, the value; `into` stays as it was
 */
export function quantiseInto<F extends Fields>(
  type: Schema<F>,
  patch: Partial<StateOf<F>>,
  into: Quantised,
): number {
  const { columns, places } = type
  let mask = 0
  for (const name in patch) {
    const i = places.get(name)
    if (i === undefined) continue
    const column = columns[i]!
    quantiseField(column, patch[name], draft)
    if (differs(column, draft, into)) mask |= 1 << i
  }
  for (let i = 0; i < columns.length; i++) {
    if ((mask & (1 << i)) === 0) continue
    const { at, end } = columns[i]!
    for (let place = at; place < end; place++) into[place] = draft[place]!
  }
  return mask >>> 0
}

/** The mask of the fields in which two quantised states differ. */
export function differing(type: Schema<Fields>, a: Quantised, b: Quantised): number {
  const { columns } = type
  let mask = 0
  for (let i = 0; i < columns.length; i++) if (differs(columns[i]!, a, b)) mask |= 1 << i
  return mask >>> 0
}

function differs({ at, end }: Column, a: Quantised, b: Quantised): boolean {
  for (let place = at; place < end; place++) if (a[place] !== b[place]) return true
  return false
}

/** The state of quantised values, frozen. */
export function valueOf<F extends Fields>(type: Schema<F>, from: Quantised): StateOf<F> {
  const state: Record<string, unknown> = {}
  for (const column of type.columns) putValue(state, column, from)
  return Object.freeze(state) as StateOf<F>
}

/**
 * Puts one field's value into a state. Bytes cannot be frozen, so each read of them returns a copy.
 */
export function putValue(
  state: Record<string, unknown>,
  { name, field, at, end }: Column,
  from: Quantised,
): void {
  if (field.copied !== true) {
    state[name] = field.valueAt(from, at)
    return
  }
  const kept = from.slice(at, end)
  Object.defineProperty(state, name, { enumerable: true, get: () => field.valueAt(kept, 0) })
}

/** A new frozen state: masked fields from `from`, the others from `state`. */
export function updated<F extends Fields>(
  type: Schema<F>,
  state: StateOf<F>,
  from: Quantised,
  mask: number,
): StateOf<F> {
  const next: Record<string, unknown> = {}
  for (const [i, column] of type.columns.entries()) {
    const { name, field } = column
    if (mask & (1 << i)) putValue(next, column, from)
    else if (field.copied !== true) next[name] = state[name]
    else Object.defineProperty(next, name, Object.getOwnPropertyDescriptor(state, name)!)
  }
  return Object.freeze(next) as StateOf<F>
}

// Shared by all calls to save garbage: a call is over before the next begins.
const bitsOut: BitWriter = createBitWriter(0)
const bitsIn: BitReader = createBitReader(new Uint8Array(0))

/** Writes the mask, one bit per field, the masked fields, padding. @throws RangeError for mask 0 */
export function writeFields(
  writer: ByteWriter,
  type: Schema<Fields>,
  from: Quantised,
  mask: number,
): void {
  if (mask === 0) throw new RangeError('a message of fields carries at least one: 0')
  const { columns } = type
  bitsOut.bytes = writer.bytes
  bitsOut.length = writer.length
  bitsOut.held = 0
  writeBits(bitsOut, mask, columns.length)
  for (let i = 0; i < columns.length; i++) {
    if ((mask & (1 << i)) === 0) continue
    const { field, at, scale } = columns[i]!
    if (scale !== null) writeBits(bitsOut, from[at] as number, scale.bits)
    else field.write(bitsOut, from, at)
  }
  padBits(bitsOut)
  writer.bytes = bitsOut.bytes
  writer.length = bitsOut.length
}

/**
 * Reads some fields into a quantised state. @returns their mask; 0 if malformed: the reader fails,
 * and `into` may be partly written
 */
export function readFields(reader: ByteReader, type: Schema<Fields>, into: Quantised): number {
  const { columns } = type
  bitsIn.bytes = reader.bytes
  bitsIn.at = reader.at
  bitsIn.end = reader.end
  bitsIn.rest = 0
  bitsIn.held = 0
  bitsIn.failed = false
  const mask = readBits(bitsIn, columns.length)
  for (let i = 0; i < columns.length; i++) {
    if ((mask & (1 << i)) === 0) continue
    const { field, at, scale } = columns[i]!
    if (scale !== null) into[at] = readPlace(bitsIn, scale.steps, scale.bits)
    else field.read(bitsIn, into, at)
  }
  if (mask === 0 || !bitsAreWhole(bitsIn)) return fail(reader)
  reader.at = bitsIn.at
  return mask
}

export function initialState<F extends Fields>(type: Schema<F>): StateOf<F> {
  const entries = type.columns.map(({ name, field }) => [name, field.initial])
  return Object.freeze(Object.fromEntries(entries)) as StateOf<F>
}

/** The whole state as bytes. @throws HoldfastError `bad-value`: the field, the limit, the value */
export function encodeState<F extends Fields>(type: Schema<F>, state: StateOf<F>): Uint8Array {
  const quantised = quantise(type, state)
  const writer = createBitWriter()
  for (const { field, at } of type.columns) field.write(writer, quantised, at)
  return finishBits(writer)
}

/** The state of exactly these bytes, or null. */
export function decodeState<F extends Fields>(
  type: Schema<F>,
  bytes: Uint8Array,
): StateOf<F> | null {
  const reader = createBitReader(bytes)
  const quantised: Quantised = []
  for (const { field, at } of type.columns) field.read(reader, quantised, at)
  const whole = bitsAreWhole(reader) && reader.at === reader.end
  return whole ? valueOf(type, quantised) : null
}

/** The bytes of one value. @throws HoldfastError `bad-value`: what the field takes, the value */
export function encodeValue<Value>(field: Field<Value>, value: Value): Uint8Array {
  const quantised: Quantised = []
  field.quantise(value, quantised, 0)
  const writer = createBitWriter()
  field.write(writer, quantised, 0)
  return finishBits(writer)
}

/** The value of exactly these bytes, or null. */
export function decodeValue<Value>(field: Field<Value>, bytes: Uint8Array): Value | null {
  const reader = createBitReader(bytes)
  const quantised: Quantised = []
  field.read(reader, quantised, 0)
  const whole = bitsAreWhole(reader) && reader.at === reader.end
  return whole ? field.valueAt(quantised, 0) : null
}
