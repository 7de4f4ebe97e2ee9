// Goal: the maze is one anybody can play in: no cell is closed, none is out of reach, no way ends.
// Method: walk through all of it.

import { expect, test } from 'vitest'
import * as maze from './maze.ts'

const ALL = Array.from({ length: maze.CELLS }, (_, at) => at)

test('every cell is reached from every other', () => {
  const reached = new Set([0])
  for (const at of reached) {
    for (const facing of maze.FACINGS) {
      const next = maze.beyond(at, facing)
      if (next !== null) reached.add(next)
    }
  }
  expect(reached.size).toBe(512)
})

test('a way that is open is open from both sides, and its edge is closed', () => {
  for (const at of ALL) {
    for (const facing of maze.FACINGS) {
      const next = maze.beyond(at, facing)
      if (next === null) continue
      expect(maze.beyond(next, maze.back(facing))).toBe(at)
      const across = Math.abs(maze.columnOf(next) - maze.columnOf(at))
      expect(across + Math.abs(maze.lineOf(next) - maze.lineOf(at))).toBe(1)
    }
  }
})

test('there is no dead end, and there are loops', () => {
  const ways = ALL.map((at) => maze.FACINGS.filter((facing) => maze.isOpen(at, facing)).length)
  expect(Math.min(...ways)).toBe(2)
  // A tree of 512 cells has 511 ways; each one more is a loop.
  const edges = ways.reduce((sum, count) => sum + count, 0) / 2
  expect(edges - 511).toBeGreaterThan(50)
})

test('it is itself when it is turned by half a turn', () => {
  for (const at of ALL) {
    for (const facing of maze.FACINGS) {
      const turned = maze.isOpen(maze.CELLS - 1 - at, maze.back(facing))
      expect(maze.isOpen(at, facing)).toBe(turned)
    }
  }
})

test('nobody is seen from further than ten cells', () => {
  const sights = ALL.flatMap((at) => maze.FACINGS.map((facing) => maze.sight(at, facing)))
  expect(Math.max(...sights)).toBeLessThanOrEqual(10)
})

test('who begins sees three cells at least: not a wall at the nose (N-27)', () => {
  const chances = Array.from({ length: 1_000 }, (_, at) => at / 1_000)
  const views = chances.map((chance) => {
    const { at, facing } = maze.beginning(chance)
    return maze.sight(at, facing)
  })
  expect(Math.min(...views)).toBe(3)
  expect(new Set(chances.map((chance) => maze.beginning(chance).at)).size).toBeGreaterThan(300)
})

test.each([
  [0, 2, 3],
  [1, 3, 2],
  [2, 1, 0],
  [3, 0, 1],
] as const)('who looks %i has %i on the left and %i on the right', (facing, left, right) => {
  expect(maze.leftOf(facing)).toBe(left)
  expect(maze.rightOf(facing)).toBe(right)
})

test('a place is read as people write it, or is none', () => {
  expect(maze.readPlace('511,3')).toEqual({ at: 511, facing: 3 })
  for (const text of ['', '512,0', '3', '3,4', '-1,0', 'a,b', '1,2,3']) {
    expect(maze.readPlace(text)).toBeNull()
  }
})
