// Goal: what a slot of the maze does, rule by rule, and that nothing breaks it.
// Method: rats are put where the drawing of the maze says that walls and ways are.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Act, type ActRecord, decode, encode, fields, type RatAct } from './acts.ts'
import { beyond, CELLS, type Facing, FACINGS, isOpen } from './maze.ts'
import { type Deed, step } from './step.ts'
import {
  byScore,
  EMPTY,
  HITS_MAX,
  LAWS,
  RATS_MAX,
  type Rat,
  ratAt,
  ratOf,
  type World,
  PAST_MAX,
} from './world.ts'

/** Along the upper edge the cells 0 to 9 are one corridor; 16 is the first below. */
const RIGHT: Facing = 3
const LEFT: Facing = 2

function rat(id: number, at: number, facing: Facing, more: Partial<Rat> = {}): Rat {
  const rest = { cloaked: false, score: 0, missiles: [], nextMissile: 0, born: -100 }
  return { id, owner: id, at, facing, ...rest, ...more }
}

function worldOf(...rats: readonly Rat[]): World {
  return freeze({ slot: 0, rats, hits: [] })
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) freeze(part as unknown)
    Object.freeze(value)
  }
  return value
}

function turn(world: World, left: readonly number[] = []): Parameters<typeof step>[2] {
  let state = world.slot * 7 + 1
  const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647
  return { slot: world.slot + 1, left, random }
}

/** One slot; each act is of the rat of that id, which is its player's number too. */
function play(world: World, ...acts: readonly [id: number, act: Act][]): World {
  const deeds = acts.map(([id, act]): Deed => ({ by: id, act: { rat: id, ...act } }))
  return freeze(step(world, deeds, turn(world)))
}

const STEP: Act = { kind: 'step', speed: 1 }
const FIRE: Act = { kind: 'fire' }

describe('steps', () => {
  test('speed 1 is forward and 2 is backward, and the facing stays', () => {
    const world = worldOf(rat(1, 4, RIGHT))
    expect(ratOf(play(world, [1, STEP]), 1)).toMatchObject({ at: 5, facing: RIGHT })
    const behind = play(world, [1, { kind: 'step', speed: 2 }])
    expect(ratOf(behind, 1)).toMatchObject({ at: 3, facing: RIGHT })
  })
  test('a wall is in the way', () => {
    expect(ratOf(play(worldOf(rat(1, 0, LEFT)), [1, STEP]), 1)?.at).toBe(0)
  })
  test('two go for one cell: the first of the list has it', () => {
    const world = worldOf(rat(1, 3, RIGHT), rat(2, 5, LEFT))
    expect(play(world, [2, STEP], [1, STEP]).rats.map(({ at }) => at)).toEqual([3, 4])
    expect(play(world, [1, STEP], [2, STEP]).rats.map(({ at }) => at)).toEqual([4, 5])
  })
  test('who follows gets in if the one in front went first', () => {
    const world = worldOf(rat(1, 3, RIGHT), rat(2, 4, RIGHT))
    expect(play(world, [2, STEP], [1, STEP]).rats.map(({ at }) => at)).toEqual([4, 5])
    expect(play(world, [1, STEP], [2, STEP]).rats.map(({ at }) => at)).toEqual([3, 5])
  })
  test('one step a slot, and it is made before the turn', () => {
    const world = worldOf(rat(1, 3, RIGHT))
    const after = play(world, [1, { kind: 'turn', facing: LEFT }], [1, STEP], [1, STEP])
    expect(ratOf(after, 1)).toMatchObject({ at: 4, facing: LEFT })
  })
})

describe('missiles', () => {
  test('a shot costs a point, flies a cell a slot from the next slot on, and hits: +11 and -5', () => {
    let world = worldOf(rat(1, 2, RIGHT), rat(2, 5, RIGHT))
    world = play(world, [1, FIRE])
    expect(ratOf(world, 1)).toMatchObject({
      score: -1,
      missiles: [{ id: 0, at: 2, facing: RIGHT }],
    })
    world = play(play(world))
    expect(ratOf(world, 1)?.missiles).toEqual([{ id: 0, at: 4, facing: RIGHT }])
    expect(world.hits).toEqual([])
    world = play(world)
    expect(world.hits).toEqual([{ slot: 4, by: 1, whom: 2 }])
    expect(ratOf(world, 1)).toMatchObject({ score: 10, missiles: [] })
    expect(ratOf(world, 2)).toMatchObject({ score: -5, born: 4 })
    expect(ratOf(world, 2)?.at).not.toBe(5)
  })
  test('who was hit does nothing more in that slot', () => {
    let world = play(worldOf(rat(1, 2, RIGHT), rat(2, 3, LEFT)), [1, FIRE])
    world = play(world, [2, FIRE], [2, { kind: 'cloak', on: true }], [2, STEP])
    expect(ratOf(world, 2)).toMatchObject({ score: -5, cloaked: false, missiles: [] })
  })
  test('nobody walks through a missile: head on, both a cell a slot, odd and even', () => {
    for (const at of [5, 6]) {
      let world = play(worldOf(rat(1, 2, RIGHT), rat(2, at, LEFT)), [1, FIRE])
      for (let slot = 0; slot < 4; slot++) world = play(world, [2, STEP])
      expect(world.hits).toHaveLength(1)
    }
  })
  test('M54: a wall ends it silently', () => {
    let world = play(worldOf(rat(1, 1, LEFT)), [1, FIRE])
    world = play(world)
    expect(ratOf(world, 1)?.missiles).toHaveLength(1)
    expect(ratOf(play(world), 1)).toMatchObject({ missiles: [], score: -1 })
  })
  test('M43: three are in flight at most, one a slot, and their ids go round from 0 to 3', () => {
    let world = worldOf(rat(1, 0, RIGHT, { nextMissile: 2 }))
    world = play(world, [1, FIRE], [1, FIRE])
    expect(ratOf(world, 1)?.missiles).toHaveLength(1)
    for (let slot = 0; slot < 4; slot++) world = play(world, [1, FIRE])
    expect(ratOf(world, 1)?.missiles.map(({ id }) => id)).toEqual([2, 3, 0])
    expect(ratOf(world, 1)?.score).toBe(-3)
  })
  test('nobody is hit by their own, also when they run after it', () => {
    let world = play(worldOf(rat(1, 0, RIGHT)), [1, FIRE])
    for (let slot = 0; slot < 8; slot++) world = play(world, [1, STEP])
    expect(world.hits).toEqual([])
    expect(ratOf(world, 1)?.at).toBe(8)
  })
  test('one missile hits one rat, and a hit is told for ten slots', () => {
    let world = worldOf(rat(1, 2, RIGHT), rat(2, 3, LEFT), rat(3, 4, LEFT))
    world = play(play(world, [1, FIRE]))
    expect(world.hits).toHaveLength(1)
    for (let slot = 0; slot < 9; slot++) world = play(world)
    expect(world.hits).toHaveLength(1)
    expect(play(world).hits).toEqual([])
  })
  test('scores are what the game says', () => {
    const laws = { ...LAWS, shot: -2, hit: 30, beHit: -7, missileCells: 3 }
    let world = worldOf(rat(1, 2, RIGHT), rat(2, 5, RIGHT))
    const deed: Deed = { by: 1, act: { rat: 1, kind: 'fire' } }
    world = step(world, [deed], turn(world), laws)
    world = step(world, [], turn(world), laws)
    expect(world.rats.map(({ score }) => score)).toEqual([28, -7])
  })
})

describe('cloak, births, and who goes', () => {
  test('a cloak is put on and off, and who shoots is seen', () => {
    let world = play(worldOf(rat(1, 2, RIGHT)), [1, { kind: 'cloak', on: true }])
    expect(ratOf(world, 1)?.cloaked).toBe(true)
    world = play(world, [1, FIRE])
    expect(ratOf(world, 1)?.cloaked).toBe(false)
  })
  test('a birth in a taken cell is in the next free one', () => {
    const born: Act = { kind: 'born', at: 2, facing: RIGHT }
    const world = play(worldOf(rat(1, 2, RIGHT), rat(2, 3, RIGHT)), [9, born])
    expect(ratOf(world, 9)).toMatchObject({ at: 4, owner: 9, score: 0, born: 1 })
    const last: Act = { kind: 'born', at: CELLS - 1, facing: RIGHT }
    const round = play(worldOf(rat(1, CELLS - 1, RIGHT)), [9, last])
    expect(ratOf(round, 9)?.at).toBe(0)
  })
  test('births come last: who walks into a cell has it', () => {
    const born: Act = { kind: 'born', at: 3, facing: RIGHT }
    const world = play(worldOf(rat(1, 2, RIGHT)), [9, born], [1, STEP])
    expect(world.rats.map(({ at }) => at)).toEqual([3, 4])
  })
  test('rats of players who went are gone, and so is a rat that leaves', () => {
    const world = worldOf(rat(1, 2, RIGHT), rat(2, 4, RIGHT), rat(77, 6, RIGHT, { owner: 2 }))
    expect(step(world, [], turn(world, [2])).rats.map(({ id }) => id)).toEqual([1])
    const deed: Deed = { by: 2, act: { rat: 77, kind: 'leave' } }
    expect(step(world, [deed], turn(world)).rats.map(({ id }) => id)).toEqual([1, 2])
  })
  test('who went and is back within a minute has their points, and nobody else has', () => {
    const world = worldOf(rat(1, 2, RIGHT), rat(2, 4, RIGHT, { score: 21 }))
    const born: Act = { kind: 'born', at: 40, facing: LEFT }
    const gone = step(world, [], turn(world, [2]))
    expect(gone.past).toEqual([{ id: 2, owner: 2, score: 21, slot: 1 }])
    const back = play(gone, [2, born])
    expect(ratOf(back, 2)).toMatchObject({ score: 21, at: 40 })
    expect(back.past).toEqual([])
    const other = step(gone, [{ by: 7, act: { rat: 2, ...born } }], turn(gone))
    expect(ratOf(other, 2)).toMatchObject({ owner: 7, score: 0 })
    const late = step({ ...gone, slot: 300 }, [], turn({ ...gone, slot: 300 }))
    expect(ratOf(play(late, [2, born]), 2)!.score).toBe(0)
  })
  test('who was just born may say once where, and nobody else may', () => {
    const born: Act = { kind: 'born', at: 40, facing: LEFT }
    const fresh = worldOf(rat(1, 2, RIGHT, { born: 0, score: 7 }))
    const moved = play(fresh, [1, born])
    expect(ratOf(moved, 1)).toMatchObject({ at: 40, facing: LEFT, score: 7 })
    const again: Act = { kind: 'born', at: 80, facing: LEFT }
    expect(ratOf(play(moved, [1, again]), 1)?.at).toBe(40)
    expect(ratOf(play(worldOf(rat(1, 2, RIGHT)), [1, born]), 1)?.at).toBe(2)
  })
  test('a rat is moved by its owner alone', () => {
    const world = worldOf(rat(1, 2, RIGHT), rat(2, 8, RIGHT))
    for (const act of [STEP, FIRE, { kind: 'leave' }, { kind: 'cloak', on: true }] as const) {
      const after = step(world, [{ by: 2, act: { rat: 1, ...act } }], turn(world))
      expect(ratOf(after, 1)).toEqual(ratOf(world, 1))
    }
  })
})

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constant('born' as const),
    at: fc.integer({ min: 0, max: CELLS - 1 }),
    facing: fc.constantFrom(...FACINGS),
  }),
  fc.record({ kind: fc.constant('turn' as const), facing: fc.constantFrom(...FACINGS) }),
  fc.record({ kind: fc.constant('step' as const), speed: fc.constantFrom(1 as const, 2 as const) }),
  fc.record({ kind: fc.constant('cloak' as const), on: fc.boolean() }),
  fc.constant({ kind: 'fire' } as const),
  fc.constant({ kind: 'leave' } as const),
)

describe('whatever is done', () => {
  const id = fc.integer({ min: 1, max: 12 })
  const deeds = fc.array(fc.record({ by: id, rat: id, act: acts }), { maxLength: 30 })
  test('one rat a cell, sorted by id, missiles within bounds, and the same for everybody', () => {
    fc.assert(
      fc.property(fc.array(deeds, { maxLength: 25 }), (slots) => {
        let world = freeze(EMPTY)
        for (const slot of slots) {
          const list = slot.map(({ by, rat: whose, act }): Deed => ({
            by,
            act: { rat: whose, ...act },
          }))
          const next = step(world, list, turn(world))
          expect(step(world, list, turn(world))).toEqual(next)
          holds(next)
          world = freeze(next)
        }
      }),
      { numRuns: 60 },
    )
  })
  test('hostile acts change nothing and throw nothing', () => {
    const world = worldOf(rat(1, 2, RIGHT))
    const bad = [
      { kind: 'born', at: 512, facing: 0 },
      { kind: 'born', at: -1, facing: 0 },
      { kind: 'born', at: 1.5, facing: 0 },
      { kind: 'born', at: 3, facing: 4 },
      { kind: 'turn', facing: 9 },
      { kind: 'step', speed: 3 },
      { kind: 'dance' },
    ]
    for (const act of bad) {
      const hostile = { ...act, rat: 1 } as unknown as RatAct
      const stranger = { ...act, rat: 5 } as unknown as RatAct
      const after = step(
        world,
        [
          { by: 1, act: hostile },
          { by: 5, act: stranger },
        ],
        turn(world),
      )
      expect(after.rats.map(({ at, facing }) => [at, facing]).slice(1)).toEqual([])
      expect(ratOf(after, 1)?.facing).toBe(RIGHT)
    }
  })
  test('one player fills no more than their share of the maze', () => {
    const list = Array.from({ length: 300 }, (_, i): Deed => {
      return { by: 1, act: { rat: i, kind: 'born', at: i, facing: 0 } }
    })
    expect(step(EMPTY, list, turn(EMPTY)).rats).toHaveLength(32)
    const many = list.map(({ act }, i): Deed => ({ by: i, act }))
    expect(step(EMPTY, many, turn(EMPTY)).rats).toHaveLength(160)
  })
})

test('the fullest world fits into one message of a session: 48 KB of JSON', () => {
  const missiles = [0, 1, 2].map((id) => ({ id, at: 511, facing: RIGHT }))
  const full = Array.from({ length: RATS_MAX }, (_, i) =>
    rat(0xffff_ff00 + i, 511, RIGHT, { score: -2147483647, missiles, born: 1e10 }),
  )
  const hits = Array.from({ length: HITS_MAX }, () => ({ slot: 1e10, by: 4e9, whom: 4e9 }))
  const past = Array.from({ length: PAST_MAX }, (_, i) => {
    return { id: 0xffff_ff00 + i, owner: 65535, score: -2147483647, slot: 1e10 }
  })
  expect(JSON.stringify({ slot: 1e10, rats: full, hits, past }).length).toBeLessThan(48 * 1024)
})

function holds(world: World): void {
  const { rats } = world
  expect(new Set(rats.map(({ at }) => at)).size).toBe(rats.length)
  expect(rats.map(({ id }) => id)).toEqual(rats.map(({ id }) => id).toSorted((a, b) => a - b))
  for (const { missiles } of rats) {
    expect(missiles.length).toBeLessThanOrEqual(3)
    expect(new Set(missiles.map(({ id }) => id)).size).toBe(missiles.length)
  }
  expect(structuredClone(world)).toEqual(world)
  expect(JSON.parse(JSON.stringify(world))).toEqual(world)
}

describe('acts on the wire', () => {
  test('every act comes back as it went', () => {
    fc.assert(
      fc.property(acts, fc.integer({ min: 0, max: 0xffff_ffff }), (act, id) => {
        expect(decode(encode({ rat: id, ...act }))).toEqual({ rat: id, ...act })
      }),
    )
  })
  test('a record has the fields of an act in a session, and no other', () => {
    expect(Object.keys(encode({ rat: 1, kind: 'fire' }))).toEqual(Object.keys(fields))
  })
  test('of all 65,536 records those are read that are written, and no other', () => {
    let read = 0
    for (let what = 0; what < 65536; what++) {
      const record: ActRecord = { rat: 7, what }
      const act = decode(record)
      if (act === null) continue
      read++
      expect(encode(act)).toEqual(record)
    }
    // 512 * 4 births, 4 turns, 2 steps, a cloak on and off, a shot, a farewell.
    expect(read).toBe(2048 + 4 + 2 + 2 + 1 + 1)
  })
})

test('who stands where, and who has most points', () => {
  const world = worldOf(rat(1, 2, RIGHT), rat(2, 3, LEFT, { score: 5 }), rat(3, 4, LEFT))
  expect(ratAt(world, 3)?.id).toBe(2)
  expect(ratAt(world, 9)).toBeUndefined()
  expect(byScore(world).map(({ id }) => id)).toEqual([2, 1, 3])
})

test('the cells that these tests play in are one corridor', () => {
  for (let at = 0; at < 9; at++) expect(beyond(at, RIGHT)).toBe(at + 1)
  expect(isOpen(0, LEFT)).toBe(false)
})
