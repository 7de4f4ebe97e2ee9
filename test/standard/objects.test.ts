// Goal: section 10 of docs/STANDARD.md states every byte of objects, neither more nor less.
// Method: as standard.test.ts; a star and a mesh are captured, and states are drawn bit by bit.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { object } from '../../packages/holdfast/src/objects/objects.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { readEntry } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { createReader } from '../../packages/holdfast/src/wire/bytes.ts'
import * as schema from '../../packages/holdfast/src/wire/fields/schema.ts'
import { captureMesh, captureSession, Dot, RULES, TYPES } from './capture.ts'
import { readStandard } from './document.ts'
import { spoil } from './draw.ts'
import { type Ledger, type Met, readCapture } from './ledger.ts'
import { inWords } from './reader.ts'
import { type Read, tell, type Value } from './values.ts'

const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')
const standard = readStandard(text)
const game = { ...standard, types: TYPES }
const KINDS = [...standard.sets.get('Objects')!.values()].map(({ kind }) => kind)

const EXAMPLES = [
  Dot,
  object(
    'pot',
    { at: schema.ranged(0, 10, 1), go: schema.ranged(-5, 5, 1) },
    { motion: { follow: { at: 'go' } } },
  ),
].map(({ rules }) => rules)

/** Whether the code takes a frame of updates, or a message without its channel, to the end. */
function byCode(rules: objects.Types, what: 'updates' | 'Objects', bytes: Uint8Array): boolean {
  const state = objects.create()
  const out = { send: () => 0, emit: () => {} }
  const part = objects.objectsPart(rules)
  if (what === 'updates') part.read!(state, 0, 1, bytes, out)
  else part.receive!(state, 0, 1, bytes, out)
  return state.counters.malformed === 0
}

/** Entries to the end, as the code reads them. */
function entriesByCode(bytes: Uint8Array): string | null {
  const reader = createReader(bytes)
  const entries: Value[] = []
  while (!reader.failed && reader.at < reader.end) {
    const { creator, count, version, owner, type, dead, oseq, former, fields, madeAt } = readEntry(
      reader,
      RULES,
    )
    if (reader.failed) return null
    const { epoch, count: grants } = version
    const typed = type + (dead ? 128 : 0)
    const entry: Read = { creator, count, epoch, grants, owner, type: typed, oseq }
    const { schema: of, timed } = RULES[type]!
    const state: Read = dead
      ? {}
      : { former, fields: schema.valueOf(of, fields) as unknown as Read }
    entries.push({ ...entry, ...state, ...(timed && !dead ? { madeAt: madeAt * 8 || 0 } : {}) })
  }
  return tell(entries)
}

describe('examples', () => {
  const ofObjects = standard.examples.filter(({ what, bytes }) => {
    return what === 'updates' || (what === 'message' && bytes[0] === 4)
  })

  test.each(ofObjects)(
    '$line is taken by the code as by the document',
    ({ what, bytes, reads }) => {
      const inner = what === 'updates' ? bytes : bytes.slice(1)
      const code = byCode(EXAMPLES, what === 'updates' ? 'updates' : 'Objects', inner)
      expect(code).toBe(reads !== null)
    },
  )
})

describe('captured sessions', () => {
  let star: Ledger
  let mesh: Ledger

  beforeAll(async () => {
    star = readCapture(standard, await captureSession(), TYPES)
    mesh = readCapture(standard, await captureMesh(), TYPES)
  }, 60_000)

  const met = (what: string): Met[] => star.met.get(what) ?? []

  test('the newest state that was sent of a dot is the one that its owner set', () => {
    const own = met('update').filter(({ node, value }) => node === 'bea' && value['creator'] === 2)
    const dots = own.filter(({ value }) => value['type'] === 1)
    const newest = dots.reduce((best, one) => {
      return (one.value['oseq'] as number) > (best.value['oseq'] as number) ? one : best
    })
    expect(newest.value['oseq']).toBe(21)
    expect(tell(newest.value['fields']!)).toBe('pos=[30 10]')
  })
  test('B38, B43: each version of an object is told by its new owner, and granted before', () => {
    const version = ({ epoch, grants }: Read): string => `${tell(epoch!)}.${tell(grants!)}`
    const idOf = (of: Read): string => `${tell(of['creator']!)}/${tell(of['count']!)}`
    const granted = met('Objects grant').map(({ value }) => {
      return `${idOf(value['entry'] as Read)} ${version(value)}`
    })
    expect(new Set(granted).size).toBeGreaterThanOrEqual(3)
    const told = met('entry of tell').map(({ value }) => `${idOf(value)} ${version(value)}`)
    for (const one of granted) expect(told).toContain(one)
  })
  test('B14, B40: no update is of a version that its sender has not told before', () => {
    const told = new Set<string>()
    const key = ({ node, value }: Met): string => {
      const { creator, count, epoch, grants } = value
      return `${node} ${tell([creator!, count!, epoch!, grants!])}`
    }
    const all = [...met('entry of tell'), ...met('update')].sort((a, b) => a.at - b.at)
    for (const one of all) {
      if (one.value['owner'] !== undefined) told.add(key(one))
      else expect(told).toContain(key(one))
    }
  })
  test('in a mesh owners speak for themselves, also those that do not serve', () => {
    const missing = KINDS.filter((kind) => !mesh.counts.has(`Objects ${kind}`))
    expect(missing).toEqual(['unowned', 'hide', 'ask', 'decline', 'refuse', 'total'])
    const names = { ada: 1, bea: 2, cy: 3, dee: 4, hal: 5, ian: 6 } as Record<string, number>
    for (const { node, value } of mesh.met.get('entry of tell')!) {
      expect(value['owner']).toBe(names[node])
    }
    expect(mesh.met.get('update')!.filter(({ node }) => node === 'dee').length).toBeGreaterThan(20)
  })
  test('updates and messages, spoilt, are taken by the code as by the document', () => {
    const random = prng.create('standard objects')
    const chance = (most: number): number => prng.below(random, most)
    const updates = met('update frame').map(({ value }) => value['bytes'] as Uint8Array)
    const messages = KINDS.map((kind) => {
      return met(`bytes of ${kind}`).map(({ value }) => value['bytes'] as Uint8Array)
    }).filter(({ length }) => length > 0)
    let malformed = 0
    const compare = (what: 'updates' | 'Objects', whole: Uint8Array): void => {
      const bytes = spoil(whole, chance)
      const taken = inWords(game, what, bytes) !== null
      if (!taken) malformed++
      const code = byCode(RULES, what, bytes)
      if (code !== taken) expect([what, bytes, code]).toEqual([what, bytes, taken])
    }
    for (let round = 0; round < 4_000; round++) {
      compare('updates', prng.pick(random, updates))
      compare('Objects', prng.pick(random, messages[round % messages.length]!))
    }
    expect(malformed).toBeGreaterThan(1_000)
    expect(malformed).toBeLessThan(7_000)
  })
  test('entries, spoilt, are read alike by the code', () => {
    const random = prng.create('standard entries')
    const chance = (most: number): number => prng.below(random, most)
    const told = met('bytes of tell').map(({ value }) => (value['bytes'] as Uint8Array).slice(1))
    let read = 0
    for (let round = 0; round < 2_000; round++) {
      const bytes = spoil(prng.pick(random, told), chance)
      const said = inWords(game, 'all(ObjectEntry)', bytes)
      expect(entriesByCode(bytes)).toBe(said)
      if (said !== null) read++
    }
    expect(read).toBeGreaterThan(300)
    expect(read).toBeLessThan(1_800)
  })
})

describe('states', () => {
  test('states drawn bit by bit are read alike by the code', () => {
    const { angle, bool, ranged, u16, u32, vec2 } = schema
    const fields = { t: schema.text(3), a: ranged(-1, 1, 0.25), b: vec2(0, 7, 1), c: angle(3) }
    const type = schema.schema({ ...fields, d: bool, e: u16, f: u32, g: schema.u8 })
    const random = prng.create('standard states')
    let read = 0
    for (let round = 0; round < 2_000; round++) {
      // One byte and the text, then 70 bits and two that fill the last byte.
      const length = prng.below(random, 5)
      const bytes = new Uint8Array(1 + length + 9)
      prng.fill(random, bytes)
      bytes[0] = length
      for (let at = 1; at <= length; at++) bytes[at]! &= 0x7f
      if (prng.below(random, 4) > 0) bytes[bytes.length - 1]! &= 0xfc
      const said = inWords(standard, `state ${type.text}`, bytes)
      const state = schema.decodeState(type, bytes)
      expect(state && tell(state as unknown as Value)).toBe(said)
      if (said !== null) read++
    }
    expect(read).toBeGreaterThan(300)
    expect(read).toBeLessThan(1_500)
  })

  test('fields of the other kinds are read alike by the code', () => {
    const { bytes: raw, i16, i8, quaternion, vec3 } = schema
    const type = schema.schema({ a: raw(3), b: vec3(-4, 3, 1.4), c: i8, d: i16, e: quaternion(4) })
    const random = prng.create('standard fields')
    let read = 0
    for (let round = 0; round < 4_000; round++) {
      // Two bits and the bytes, then 47 bits and seven that fill the last byte.
      const length = prng.below(random, 4)
      const made = new Uint8Array(length + 7)
      prng.fill(random, made)
      made[0] = (made[0]! & 0x3f) | (length << 6)
      if (prng.below(random, 4) > 0) made[made.length - 1]! &= 0x80
      const said = inWords(standard, `state ${type.text}`, made)
      const state = schema.decodeState(type, made)
      expect(state && tell(state as unknown as Value)).toBe(said)
      if (said !== null) read++
    }
    expect(read).toBeGreaterThan(300)
    expect(read).toBeLessThan(2_000)
  })
})
