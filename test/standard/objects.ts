/**
 * Sections 10.2 and 10.3 of the document, for the reader that knows nothing else: frames of
 * updates, and what stands behind the heads of entries. All verbs throw Malformed.
 */

import { limit, readType, type Standard } from './document.ts'
import { readMasked } from './fields.ts'
import {
  type Cursor,
  integer,
  Malformed,
  PROSE,
  type Read,
  readValue,
  tell,
  type Value,
  varint,
} from './values.ts'

/** A frame of updates: what each says, and what it takes over from the one before. */
export function readUpdates(standard: Standard, bytes: Uint8Array): Read[] {
  const cursor = { bytes, at: 0 }
  const updates: Read[] = []
  const before = { creator: 0, count: 0, epoch: 0, grants: 0, type: 0, oseq: 0, madeAt: 0 }
  while (cursor.at < bytes.length) updates.push(readUpdate(standard, cursor, before))
  return updates
}

interface Before {
  creator: number
  count: number
  epoch: number
  grants: number
  type: number
  oseq: number
  madeAt: number
}

function readUpdate(standard: Standard, cursor: Cursor, before: Before): Read {
  const head = varint(cursor)
  before.count += signed(Math.floor(head / 4))
  if (Math.floor(head / 2) % 2 === 1) readWhat(cursor, before)
  const { creator, count, epoch, grants, type } = before
  checkName(standard, { creator, count, epoch, grants })
  const { schema, moves } = typeOf(standard, type)
  const hasMoment = head % 2 === 1
  if (hasMoment) before.oseq = integer(cursor, 2)
  const { oseq } = before
  const stamp = hasMoment && moves ? readStep(standard, cursor, before) : null
  const { fields } = readMasked(schema, cursor)
  const update = { creator, count, epoch, grants, type, oseq, fields }
  return moves ? { ...update, ...(stamp ?? { madeAt: before.madeAt, ages: null }) } : update
}

function readWhat(cursor: Cursor, before: Before): void {
  const what = integer(cursor, 1)
  before.type = Math.floor(what / 2)
  if (what % 2 === 0) return
  before.creator = varint(cursor)
  before.epoch = varint(cursor)
  before.grants = varint(cursor)
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
  within(name['creator'], 1, limit(standard, 'INC_MAX') - 1)
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
  within(entry['oseq'], 0, limit(standard, 'OSEQ_WIRE_MAX'))
  within(entry['owner'], 0, limit(standard, 'INC_MAX') - 1)
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
