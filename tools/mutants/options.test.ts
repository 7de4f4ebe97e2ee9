import { expect, test } from 'vitest'
import { options, USAGE } from './options.ts'

test('without a word: twenty of all modules, and the fixed list', () => {
  const plain = {
    ...{ module: null, seed: 1, count: 20, jobs: 1 },
    ...{ fixed: true, list: false, map: false, caught: null },
  }
  expect(options([])).toEqual(plain)
  expect(options(['link', '--seed', '7', '--count', '3', '--list', '--drawn'])).toEqual({
    ...plain,
    module: 'link',
    seed: 7,
    count: 3,
    list: true,
    fixed: false,
  })
})
test('help names the options', () => {
  expect(options(['--help'])).toBe('help')
  for (const word of ['--seed', '--count', '--list', 'link', 'hub/machine'])
    expect(USAGE).toContain(word)
})
test.each([
  [['attic'], 'no module is called attic; there are wire'],
  [['drivers'], 'no module is called drivers'],
  [['link', 'hub/machine'], 'one module at a time: link, hub/machine'],
  [['--count', '-1'], '--count'],
  [['--count=1.5'], '--count is a whole number from 0 to 10000: 1.5'],
  [['--seed', 'x'], '--seed is a whole number'],
  [['--jobs', '0'], '--jobs is a whole number from 1'],
  [['--sed', '1'], '--sed'],
])('%j is refused', (args, why) => {
  expect(() => options(args)).toThrow(why)
})
