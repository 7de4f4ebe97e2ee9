import { expect, test } from 'vitest'
import { Traffic } from './member-loop.ts'

test('a steady stream is told as it is, each way by itself', () => {
  const traffic = new Traffic(10_000)
  for (let now = 10_000; now < 15_000; now += 10) {
    traffic.sent(now, 20)
    if (now % 20 === 0) traffic.received(now, 100)
    if (now < 10_500) continue
    expect(traffic.rates(now).out).toBeGreaterThan(1_900)
    expect(traffic.rates(now).out).toBeLessThan(2_100)
    expect(traffic.rates(now).in).toBeGreaterThan(4_700)
    expect(traffic.rates(now).in).toBeLessThan(5_300)
  }
})

test('what was long ago is forgotten, and the first bytes are no flood', () => {
  const traffic = new Traffic(0)
  traffic.sent(1, 1_000)
  expect(traffic.rates(1)).toEqual({ in: 0, out: 4_000 })
  expect(traffic.rates(1_000)).toEqual({ in: 0, out: 1_000 })
  expect(traffic.rates(1_999).out).toBeGreaterThan(0)
  expect(traffic.rates(2_000)).toEqual({ in: 0, out: 0 })
  traffic.received(60_000, 500)
  expect(traffic.rates(60_000).in).toBeGreaterThan(250)
  expect(traffic.rates(600_000)).toEqual({ in: 0, out: 0 })
})
