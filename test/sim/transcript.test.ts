import { expect, test } from 'vitest'
import { createWorld } from '../../packages/sim/src/world.ts'
import type { SimNode } from '../../packages/sim/src/world.ts'
import { compareTranscript } from '../transcript.ts'

// Goal: a small run is kept word for word, so that a change of the world itself is noticed.
// Method: two nodes ping each other through each of the faults, one after the other.

test('a conversation through every fault reads as it did', async () => {
  const world = createWorld({ seed: 5, conditions: 'rtt=40,jitter=10', describe: String })
  world.node('hub', (node) => {
    node.listen('ws://hub/', (stream) => ({
      opened: () => node.note('has a visitor'),
      message: (bytes) => void stream.send(bytes),
      closed: () => {},
    }))
  })
  for (const name of ['a', 'b']) world.node(name, (node) => void ping(node))
  world.follow([
    { at: 100, fault: { kind: 'loss', conditions: { lossShare: 0.5 }, ms: 200 } },
    { at: 200, fault: { kind: 'duplication', conditions: { duplicateShare: 1 }, ms: 200 } },
    { at: 300, fault: { kind: 'reordering', conditions: { reorderShare: 0.5 }, ms: 200 } },
    { at: 400, fault: { kind: 'jitter', conditions: { jitterMs: 90 }, ms: 200 } },
    { at: 600, fault: { kind: 'partition', groups: [['a'], ['b', 'hub']], ms: 150 } },
    { at: 800, fault: { kind: 'deafness', from: 'a', to: 'b', ms: 150 } },
    { at: 1000, fault: { kind: 'stall', node: 'a', ms: 150 } },
    { at: 1200, fault: { kind: 'slow-clock', node: 'b', factor: 0.5, ms: 200 } },
    { at: 1400, fault: { kind: 'outage', node: 'hub', ms: 100 } },
    { at: 1600, fault: { kind: 'crash', node: 'a', silent: false } },
    { at: 1750, fault: { kind: 'restart', node: 'a' } },
    { at: 1900, fault: { kind: 'crash', node: 'a', silent: true } },
  ])
  await world.run(2100)
  compareTranscript('sim-faults', world.transcript())
})

test('a transcript that differs is told with its place', () => {
  expect(() => compareTranscript('sim-faults', ['something else'], false)).toThrow('from line 1 on')
})

async function ping(node: SimNode): Promise<void> {
  const { loop } = node
  const socket = await node.openDatagrams({ datagram() {}, refused() {} })
  const dial = (): void => {
    const stream = node.connect('ws://hub/', {
      opened: () => void stream.send(new Uint8Array([1])),
      message() {},
      closed: () => redial.set(loop.now() + 100),
    })
  }
  const redial = loop.alarm(dial)
  dial()
  let count = 0
  const tick = loop.alarm(() => {
    socket.send(node.name === 'a' ? 'sim:b' : 'sim:a', new Uint8Array([count++]))
    tick.set(loop.now() + 50)
  })
  tick.set(loop.now())
}
