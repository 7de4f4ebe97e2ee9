/** In a worker: which probes each test sets off. Loaded before the tests of each file. */

import { afterAll, afterEach, beforeEach } from 'vitest'
import { PROBES, PROBES_MAX } from './marks.ts'

const worker = globalThis as unknown as Record<string, Uint8Array | undefined>
const probes = (worker[PROBES] ??= new Uint8Array(PROBES_MAX))
probes.fill(0)
// What runs before the first test, or between two, is for all tests of the file.
const outside = new Set<number>()

function taken(): number[] {
  const found: number[] = []
  for (let at = probes.indexOf(1); at >= 0; at = probes.indexOf(1, at + 1)) found.push(at)
  probes.fill(0)
  return found
}

beforeEach(() => {
  for (const probe of taken()) outside.add(probe)
})
afterEach((context) => {
  Object.assign(context.task.meta, { reached: taken() })
})
// The runner wants a pattern for what it hands over first, and nothing of that is needed.
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, file) => {
  for (const probe of taken()) outside.add(probe)
  Object.assign(file.meta, { reached: [...outside] })
})
