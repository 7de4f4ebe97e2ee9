// Goal: what was received is known as by a list of all numbers, as far back as the ring goes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LIMITS } from './limits.ts'
import { accept, createReceived, createSent, enter, noteRun, standing } from './window.ts'

const RUNS_MAX = 4

describe('packets that came', () => {
  test('L1: each counts once, is too old 256 behind the newest, and has its bit (PR-2)', () => {
    // Steps back and forth, small and large, from wherever the newest is.
    const steps = fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.constantFrom(-257, -256, -255, -33, -32, -31, 30, 31, 32, 33, 255, 256, 300),
    )
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 60, size: 'max' }), (all) => {
        const received = createReceived(LIMITS)
        const known = new Set<number>()
        let newest = -1
        for (const step of all) {
          const sequence = Math.max(0, newest + step)
          const old = sequence <= newest - 256
          const is = old ? 'stale' : known.has(sequence) ? 'duplicate' : 'fresh'
          expect(standing(received, sequence), `${sequence} after ${newest}`).toBe(is)
          if (is !== 'fresh') continue
          expect(accept(received, sequence)).toBe(sequence === newest + 1)
          known.add(sequence)
          newest = Math.max(newest, sequence)
          const bits = Array.from({ length: 32 }, (_, n) => (known.has(newest - n) ? 2 ** n : 0))
          expect(received.newest).toBe(newest)
          expect(received.bits).toBe(bits.reduce((sum, one) => sum + one, 0))
        }
      }),
      { seed: 31, numRuns: 200 },
    )
  })
})

describe('the pieces of a packet', () => {
  test('are kept as runs, four at most, and apart from those of the packet before (PR-2)', () => {
    const sent = createSent(LIMITS)
    const runsOf = (slot: number): number[] => {
      const from = slot * RUNS_MAX * 2
      return [...sent.runs.subarray(from, from + sent.runCount[slot]! * 2)]
    }
    for (const piece of [1, 2, 3, 7, 8, 20, 30, 31]) expect(noteRun(sent, piece)).toBe(true)
    expect(runsOf(0)).toEqual([1, 3, 7, 2, 20, 1, 30, 2])
    expect(noteRun(sent, 40)).toBe(false)
    expect(noteRun(sent, 32)).toBe(true)
    enter(sent, 0, 100, false, { id: 0, next: 0 })
    // It follows the last piece of the packet before, and is in a packet of its own.
    expect(noteRun(sent, 33)).toBe(true)
    expect([runsOf(0), runsOf(1)]).toEqual([
      [1, 3, 7, 2, 20, 1, 30, 3],
      [33, 1],
    ])
  })
})
