/**
 * Section 9 of the document, for the reader that knows nothing else: states bit by bit, frames of
 * updates, and what stands behind the heads of entries. All verbs throw Malformed.
 */

import { limit, readType, type Standard } from './document.ts'
import {
  type Cursor,
  integer,
  Malformed,
  PROSE,
  type Read,
  readValue,
  rest,
  tell,
  utf8,
  type Value,
  varint,
} from './values.ts'

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

function fieldsOf(schema: string): [name: string, read: (next: Next) => Value][] {
  const [, inside] = /^\{ (.*) \}$/.exec(schema) ?? []
  return inside!.split(', ').map((field) => {
    const [name, kind, ...numbers] = field.replace(':', '').replace(' secret ', ' ').split(' ')
    return [name!, (next) => readField(kind!, numbers.map(Number), next)]
  })
}

/** A frame of updates: what each says, and what it takes over from the one before. */
export function readUpdates(standard: Standard, bytes: Uint8Array): Read[] {
  const cursor = { bytes, at: 0 }
  const updates: Read[] = []
  const before = { creator: 0, count: 0, epoch: 0, grants: 0, type: 0, madeAt: 0 }
  while (cursor.at < bytes.length) updates.push(readUpdate(standard, cursor, before))
  return updates
}

interface Before {
  creator: number
  count: number
  epoch: number
  grants: number
  type: number
  madeAt: number
}

function readUpdate(standard: Standard, cursor: Cursor, before: Before): Read {
  const head = varint(cursor)
  before.count += signed(Math.floor(head / 4))
  if (Math.floor(head / 2) % 2 === 1) before.type = integer(cursor, 1)
  if (head % 2 === 1) {
    before.creator = varint(cursor)
    before.epoch = varint(cursor)
    before.grants = varint(cursor)
  }
  const { creator, count, epoch, grants, type } = before
  checkName(standard, { creator, count, epoch, grants })
  const { schema, moves } = typeOf(standard, type)
  const oseq = integer(cursor, 2)
  const { fields } = readMasked(schema, cursor)
  const update = { creator, count, epoch, grants, type, oseq, fields }
  return moves ? { ...update, ...readStep(standard, cursor, before) } : update
}

function readStep(standard: Standard, cursor: Cursor, before: Before): Read {
  const step = varint(cursor)
  const ages = step % 2 === 1 ? readValue(standard, readType(standard, 'Ages'), cursor) : null
  const said = ages === null ? null : (ages as Read)['ages']!
  if (step < 2) return { madeAt: 0, ages: said }
  before.madeAt += signed(Math.floor(step / 2) - 1)
  if (before.madeAt < 1 || before.madeAt > limit(standard, 'MADE_AT_MAX')) {
    throw new Malformed(`made at ${before.madeAt}`)
  }
  return { madeAt: before.madeAt, ages: said }
}

// 0, 1, 2, 3 … stand for 0, -1, 1, -2 …
function signed(zigzag: number): number {
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
}

function typeOf({ types }: Standard, place: number): Standard['types'][number] {
  const type = types[place]
  if (!type) throw new Malformed(`a type that the game does not have: ${place}`)
  return type
}

function checkName(standard: Standard, name: Read): void {
  within(name['creator'], 1, limit(standard, 'CREATOR_MAX') - 1)
  within(name['count'], 1, limit(standard, 'COUNT_MAX'))
  checkVersion(standard, name)
}

function checkVersion(standard: Standard, { epoch, grants }: Read): void {
  within(epoch, 0, limit(standard, 'VERSION_MAX'))
  within(grants, 0, limit(standard, 'VERSION_MAX'))
}

function within(value: Value | undefined, least: number, most: number): void {
  if (typeof value === 'number' && value >= least && value <= most) return
  throw new Malformed(`${tell(value ?? null)} is not from ${least} to ${most}`)
}

PROSE.set('ObjectName', (standard, _cursor, name) => checkName(standard, name))

PROSE.set('ObjectEntry', (standard, cursor, entry) => {
  checkName(standard, entry)
  within(entry['oseq'], 0, limit(standard, 'OSEQ_SAID_MAX'))
  within(entry['owner'], 0, limit(standard, 'CREATOR_MAX') - 1)
  const type = entry['type'] as number
  const { schema, moves } = typeOf(standard, type % 128)
  if (type >= 128) return
  entry['former'] = varint(cursor)
  const { all, fields } = readMasked(schema, cursor)
  if (!all) throw new Malformed('an entry without all fields')
  entry['fields'] = fields
  if (!moves) return
  entry['madeAt'] = varint(cursor)
  within(entry['madeAt'], 0, limit(standard, 'MADE_AT_MAX'))
})

PROSE.set('Ages', (standard, _cursor, { ages }) => {
  for (const age of ages as number[]) within(age, 0, limit(standard, 'AGE_MAX'))
})

PROSE.set('Objects grant', (standard, _cursor, grant) => checkVersion(standard, grant))

PROSE.set('Objects request', (_standard, _cursor, { what, name, state }) => {
  const [entry, ...more] = state as Read[]
  const { creator, count } = name as Read
  const same = entry?.['creator'] === creator && entry?.['count'] === count
  const fits = what === 'take' ? !entry : same
  if (!fits || more.length > 0) throw new Malformed('a state that does not go with the request')
})

function readField(kind: string, numbers: number[], next: Next): Value {
  const [first = 0, max = 0, step = 1] = numbers
  const ranged = (): number => {
    const steps = Math.round((max - first) / step)
    const place = next(Math.max(1, steps.toString(2).length))
    if (place > steps) throw new Malformed(`${place} of ${steps} steps`)
    return first + place * step
  }
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
      return next(8) - 2 ** 7
    case 'i16':
      return next(16) - 2 ** 15
    case 'bool':
      return next(1) === 1
    case 'text':
      return utf8(readRun(8, first, next))
    case 'bytes':
      return readRun(first.toString(2).length, first, next)
    default:
      throw new Error(`the document has no field ${kind}`)
  }
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
