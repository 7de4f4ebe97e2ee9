/**
 * Message layouts, each defined once, as a value; reading, writing and types derive from it.
 *
 *     const Heartbeat = record({ id: varint, from: varint, note: text(32) })
 *     encode(Heartbeat, { id: 1, from: 7, note: 'hi' })   // Uint8Array
 *     decode(Heartbeat, bytes)                            // the value, or null
 *
 * Every length has a limit, which is part of the layout. `encode` throws on our own value that does
 * not fit; `decode` returns null for hostile input.
 */

import * as bytes from './bytes.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

/** The encoding of one value. */
export interface Layout<Value> {
  write(writer: ByteWriter, value: Value): void
  /** Malformed input sets the reader's `failed`; the value is then meaningless. */
  read(reader: ByteReader): Value
}

export type ValueOf<L> = L extends Layout<infer Value> ? Value : never

export const u8: Layout<number> = { write: bytes.writeU8, read: bytes.readU8 }
export const u16: Layout<number> = { write: bytes.writeU16, read: bytes.readU16 }
export const u32: Layout<number> = { write: bytes.writeU32, read: bytes.readU32 }
/** LEB128 in its shortest form, 0 to 2^53 - 1. */
export const varint: Layout<number> = { write: bytes.writeVarint, read: bytes.readVarint }

/** One byte, 0 or 1. */
export const flag: Layout<boolean> = {
  write: (writer, value) => bytes.writeU8(writer, value ? 1 : 0),
  read: (reader) => {
    const value = bytes.readU8(reader)
    if (value > 1) bytes.fail(reader)
    return value === 1
  },
}

/** UTF-8 of at most max bytes, after a varint length. */
export function text(max: number): Layout<string> {
  return {
    write: (writer, value) => bytes.writeText(writer, value, max),
    read: (reader) => bytes.readText(reader, max),
  }
}

/** At most max bytes, after a varint length. */
export function blob(max: number): Layout<Uint8Array> {
  return {
    write: (writer, value) => bytes.writeBytes(writer, value, max),
    read: (reader) => bytes.readBytes(reader, max),
  }
}

/** Exactly count bytes. */
export function fixed(count: number): Layout<Uint8Array> {
  return {
    write: (writer, value) => {
      if (value.length !== count) {
        throw new RangeError(`needs exactly ${count} bytes: ${value.length}`)
      }
      bytes.writeRaw(writer, value)
    },
    read: (reader) => bytes.readRaw(reader, count),
  }
}

/** One of a few words, as its index in one byte. */
export function word<const Words extends readonly string[]>(words: Words): Layout<Words[number]> {
  return {
    write: (writer, value) => bytes.writeU8(writer, words.indexOf(value)),
    read: (reader) => {
      const found = words[bytes.readU8(reader)]
      if (found === undefined) bytes.fail(reader)
      return found ?? words[0]!
    },
  }
}

/** At most max values of one layout, after a varint count. */
export function list<Value>(item: Layout<Value>, max: number): Layout<Value[]> {
  return {
    write: (writer, values) => {
      if (values.length > max) throw new RangeError(`at most ${max} items: ${values.length}`)
      bytes.writeVarint(writer, values.length)
      for (const value of values) item.write(writer, value)
    },
    read: (reader) => {
      const count = bytes.readVarint(reader)
      if (count > max) bytes.fail(reader)
      const values: Value[] = []
      for (let i = 0; i < count && !reader.failed; i++) values.push(item.read(reader))
      return values
    },
  }
}

/** A value or null, after one byte. */
export function maybe<Value>(item: Layout<Value>): Layout<Value | null> {
  return {
    write: (writer, value) => {
      flag.write(writer, value !== null)
      if (value !== null) item.write(writer, value)
    },
    read: (reader) => (flag.read(reader) ? item.read(reader) : null),
  }
}

// Layout functions are methods, so that a Layout<number> is assignable to Layout<unknown>.
type Fields = Record<string, Layout<unknown>>
type RecordOf<F extends Fields> = { [Name in keyof F]: ValueOf<F[Name]> }

/** Named values, in the order of the keys. */
export function record<F extends Fields>(fields: F): Layout<RecordOf<F>> {
  const entries = Object.entries(fields) as [string, Layout<unknown>][]
  return {
    write: (writer, value) => {
      for (const [name, layout] of entries) {
        try {
          layout.write(writer, (value as Record<string, unknown>)[name])
        } catch (error) {
          if (error instanceof RangeError) throw new RangeError(`${name}: ${error.message}`)
          throw error
        }
      }
    },
    read: (reader) => {
      const value: Record<string, unknown> = {}
      for (const [name, layout] of entries) value[name] = layout.read(reader)
      return value as RecordOf<F>
    },
  }
}

type Kinds = Record<string, readonly [tag: number, layout: Layout<object>]>
/** A record with its kind: `{ kind: 'join', … }`. */
export type MessageOf<K extends Kinds> = {
  [Kind in keyof K]: { kind: Kind } & ValueOf<K[Kind][1]>
}[keyof K]

/** One of several records, distinguished by a tag of one byte. */
export function message<K extends Kinds>(kinds: K): Layout<MessageOf<K>> {
  const byTag = new Map<number, [kind: string, layout: Layout<object>]>()
  for (const [kind, [tag, layout]] of Object.entries(kinds)) byTag.set(tag, [kind, layout])
  return {
    write: (writer, value) => {
      const entry = kinds[value.kind as string]
      if (!entry) throw new RangeError(`no message is called ${String(value.kind)}`)
      bytes.writeU8(writer, entry[0])
      entry[1].write(writer, value)
    },
    read: (reader) => {
      const entry = byTag.get(bytes.readU8(reader))
      if (!entry) {
        bytes.fail(reader)
        return { kind: '' } as MessageOf<K>
      }
      return { kind: entry[0], ...entry[1].read(reader) } as MessageOf<K>
    },
  }
}

/** A writer larger than this is not kept for the next value. */
const SPARE_MAX = 16 * 1024
let spare: ByteWriter | null = null

/** A value as bytes. @throws RangeError that names the field, the limit and the value */
export function encode<Value>(layout: Layout<Value>, value: Value): Uint8Array {
  const writer = spare ?? bytes.createWriter()
  // An encoding within this one, or after one that throws, takes another.
  spare = null
  bytes.reset(writer)
  layout.write(writer, value)
  if (writer.bytes.length <= SPARE_MAX) spare = writer
  return bytes.finish(writer)
}

/** The value of exactly these bytes, or null if they are malformed or too many. */
export function decode<Value>(layout: Layout<Value>, from: Uint8Array): Value | null {
  const reader = bytes.createReader(from)
  const value = layout.read(reader)
  return bytes.isDone(reader) ? value : null
}
