import fc from 'fast-check'
import type { Vec2 } from 'holdfast'
import { describe, expect, test } from 'vitest'
import { POT_RADIUS, SPOTS, touches } from './arena.ts'
import { distance, length, turnTo, wayOf } from './plane.ts'
import * as pot from './pot.ts'

function run(body: pot.Body, intent: pot.Intent, ms: number, others: pot.Other[] = []): pot.Body {
  let now = body
  for (let i = 0; i < ms / pot.STEP_MS; i++) now = pot.step(now, intent, others)
  return now
}

function towards(move: Vec2): pot.Intent {
  return { move, aim: null, fire: false }
}

describe('a pot', () => {
  test('glides: it takes a while to be fast, never passes its speed, and slides on', () => {
    const start = pot.bodyAt(SPOTS[3]!)
    const soon = run(start, towards([-0.2, -1]), 100)
    expect(length(soon.vel)).toBeLessThan(pot.SPEED_MAX / 2)
    const fast = run(start, towards([-0.2, -1]), 600)
    expect(length(fast.vel)).toBeLessThanOrEqual(pot.SPEED_MAX)
    const later = run(fast, pot.IDLE, 300)
    expect(distance(fast.pos, later.pos)).toBeGreaterThan(0.5)
    expect(length(later.vel)).toBeLessThan(length(fast.vel))
  })

  test('a longer wish is no stronger one', () => {
    const start = pot.bodyAt(SPOTS[0]!)
    expect(pot.step(start, towards([-9, 0]), [])).toEqual(pot.step(start, towards([-1, 0]), []))
  })

  test('stays on the tray and out of things, whatever it wants', () => {
    const wish = fc.record({
      aim: fc.double({ min: 0, max: 6.3, noNaN: true }),
      ms: fc.integer({ min: 50, max: 900 }),
    })
    fc.assert(
      fc.property(fc.array(wish, { minLength: 1, maxLength: 12 }), fc.nat(11), (wishes, spot) => {
        let body = pot.bodyAt(SPOTS[spot]!)
        for (const { aim, ms } of wishes) {
          body = run(body, towards(wayOf(aim)), ms)
          const [touch] = touches(body.pos, POT_RADIUS)
          expect(touch?.depth ?? 0).toBeLessThan(0.35)
        }
      }),
      { seed: 7 },
    )
  })

  test('its spout follows the way, or points where it is told, the short way round', () => {
    const start = { ...pot.bodyAt([10, 0]), aim: 3 }
    const led = run(start, { move: [0, 0], aim: -3, fire: false }, 400)
    expect(Math.abs(turnTo(led.aim, -3))).toBeLessThan(0.02)
    expect(led.aim).toBeGreaterThan(3)
    const followed = run(start, towards([0, 1]), 700)
    expect(turnTo(followed.aim, Math.PI / 2)).toBeCloseTo(0, 1)
  })

  test('two pots push each other away and do not overlap for long', () => {
    let left = { ...pot.bodyAt([10, -1]), vel: [0, 6] as Vec2 }
    let right = { ...pot.bodyAt([10, 1]), vel: [0, -6] as Vec2 }
    for (let i = 0; i < 60; i++) {
      const moved = pot.step(left, pot.IDLE, [right])
      right = pot.step(right, pot.IDLE, [left])
      left = moved
    }
    expect(distance(left.pos, right.pos)).toBeGreaterThanOrEqual(2 * POT_RADIUS - 0.01)
  })

  test('a blow pushes it, never beyond the limit', () => {
    let body = pot.bodyAt([10, 0])
    for (let i = 0; i < 9; i++) body = pot.struck(body, [0, 6])
    expect(length(body.vel)).toBeCloseTo(pot.SPEED_LIMIT)
  })
})
