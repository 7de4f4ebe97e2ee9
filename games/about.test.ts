// Goal: what is no clear word of a hub about itself is a no.
import { expect, test } from 'vitest'
import { readAbout } from './about.ts'

const NOTHING = { demo: false, reach: [] }

test('a hub is a demonstration only where it says so in as many words (AP-24)', () => {
  expect(readAbout({ version: '0.1.0', demo: true })).toEqual({ demo: true, reach: [] })
  for (const sent of [null, 7, 'demo', [], {}, { demo: 1 }, { demo: 'true' }, { demo: false }]) {
    expect(readAbout(sent)).toEqual(NOTHING)
  }
})

test('only addresses are places where others find it', () => {
  const reach = ['http://192.168.1.5:8700', 'http://[fd00::4]:80']
  expect(readAbout({ reach })).toEqual({ demo: false, reach })
  for (const odd of ['javascript:alert(1)', 'http://', 'http://a/b', 7, null, 'https://a']) {
    expect(readAbout({ reach: [odd] })).toEqual(NOTHING)
  }
  expect(readAbout({ reach: 'http://a' })).toEqual(NOTHING)
})
