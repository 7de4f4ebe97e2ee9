/** Parses the untrusted schema text of another build, to read that build's stored data. */

import {
  angle,
  bool,
  bytes,
  f32,
  type Field,
  type FieldKind,
  i16,
  i32,
  i8,
  list,
  map,
  oneOf,
  optional,
  quaternion,
  ranged,
  schema,
  type Schema,
  struct,
  text,
  textSaid,
  u16,
  u32,
  u8,
  vec2,
  vec3,
} from './schema.ts'
import type { Fields } from './nested.ts'

/** Longest text of a schema that is read. */
const TEXT_MAX = 32 * 1024

interface Reader {
  readonly text: string
  at: number
}

/**
 * Parses a schema.
 *
 * @returns the schema and the names of its secret fields; null if the text is not a schema
 */
export function parseSchema(
  said: string,
): { schema: Schema<Fields>; secrets: readonly string[] } | null {
  if (said.length > TEXT_MAX) return null
  try {
    const reader = { text: said, at: 0 }
    expect(reader, '{ ')
    const { fields, secrets } = fieldsOf(reader, ', ')
    expect(reader, ' }')
    if (reader.at < said.length) return null
    const made = schema(fields)
    return made.text === plain(said) ? { schema: made, secrets } : null
  } catch {
    return null
  }
}

// Only pieces have secrets; a secret's values are encoded like any other field's.
function plain(said: string): string {
  return said.replaceAll(': secret ', ': ')
}

function fieldsOf(
  reader: Reader,
  separator: string,
): { fields: Record<string, Field<unknown>>; secrets: string[] } {
  const fields: Record<string, Field<unknown>> = {}
  const secrets: string[] = []
  do {
    const name = until(reader, ': ')
    if (Object.hasOwn(fields, name)) throw new Error(`field ${name} stands there twice`)
    if (take(reader, 'secret ')) secrets.push(name)
    fields[name] = fieldOf(reader)
  } while (take(reader, separator))
  return { fields, secrets }
}

type Word =
  | Exclude<FieldKind, 'integer' | 'float'>
  | 'u8'
  | 'u16'
  | 'u32'
  | 'i8'
  | 'i16'
  | 'i32'
  | 'f32'

/** Parsers of the text after a field's first word. The compiler requires each new kind here. */
const PARSERS: Readonly<Record<Word, (reader: Reader) => Field<unknown>>> = {
  u8: () => u8,
  u16: () => u16,
  u32: () => u32,
  i8: () => i8,
  i16: () => i16,
  i32: () => i32,
  f32: () => f32,
  bool: () => bool,
  ranged: (reader) => ranged(number(reader), number(reader), number(reader)),
  vec2: (reader) => vec2(number(reader), number(reader), number(reader)),
  vec3: (reader) => vec3(number(reader), number(reader), number(reader)),
  angle: (reader) => angle(number(reader)),
  quaternion: (reader) => quaternion(number(reader)),
  text: textOf,
  bytes: (reader) => bytes(number(reader)),
  oneOf: (reader) => {
    expect(reader, ' ')
    const [first = '', ...others] = wordOf(reader).split('/')
    return oneOf(first, ...others)
  },
  optional: (reader) => optional(inner(reader)),
  list: (reader) => {
    const most = number(reader)
    return list(inner(reader), most)
  },
  map: (reader) => {
    const most = number(reader)
    return map(inner(reader), most)
  },
  struct: (reader) => {
    expect(reader, ' (')
    const { fields } = fieldsOf(reader, '; ')
    expect(reader, ')')
    return struct(fields)
  },
}

function fieldOf(reader: Reader): Field<unknown> {
  const word = wordOf(reader)
  if (!Object.hasOwn(PARSERS, word)) throw new Error(`no field is called ${word}`)
  return PARSERS[word as Word](reader)
}

function textOf(reader: Reader): Field<string> {
  const max = number(reader)
  return /^ \d/.test(reader.text.slice(reader.at, reader.at + 2))
    ? text(max, number(reader))
    : textSaid(max)
}

function inner(reader: Reader): Field<unknown> {
  expect(reader, ' ')
  return fieldOf(reader)
}

function number(reader: Reader): number {
  expect(reader, ' ')
  return Number(wordOf(reader))
}

// Up to the next character that ends a word.
function wordOf(reader: Reader): string {
  const [word = ''] = /^[^ ,;()]*/.exec(reader.text.slice(reader.at)) ?? []
  reader.at += word.length
  return word
}

function until(reader: Reader, mark: string): string {
  const end = reader.text.indexOf(mark, reader.at)
  if (end < 0) throw new Error(`${mark} is missing`)
  const found = reader.text.slice(reader.at, end)
  reader.at = end + mark.length
  return found
}

function take(reader: Reader, mark: string): boolean {
  if (!reader.text.startsWith(mark, reader.at)) return false
  reader.at += mark.length
  return true
}

function expect(reader: Reader, mark: string): void {
  if (!take(reader, mark)) throw new Error(`${mark} is missing`)
}
