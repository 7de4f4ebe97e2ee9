// Goal: nothing that a hostile process sends harms a classic player.
// Method: packets into a game in virtual time; `npm run soak -- mazewar-fuzz` throws a million.
// Slow: it plays games from many seeds.
import { expect, test } from 'vitest'
import { storm } from '../fuzz/mazewar.ts'

test.each([false, true])(
  '100,000 hostile packets: none throws, none is wrongly taken, the game goes on (forged: %s)',
  (forged) => {
    const found = storm(1, 100_000, forged)
    expect(found.complaints).toEqual([])
    expect(found.wellFormed).toBeGreaterThan(45_000)
    expect(found.accepted).toBeGreaterThan(found.wellFormed)
    expect(found.accepted).toBeLessThan(90_000)
    expect(found.refused).toBeGreaterThan(20_000)
  },
)
