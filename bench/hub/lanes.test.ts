// Goal: what the bench of a hub writes by hand is what a client would write, and its hub meets no
// limit.
import { expect, test } from 'vitest'
import { defaults, rowsOf } from '../../packages/hub/src/machine/limits.ts'
import { SESSIONS_MAX } from '../../packages/hub/src/machine/register.ts'
import { FrameMeter } from '../../packages/holdfast/src/drivers/net/server/frame-meter.ts'
import { readLimits } from '../../packages/hub/src/server/given-limits.ts'
import { unbound } from './bystander.ts'
import { masked } from './lanes.ts'

test.each([
  [1, 6],
  [125, 6],
  [126, 8],
  [1_100, 8],
])('a message of %i bytes is one frame with a head of %i, whose mask is zero', (bytes, head) => {
  const message = Uint8Array.from({ length: bytes }, (_none, at) => at)
  const frame = masked(message)
  expect(frame.subarray(head)).toEqual(message)
  expect([...frame.subarray(head - 4, head)]).toEqual([0, 0, 0, 0])
  const meter = new FrameMeter()
  expect([meter.take(frame.subarray(0, -1)), meter.held > 0]).toEqual([false, true])
  expect([meter.take(frame.subarray(-1)), meter.held]).toEqual([true, 0])
})

test('a hub that is measured takes its limits, and each is more than that of default', () => {
  const limits = readLimits('limits', unbound())
  const before = new Map(
    rowsOf(defaults()).map(({ who, what, limit }) => [`${who}.${what}`, limit]),
  )
  for (const { who, what, limit } of rowsOf(limits)) {
    const of = before.get(`${who}.${what}`)!
    if (who === 'hub' && what === 'rooms') expect(limit).toBe(SESSIONS_MAX)
    else if (typeof limit === 'number') expect(limit).toBeGreaterThan(of as number)
    else expect(limit.perSecond).toBeGreaterThan((of as { perSecond: number }).perSecond)
  }
})
