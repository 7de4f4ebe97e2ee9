// Goal: the path of a datagram, a change, an action, a letter and a segment through the modules
// stays short. It prints the stacks.
// Method: a session of two on real sockets, two mailboxes, and a persisted room; the stacks are
// taken at the socket, in the part and at the listener, and held to the table of
// docs/ARCHITECTURE.md.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { longChains } from '../../tools/call-paths/forwards.ts'
import { follow, type Paths } from '../../tools/call-paths/scene.ts'
import {
  complaints,
  entered,
  enteredAgain,
  modulesOf,
  summaryOf,
} from '../../tools/call-paths/stacks.ts'
import { rowsOf } from '../../tools/call-paths/text.ts'

// The text may promise less, not more.
const MOST = { datagram: 6, set: 7, act: 8, letter: 2, segment: 4 }
const rows = rowsOf(readFileSync('docs/ARCHITECTURE.md', 'utf8'))
let paths: Paths

beforeAll(async () => {
  paths = await follow()
  for (const path of Object.keys(MOST)) {
    console.info(summaryOf(path, paths[path as keyof Paths]))
  }
})

describe.each(Object.entries(MOST))('the path of a %s', (name, most) => {
  const row = rows.get(name)!
  const subscribers = (): Paths['set'] => paths[name as keyof Paths]
  test(`enters at most ${most} modules, and none again but where the text says why (AP-19)`, () => {
    expect(row.most).toBeLessThanOrEqual(most)
    expect(complaints(name, subscribers(), row)).toEqual([])
  })
  test('enters the modules that the text names (AP-19)', () => {
    expect(entered(subscribers()).toSorted()).toEqual(row.modules.toSorted())
    expect(row.again.length === 0).toBe(row.why === '')
  })
  test('has no chain of more than two functions that only forward (AP-19)', () => {
    expect(longChains(name, subscribers())).toEqual([])
  })
})

test('a datagram enters `member` once, and link has returned when its part is called (AP-19)', () => {
  const [inPart] = paths.datagram
  expect(enteredAgain(paths.datagram)).toEqual([])
  expect(modulesOf(inPart!)).toEqual(['drivers', 'runtime', 'member', 'objects'])
})
