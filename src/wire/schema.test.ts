// Goal: the state of an object takes few bits and comes back within half a step.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toHex } from '../../test/hex.ts'
import {
  angle,
  bool,
  decodeState,
  encodeState,
  initialState,
  ranged,
  schema,
  schemaFingerprint,
  text,
  u8,
  vec2,
} from './schema.ts'

const Ship = schema({
  pos: vec2(-64, 64, 0.01),
  aim: angle(10),
  hull: ranged(0, 100, 1),
  hue: u8,
  shield: bool,
  name: text(12),
})

test('a state comes back within half a step of each field', () => {
  const inRange = fc.double({ min: -64, max: 64, noNaN: true })
  const ships = fc.record({
    pos: fc.tuple(inRange, inRange),
    aim: fc.double({ min: -100, max: 100, noNaN: true }),
    hull: fc.integer({ min: 0, max: 100 }),
    hue: fc.integer({ min: 0, max: 255 }),
    shield: fc.boolean(),
    name: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
  })
  fc.assert(
    fc.property(ships, (ship) => {
      const back = decodeState(Ship, encodeState(Ship, ship))!
      expect(Math.abs(back.pos[0] - ship.pos[0])).toBeLessThanOrEqual(0.005 + 1e-9)
      expect(Math.abs(back.pos[1] - ship.pos[1])).toBeLessThanOrEqual(0.005 + 1e-9)
      const turn = 2 * Math.PI
      const apart = ((((back.aim - ship.aim) % turn) + turn) % turn) / turn
      expect(Math.min(apart, 1 - apart)).toBeLessThanOrEqual(0.5 / 1024 + 1e-9)
      const { hull, hue, shield, name } = ship
      expect(back).toMatchObject({ hull, hue, shield, name })
    }),
  )
})

test('a dot takes 28 bits', () => {
  const Dot = schema({ pos: vec2(0, 100, 0.1), hue: u8 })
  // 500 and 1000 in ten bits each, 255 in eight, four bits of zeros.
  expect(toHex(encodeState(Dot, { pos: [50, 100], hue: 255 }))).toBe('7d3e8ff0')
})

test('what overshoots its range is clamped; what is no number throws and names its field', () => {
  const back = decodeState(Ship, encodeState(Ship, { ...initialState(Ship), pos: [1e9, -1e9] }))
  expect(back?.pos).toEqual([64, -64])
  const broken = { ...initialState(Ship), hull: Number.NaN }
  expect(() => encodeState(Ship, broken)).toThrow(/field hull: must be a finite number: NaN/)
  const long = { ...initialState(Ship), name: 'x'.repeat(13) }
  expect(() => encodeState(Ship, long)).toThrow(/field name: takes 12 bytes: 13/)
})

test('wire.total: random bytes are a state or null, never an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const state = decodeState(Ship, bytes)
      if (state) expect(toHex(encodeState(Ship, state))).toBe(toHex(bytes))
    }),
    { numRuns: 5_000 },
  )
})

test('two builds whose types differ have different fingerprints', () => {
  const texts = [Ship, schema({ pos: vec2(-64, 64, 0.02) }), schema({ place: vec2(-64, 64, 0.01) })]
  const prints = texts.map((each) => schemaFingerprint([each.text]))
  expect(new Set(prints).size).toBe(3)
})

test('a range that needs more than 32 bits is refused with its numbers', () => {
  expect(() => ranged(0, 1e9, 0.01)).toThrow(/at most 32 bits: 0 to 1000000000 by 0.01/)
})
