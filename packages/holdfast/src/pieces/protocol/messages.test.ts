// Goal: of pieces nothing that comes off the network throws, and nothing has two forms.
// Method: what is written is read; spoilt, it is refused or is written as it came.
import { describe, expect, test } from 'vitest'
import * as prng from '../../faults/prng.ts'
import * as schema from '../../wire/fields/schema.ts'
import { apply, encodeEffects, encodeDraws, restored, snapshot, published } from './changes.ts'
import { perform } from './decide.ts'
import { isLevel } from './levels.ts'
import {
  decodeOutcome,
  encodeFree,
  encodeNews,
  encodeOutcome,
  encodeTable,
  encodeUpdate,
  type Entry,
  readBody,
  readNews,
  readOp,
} from './messages.ts'
import { create } from './pieces.ts'
import { copyRow, type Op, type Pieces, type PieceTypes, type Refusal, type Row } from './state.ts'

const REFUSED_MAX = 16

const card = schema.schema({ at: schema.vec2(0, 100, 0.5), face: schema.u8, say: schema.text(3) })
const types: PieceTypes = [
  {
    name: 'card',
    schema: card,
    secret: 2,
    mustHold: false,
    kept: null,
    hides: ({ heldBy }, player) => (heldBy === player ? 0 : 2),
    decide: (next) => ({ ok: true, fields: next.fields }),
  },
]
const G = 2 ** 32
const NONE = {
  lastClient: 0,
  genBefore: 0,
  byBefore: 0,
  hidden: 0,
  refused: [],
  heldBy: 0,
  lastReleased: 0,
}
const rows: Row[] = [
  { ...NONE, id: 1, type: 0, fields: [1, 2, 7, 'ab'], gen: G + 1, by: 0, z: 'a0', zg: G + 1 },
  { ...NONE, id: 2, type: 0, fields: [3, 4, 0, ''], gen: G + 9, by: 3, z: 'a1V', zg: G + 2 },
]
Object.assign(rows[1]!, { hidden: 2, lastClient: 3, genBefore: 0, heldBy: 3, lastReleased: 4 })
const REFUSED = [4, 300].map((by, at) => ({ by, gen: G + 7 + at }))
const refusedBy = (count: number): Refusal[] =>
  Array.from({ length: count }, (_, at) => ({ by: at + 1, gen: G + 7 + at }))
rows.push({ ...rows[0]!, id: 4, refused: REFUSED })

const NO_SEED = new Uint8Array(0)

function state(): Pieces {
  const pieces = create(Uint8Array.of(1, 2, 3))
  Object.assign(pieces, { me: 1, player: 1, primary: 1, epoch: 1, processed: G + 9 })
  pieces.committed = {
    ...pieces.committed,
    gen: G + 9,
    nextId: 5,
    draws: 5,
    lostRanges: [{ after: 4, until: G }],
  }
  for (const row of rows) {
    pieces.committed.rows.set(row.id, copyRow(row))
    pieces.published.set(row.id, copyRow(row))
  }
  return pieces
}

const MOVE: Op = { hold: 'grab', mask: 1, fields: [9, 9], z: 'a0V' }
const UPDATE = { seq: 5, id: 2, tag: G + 9, loose: false, op: MOVE }

function newsOf(): Uint8Array {
  const [one, other] = rows as [Row, Row]
  return encodeNews(types, [
    { id: 1, row: one, why: 'inapplicable', seq: 5, reason: 'no' },
    { id: 2, row: other, why: 'recorded', seq: 6, reason: '' },
    { id: 3, row: null, why: 'table', seq: 0, reason: '' },
  ])
}

/** What was read, as it is written: null if it was refused. */
const KINDS: {
  name: string
  bytes: Uint8Array
  again: (bytes: Uint8Array) => Uint8Array | null
}[] = [
  {
    name: 'update',
    bytes: encodeUpdate(types, 0, UPDATE),
    again: (bytes) => {
      const said = readBody(bytes)
      if (!said) return null
      if ('free' in said) return encodeFree(said.free)
      const op = readOp(types, 0, said)
      return op && encodeUpdate(types, 0, { ...said, op })
    },
  },
  {
    name: 'free',
    bytes: encodeFree([300, 2, 7]),
    again: (bytes) => {
      const said = readBody(bytes)
      return said && 'free' in said ? encodeFree(said.free) : said && bytes
    },
  },
  { name: 'news', bytes: newsOf(), again: newsAgain },
  {
    name: 'table',
    bytes: encodeTable(types, {
      ...{ first: true, last: false, gen: G + 9 },
      lostRanges: [
        { after: 4, until: 9 },
        { after: G + 8, until: Infinity },
      ],
      rows,
    }),
    again: newsAgain,
  },
  ...(
    [
      { kind: 'recorded', gen: G + 4 },
      { kind: 'conflict', by: 300 },
      { kind: 'refused', reason: 'no' },
    ] as const
  ).map((outcome) => ({
    name: outcome.kind,
    bytes: encodeOutcome(outcome),
    again: (bytes: Uint8Array) => {
      const read = decodeOutcome(bytes)
      return read && encodeOutcome(read)
    },
  })),
  {
    name: 'snapshot',
    bytes: snapshot(state().committed, types),
    again: (bytes) => {
      const committed = restored(types, bytes, NO_SEED)
      // A told copy has nothing but rows: what it lacks is made up.
      return committed && bytes[0] === 4 ? snapshot(committed, types) : committed && bytes
    },
  },
  {
    name: 'told copy',
    bytes: published(state(), types),
    again: (bytes) => {
      const committed = restored(types, bytes, NO_SEED)
      if (!committed || bytes[0] !== 5) return null
      // What it goes on from is behind the recoveries of which it was told.
      const { gen, rows: kept, lostRanges } = committed
      const before = lostRanges.slice(0, -1)
      return published({ ...state(), processed: gen, published: kept, lostRanges: before }, types)
    },
  },
]

function newsAgain(bytes: Uint8Array): Uint8Array | null {
  const said = readNews(bytes, types)
  if (!said) return null
  return Array.isArray(said) ? encodeNews(types, said) : encodeTable(types, said)
}

/** A few bytes are others, or there are more or fewer. */
function spoilt(random: prng.Prng, bytes: Uint8Array): Uint8Array {
  const how = prng.below(random, 6)
  if (how === 0) return bytes.slice(0, prng.below(random, bytes.length + 1))
  if (how === 1) return Uint8Array.from([...bytes, prng.below(random, 256)])
  const other = bytes.slice()
  for (let n = prng.below(random, 3); n >= 0; n--) {
    const at = prng.below(random, other.length)
    if (how === 2) other[at]! ^= 1 << prng.below(random, 8)
    else other[at] = prng.below(random, 256)
  }
  return other
}

describe.each(KINDS)('$name', ({ name, bytes, again }) => {
  test('is read as it was written', () => {
    expect(again(bytes)).toEqual(bytes)
  })
  test('O42: spoilt, it is refused or has one form, and never throws', () => {
    const random = prng.create(`pieces ${name}`)
    let refused = 0
    for (let round = 0; round < 4_000; round++) {
      const other = spoilt(random, bytes)
      const made = again(other)
      if (made === null) refused++
      else expect(made).toEqual(other)
    }
    expect(refused).toBeGreaterThan(300)
    expect(refused).toBeLessThan(4_000)
  })
})

describe('what is hostile', () => {
  test('O42: no update makes the primary throw, or write what nobody can read', () => {
    const random = prng.create('pieces perform')
    const pieces = state()
    const kinds = new Map<string, number>()
    for (let round = 0; round < 20_000; round++) {
      // So that it is often in order but for what was spoilt.
      const z = prng.below(random, 3) === 0 ? levelDrawn(random) : null
      const op = { ...MOVE, hold: prng.pick(random, ['keep', 'grab', 'release', 'wrest']), z } as Op
      const tag = pieces.committed.gen - prng.below(random, 2)
      const loose = prng.below(random, 8) === 0
      const plain = encodeUpdate(types, 0, {
        seq: 1 + prng.below(random, 127),
        id: 1 + prng.below(random, 2),
        tag,
        loose,
        op: loose ? { ...op, mask: 0, hold: 'grab' } : op,
      })
      const body = prng.below(random, 2) === 0 ? plain : spoilt(random, plain)
      const player = 1 + prng.below(random, 3)
      const done = perform(pieces, types, body, player, player)
      const outcome = decodeOutcome(done.outcome)
      expect(outcome).not.toBeNull()
      kinds.set(outcome!.kind, (kinds.get(outcome!.kind) ?? 0) + 1)
      if (done.news) expect(readNews(done.news, types)).not.toBeNull()
      const before = pieces.committed.gen
      for (const change of done.changes) apply(pieces.committed, types, change)
      expect(pieces.committed.gen - before).toBe(done.changes.length)
    }
    expect([...kinds.keys()].sort()).toEqual([
      'bogus',
      'clamped',
      'conflict',
      'held',
      'recorded',
      'refused',
    ])
  })
  test('O34: a level is of its letters, has its whole number and does not end in 0', () => {
    const levels = ['a0', 'a1V', 'Zz', 'b10', `z${'z'.repeat(26)}`, `A${'0'.repeat(26)}V`]
    for (const level of levels) expect([level, isLevel(level)]).toEqual([level, true])
    const none = [
      '',
      'a',
      'a0é',
      'a0中',
      'a00',
      'b1',
      '0a',
      'a0 ',
      `A${'0'.repeat(26)}`,
      '-0',
      'a0V0',
    ]
    for (const level of none) expect([level, isLevel(level)]).toEqual([level, false])
  })
  test('256 players who left are named at a time; with one more the body is none (PR-2)', () => {
    const whole = encodeFree(Array.from({ length: 300 }, (_, at) => at + 1))
    expect(readBody(whole)).toMatchObject({ free: { length: 256 } })
    // Behind the 256th, 128 + 128, comes the 257th.
    const longer = Uint8Array.of(...whole, 129, 2)
    longer[1]!++
    expect(readBody(longer)).toBeNull()
  })
  test('operations are numbered from 1 to 127 (PR-2)', () => {
    const numbered = (seq: number): unknown => {
      const bytes = encodeUpdate(types, 0, UPDATE)
      bytes[1] = seq
      return readBody(bytes)
    }
    expect([1, 127].map(numbered)).toMatchObject([{ seq: 1 }, { seq: 127 }])
    expect([0, 128, 255].map(numbered)).toEqual([null, null, null])
  })
  test('a reason has 200 bytes; with one more the outcome is none (PR-2)', () => {
    const told = { kind: 'refused', reason: 'x'.repeat(200) } as const
    const bytes = encodeOutcome(told)
    expect(decodeOutcome(bytes)).toEqual(told)
    const longer = Uint8Array.of(...bytes, 120)
    longer[1]!++
    expect(decodeOutcome(longer)).toBeNull()
  })
  test('rows that no honest server writes are malformed (PR-2)', () => {
    const entry = (row: Row) => ({ id: row.id, row, why: 'table', seq: 0, reason: '' }) as const
    const read = (...all: Row[]) => readNews(encodeNews(types, all.map(entry)), types)
    const [one] = rows as [Row]
    expect(read(one)).toEqual([entry(one)])
    const planted: Row[] = [
      { ...one, hidden: 1 },
      { ...one, id: G },
      { ...one, z: 'a0é' },
      { ...one, z: '' },
      { ...one, lastClient: 9 },
      { ...one, zg: -1 },
      { ...one, refused: refusedBy(REFUSED_MAX + 1) },
    ]
    for (const row of planted) expect([row, read(row)]).toEqual([row, null])
    const utmost: Row = { ...one, zg: 0, refused: refusedBy(REFUSED_MAX) }
    expect(read(utmost)).toEqual([entry(utmost)])
    expect(read(one, one)).toBeNull()
    const newer = { first: true, last: true, gen: one.gen - 1, lostRanges: [], rows: [one] }
    expect(readNews(encodeTable(types, newer), types)).toBeNull()
  })
  test('news has 256 pieces at most (PR-2)', () => {
    const [one] = rows as [Row]
    const many = (count: number): Entry[] =>
      Array.from({ length: count }, (_, i) => {
        return { id: i + 1, row: { ...one, id: i + 1 }, why: 'table', seq: 0, reason: '' } as const
      })
    const read = (count: number): unknown => readNews(encodeNews(types, many(count)), types)
    expect(read(256)).toHaveLength(256)
    expect(read(257)).toBeNull()
  })
  test('a change that is malformed changes nothing', () => {
    const random = prng.create('pieces changes')
    const entries = rows.map(
      (row) => ({ id: row.id, row, why: 'table', seq: 0, reason: '' }) as const,
    )
    const gone = { id: 1, row: null, why: 'table', seq: 0, reason: '', gen: G + 10 } as const
    const changes = [...encodeEffects(types, [...entries, gone]).changes, encodeDraws(9)]
    for (let round = 0; round < 4_000; round++) {
      const { committed } = state()
      apply(committed, types, spoilt(random, prng.pick(random, changes)))
      expect(committed.rows.size).toBeLessThanOrEqual(rows.length + 1)
      expect(Number.isSafeInteger(committed.gen)).toBe(true)
      for (const row of committed.rows.values()) expect(isLevel(row.z)).toBe(true)
    }
  })
  test('who holds more than one operation frees has all of it freed by the next ones', () => {
    const pieces = state()
    for (let id = 3; id <= 700; id++) {
      pieces.committed.rows.set(id, { ...copyRow(rows[0]!), id, heldBy: 9 })
    }
    const outcomes: string[] = []
    for (let n = 0; n < 4; n++) {
      const done = perform(pieces, types, encodeFree([9]), 1, 1)
      outcomes.push(`${decodeOutcome(done.outcome)!.kind} ${done.changes.length}`)
      for (const change of done.changes) apply(pieces.committed, types, change)
    }
    expect(outcomes).toEqual(['clamped 230', 'clamped 230', 'clamped 230', 'recorded 8'])
    expect([...pieces.committed.rows.values()].filter(({ heldBy }) => heldBy === 9)).toEqual([])
  })
})

function levelDrawn(random: prng.Prng): string {
  const text = prng.pick(random, ['a0', 'a0V', 'a1', `z${'z'.repeat(26)}`, 'Zz', 'b10é', 'a000001'])
  let more = ''
  for (let n = prng.below(random, 30); n > 0; n--) more += prng.pick(random, ['0', 'z', 'V', '1'])
  return (text + more).slice(0, 62)
}
