// Goal: a frame that is copied from another peer's says what one written for this peer would say.
// Method: random changes, losses and budgets; each frame is also written by a copy of the state,
// which has written nothing for anybody else.
import { expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import {
  beginFrame,
  indexAfter,
  addUpdate,
} from '../../packages/holdfast/src/objects/protocol/updates.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { createWriter, finish } from '../../packages/holdfast/src/wire/bytes.ts'
import { u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import {
  land,
  looks,
  meet,
  type Packet,
  pull,
  rules,
  set,
  settle,
  spawn,
  state,
  thing,
  verdict,
  write,
} from './cluster.ts'

const HOST = 1
const PEERS = [2, 3, 4, 5, 6]
const BUDGETS = [90, 150, 1_000]

test('B15, B56: what peers lack alike is the same bytes, and what each lacks is its own', () => {
  const counts = { written: 0, same: 0 }
  for (let seed = 1; seed <= 6; seed++) play(prng.create(seed), counts)
  expect(counts.written).toBeGreaterThan(1_000)
  // The others stop earlier, or fit where the worst would not have.
  expect(counts.same).toBeGreaterThan(counts.written * 0.8)
}, 20_000)

function play(draw: prng.Prng, counts: { written: number; same: number }): void {
  const fields = { one: u8, two: u8, three: u8 }
  const types = [rules({ timed: true }, fields), rules({ weight: 2 }, fields)]
  const cluster = meet({ incs: [HOST, ...PEERS], types })
  const keys = Array.from({ length: 24 }, (_, n) => spawn(cluster, HOST, [1, 1, 1], n % 2))
  settle(cluster)
  const flying: Packet[] = []
  for (let round = 0; round < 60; round++) {
    cluster.now += 20
    for (const key of keys) {
      if (!prng.chance(draw, 0.6)) continue
      const mask = prng.chance(draw, 0.7) ? 1 : 1 + prng.below(draw, 7)
      const next = [...thing(cluster, HOST, key).fields] as number[]
      for (const field of [0, 1, 2]) if (mask & (1 << field)) next[field] = prng.below(draw, 255)
      set(cluster, HOST, key, next, mask, cluster.now)
    }
    for (const peer of PEERS) {
      // Who is busy takes nothing for now.
      if (prng.chance(draw, 0.1)) continue
      const packet = frame(cluster, draw, peer, counts)
      if (!packet) continue
      flying.push(packet)
    }
    while (flying.length > 12) fate(cluster, draw, flying.shift()!)
  }
  for (const packet of flying) fate(cluster, draw, packet)
  // A link goes on asking until there is nothing more.
  for (const peer of PEERS) {
    for (let packet; (packet = pull(cluster, HOST, peer));) {
      land(cluster, packet)
      verdict(cluster, packet, true)
    }
  }
  settle(cluster)
  for (const key of keys) expect(looks(cluster, key)).toHaveLength(1)
}

type Played = ReturnType<typeof meet>

function frame(
  cluster: Played,
  draw: prng.Prng,
  peer: number,
  counts: { written: number; same: number },
): Packet | null {
  const budget = BUDGETS[prng.below(draw, BUDGETS.length)]!
  const alone = clone(state(cluster, HOST))
  cluster.part.dirty!(alone, cluster.now)
  cluster.part.dirty!(state(cluster, HOST), cluster.now)
  const writer = createWriter()
  cluster.part.write!(alone, cluster.now, peer, 0, writer, budget)
  const packet = pull(cluster, HOST, peer, budget)
  if (!packet) {
    expect(writer.length).toBe(0)
    return null
  }
  expect(packet.bytes.length).toBeLessThanOrEqual(budget)
  const [mine, its] = [finish(writer), packet.bytes].map((bytes) => Buffer.from(bytes))
  const length = Math.min(mine!.length, its!.length)
  expect(its!.subarray(0, length).equals(mine!.subarray(0, length))).toBe(true)
  counts.written++
  if (mine!.length === its!.length) counts.same++
  return packet
}

function fate(cluster: Played, draw: prng.Prng, packet: Packet): void {
  const came = prng.chance(draw, 0.8)
  if (came) land(cluster, packet)
  verdict(cluster, packet, came)
}

test('B15: behind what a peer was told alone a shared frame goes on, if stamps go on alike (PR-2)', () => {
  const cluster = meet({ incs: [HOST, 2] })
  const [first, second] = [spawn(cluster, HOST), spawn(cluster, HOST)]
  settle(cluster)
  const own = state(cluster, HOST)
  const shared = beginFrame(own, cluster.now)!
  const [one, other] = [first, second].map((key) => thing(cluster, HOST, key))
  const subscriber = own.subscribers.get(2)!
  addUpdate(shared, one!, subscriber, 10, { madeAt: 500 })
  addUpdate(shared, other!, subscriber, 20, { madeAt: 600 })
  expect(indexAfter(shared, one!, 500)).toBe(1)
  expect(indexAfter(shared, other!, 600)).toBe(2)
  expect(indexAfter(shared, other!, 500)).toBe(-1)
  expect(indexAfter(shared, { ...other!, index: other!.index + 1 }, 600)).toBe(-1)
  expect(indexAfter(shared, { ...other!, oseq: other!.oseq + 1 }, 600)).toBe(-1)
  expect(indexAfter(shared, { ...other!, serial: other!.serial + 1 }, 600)).toBe(-1)
})

test('B15: a change at the very instant at which updates are sent reaches all peers alike', () => {
  const cluster = meet({ incs: [HOST, 2, 3] })
  const [first, second] = [spawn(cluster, HOST), spawn(cluster, HOST)]
  settle(cluster)
  for (const key of [first, second]) write(cluster, HOST, key, 5)
  cluster.now += 20
  const early = pull(cluster, HOST, 2)!
  write(cluster, HOST, first, 6)
  for (const packet of [early, pull(cluster, HOST, 3)!]) {
    land(cluster, packet)
    verdict(cluster, packet, true)
  }
  const oseqs = [HOST, 2, 3].map((inc) => thing(cluster, inc, second).oseq)
  expect(new Set(oseqs).size).toBe(1)
  write(cluster, HOST, second, 9)
  settle(cluster)
  expect(looks(cluster, first)).toHaveLength(1)
  expect(looks(cluster, second)).toHaveLength(1)
})
