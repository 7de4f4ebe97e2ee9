// Goal: where there is room for no object more, nothing that members say of objects makes who leads
// throw, whatever ids it names.
// Method: a primary with 10,000 objects by hand; messages and updates that can be read, half of
// them spoilt, by seed.
import { expect, test } from 'vitest'
import { chance, create as chaosOf, fork } from '../../packages/holdfast/src/faults/prng.ts'
import { OBJECTS_MAX } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { objectFrame, objectMessage } from '../fuzz/objects.ts'
import { Desk, GOOD, LIAR, ME, TYPE, TYPES } from './desk.ts'

const SAID = 1_500

test.each([1, 2, 3])(
  'seed %i: of 10,000 objects all ids are named, and nothing throws (N-3)',
  (seed) => {
    const desk = new Desk()
    const chaos = fork(chaosOf(seed), 'odd')
    for (let made = 0; made < OBJECTS_MAX; made++) desk.spawn(TYPE.plain)
    const members = [0, ME, GOOD, LIAR, 77, 2 ** 20 - 1]
    for (let said = 0; said < SAID; said++) {
      const replicas = [...desk.state.replicas.values()]
      const from = chance(chaos, 0.5) ? LIAR : GOOD
      const known = { types: TYPES, replicas, me: from, members, epoch: 1 }
      // A message has the channel in its first byte.
      if (chance(chaos, 0.6)) desk.hear(from, objectMessage(chaos, known).subarray(1))
      else desk.read(from, objectFrame(chaos, known))
      if (said % 50 === 0) desk.exchange()
      if (said % 200 === 0) desk.pass(1_000)
    }
    expect(desk.state.living).toBeLessThanOrEqual(OBJECTS_MAX)
    expect(desk.state.counters.full).toBeGreaterThan(0)
  },
)
