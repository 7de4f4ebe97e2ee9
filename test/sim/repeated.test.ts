// Goal: a run depends on its seed alone, and nothing that a world can do is never done.
// Method: chattering nodes under drawn schedules, twice by one seed.
import { describe, expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { FAULT_KINDS } from '../../packages/sim/src/faults.ts'
import { createWorld } from '../../packages/sim/src/world.ts'
import type { SimNode, World, WorldOptions } from '../../packages/sim/src/world.ts'
import { plan } from '../../proof/schedules.ts'

/** Nodes that chatter by datagrams, alarms, streams and promises, under a drawn schedule. */
async function chatter(options: WorldOptions, ms: number): Promise<World> {
  const world = createWorld(options)
  const names = ['a', 'b', 'c']
  world.node('hub', (node) => {
    node.listen('ws://hub/', (stream) => ({
      opened: () => {},
      message: (bytes) => void stream.send(bytes),
      closed: () => {},
    }))
  })
  for (const name of names) world.node(name, (node) => void chat(node, names))
  const steps = plan(prng.create(options.seed), { nodes: names, hub: 'hub', ms })
  world.follow(steps)
  await world.run(ms)
  return world
}

async function chat(node: SimNode, names: string[]): Promise<void> {
  const { loop, store } = node
  const datagrams = await node.openDatagrams({
    datagram: (from, bytes) => void (bytes[0]! < 3 && answer(from, bytes[0]! + 1)),
    refused: () => {},
  })
  const answer = (to: string, hops: number): void => {
    datagrams.send(to, new Uint8Array([hops, ...loop.random(3)]))
  }
  node.connect('ws://hub/', { opened() {}, message() {}, closed() {} })
  const alarm = loop.alarm(() => {
    for (const name of names) if (name !== node.name) answer(`sim:${name}`, 0)
    const { rev } = new Map(store.entries()).get('ticks') ?? { rev: 0 }
    const change = { key: 'ticks', rev, value: new Uint8Array([1]), blobs: [] }
    store.cas(change, () => alarm.set(loop.now() + 40))
  })
  alarm.set(loop.now())
}

describe('a run depends on its seed alone', () => {
  const options = { conditions: 'rtt=60,jitter=30,loss=5%,dup=2%,reorder=2%', slackMs: 2 }

  test('the same seed gives the same transcript and counters, line by line', async () => {
    const one = await chatter({ ...options, seed: 17 }, 8000)
    const two = await chatter({ ...options, seed: 17 }, 8000)
    expect(one.transcript().length).toBeGreaterThan(3000)
    expect(two.transcript()).toEqual(one.transcript())
    expect(two.counters).toEqual(one.counters)
    const other = await chatter({ ...options, seed: 18 }, 8000)
    expect(other.transcript()).not.toEqual(one.transcript())
  })

  test('over 20 seeds every kind of fault is carried out and every counter moves', async () => {
    const faults: Record<string, number> = {}
    const sums: Record<string, number> = {}
    for (let seed = 0; seed < 20; seed++) {
      const { counters } = await chatter({ ...options, seed, linesMax: 0 }, 8000)
      for (const [kind, count] of Object.entries(counters.faults)) {
        faults[kind] = (faults[kind] ?? 0) + count
      }
      for (const [name, count] of Object.entries(counters)) {
        if (typeof count === 'number') sums[name] = (sums[name] ?? 0) + count
      }
    }
    expect(FAULT_KINDS.filter((kind) => !faults[kind])).toEqual([])
    const still = Object.keys(sums).filter((name) => sums[name] === 0)
    expect(still).toEqual(['oversize', 'overflowed', 'messages'])
  })
})
