import { expect, test } from 'vitest'
import { add, count, type Cost, costLines, line, type Module, slowest } from './tally.ts'

type State = { state: string; note?: string }

function module(states: State[], errors = 0, broken = 0): Module {
  const fill = (length: number): unknown[] => Array.from({ length })
  return {
    relativeModuleId: 'a.test.ts',
    errors: () => fill(errors),
    children: {
      allSuites: () => [{ errors: () => fill(broken) }],
      allTests: () =>
        states.map((state) => ({
          fullName: 'it holds',
          result: () => state,
        })),
    },
  }
}

test('passed and failed tests are counted over all files', () => {
  const files = [module([{ state: 'passed' }, { state: 'failed' }]), module([{ state: 'passed' }])]
  expect(line(count(files, 0))).toBe('2 passed, 1 failed')
})

test('a file that does not load, a hook that throws and a stray error count as failed', () => {
  expect(line(count([module([], 1), module([{ state: 'passed' }], 0, 1)], 1))).toBe(
    '1 passed, 3 failed',
  )
})

test('a test that never came to its end counts as failed', () => {
  expect(line(count([module([{ state: 'pending' }])], 0))).toBe('0 passed, 1 failed')
})

test('a skipped test is named with its reason', () => {
  const sum = count([module([{ state: 'skipped', note: 'no etcd here' }, { state: 'skipped' }])], 0)
  expect(line(sum)).toBe('0 passed, 0 failed, 2 skipped')
  expect(sum.skipped).toEqual([
    { title: 'a.test.ts: it holds', reason: 'no etcd here' },
    { title: 'a.test.ts: it holds', reason: 'no reason given' },
  ])
})

test('what the files of a project cost is one line: the span of all, and the sum of processors', () => {
  const costs = new Map<string, Cost>()
  add(costs, 'unit', { from: 1_000, to: 3_000, processor: 1.25 })
  add(costs, 'drivers', { from: 9_000, to: 9_500, processor: NaN })
  add(costs, 'unit', { from: 2_000, to: 6_000, processor: 3.5 })
  expect(costLines(costs)).toEqual([
    'unit         5.0 s wall      4.8 s processor',
    'drivers      0.5 s wall        ? s processor',
  ])
})

test('the ten slowest files are named, the slowest first', () => {
  const files = new Map(Array.from({ length: 12 }, (_, i) => [`${i}.test.ts`, i * 1_000] as const))
  expect(slowest(files)).toHaveLength(10)
  expect(slowest(files)[0]).toBe('slow    11.0 s 11.test.ts')
})
