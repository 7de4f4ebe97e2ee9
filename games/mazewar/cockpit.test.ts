// Goal: what a player is shown and told: who is cloaked is not shown, a hit is told once.
// Method: a burrow whose worlds the test makes up.

import { describe, expect, test } from 'vitest'
import type { Burrow } from './burrow.ts'
import { Cockpit } from './cockpit.ts'
import type { Act } from './rules/acts.ts'
import type { Rat, World } from './rules/world.ts'

function rat(id: number, at: number, more: Partial<Rat> = {}): Rat {
  const rest = { cloaked: false, score: 0, missiles: [], nextMissile: 0, born: 0 }
  return { id, owner: id, at, facing: 3, ...rest, ...more }
}

class MadeUp implements Burrow {
  readonly me = 1
  readonly live = true
  readonly acts: Act[] = []
  state: World
  slot = 1

  constructor(...rats: Rat[]) {
    this.state = { slot: 0, rats, hits: [] }
  }

  get ahead(): World {
    return this.state
  }

  act(act: Act): boolean {
    this.acts.push(act)
    return true
  }

  nameOf(id: number): string {
    return ['', 'Ada', 'Grace', 'Linus'][id]!
  }
}

describe('what is shown', () => {
  test('who is cloaked is neither before the eye nor on the map, but missiles are', () => {
    const missiles = [{ id: 0, at: 6, facing: 2 as const }]
    const burrow = new MadeUp(rat(1, 2), rat(2, 5), rat(3, 7, { cloaked: true, missiles }))
    const { bodies, mapped } = new Cockpit(burrow).scene(0)
    expect(bodies.map(({ key }) => key)).toEqual(['2', '3 0'])
    expect(mapped.map(({ key }) => key)).toEqual(['1', '2', '3 0'])
  })
  test('one sees oneself on the map under the own cloak', () => {
    const { mapped } = new Cockpit(new MadeUp(rat(1, 2, { cloaked: true }))).scene(0)
    expect(mapped.map(({ key }) => key)).toEqual(['1'])
  })
  test('peeking moves the eye and not the rat', () => {
    const burrow = new MadeUp(rat(1, 3))
    const cockpit = new Cockpit(burrow)
    const { eye } = cockpit.scene(0)
    cockpit.stage.peeks = 'right'
    cockpit.scene(10)
    const peeked = cockpit.scene(1000).eye
    expect(peeked.angle - eye.angle).toBeCloseTo(Math.PI / 2)
    expect([peeked.x, Math.floor(peeked.y)]).toEqual([4.5, 0])
    cockpit.tick(1000)
    expect(burrow.acts).toEqual([])
  })
  test('on the map are oneself, who is in sight, and who shot a second ago (SL-8)', () => {
    const missiles = [{ id: 0, at: 400, facing: 2 as const }]
    // The corridor of the upper edge: 2 looks down it, 3 is elsewhere.
    const burrow = new MadeUp(rat(1, 2), rat(2, 5), rat(3, 401))
    const cockpit = new Cockpit(burrow)
    const mapped = (now: number): string[] => cockpit.scene(now).mapped.map(({ key }) => key)
    expect(mapped(0)).toEqual(['1', '2'])
    burrow.state = { ...burrow.state, rats: [rat(1, 2), rat(2, 5), rat(3, 401, { missiles })] }
    expect(mapped(100)).toEqual(['1', '2', '3'])
    expect(mapped(1_100)).toEqual(['1', '2', '3'])
    expect(mapped(1_101)).toEqual(['1', '2'])
    // A player who has turned round no longer sees the other.
    burrow.state = { ...burrow.state, rats: [rat(1, 2, { facing: 2 }), rat(2, 5), rat(3, 401)] }
    expect(mapped(5_000)).toEqual(['1', '2'])
    expect(mapped(6_000)).toEqual(['1'])
    cockpit.stage.showsAll = true
    expect(mapped(6_000)).toEqual(['1', '2', '3'])
  })
  test('who wants little motion sees steps and turns at once (SL-8)', () => {
    const burrow = new MadeUp(rat(1, 2))
    const cockpit = new Cockpit(burrow)
    cockpit.stage.calm = true
    cockpit.scene(0)
    burrow.state = { ...burrow.state, rats: [rat(1, 3, { facing: 1 })] }
    const { eye } = cockpit.scene(1)
    const still = cockpit.scene(1_000).eye
    expect([eye.x, eye.y, eye.angle]).toEqual([still.x, still.y, still.angle])
  })
  test('who watches looks through the eyes of one after the other, by points', () => {
    const cockpit = new Cockpit(new MadeUp(rat(2, 5), rat(3, 7, { score: 9 })))
    const seen = [1, 2, 3].map(() => {
      cockpit.watch()
      return cockpit.stage.whose
    })
    expect(seen).toEqual([3, 2, 3])
  })
})

describe('what is told', () => {
  test('each hit once, from who was there when it happened', () => {
    const burrow = new MadeUp(rat(1, 2), rat(2, 5), rat(3, 7))
    burrow.state = { ...burrow.state, hits: [{ slot: 0, by: 3, whom: 2 }] }
    const cockpit = new Cockpit(burrow)
    const cues: string[] = []
    cockpit.onCue = (cue) => cues.push(cue)
    const hits = [
      { slot: 0, by: 3, whom: 2 },
      { slot: 1, by: 1, whom: 2 },
      { slot: 1, by: 2, whom: 1 },
    ]
    burrow.state = { ...burrow.state, slot: 1, hits }
    for (let now = 0; now < 500; now += 100) cockpit.tick(now)
    expect(cockpit.lines.map(({ text }) => text)).toEqual(['You hit Grace', 'Grace hit you'])
    expect(cues).toEqual(['hit', 'beHit'])
    cockpit.tick(60_000)
    expect(cockpit.lines).toEqual([])
  })
})

describe('keys', () => {
  test('a tap is one step, a held key goes on', () => {
    const burrow = new MadeUp(rat(1, 2))
    const cockpit = new Cockpit(burrow)
    cockpit.press('ahead')
    cockpit.hold('ahead', 0)
    cockpit.tick(10)
    burrow.slot = 2
    cockpit.tick(100)
    expect(burrow.acts).toHaveLength(1)
    cockpit.tick(210)
    expect(burrow.acts).toHaveLength(2)
    cockpit.release('ahead')
    burrow.slot = 3
    cockpit.tick(400)
    expect(burrow.acts).toHaveLength(2)
  })
  test('without a rat keys do nothing', () => {
    const burrow = new MadeUp(rat(2, 5))
    const cockpit = new Cockpit(burrow)
    cockpit.press('fire')
    cockpit.tick(0)
    expect(burrow.acts).toEqual([])
  })
})
