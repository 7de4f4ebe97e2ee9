// Goal: what a player is shown and told: who is cloaked is not shown, a hit is told once.
// Method: a maze whose worlds the test makes up.

import { describe, expect, test } from 'vitest'
import type { MazeClient } from './maze-client.ts'
import { Controller } from './controller.ts'
import type { Act } from './rules/acts.ts'
import type { Rat, World } from './rules/world.ts'

function rat(id: number, at: number, more: Partial<Rat> = {}): Rat {
  const rest = { cloaked: false, score: 0, missiles: [], nextMissile: 0, born: 0 }
  return { id, owner: id, at, facing: 3, ...rest, ...more }
}

class MadeUp implements MazeClient {
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
    const maze = new MadeUp(rat(1, 2), rat(2, 5), rat(3, 7, { cloaked: true, missiles }))
    const { bodies, mapped } = new Controller(maze).scene(0)
    expect(bodies.map(({ key }) => key)).toEqual(['2', '3 0'])
    expect(mapped.map(({ key }) => key)).toEqual(['1', '2', '3 0'])
  })
  test('one sees oneself on the map under the own cloak', () => {
    const { mapped } = new Controller(new MadeUp(rat(1, 2, { cloaked: true }))).scene(0)
    expect(mapped.map(({ key }) => key)).toEqual(['1'])
  })
  test('peeking moves the eye and not the rat', () => {
    const maze = new MadeUp(rat(1, 3))
    const controller = new Controller(maze)
    const { eye } = controller.scene(0)
    controller.stage.peeks = 'right'
    controller.scene(10)
    const peeked = controller.scene(1000).eye
    expect(peeked.angle - eye.angle).toBeCloseTo(Math.PI / 2)
    expect([peeked.x, Math.floor(peeked.y)]).toEqual([4.5, 0])
    controller.tick(1000)
    expect(maze.acts).toEqual([])
  })
  test('on the map are oneself, who is in sight, and who shot a second ago (SL-8)', () => {
    const missiles = [{ id: 0, at: 400, facing: 2 as const }]
    // The corridor of the upper edge: 2 looks down it, 3 is elsewhere.
    const maze = new MadeUp(rat(1, 2), rat(2, 5), rat(3, 401))
    const controller = new Controller(maze)
    const mapped = (now: number): string[] => controller.scene(now).mapped.map(({ key }) => key)
    expect(mapped(0)).toEqual(['1', '2'])
    maze.state = { ...maze.state, rats: [rat(1, 2), rat(2, 5), rat(3, 401, { missiles })] }
    expect(mapped(100)).toEqual(['1', '2', '3'])
    expect(mapped(1_100)).toEqual(['1', '2', '3'])
    expect(mapped(1_101)).toEqual(['1', '2'])
    // A player who has turned round no longer sees the other.
    maze.state = { ...maze.state, rats: [rat(1, 2, { facing: 2 }), rat(2, 5), rat(3, 401)] }
    expect(mapped(5_000)).toEqual(['1', '2'])
    expect(mapped(6_000)).toEqual(['1'])
    controller.stage.showsAll = true
    expect(mapped(6_000)).toEqual(['1', '2', '3'])
  })
  test('who wants little motion sees steps and turns at once (SL-8)', () => {
    const maze = new MadeUp(rat(1, 2))
    const controller = new Controller(maze)
    controller.stage.calm = true
    controller.scene(0)
    maze.state = { ...maze.state, rats: [rat(1, 3, { facing: 1 })] }
    const { eye } = controller.scene(1)
    const still = controller.scene(1_000).eye
    expect([eye.x, eye.y, eye.angle]).toEqual([still.x, still.y, still.angle])
  })
  test('who watches looks through the eyes of one after the other, by points', () => {
    const controller = new Controller(new MadeUp(rat(2, 5), rat(3, 7, { score: 9 })))
    const seen = [1, 2, 3].map(() => {
      controller.watch()
      return controller.stage.whose
    })
    expect(seen).toEqual([3, 2, 3])
  })
})

describe('what is told', () => {
  test('each hit once, from who was there when it happened', () => {
    const maze = new MadeUp(rat(1, 2), rat(2, 5), rat(3, 7))
    maze.state = { ...maze.state, hits: [{ slot: 0, by: 3, whom: 2 }] }
    const controller = new Controller(maze)
    const cues: string[] = []
    controller.onCue = (cue) => cues.push(cue)
    const hits = [
      { slot: 0, by: 3, whom: 2 },
      { slot: 1, by: 1, whom: 2 },
      { slot: 1, by: 2, whom: 1 },
    ]
    maze.state = { ...maze.state, slot: 1, hits }
    for (let now = 0; now < 500; now += 100) controller.tick(now)
    expect(controller.lines.map(({ text }) => text)).toEqual(['You hit Grace', 'Grace hit you'])
    expect(cues).toEqual(['hit', 'beHit'])
    controller.tick(60_000)
    expect(controller.lines).toEqual([])
  })
})

describe('keys', () => {
  test('a tap is one step, a held key goes on', () => {
    const maze = new MadeUp(rat(1, 2))
    const controller = new Controller(maze)
    controller.press('ahead')
    controller.hold('ahead', 0)
    controller.tick(10)
    maze.slot = 2
    controller.tick(100)
    expect(maze.acts).toHaveLength(1)
    controller.tick(210)
    expect(maze.acts).toHaveLength(2)
    controller.release('ahead')
    maze.slot = 3
    controller.tick(400)
    expect(maze.acts).toHaveLength(2)
  })
  test('without a rat keys do nothing', () => {
    const maze = new MadeUp(rat(2, 5))
    const controller = new Controller(maze)
    controller.press('fire')
    controller.tick(0)
    expect(maze.acts).toEqual([])
  })
})
