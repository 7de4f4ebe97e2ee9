import { expect, test } from 'vitest'
import { readDemo } from './demo.ts'

test('a hub is a demonstration only where it says so in as many words (AP-24)', () => {
  expect(readDemo({ version: '0.1.0', demo: true })).toBe(true)
  for (const sent of [{ demo: false }, { demo: 'true' }, { demo: 1 }, {}, [], null, 'demo', true]) {
    expect(readDemo(sent)).toBe(false)
  }
})
