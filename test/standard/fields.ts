/**
 * Section 10.1 of the document, for the reader that knows nothing else: states bit by bit. All
 * verbs throw Malformed.
 */

import { type Cursor, integer, Malformed, type Read, rest, utf8, type Value } from './values.ts'

/** A whole state, by its schema text. */
export function readState(schema: string, bytes: Uint8Array): Read {
  const cursor = { bytes, at: 0 }
  const state = readBits(cursor, (next) => {
    const all = fieldsOf(schema).map(([name, read]) => [name, read(next)] as const)
    return Object.fromEntries(all)
  })
  if (rest(cursor).length > 0) throw new Malformed('a state that is too long')
  return state
}

/** A mask, and the fields that it names. */
export function readMasked(
  schema: string,
  cursor: Cursor,
): { all: boolean; mask: number; fields: Read } {
  const named = fieldsOf(schema)
  return readBits(cursor, (next) => {
    const mask = next(named.length)
    if (mask === 0) throw new Malformed('a mask that names nothing')
    const fields: Read = {}
    for (const [at, [name, read]] of named.entries()) {
      if (Math.floor(mask / 2 ** at) % 2 === 1) fields[name] = read(next)
    }
    return { all: mask === 2 ** named.length - 1, mask, fields }
  })
}

type Next = (count: number) => number

function readBits<Result>(cursor: Cursor, read: (next: Next) => Result): Result {
  let left = 0
  let byte = 0
  const result = read((count) => {
    let value = 0
    for (let n = 0; n < count; n++) {
      if (left === 0) byte = integer(cursor, 1)
      left = (left + 7) % 8
      value = value * 2 + ((byte >> left) & 1)
    }
    return value
  })
  if (byte % 2 ** left !== 0) throw new Malformed('bits that fill the last byte')
  return result
}

/** A kind of field, and what it holds. */
type Reading = (next: Next) => Value

function fieldsOf(schema: string): [name: string, read: Reading][] {
  const [, inside] = /^\{ (.*) \}$/.exec(schema) ?? []
  return parts(inside!, ', ')
}

// Fields of a struct stand in parentheses, within which other structs may stand.
function parts(text: string, between: string): [name: string, read: Reading][] {
  const found: string[] = []
  let open = 0
  for (const piece of text.split(between)) {
    if (open > 0) found.push(`${found.pop()}${between}${piece}`)
    else found.push(piece)
    open += piece.split('(').length - piece.split(')').length
  }
  return found.map((field) => {
    const colon = field.indexOf(': ')
    const kind = field.slice(colon + 2).replace(/^secret /, '')
    return [field.slice(0, colon), readingOf(kind)]
  })
}

function readingOf(text: string): Reading {
  const [, kind, rest] = /^(\w+) ?(.*)$/.exec(text)!
  const [, most, held] = /^(\d+) (.*)$/.exec(rest!) ?? []
  switch (kind) {
    case 'optional': {
      const read = readingOf(rest!)
      return (next) => (next(1) === 1 ? read(next) : null)
    }
    case 'list': {
      const read = readingOf(held!)
      return (next) => Array.from({ length: readCount(Number(most), next) }, () => read(next))
    }
    case 'map': {
      const read = readingOf(held!)
      return (next) => readMap(Number(most), read, next)
    }
    case 'struct': {
      const fields = parts(rest!.slice(1, -1), '; ')
      return (next) => Object.fromEntries(fields.map(([name, read]) => [name, read(next)]))
    }
    case 'oneOf': {
      const words = rest!.split('/')
      return (next) => words[readCount(words.length - 1, next)]!
    }
    default:
      return (next) => readField(kind!, rest!.split(' ').map(Number), next)
  }
}

// A number up to `most`, in as few bits as hold that, but one.
function readCount(most: number, next: Next): number {
  const count = next(Math.max(1, most.toString(2).length))
  if (count > most) throw new Malformed(`${count} of ${most}`)
  return count
}

function readMap(most: number, read: Reading, next: Next): Read {
  let before: Buffer | null = null
  const entries: [string, Value][] = []
  for (let left = readCount(most, next); left > 0; left--) {
    const key = Buffer.from(readRun(7, 64, next))
    if (before !== null && Buffer.compare(before, key) >= 0) throw new Malformed('keys in order')
    before = key
    entries.push([utf8(key), read(next)])
  }
  return Object.fromEntries(entries)
}

function readFloat(next: Next): number {
  const bits = Buffer.alloc(4)
  bits.writeUInt32BE(next(32))
  const value = bits.readFloatBE()
  if (!Number.isFinite(value) || Object.is(value, -0)) throw new Malformed('no such float')
  return value
}

function readField(kind: string, numbers: number[], next: Next): Value {
  const [first = 0] = numbers
  const ranged = (): number => readRanged(numbers, next)
  switch (kind) {
    case 'ranged':
      return ranged()
    case 'vec2':
      return [ranged(), ranged()]
    case 'vec3':
      return [ranged(), ranged(), ranged()]
    case 'quaternion':
      return readQuaternion(first, next)
    case 'angle':
      return (next(first) / 2 ** first) * 2 * Math.PI
    case 'u8':
    case 'u16':
    case 'u32':
      return next(Number(kind.slice(1)))
    case 'i8':
    case 'i16':
    case 'i32': {
      const bits = Number(kind.slice(1))
      return next(bits) - 2 ** (bits - 1)
    }
    case 'f32':
      return readFloat(next)
    case 'bool':
      return next(1) === 1
    case 'text':
      return readText(first, numbers[1] ?? (first <= 85 ? 3 * first : first), next)
    case 'bytes':
      return readRun(first.toString(2).length, first, next)
    default:
      throw new Error(`readField of test/standard/fields.ts does not read ${kind} yet`)
  }
}

function readText(units: number, bytes: number, next: Next): string {
  const value = utf8(readRun(Math.max(8, bytes.toString(2).length), bytes, next))
  if (value.length > units) throw new Malformed(`${value.length} characters of ${units}`)
  return value
}

function readRanged([min, max, step]: number[], next: Next): number {
  return min! + readCount(Math.round((max! - min!) / step!), next) * step!
}

function readRun(bits: number, most: number, next: Next): Uint8Array {
  const length = next(bits)
  if (length > most) throw new Malformed(`${length} bytes of ${most}`)
  return Uint8Array.from({ length }, () => next(8))
}

function readQuaternion(bits: number, next: Next): number[] {
  const most = 2 ** (bits - 1) - 1
  const place = next(2)
  const others = [0, 1, 2].map(() => {
    const n = next(bits)
    if (n > 2 * most) throw new Malformed(`${n} of ${2 * most} steps`)
    return n - most
  })
  const squares = others.map((m) => m * m)
  const left = 2 * most * most - squares.reduce((sum, one) => sum + one, 0)
  for (const [at, squared] of squares.entries()) {
    if (squared > left || (squared === left && at < place)) throw new Malformed('not the largest')
  }
  const signs = others.map(Math.sign).toSpliced(place, 0, 1)
  const all = squares.toSpliced(place, 0, left)
  return all.map((squared, at) => signs[at]! * Math.sqrt(squared / (2 * most * most)))
}
