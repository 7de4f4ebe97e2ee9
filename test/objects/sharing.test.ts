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
} from './crew.ts'

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
  const crew = meet({ incs: [HOST, ...PEERS], types })
  const keys = Array.from({ length: 24 }, (_, n) => spawn(crew, HOST, [1, 1, 1], n % 2))
  settle(crew)
  const flying: Packet[] = []
  for (let round = 0; round < 60; round++) {
    crew.now += 20
    for (const key of keys) {
      if (!prng.chance(draw, 0.6)) continue
      const mask = prng.chance(draw, 0.7) ? 1 : 1 + prng.below(draw, 7)
      const next = [...thing(crew, HOST, key).fields] as number[]
      for (const field of [0, 1, 2]) if (mask & (1 << field)) next[field] = prng.below(draw, 255)
      set(crew, HOST, key, next, mask, crew.now)
    }
    for (const peer of PEERS) {
      // Who is busy takes nothing for now.
      if (prng.chance(draw, 0.1)) continue
      const packet = frame(crew, draw, peer, counts)
      if (!packet) continue
      flying.push(packet)
    }
    while (flying.length > 12) fate(crew, draw, flying.shift()!)
  }
  for (const packet of flying) fate(crew, draw, packet)
  // A link goes on asking until there is nothing more.
  for (const peer of PEERS) {
    for (let packet; (packet = pull(crew, HOST, peer));) {
      land(crew, packet)
      verdict(crew, packet, true)
    }
  }
  settle(crew)
  for (const key of keys) expect(looks(crew, key)).toHaveLength(1)
}

type Played = ReturnType<typeof meet>

function frame(
  crew: Played,
  draw: prng.Prng,
  peer: number,
  counts: { written: number; same: number },
): Packet | null {
  const budget = BUDGETS[prng.below(draw, BUDGETS.length)]!
  const alone = clone(state(crew, HOST))
  crew.part.dirty!(alone, crew.now)
  crew.part.dirty!(state(crew, HOST), crew.now)
  const writer = createWriter()
  crew.part.write!(alone, crew.now, peer, 0, writer, budget)
  const packet = pull(crew, HOST, peer, budget)
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

function fate(crew: Played, draw: prng.Prng, packet: Packet): void {
  const came = prng.chance(draw, 0.8)
  if (came) land(crew, packet)
  verdict(crew, packet, came)
}

test('B15: behind what a peer was told alone a shared frame goes on, if stamps go on alike (PR-2)', () => {
  const crew = meet({ incs: [HOST, 2] })
  const [first, second] = [spawn(crew, HOST), spawn(crew, HOST)]
  settle(crew)
  const own = state(crew, HOST)
  const shared = beginFrame(own, crew.now)!
  const [one, other] = [first, second].map((key) => thing(crew, HOST, key))
  const subscriber = own.subscribers.get(2)!
  addUpdate(shared, one!, subscriber, 10, { madeAt: 500 })
  addUpdate(shared, other!, subscriber, 20, { madeAt: 600 })
  expect(indexAfter(shared, one!.index, 500)).toBe(1)
  expect(indexAfter(shared, other!.index, 600)).toBe(2)
  expect(indexAfter(shared, other!.index, 500)).toBe(-1)
  expect(indexAfter(shared, other!.index + 1, 600)).toBe(-1)
})
