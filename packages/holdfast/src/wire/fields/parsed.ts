/** Parses the untrusted schema text of another build, to read that build's stored data. */

import * as fields from './schema.ts'
import type { Field, FieldKind, Schema } from './schema.ts'
import type { Fields } from './nested.ts'

/** Longest text of a schema that is read. */
const TEXT_MAX = 32 * 1024

interface Reader {
  readonly text: string
  at: number
}

/** Parses a schema; null if the text is none. */
export function parseSchema(
  text: string,
): { schema: Schema<Fields>; secrets: readonly string[] } | null {
  if (text.length > TEXT_MAX) return null
  try {
    const reader = { text, at: 0 }
    expect(reader, '{ ')
    const { fields: named, secrets } = fieldsOf(reader, ', ')
    expect(reader, ' }')
    if (reader.at < text.length) return null
    const made = fields.schema(named)
    // A secret's values are encoded like any other field's.
    return made.text === text.replaceAll(': secret ', ': ') ? { schema: made, secrets } : null
  } catch {
    return null
  }
}

function fieldsOf(reader: Reader, separator: string): { fields: Fields; secrets: string[] } {
  const named: Fields = {}
  const secrets: string[] = []
  do {
    const name = until(reader, ': ')
    if (Object.hasOwn(named, name)) throw new Error(`field ${name} stands there twice`)
    if (take(reader, 'secret ')) secrets.push(name)
    named[name] = fieldOf(reader)
  } while (take(reader, separator))
  return { fields: named, secrets }
}

type Exported = typeof fields
/** The fields that take no parameters, by the names under which they are exported. */
type Plain = {
  [Name in keyof Exported]: Exported[Name] extends { readonly kind: FieldKind } ? Name : never
}[keyof Exported]
type Word = Exclude<FieldKind, 'integer' | 'float'> | Plain

/** Parsers of the text after a field's first word. The compiler requires each new kind here. */
const PARSERS: Readonly<Record<Word, (reader: Reader) => Field<unknown>>> = {
  u8: () => fields.u8,
  u16: () => fields.u16,
  u32: () => fields.u32,
  i8: () => fields.i8,
  i16: () => fields.i16,
  i32: () => fields.i32,
  f32: () => fields.f32,
  bool: () => fields.bool,
  ranged: (reader) => fields.ranged(number(reader), number(reader), number(reader)),
  vec2: (reader) => fields.vec2(number(reader), number(reader), number(reader)),
  vec3: (reader) => fields.vec3(number(reader), number(reader), number(reader)),
  angle: (reader) => fields.angle(number(reader)),
  quaternion: (reader) => fields.quaternion(number(reader)),
  text: textOf,
  bytes: (reader) => fields.bytes(number(reader)),
  oneOf: (reader) => {
    expect(reader, ' ')
    const [first = '', ...others] = wordOf(reader).split('/')
    return fields.oneOf(first, ...others)
  },
  optional: (reader) => fields.optional(inner(reader)),
  list: (reader) => {
    const most = number(reader)
    return fields.list(inner(reader), most)
  },
  map: (reader) => {
    const most = number(reader)
    return fields.map(inner(reader), most)
  },
  struct: (reader) => {
    expect(reader, ' (')
    const { fields: named } = fieldsOf(reader, '; ')
    expect(reader, ')')
    return fields.struct(named)
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
    ? fields.text(max, number(reader))
    : fields.textSaid(max)
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
