// Goal: one looks round the next corner and no further, and stays where one is.

import { expect, test } from 'vitest'
import { CELLS, FACINGS, isOpen, leftOf, rightOf } from './maze.ts'
import { peek } from './peek.ts'

test('an opening beside one is looked into from here, the next one from the next cell', () => {
  // Along the upper edge, cell 4 is open below; 5 is not, nor is 3.
  expect(peek(4, 3, 'right')).toEqual({ at: 4, facing: 1 })
  expect(peek(3, 3, 'right')).toEqual({ at: 4, facing: 1 })
  expect(peek(5, 2, 'left')).toEqual({ at: 4, facing: 1 })
  expect(peek(2, 3, 'right')).toBeNull()
  expect(peek(4, 3, 'left')).toBeNull()
})

test('wherever one peeks, one looks into something open, to the side that was asked for', () => {
  for (let at = 0; at < CELLS; at++) {
    for (const facing of FACINGS) {
      for (const side of ['left', 'right'] as const) {
        const found = peek(at, facing, side)
        if (!found) continue
        expect(isOpen(found.at, found.facing)).toBe(true)
        expect(found.facing).toBe(side === 'left' ? leftOf(facing) : rightOf(facing))
      }
    }
  }
})
