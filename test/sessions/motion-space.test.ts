// Goal: what a user is promised of motion in space and of orientations.
// Method: whole sessions in virtual time, one owner and one viewer, along a path that is known.
import { describe, expect, test } from 'vitest'
import {
  object,
  type ObjectHandle,
  quaternion,
  type Session,
  vec2,
  vec3,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const fields = {
  pos: vec3(-64, 64, 0.01),
  vel: vec3(-20, 20, 0.05),
  turn: quaternion(12),
  spin: vec3(-9, 9, 0.01),
  flat: vec2(0, 1, 0.1),
}
const follow = { pos: 'vel', turn: 'spin' } as const
const Cube = object('cube', fields, { motion: { follow } })
const Drone = object('drone', fields, { motion: { follow, within: 0.3, warp: 0 } })

interface Place {
  readonly pos: readonly [number, number, number]
  readonly vel: readonly [number, number, number]
  readonly turn: readonly [number, number, number, number]
  readonly spin: readonly [number, number, number]
}

/** A screw about z, turning as it goes. */
function along(seconds: number): Place {
  const [cos, sin] = [Math.cos(seconds), Math.sin(seconds)]
  return {
    pos: [8 * cos, 8 * sin, seconds],
    vel: [-8 * sin, 8 * cos, 1],
    turn: [0, 0, Math.sin(seconds / 2), Math.cos(seconds / 2)],
    spin: [0, 0, 1],
  }
}

/** How far a view is from the truth: in space, and in radians. */
function errorOf(view: Pick<Place, 'pos' | 'turn'>, { pos, turn }: Place): [number, number] {
  const dot = turn.reduce((sum, one, i) => sum + one * view.turn[i]!, 0)
  const apart = Math.hypot(...pos.map((one, i) => one - view.pos[i]!))
  return [apart, 2 * Math.acos(Math.min(1, Math.abs(dot)))]
}

async function two(seed: number): Promise<{ w: SessionWorld; ada: Session; grace: Session }> {
  const w = world({ seed, conditions: 'rtt=60,loss=2%' })
  const join = (name: string): Promise<Session> => {
    return w.join({ game: 'sky', types: [Cube, Drone], name })
  }
  const [ada, grace] = [await join('Ada'), await join('Grace')]
  await w.run(2_000)
  return { w, ada, grace }
}

async function fly(
  w: SessionWorld,
  handle: ObjectHandle<typeof fields>,
  look: (now: Place) => void,
): Promise<void> {
  for (let tick = 0; tick < 400; tick++) {
    const now = along(tick / 20)
    if (tick % 2 === 0) handle.set(now)
    look(now)
    await w.run(50)
  }
}

describe('in space', () => {
  test('T50: places and orientations are shown where they are by now, not where they were (AP-19)', async () => {
    const { w, ada, grace } = await two(3)
    const cube = ada.create(Cube, along(0))
    const [shown, known]: [[number, number][], [number, number][]] = [[], []]
    await fly(w, cube, (now) => {
      const [theirs] = grace.all(Cube)
      if (!theirs || w.now() < 4_000) return
      shown.push(errorOf(theirs.view(), now))
      known.push(errorOf(theirs.state, now))
    })
    const mean = (all: [number, number][], which: 0 | 1): number =>
      all.reduce((sum, one) => sum + one[which], 0) / all.length
    expect(shown.length).toBeGreaterThan(300)
    for (const which of [0, 1] as const) {
      expect(mean(shown, which)).toBeLessThan(mean(known, which) / 4)
    }
  })

  test('B17: what the others reckon well is not said, and stays within its bound (AP-19)', async () => {
    const { w, ada, grace } = await two(4)
    const drone = ada.create(Drone, along(0))
    const errors: [number, number][] = []
    const states = new Set<unknown>()
    await fly(w, drone, (now) => {
      const [theirs] = grace.all(Drone)
      if (theirs) states.add(theirs.state)
      if (theirs && w.now() > 4_000) errors.push(errorOf(theirs.view(), now))
    })
    // It was set 200 times.
    expect(states.size).toBeLessThan(130)
    expect(states.size).toBeGreaterThan(20)
    for (const which of [0, 1] as const) {
      const sorted = errors.map((one) => one[which]).sort((a, b) => a - b)
      expect(sorted[Math.floor(sorted.length * 0.95)]).toBeLessThan(1.2)
    }
  })

  test('a view fills what an earlier one gave, arrays too (AP-19)', async () => {
    const { w, ada, grace } = await two(5)
    ada.create(Cube, along(0))
    await w.run(500)
    const [cube] = grace.all(Cube)
    const view = cube!.view()
    const { pos, turn } = view
    expect([pos, turn].map(({ length }) => length)).toEqual([3, 4])
    expect(cube!.view(view)).toBe(view)
    expect([view.pos, view.turn]).toEqual([pos, turn])
    expect(view.pos).toBe(pos)
    expect(view.turn).toBe(turn)
  })

  test('velocities of another kind do not compile, and are refused (AP-19)', () => {
    // @ts-expect-error a place in space goes on by three numbers
    const flat = (): unknown => object('x', fields, { motion: { follow: { pos: 'flat' } } })
    // @ts-expect-error an orientation goes on by an angular velocity
    const own = (): unknown => object('x', fields, { motion: { follow: { turn: 'turn' } } })
    expect(flat).toThrow('the velocity of pos is another field, vec3: "flat"')
    expect(own).toThrow('the velocity of turn is another field, vec3: "turn"')
  })
})
