// Goal: what a user is promised of motion: how a type names it, and what `view` gives.
import { describe, expect, test } from 'vitest'
import type { MotionOptions } from '../../src/index.ts'
import { angle, bool, object, ranged, type Session, u8, vec2 } from '../../src/index.ts'
import { sortTypes } from '../../src/api/types.ts'
import { type SessionWorld, world } from '../../src/proof/world.ts'

const fields = {
  pos: vec2(-64, 64, 0.01),
  vel: vec2(-20, 20, 0.05),
  aim: angle(10),
  spin: ranged(-8, 8, 0.01),
  depth: ranged(0, 10, 0.1),
  hull: u8,
  up: bool,
}
const Pot = object('pot', fields, { motion: { follow: { pos: 'vel', aim: 'spin' } } })
const Rock = object('rock', { pos: fields.pos, vel: fields.vel })
const types = [Pot, Rock]

async function two(seed: number): Promise<{ w: SessionWorld; all: Session[] }> {
  const w = world({ seed, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace']) all.push(await w.join({ game: 'duel', types, name }))
  await w.run(2_000)
  return { w, all }
}

describe('motion of a type', () => {
  test('names that do not fit do not compile, and are refused', () => {
    type Motion = MotionOptions<typeof fields>
    const moving = (motion: Motion) => () => object('x', fields, { motion })
    const refused: [motion: () => unknown, why: RegExp][] = [
      // @ts-expect-error there is no such field
      [moving({ follow: { place: 'vel' } }), /follows .*"place"/],
      // @ts-expect-error a u8 is no place
      [moving({ follow: { hull: 'spin' } }), /"hull" is none/],
      // @ts-expect-error there is no such velocity
      [moving({ follow: { pos: 'speed' } }), /velocity of pos .*vec2: "speed"/],
      // @ts-expect-error a place in the plane goes on by two numbers
      [moving({ follow: { pos: 'spin' } }), /velocity of pos .*vec2: "spin"/],
      // @ts-expect-error an angle goes on by one
      [moving({ follow: { aim: 'vel' } }), /velocity of aim .*ranged: "vel"/],
      // @ts-expect-error nothing is its own velocity
      [moving({ follow: { depth: 'depth' } }), /another field/],
      [moving({ follow: {} }), /x: motion follows no field/],
      [moving({ follow: { pos: 'vel' }, warp: 1 }), /below 1: 1/],
      [moving({ follow: { pos: 'vel' }, warp: NaN }), /below 1: NaN/],
      [moving({ follow: { pos: 'vel' }, snap: 0 }), /above 0: 0/],
    ]
    for (const [motion, why] of refused) {
      expect(motion).toThrow(why)
      expect(motion).toThrow(expect.objectContaining({ code: 'bad-value' }))
    }
    // @ts-expect-error given to `object` itself the names are checked as well
    expect(() => object('x', fields, { motion: { follow: { pos: 'pos' } } })).toThrow(/another/)
    expect(moving({ follow: { depth: 'spin' }, warp: 0 })().course).not.toBe(null)
  })

  test('is agreed upon by all builds, but for what is the viewer’s own', () => {
    const print = (follow: object, rest: object = {}): number =>
      sortTypes([object('x', fields, { motion: { follow, ...rest } })]).fingerprint
    const still = sortTypes([object('x', fields)]).fingerprint
    const prints = [still, print({ pos: 'vel' }), print({ aim: 'spin' }), print({ depth: 'spin' })]
    expect(new Set(prints).size).toBe(4)
    expect(print({ pos: 'vel' }, { warp: 0.5, snap: 3 })).toBe(prints[1])
  })
})

describe('view', () => {
  test('is the state of what is one’s own, and of a type without motion', async () => {
    const { w, all } = await two(1)
    const [ada, grace] = all
    const pot = ada!.create(Pot, { pos: [1, 2], vel: [3, 0] })
    ada!.create(Rock, { pos: [1, 2] })
    await w.run(500)
    const [theirs] = grace!.all(Pot)
    const [rock] = grace!.all(Rock)
    expect(pot.view()).toBe(pot.state)
    expect(rock!.view()).toBe(rock!.state)
    expect(theirs!.view()).not.toBe(theirs!.state)
  })

  test('fills what an earlier call gave, and never a state', async () => {
    const { w, all } = await two(2)
    const [ada, grace] = all
    const pots = [0, 1].map((x) => ada!.create(Pot, { pos: [x, 0], hull: x }))
    const own = grace!.create(Pot, { pos: [9, 9] })
    await w.run(500)
    const [one, other] = grace!.all(Pot).filter((pot) => !pot.mine)
    const view = one!.view()
    const { pos } = view
    expect(other!.view(view)).toBe(view)
    expect(view.pos).toBe(pos)
    expect(pos[0]).toBeCloseTo(1)
    expect(view.hull).toBe(1)
    expect(other!.view({ ...one!.state }).pos[0]).toBeCloseTo(1)
    expect(other!.view(own.view()).pos[0]).toBeCloseTo(1)
    expect([one!.state.pos[0], own.state.pos]).toEqual([expect.closeTo(0), [9, 9]])
    expect(pots.map((pot) => pot.state.pos)).toEqual([
      [0, 0],
      [1, 0],
    ])
  })

  test('a state keeps no array of its owner’s', async () => {
    const { all } = await two(3)
    const at: [number, number] = [1, 2]
    const pot = all[0]!.create(Pot, { pos: at })
    at[0] = 50
    expect(pot.state.pos).toEqual([1, 2])
    pot.set({ pos: at })
    at[0] = 60
    expect(pot.state.pos).toEqual([50, 2])
  })
})

describe('a viewer', () => {
  test('warps as it likes, from 0 to below 1', async () => {
    const { all } = await two(4)
    all[0]!.warp(0)
    all[0]!.warp(null)
    for (const factor of [1, -0.1, NaN]) {
      expect(() => all[0]!.warp(factor)).toThrow(/warping factor is from 0 to below 1/)
    }
  })

  test('changes the weather on its own links while they run', async () => {
    const { w, all } = await two(5)
    const [ada, grace] = all
    await w.run(2_000)
    expect(grace!.figures().rttMs).toBeLessThan(25)
    grace!.condition('rtt=40')
    const pot = ada!.create(Pot, { pos: [5, 5] })
    await w.run(25)
    expect(grace!.all(Pot)).toEqual([])
    await w.run(10)
    expect(grace!.all(Pot)).toHaveLength(1)
    expect(() => grace!.condition('fog=1')).toThrow(/no condition is called "fog"/)
    grace!.condition(null)
    pot.set({ pos: [6, 6] })
    await w.run(15)
    expect(grace!.all(Pot)[0]!.state.pos[0]).toBeCloseTo(6)
    grace!.end('test')
    expect(() => grace!.condition(null)).toThrow(/the session was left/)
  })
})
