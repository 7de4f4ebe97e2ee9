import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tableOfRows as table } from '../rows.ts'
import { world } from 'holdfast/sim'
import * as rules from './rules.ts'

function by(player: number): { inc: number; player: number } {
  return { inc: player + 100, player }
}

describe('a pin', () => {
  test('goes where two numbers say, and onto the field (AP-3)', async () => {
    const w = world({ seed: 2 })
    const session = await w.join({ game: 'dots', name: 'Ada', types: rules.TYPES })
    const bad = (args: unknown): Promise<unknown> => session.act(rules.drop, args as never)
    await expect(bad({ at: ['1', 2] })).rejects.toThrow(/field at: must be/)
    await expect(bad(null)).rejects.toThrow(/an object of the fields at/)
    const dropped = session.act(rules.drop, { at: [120, 2.04] })
    await w.run(2_000)
    expect(await dropped).toEqual({ ok: true, value: { number: 1, count: 1 } })
    expect(rules.pins(session.table).map(({ at }) => at)).toEqual([[100, 2]])
  })
  test('is written with its player and its place, and counted', () => {
    const kept = table()
    expect(rules.dropPin(kept, { at: [10.04, 99.96] }, by(3))).toEqual({ number: 1, count: 1 })
    expect(rules.dropPin(kept, { at: [0, 100] }, by(4))).toEqual({ number: 2, count: 1 })
    expect(rules.dropPin(kept, { at: [50, 50] }, by(3))).toEqual({ number: 3, count: 2 })
    expect(rules.pins(kept)).toEqual([
      { number: 1, player: 3, at: [10, 100] },
      { number: 2, player: 4, at: [0, 100] },
      { number: 3, player: 3, at: [50, 50] },
    ])
    expect([rules.countOf(kept, 3), rules.countOf(kept, 4), rules.countOf(kept, 5)]).toEqual([
      2, 1, 0,
    ])
  })

  test('beyond the limit takes the place of the oldest, and none is forgotten in the sums', () => {
    const kept = table()
    const drops = 3 * rules.PINS_MAX
    for (let i = 0; i < drops; i++) rules.dropPin(kept, { at: [1, 2] }, by(i % 3))
    const numbers = rules.pins(kept).map((pin) => pin.number)
    expect(numbers).toEqual(Array.from({ length: rules.PINS_MAX }, (_, i) => 121 + i))
    expect(rules.pinsTotal(kept)).toBe(drops)
    expect([0, 1, 2].map((player) => rules.countOf(kept, player))).toEqual([60, 60, 60])
  })

  test('of ever new players does not fill the table', () => {
    const kept = table()
    for (let i = 1; i <= 2 * rules.COUNTS_MAX; i++) rules.dropPin(kept, { at: [1, 2] }, by(i))
    expect(kept.rows.size).toBe(1 + rules.PINS_MAX + rules.COUNTS_MAX)
    expect(rules.countOf(kept, 2 * rules.COUNTS_MAX)).toBe(1)
    expect(rules.countOf(kept, 1)).toBe(0)
  })

  test.each([
    [null],
    [{}],
    [{ at: 'x' }],
    [{ at: [1] }],
    [{ at: [1, 2, 3] }],
    [{ at: [1, 100.1] }],
    [{ at: [-1, 2] }],
    [{ at: [Number.NaN, 2] }],
    [{ at: ['1', 2] }],
  ])('at no place is refused and changes nothing: %j', (args) => {
    const kept = table()
    expect(() => rules.dropPin(kept, args as never, by(1))).toThrow(RangeError)
    expect(kept.rows.size).toBe(0)
  })

  test('that another build wrote otherwise is left out', () => {
    const kept = table()
    kept.set('pin.000000001', 'three')
    kept.set('pin.000000002', null)
    kept.set('pin.000000003', '3 1 x')
    kept.set('pin.000000004', '3 1 2')
    expect(rules.pins(kept)).toEqual([{ number: 4, player: 3, at: [1, 2] }])
  })
})

describe('moving', () => {
  const place = fc.tuple(
    fc.double({ min: 0, max: 100, noNaN: true }),
    fc.double({ min: 0, max: 100, noNaN: true }),
  )

  test('a dot on screen never passes where it is said to be, and gets there', () => {
    fc.assert(
      fc.property(place, place, fc.nat(500), (shown, said, ms) => {
        const [x, y] = rules.glide(shown, said, ms)
        expect(Math.abs(said[0] - x)).toBeLessThanOrEqual(Math.abs(said[0] - shown[0]) + 1e-9)
        expect(Math.abs(said[1] - y)).toBeLessThanOrEqual(Math.abs(said[1] - shown[1]) + 1e-9)
      }),
      { seed: 1 },
    )
    expect(rules.glide([0, 0], [100, 50], 1000)[0]).toBeCloseTo(100)
  })

  test('two half steps on screen are one whole step', () => {
    const whole = rules.glide([0, 0], [100, 50], 40)
    const halves = rules.glide(rules.glide([0, 0], [100, 50], 20), [100, 50], 20)
    expect(halves[0]).toBeCloseTo(whole[0])
  })

  test('keys move a dot as fast in every direction, and never off the field', () => {
    expect(rules.step([50, 50], [1, 0], 1000)).toEqual([50 + rules.KEYS_SPEED, 50])
    const [x, y] = rules.step([0, 0], [1, 1], 1000)
    expect(Math.hypot(x, y)).toBeCloseTo(rules.KEYS_SPEED)
    expect(rules.step([99, 1], [1, -1], 5000)).toEqual([100, 0])
    expect(rules.step([3, 4], [0, 0], 5000)).toEqual([3, 4])
  })

  test('bots stay on the field', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(10_000_000), (seed, ms) => {
        for (const value of rules.stroll(seed, ms)) {
          expect(value).toBe(rules.clamp(value))
        }
      }),
      { seed: 2 },
    )
  })
})

test('the first twelve players have hues at least 15 degrees apart', () => {
  const hues = Array.from({ length: 12 }, (_, player) => rules.hueOf(player)).toSorted(
    (a, b) => a - b,
  )
  const gaps = hues.map((hue, i) => (hues[i + 1] ?? hues[0]! + 360) - hue)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(15)
})
