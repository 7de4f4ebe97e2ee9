import { expect, test } from 'vitest'
import { atLeast, atMost, show, unjudged } from './report.ts'

test('the last line of a report is one JSON object with the goals', () => {
  const goals = [atMost('median', 41.234567, 60, 'ms'), atLeast('goodput', 0.5, 0.7, 'x raw')]
  const text = show('failover', { tables: [], goals, notes: ['Eight members.'] })
  const last: unknown = JSON.parse(text.split('\n').at(-1) ?? '')
  expect(last).toEqual({
    bench: 'failover',
    machine: expect.stringContaining('Node'),
    goals: [
      { name: 'median', value: 41.234567, unit: 'ms', goal: '<= 60', met: true },
      { name: 'goodput', value: 0.5, unit: 'x raw', goal: '>= 0.7', met: false },
    ],
  })
  expect(text).toContain('Eight members.')
})

test('a goal that was not measured or not judged is neither met nor missed', () => {
  expect(atMost('median', null, 60, 'ms').met).toBeNull()
  expect(unjudged(atMost('median', 70, 60, 'ms')).met).toBeNull()
})

test('numbers stand at the right of their column, words at the left', () => {
  const table = {
    title: 'sizes',
    columns: ['size', 'rate'],
    rows: [
      ['64 B', 900],
      ['1 KB', 7],
    ],
  }
  expect(
    show('link', { tables: [table], goals: [] })
      .split('\n')
      .slice(0, 4),
  ).toEqual(['sizes', 'size  rate', '64 B   900', '1 KB     7'])
})
