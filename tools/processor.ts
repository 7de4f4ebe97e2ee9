/**
 * What the tests of one file cost, in processor seconds: measured in the worker that runs them,
 * and told to the reporter with the file. Linux alone says it; elsewhere nothing is told.
 */

import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { afterAll } from 'vitest'

/** Of a second; USER_HZ is 100 on every Linux that Node runs on. */
const TICKS = 100

// Of this thread, or of this process with all children that it has waited for.
function spent(): number {
  const whose = isMainThread ? 'self' : 'thread-self'
  const stat = readFileSync(`/proc/${whose}/stat`, 'latin1')
  // The name in brackets may hold anything. Behind it: state is field 3, utime is field 14.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, isMainThread ? 15 : 13).reduce((sum, ticks) => sum + Number(ticks), 0)
}

if (process.platform === 'linux') {
  const before = spent()
  // The runner wants a pattern for what it hands over first, and nothing of that is needed.
  // oxlint-disable-next-line no-empty-pattern
  afterAll(({}, file) => {
    Object.assign(file.meta, { processorSeconds: (spent() - before) / TICKS })
  })
}
