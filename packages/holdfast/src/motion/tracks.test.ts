// Goal: each track of an object moves as it would alone, its pace is how fast its goal moves, and
// what is shown goes on as it was, in velocity too.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as motion from './motion.ts'
import type { Motion } from './motion.ts'
import { turnBetween } from './rotation.ts'
import * as trails from './trail.ts'
import type { Track, TrackKind, Trail } from './trail.ts'

const KINDS = ['plane', 'space', 'line', 'turn', 'rotation'] as const
const OPEN = { min: -Infinity, max: Infinity }
const FACTOR = 0.8

/** A sample of one track: as many numbers as its kind has. */
interface Sample {
  position: number[]
  velocity: number[]
}

const speed = fc.double({ min: -8, max: 8, noNaN: true })
const many = (count: number): fc.Arbitrary<number[]> =>
  fc.array(speed, { minLength: count, maxLength: count })

function samplesOf(kind: TrackKind): fc.Arbitrary<Sample> {
  const width = trails.layOut([{ kind, ...OPEN }])[0]!.end
  if (kind !== 'rotation') return fc.record({ position: many(width), velocity: many(width) })
  const unit = many(4)
    .filter((four) => Math.hypot(...four) > 0.1)
    .map((four) => four.map((one) => one / Math.hypot(...four)))
  // Slow turns, so that the shorter way round is plain.
  const spin = many(3).map((three) => [...three.map((one) => one / 8), 0])
  return fc.record({ position: unit, velocity: spin })
}

function append(trail: Trail, at: number, { position, velocity }: Sample): void {
  trails.append(trail, at, Float64Array.from(position), Float64Array.from(velocity))
}

function give(moving: Motion, at: number, sample: Sample, snap = Infinity): void {
  moving.came.position.set(sample.position)
  moving.came.velocity.set(sample.velocity)
  motion.addSample(moving, at, at, FACTOR, snap)
}

function shown(moving: Motion, now: number, factor = FACTOR): number[] {
  motion.look(moving, now, factor)
  return [...moving.shown]
}

/** How fast it moves, per second, from one row of numbers to a later one. */
function rateOf(kind: TrackKind, from: number[], to: number[], seconds: number): number[] {
  if (kind === 'rotation') {
    const by = [0, 0, 0]
    turnBetween(from, 0, to, 0, by, 0)
    return by.map((one) => one / seconds)
  }
  return to.map((one, i) => {
    const step = one - from[i]!
    // An angle is shown within one turn.
    const whole = kind === 'turn' ? 2 * Math.PI * Math.round(step / (2 * Math.PI)) : 0
    return (step - whole) / seconds
  })
}

describe('several tracks of one object', () => {
  const streams = fc.array(
    fc.tuple(fc.integer({ min: 40, max: 200 }), fc.tuple(...KINDS.map(samplesOf))),
    { minLength: 1, maxLength: 5 },
  )
  const orders = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 2 })

  test('each moves as it would alone, in whatever order they stand (PR-2)', () => {
    fc.assert(
      fc.property(streams, orders, fc.integer({ min: 0, max: 400 }), (stream, order, later) => {
        const tracks = order.map((i): Track => ({ kind: KINDS[i]!, min: -9, max: 9 }))
        const together = motion.create(tracks)
        const alone = tracks.map((track) => motion.create([track]))
        const rows = (): number[][] => alone.map((one) => [...one.shown])
        let at = 0
        for (const [gap, samples] of stream) {
          at += gap
          const own = order.map((i) => samples[i]!)
          give(together, at, {
            position: own.flatMap(({ position }) => position),
            velocity: own.flatMap(({ velocity }) => velocity),
          })
          for (const [i, one] of alone.entries()) give(one, at, own[i]!)
          for (const one of alone) shown(one, at + 7)
          expect(shown(together, at + 7)).toEqual(rows().flat())
        }
        for (const one of alone) shown(one, at + later)
        expect(shown(together, at + later)).toEqual(rows().flat())
        expect([...together.trail.pace]).toEqual(alone.flatMap(({ trail }) => [...trail.pace]))
      }),
      { seed: 12, numRuns: 150 },
    )
  })
})

describe.each(KINDS)('%s', (kind) => {
  const stream = fc.array(samplesOf(kind), { minLength: 1, maxLength: 4 })

  test('its pace is how fast its goal moves, from the sample until it stands (PR-2)', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 330 }), (samples, later) => {
        const trail = trails.create([{ kind, ...OPEN }])
        // Of an orientation the turn in one instant is its pace if it keeps its axis.
        const steady = kind === 'rotation' ? samples.slice(-1) : samples
        for (const [i, sample] of steady.entries()) append(trail, i * 50, sample)
        const at = (steady.length - 1) * 50 + later
        const goal = (now: number): number[] => {
          trails.aim(trail, now)
          return [...trail.goal]
        }
        const rate = rateOf(kind, goal(at - 1e-3), goal(at + 1e-3), 2e-6)
        trails.aim(trail, at)
        for (const [i, one] of rate.entries()) {
          expect(Math.abs(one - trail.pace[i]!)).toBeLessThan(0.02)
        }
        if (kind === 'rotation') expect(trail.pace[3]).toBe(0)
      }),
      { seed: 13, numRuns: 200 },
    )
  })

  test('what is shown goes on as fast as it did when a sample comes (M5) (PR-2)', () => {
    fc.assert(
      fc.property(stream, samplesOf(kind), fc.integer({ min: 20, max: 200 }), (all, next, gap) => {
        const moving = motion.create([{ kind, ...OPEN }])
        const steady = kind === 'rotation' ? all.slice(-1) : all
        for (const [i, sample] of steady.entries()) {
          give(moving, i * 50, sample)
          shown(moving, i * 50)
        }
        const at = (steady.length - 1) * 50 + gap
        const before = shown(moving, at - 0.01)
        const here = shown(moving, at)
        const was = rateOf(kind, before, here, 1e-5)
        // A sample that has the place right, and the velocity of its own.
        give(moving, at, { position: here, velocity: next.velocity })
        for (const one of rateOf(kind, here, shown(moving, at), 1)) expect(one).toBeCloseTo(0, 6)
        const is = rateOf(kind, here, shown(moving, at + 0.01), 1e-5)
        for (const [i, one] of is.entries()) expect(Math.abs(one - was[i]!)).toBeLessThan(0.1)
        // And by and by it goes as fast as the sample says.
        const [early, late] = [100, 100.01].map((after) => shown(moving, at + after))
        const comes = rateOf(kind, early!, late!, 1e-5)
        const left = comes.map((one, i) => Math.abs(one - moving.trail.pace[i]!))
        const first = was.map((one, i) => Math.abs(one - next.velocity[i]!))
        expect(Math.hypot(...left)).toBeLessThan(Math.hypot(...first) + 0.1)
      }),
      { seed: 14, numRuns: 100 },
    )
  })
})

describe('a bend', () => {
  const plane: Track = { kind: 'plane', ...OPEN }

  /** The bend after velocities at these instants: a turn of so many radians, or a change. */
  function bendAfter(track: Track, samples: readonly (readonly [at: number, ...v: number[]])[]) {
    const trail = trails.create([track])
    for (const [at, ...velocity] of samples) {
      append(trail, at, { position: velocity.map(() => 0), velocity })
    }
    return [...trail.bend]
  }

  test('of a line is the change on which the last two agree, the newer half more (PR-2)', () => {
    const line: Track = { kind: 'line', ...OPEN }
    const after = (...speeds: number[]): number =>
      bendAfter(
        line,
        speeds.map((one, i) => [i * 100, one]),
      )[0]!
    expect(after(0, 1, 2)).toBeCloseTo(10, 9)
    expect(after(0, 1, 1.5)).toBeCloseTo(5, 9)
    expect(after(0, 1, 2.4)).toBeCloseTo(14, 9)
    expect(after(0, 1, 9)).toBeCloseTo(15, 9)
    expect(after(0, -1, -9)).toBeCloseTo(-15, 9)
    expect(after(0, 1, 0)).toBe(0)
    expect(after(0, 1)).toBe(0)
    expect(after(1, 1, 2)).toBe(0)
  })
  test.each([
    [40, true],
    [39.9, false],
    [500, true],
    [500.1, false],
  ])('M3: is measured over %d ms: %j (PR-2)', (span, measured) => {
    const samples = [0, 1, 2].map((i) => [i * span, 1 + i, 0] as const)
    expect(bendAfter(plane, samples)[1]).toBeCloseTo(measured ? 1000 / span : 0, 6)
  })
  test('M3: over less than that it is measured from the sample before (PR-2)', () => {
    const speeds = [0, 50, 75, 100].map((at) => [at, 1 + at / 50, 0] as const)
    expect(bendAfter(plane, speeds)[1]).toBeCloseTo(20, 9)
  })
  test('M3: a sample of the same instant leaves it as it was (PR-2)', () => {
    const samples = [0, 50, 100].map((at) => [at, 1 + at / 50, 0] as const)
    expect(bendAfter(plane, [...samples, [100, 3, 0]])[1]).toBeCloseTo(20, 9)
  })
  test('M3: after a gap it takes two new changes, whatever came before (PR-2)', () => {
    const speeds = (from: number, count: number): [number, number, number][] =>
      Array.from({ length: count }, (_, i) => [from + i * 50, 1 + i, 0])
    expect(bendAfter(plane, speeds(0, 3))[1]).toBeCloseTo(20, 9)
    expect(bendAfter(plane, [...speeds(0, 3), ...speeds(1_000, 1)])).toEqual([0, 0])
    expect(bendAfter(plane, [...speeds(0, 3), ...speeds(1_000, 2)])).toEqual([0, 0])
    expect(bendAfter(plane, [...speeds(0, 3), ...speeds(1_000, 3)])[1]).toBeCloseTo(20, 9)
  })
  test('of a thing that came to rest moves it nowhere (PR-2)', () => {
    for (const track of [plane, { ...plane, kind: 'space' as const }]) {
      const trail = trails.create([track])
      const zeros = track.kind === 'space' ? [0] : []
      for (const [i, x] of [2, 1, 0].entries()) {
        append(trail, i * 50, { position: [x, 7, ...zeros], velocity: [x, 0, ...zeros] })
      }
      trails.aim(trail, 200)
      expect([...trail.goal]).toEqual([0, 7, ...zeros])
      expect([...trail.pace]).toEqual([0, 0, ...zeros])
    }
  })
})

describe('a range', () => {
  test('M4: what stands at its end and moves off keeps its velocity (PR-2)', () => {
    for (const [end, away] of [
      [0, 5],
      [10, -5],
    ] as const) {
      const trail = trails.create([{ kind: 'line', min: 0, max: 10 }])
      append(trail, 0, { position: [end], velocity: [away] })
      trails.aim(trail, 0)
      expect([trail.goal[0], trail.pace[0]]).toEqual([end, away])
      append(trail, 1_000, { position: [end], velocity: [-away] })
      trails.aim(trail, 1_100)
      expect([trail.goal[0], trail.pace[0]]).toEqual([end, 0])
    }
  })
  test('M4: an angle and an orientation have none, whatever their field has (PR-2)', () => {
    const tracks: Track[] = [
      { kind: 'turn', min: 0, max: 2 * Math.PI },
      { kind: 'rotation', min: 0.1, max: 0.2 },
    ]
    const trail = trails.create(tracks)
    append(trail, 0, { position: [6.2, 0, 0, 0, 1], velocity: [2, 1, 0, 0, 0] })
    trails.aim(trail, 100)
    const turn = [Math.sin(0.05), 0, 0, Math.cos(0.05)]
    expect([...trail.goal]).toEqual([6.4, ...turn].map((one): unknown => expect.closeTo(one, 9)))
    expect([...trail.pace]).toEqual([2, 1, 0, 0, 0])
  })
})

describe('a jump', () => {
  const still = { position: [0, 0], velocity: [0, 0] }
  const moved = { position: [3, 4], velocity: [9, 0] }

  function after(kind: TrackKind, first: Sample, second: Sample, snap: number): Motion {
    const moving = motion.create([{ kind, ...OPEN }])
    give(moving, 0, first)
    shown(moving, 0)
    give(moving, 10, second, snap)
    return moving
  }
  test('M6: is a teleport beyond `snap`, not at it (PR-2)', () => {
    expect(shown(after('plane', still, moved, 5), 10)).toEqual([0, 0])
    expect(shown(after('plane', still, moved, 4.999), 10)).toEqual([3, 4])
  })
  test('M6: leaves no error behind, neither of place nor of velocity (PR-2)', () => {
    const moving = after('plane', still, moved, 1)
    for (const later of [20, 60, 110]) {
      expect(shown(moving, later)).toEqual([expect.closeTo(3 + (later - 10) * 0.009, 9), 4])
    }
  })
  test('M6: of an angle or an orientation is none, however small `snap` is (PR-2)', () => {
    const angle = { position: [0], velocity: [0] }
    const far = { position: [3], velocity: [0] }
    expect(shown(after('turn', angle, far, 0.1), 10)).toEqual([expect.closeTo(0, 9)])
    const none = { position: [0, 0, 0, 1], velocity: [0, 0, 0, 0] }
    const half = { position: [1, 0, 0, 0], velocity: [0, 0, 0, 0] }
    const seen = shown(after('rotation', none, half, 0.1), 10)
    expect(seen).toEqual([0, 0, 0, 1].map((one): unknown => expect.closeTo(one, 9)))
  })
  test('an orientation is shown as it is, first and when its error is gone (M5) (PR-2)', () => {
    const half = Math.SQRT1_2
    const quarter = { position: [half, 0, 0, half], velocity: [0, 0, 0, 0] }
    const none = { position: [0, 0, 0, 1], velocity: [0, 0, 0, 0] }
    const moving = motion.create([{ kind: 'rotation', ...OPEN }])
    give(moving, 0, quarter)
    expect(shown(moving, 0)).toEqual([half, 0, 0, half])
    give(moving, 10, none)
    const seen = shown(moving, 10)
    expect(seen).toEqual([half, 0, 0, half].map((one): unknown => expect.closeTo(one, 9)))
    const [x, y, z, w] = shown(moving, 80)
    expect([x! > 0 && x! < half, y, z, w! > half]).toEqual([true, 0, 0, true])
    const near = [0, 0, 0, 1].map((one): unknown => expect.closeTo(one, 6))
    expect(shown(moving, 9_000)).toEqual(near)
  })
  test('T53: with a factor of zero a sample leaves no error for a later factor (PR-2)', () => {
    const moving = motion.create([{ kind: 'plane', ...OPEN }])
    give(moving, 0, still)
    shown(moving, 0)
    moving.came.position.set(moved.position)
    motion.addSample(moving, 10, 10, 0, Infinity)
    expect(shown(moving, 10)).toEqual([3, 4])
    expect(shown(moving, 60)).toEqual([3, 4])
  })
  test('M6: what was shown later than a sample comes is shown anew, where it is (PR-2)', () => {
    const moving = motion.create([{ kind: 'line', ...OPEN }])
    give(moving, 0, { position: [0], velocity: [0] })
    shown(moving, 1_000)
    give(moving, 500, { position: [9], velocity: [0] })
    give(moving, 1_100, { position: [20], velocity: [0] })
    expect(shown(moving, 1_100)).toEqual([20])
  })
})
