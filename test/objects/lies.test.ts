// Goal: whatever a member says of objects, what comes of it is what it was when it was frozen, and
// nothing makes the others throw.
// Method: a cluster under way, of which one member also lies: messages and updates that can be
// read, half of them spoilt; with types of every kind.
import { describe, expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import { vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { thawed } from '../frozen.ts'
import { objectFrame, objectMessage } from '../fuzz/objects.ts'
import { type Cluster, hear, land, rules, state } from './cluster.ts'
import { begin, digests, rest, step, TYPES } from './voyage.ts'

const STEPS = 500
const LIAR: PeerId = 2
const place = { at: vec2(-500, 500, 1) }
const types = [
  ...TYPES,
  rules({ visibility: { kind: 'near', column: 0, radius: 60 } }, place),
  rules({ eyes: 0, timed: true }, place),
  rules({ take: 'ask', unanswered: 'take', weight: 3 }),
  rules({ take: 'fixed', onOwnerLeave: 'destroy', timed: true }, place),
]

/** The liar says something to somebody with whom it has a link. */
function lie(cluster: Cluster, chance: prng.Prng): void {
  const liar = cluster.states.get(LIAR)
  const linked = [...cluster.links.keys()].map((name) => name.split('>').map(Number))
  const others = linked.filter(([from]) => from === LIAR).map(([, to]) => to!)
  if (!liar || others.length === 0) return
  const to = prng.pick(chance, others)
  const { replicas, epoch, me } = state(cluster, LIAR)
  const members = [0, ...cluster.here.keys(), 77, 2 ** 20 - 1]
  const known = { types, replicas: [...replicas.values()], me, members, epoch }
  // A message has the channel in its first byte.
  if (prng.chance(chance, 0.7)) hear(cluster, to, LIAR, objectMessage(chance, known).subarray(1))
  else land(cluster, { from: LIAR, to, seq: 0, bytes: objectFrame(chance, known) })
}

describe.each([
  ['star', false],
  ['mesh', true],
])('in a %s', (topology, mesh) => {
  test.each(Array.from({ length: 20 }, (_, seed) => seed + 1))(
    'B38: lies of a member do what they did, seed %d',
    (seed) => {
      const run = begin(seed, mesh, types)
      for (let at = 0; at < STEPS; at++) {
        step(run)
        if (prng.chance(run.chance, 0.3)) lie(run.cluster, run.chance)
      }
      rest(run)
      run.course.push([...run.cluster.states.values()].map((own) => own.counters))
      expect(thawed(`objects-lies-${topology}`, { [seed]: digests(run) })).toEqual([])
    },
  )
})
