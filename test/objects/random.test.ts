// Goal: whatever happens to owners, primaries, links and packets, nobody goes back, no version has
// two owners, and when all is told all agree; and what is said on the way is what it was.
// Method: clusters of many objects, driven by a seed; each step is judged by the rules, and a
// digest of all messages and events is frozen.
// Slow: each rule is judged after every step of many seeds.
import { describe, expect, test } from 'vitest'
import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { thawed } from '../frozen.ts'
import { look, looks } from './cluster.ts'
import { begin, digests, HIDDEN, rest, type Run, step } from './voyage.ts'

const STEPS = 700
// With these somebody kept an object that had another owner, whom they may not see.
const WERE_GHOSTS = [37, 60, 82, 88, 274, 279]

/** What must hold at any instant. */
function judge({ cluster, high }: Run): void {
  const owners = new Map<string, PeerId>()
  for (const [inc, own] of cluster.states) {
    for (const { key, version, oseq, owner, dead } of own.replicas.values()) {
      const [e, c, o] = high.get(`${inc} ${key}`) ?? [-1, -1, -1]
      const back = version.epoch - e || version.count - c || (dead ? 0 : oseq - o)
      if (back < 0) expect.fail(`${inc} went back with ${look(cluster, inc, key)}`)
      high.set(`${inc} ${key}`, [version.epoch, version.count, oseq])
      if (dead || owner !== inc) continue
      const name = `${objects.idOf(key)} ${version.epoch}.${version.count}`
      if (owners.has(name)) expect.fail(`${owners.get(name)} and ${inc} both own ${name}`)
      owners.set(name, inc)
    }
  }
}

/** Where they differ when all is told. */
function ends({ cluster, keys }: Run): string[] {
  return [...keys].flatMap((key) => {
    const seen = looks(cluster, key).map((one) => (one.startsWith('gone') ? 'unknown' : one))
    const views = new Set(seen)
    // Who may not see it may never have heard of it.
    const types = [...cluster.states.values()].map((own) => own.replicas.get(key)?.type)
    if (types.includes(HIDDEN)) for (const none of ['hidden', 'unknown']) views.delete(none)
    return views.size > 1 ? [`${objects.idOf(key)}: ${[...views].join(' | ')}`] : []
  })
}

describe.each([
  ['star', false],
  ['mesh', true],
])('in a %s', (topology, mesh) => {
  test.each([...Array.from({ length: 15 }, (_, i) => i + 1), ...WERE_GHOSTS])(
    'B23, B48: seed %d ends alike everywhere',
    (seed) => {
      const run = begin(seed, mesh)
      for (let at = 0; at < STEPS; at++) {
        step(run)
        judge(run)
      }
      rest(run)
      judge(run)
      expect(ends(run)).toEqual([])
      const [any] = run.cluster.states.values()
      for (const { owner, dead, hidden } of any!.replicas.values()) {
        if (!dead && !hidden) expect(run.cluster.here.has(owner)).toBe(true)
      }
      for (const own of run.cluster.states.values()) expect(own.counters.malformed).toBe(0)
      expect(thawed(`objects-${topology}`, { [seed]: digests(run) })).toEqual([])
    },
  )
})
