// Goal: who is where is a function of what all rats said last, one rat a cell; numbers wrap.
// Method: drawn rats, in any order; by hand where a number decides.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type RatState, stateAfter, end, fly, resolve, update } from './rat-state.ts'
import { distance, EVENT_BITS, following, isNewer } from './numbers.ts'
import type { Absolute, Action } from './packets.ts'

const still: Action = { kind: 'movement', facing: 3, step: 'none' }
const absolute = (more: Partial<Absolute> = {}): Absolute => {
  return { score: 0, cell: 0, facing: 3, cloaked: false, missiles: [], ...more }
}
const at = (cell: number, before: number): RatState => {
  return { ...stateAfter({ absolute: absolute({ cell }), action: still })!, before }
}
// Few cells, so that they are often the same.
const cell = fc.integer({ min: 0, max: 6 })
const rats = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 2 ** 32 - 1 }), cell, cell), {
  minLength: 1,
  maxLength: 9,
  selector: ([id]) => id,
})

describe('scores', () => {
  test('M49: a score stays at the ends of 32 bits (SL-7)', () => {
    const missile = { id: 0, cell: 9, heading: 3 } as const
    for (const action of [
      { kind: 'hit', owner: 7, missile },
      { kind: 'projection', missile: { ...missile, cell: 0 } },
    ] as const) {
      const rat = stateAfter({ absolute: absolute({ score: -(2 ** 31) }), action })
      expect(rat!.score).toBe(-(2 ** 31))
    }
  })
})

describe('who is where', () => {
  test('M32, M55: one rat a cell, the same in whatever order events came', () => {
    fc.assert(
      fc.property(rats, fc.infiniteStream(fc.nat()), (drawn, chance) => {
        const made = drawn.map(([id, one, before]) => [id, at(one, before)] as const)
        const cells = resolve(new Map(made))
        expect(new Set(cells.values()).size).toBe(made.length)
        const shuffled = made
          .map((one) => ({ one, by: chance.next().value }))
          .toSorted((one, other) => one.by - other.by)
        expect(resolve(new Map(shuffled.map(({ one }) => one)))).toEqual(cells)
      }),
    )
  })

  test('M32, M36: the higher id is where it says; the lower where it was, or else in a free cell', () => {
    fc.assert(
      fc.property(rats, (drawn) => {
        const cells = resolve(new Map(drawn.map(([id, one, before]) => [id, at(one, before)])))
        for (const [id, one, before] of drawn) {
          const higher = new Set(
            [...cells].flatMap(([other, place]) => (other > id ? [place] : [])),
          )
          if (!higher.has(one)) expect(cells.get(id)).toBe(one)
          else if (!higher.has(before)) expect(cells.get(id)).toBe(before)
          else expect(higher.has(cells.get(id)!)).toBe(false)
        }
      }),
    )
  })
})

describe('missiles', () => {
  const shot = (id: number, where: number): Action => {
    return { kind: 'projection', missile: { id, cell: where, heading: 3 } }
  }
  test('M54: one whose shot was missed has flown since it was told; one that is known flies on', () => {
    const told = {
      absolute: absolute({ missiles: [{ id: 1, cell: 2, heading: 3 }] }),
      action: still,
    }
    const late = update(undefined, told, 2, 10)!
    expect(late.missiles).toEqual([{ id: 1, cell: 4, heading: 3 }])
    fly(late, 11)
    expect(update(late, told, 2, 11)!.missiles).toEqual([{ id: 1, cell: 5, heading: 3 }])
    // The upper edge is open for ten cells, and ends at a wall.
    for (let slot = 12; slot < 30; slot++) fly(late, slot)
    expect(late.missiles).toEqual([])
  })

  test('M48: a missile hits once, and what is said of it late does not bring it back', () => {
    const owner = update(undefined, { absolute: absolute(), action: shot(0, 0) }, 2, 10)!
    expect([end(owner, 0, 11), end(owner, 0, 11), end(owner, 3, 11)]).toEqual([true, false, false])
    const older = absolute({ missiles: [{ id: 0, cell: 1, heading: 3 }] })
    expect(update(owner, { absolute: older, action: still }, 2, 12)!.missiles).toEqual([])
    // A new shot with its id is another one.
    const again = update(owner, { absolute: absolute(), action: shot(0, 0) }, 2, 13)!
    expect(again.missiles).toHaveLength(1)
    expect(end(again, 0, 14)).toBe(true)
  })

  test('M43: a fourth missile, or two of one id, cannot be', () => {
    const three = [0, 1, 2].map((id) => ({ id, cell: id, heading: 3 as const }))
    expect(stateAfter({ absolute: absolute({ missiles: three }), action: shot(3, 0) })).toBe(null)
    const twice = [three[0]!, three[0]!]
    expect(stateAfter({ absolute: absolute({ missiles: twice }), action: still })).toBe(null)
    const two = three.slice(0, 2)
    expect(stateAfter({ absolute: absolute({ missiles: two }), action: shot(1, 0) })).toBe(null)
    expect(stateAfter({ absolute: absolute({ missiles: two }), action: shot(2, 0) })).not.toBe(null)
  })
})

test('M57: which of two numbers is newer, round the end', () => {
  const last = 2 ** EVENT_BITS - 1
  expect(following(last, EVENT_BITS)).toBe(0)
  expect(distance(last, 2, EVENT_BITS)).toBe(3)
  expect([isNewer(0, last, EVENT_BITS), isNewer(last, 0, EVENT_BITS)]).toEqual([true, false])
  expect(isNewer(5, 5, EVENT_BITS)).toBe(false)
  // Half of all numbers ahead it is neither.
  const half = 2 ** (EVENT_BITS - 1)
  expect([isNewer(half, 0, EVENT_BITS), isNewer(half - 1, 0, EVENT_BITS)]).toEqual([false, true])
})
