// Goal: everybody ends with each owner's newest state, whatever packets are lost or reordered.
// Method: three states and packets as plain lists, delivered by a seeded hand.
import { describe, expect, test } from 'vitest'
import * as prng from '../faults/prng.ts'
import type { PartOut, PeerId } from '../machine.ts'
import { createWriter, finish } from '../wire/bytes.ts'
import * as objects from './objects.ts'
import { type ObjectEvent, objectsPart, type Objects } from './objects.ts'

const events: ObjectEvent[] = []
const out: PartOut<ObjectEvent> = { send: () => 0, emit: (event) => void events.push(event) }

interface Packet {
  from: PeerId
  to: PeerId
  seq: number
  bytes: Uint8Array
}

function meet(incs: PeerId[], primary = 1): Map<PeerId, Objects> {
  const all = new Map<PeerId, Objects>()
  const members = incs.map((inc) => ({ inc, player: inc }))
  for (const me of incs) {
    const state = objects.create([false, false])
    objectsPart.view!(state, 0, { me, primary, epoch: 1, mesh: false, members }, out)
    all.set(me, state)
  }
  return all
}

function packets(all: Map<PeerId, Objects>, seqs: Map<PeerId, number>): Packet[] {
  const made: Packet[] = []
  for (const [from, state] of all) {
    for (const to of objectsPart.dirty!(state, 0)) {
      const writer = createWriter()
      const seq = (seqs.get(from) ?? 0) + 1
      if (!objectsPart.write!(state, 0, to, seq, writer, 1_000)) continue
      seqs.set(from, seq)
      made.push({ from, to, seq, bytes: finish(writer) })
    }
  }
  return made
}

function deliver(all: Map<PeerId, Objects>, packet: Packet): void {
  objectsPart.read!(all.get(packet.to)!, 0, packet.from, packet.bytes, out)
}

function settle(all: Map<PeerId, Objects>): void {
  const seqs = new Map<PeerId, number>([...all.keys()].map((inc) => [inc, 1_000]))
  for (let turn = 0; turn < 50; turn++) {
    for (const packet of packets(all, seqs)) {
      deliver(all, packet)
      objectsPart.acked!(all.get(packet.from)!, packet.to, packet.seq)
    }
  }
}

function seen(state: Objects): string {
  return [...state.replicas.values()]
    .filter((replica) => objects.isSeen(state, replica))
    .map((replica) => `${replica.id}=${[...replica.bytes].join()}`)
    .sort()
    .join(' ')
}

describe('objects', () => {
  test('a state reaches everybody by way of the primary', () => {
    const all = meet([1, 2, 3])
    objects.spawn(all.get(2)!, 0, Uint8Array.of(7))
    settle(all)
    for (const state of all.values()) expect(seen(state)).toBe('2.1=7')
  })

  test('T46: the primary says on what it cannot read', () => {
    const all = meet([1, 2, 3])
    objects.spawn(all.get(2)!, 1, Uint8Array.of(255, 0, 255, 17))
    settle(all)
    expect(seen(all.get(3)!)).toBe('2.1=255,0,255,17')
  })

  test('B17: when nothing changed nothing is sent', () => {
    const all = meet([1, 2])
    const id = objects.spawn(all.get(2)!, 0, Uint8Array.of(7))
    settle(all)
    objects.set(all.get(2)!, id, Uint8Array.of(7))
    expect(packets(all, new Map())).toEqual([])
  })

  test('B18: what a lost packet carried is said again, in its newest form', () => {
    const all = meet([1, 2])
    const seqs = new Map<PeerId, number>()
    const id = objects.spawn(all.get(2)!, 0, Uint8Array.of(1))
    const [lost] = packets(all, seqs)
    objects.set(all.get(2)!, id, Uint8Array.of(2))
    packets(all, seqs)
    objectsPart.lost!(all.get(2)!, 1, 2)
    objectsPart.lost!(all.get(2)!, 1, lost!.seq)
    settle(all)
    expect(seen(all.get(1)!)).toBe('2.1=2')
  })

  test('B22: updates that arrive out of order or twice are ignored', () => {
    const all = meet([1, 2])
    const seqs = new Map<PeerId, number>()
    const id = objects.spawn(all.get(2)!, 0, Uint8Array.of(1))
    const [older] = packets(all, seqs)
    objects.set(all.get(2)!, id, Uint8Array.of(2))
    const [newer] = packets(all, seqs)
    for (const packet of [newer!, older!, newer!]) deliver(all, packet)
    expect(seen(all.get(1)!)).toBe('2.1=2')
    expect(all.get(1)!.counters.stale).toBe(2)
  })

  test('a destroyed object stays destroyed when an older state comes late', () => {
    const all = meet([1, 2])
    const seqs = new Map<PeerId, number>()
    const id = objects.spawn(all.get(2)!, 0, Uint8Array.of(1))
    const [older] = packets(all, seqs)
    deliver(all, older!)
    objects.destroy(all.get(2)!, 0, id)
    settle(all)
    deliver(all, older!)
    expect(seen(all.get(1)!)).toBe('')
  })

  test('T31: objects of a member that went are no longer seen, and do not come back', () => {
    const all = meet([1, 2, 3])
    objects.spawn(all.get(2)!, 0, Uint8Array.of(1))
    const late = packets(all, new Map())
    settle(all)
    const left = {
      primary: 1,
      epoch: 1,
      mesh: false,
      members: [1, 3].map((inc) => ({ inc, player: inc })),
    }
    for (const me of [1, 3]) objectsPart.view!(all.get(me)!, 0, { me, ...left }, out)
    deliver(all, late[0]!)
    expect([seen(all.get(1)!), seen(all.get(3)!)]).toEqual(['', ''])
  })

  test('an object that is faster than the news of its owner waits unseen', () => {
    const all = meet([1, 2])
    const third = meet([1, 2, 3]).get(3)!
    objects.spawn(third, 0, Uint8Array.of(9))
    const [packet] = packets(new Map([[3, third]]), new Map())
    deliver(all, { ...packet!, to: 1 })
    expect(seen(all.get(1)!)).toBe('')
    const members = [1, 2, 3].map((inc) => ({ inc, player: inc }))
    objectsPart.view!(all.get(1)!, 0, { me: 1, primary: 1, epoch: 1, mesh: false, members }, out)
    expect(seen(all.get(1)!)).toBe('3.1=9')
  })

  test('nobody but its owner and the primary may speak for an object', () => {
    const all = meet([1, 2, 3])
    objects.spawn(all.get(2)!, 0, Uint8Array.of(1))
    const [packet] = packets(all, new Map())
    deliver(all, { ...packet!, from: 3, to: 1 })
    expect(seen(all.get(1)!)).toBe('')
    expect(all.get(1)!.counters.ignored).toBe(1)
  })

  test('a new primary says on what it has, and every owner says its own anew', () => {
    const all = meet([1, 2, 3])
    for (const inc of [2, 3]) objects.spawn(all.get(inc)!, 0, Uint8Array.of(inc))
    settle(all)
    const members = [2, 3].map((inc) => ({ inc, player: inc }))
    all.delete(1)
    for (const [me, state] of all) {
      objectsPart.view!(state, 0, { me, primary: 2, epoch: 2, mesh: false, members }, out)
    }
    settle(all)
    for (const state of all.values()) expect(seen(state)).toBe('2.1=2 3.1=3')
  })

  test('hostile frames are counted and change nothing', () => {
    const all = meet([1, 2])
    const chance = prng.create(5)
    for (let i = 0; i < 20_000; i++) {
      const bytes = new Uint8Array(prng.below(chance, 60))
      prng.fill(chance, bytes)
      objectsPart.read!(all.get(1)!, 0, 2, bytes, out)
    }
    const { counters, replicas } = all.get(1)!
    expect(counters.malformed).toBeGreaterThan(10_000)
    for (const replica of replicas.values()) expect(replica.creator).toBe(2)
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %d: all converge over loss and reordering', (seed) => {
    const all = meet([1, 2, 3, 4])
    const chance = prng.create(seed)
    const seqs = new Map<PeerId, number>()
    const under: Packet[] = []
    const mine = new Map<PeerId, string[]>([...all.keys()].map((inc) => [inc, []]))
    for (let step = 0; step < 600; step++) {
      const inc = 1 + prng.below(chance, 4)
      const ids = mine.get(inc)!
      const value = Uint8Array.of(prng.below(chance, 256))
      if (ids.length < 4) ids.push(objects.spawn(all.get(inc)!, 0, value))
      else if (prng.chance(chance, 0.05)) objects.destroy(all.get(inc)!, 0, ids.shift()!)
      else objects.set(all.get(inc)!, ids[prng.below(chance, ids.length)]!, value)
      under.push(...packets(all, seqs))
      if (under.length === 0 || prng.chance(chance, 0.3)) continue
      const [packet] = under.splice(prng.below(chance, under.length), 1)
      if (prng.chance(chance, 0.3))
        objectsPart.lost!(all.get(packet!.from)!, packet!.to, packet!.seq)
      else {
        deliver(all, packet!)
        objectsPart.acked!(all.get(packet!.from)!, packet!.to, packet!.seq)
      }
    }
    for (const packet of under) objectsPart.lost!(all.get(packet.from)!, packet.to, packet.seq)
    settle(all)
    const views = [...all.values()].map(seen)
    expect(new Set(views).size).toBe(1)
    expect(views[0]).not.toBe('')
  })

  // Seed 300 of the simulation: the packet came before the view, and was acked.
  test('what a new primary says faster than its view is kept until that is here', () => {
    const all = meet([1, 2, 3])
    const [old, next, client] = [all.get(1)!, all.get(2)!, all.get(3)!]
    const id = objects.spawn(old, 0, Uint8Array.of(1))
    settle(all)
    objects.set(old, id, Uint8Array.of(2))
    const [toNext] = packets(all, new Map()).filter((packet) => packet.to === 2)
    deliver(all, toNext!)
    const members = [1, 2, 3].map((inc) => ({ inc, player: inc }))
    objectsPart.view!(next, 0, { me: 2, primary: 2, epoch: 2, mesh: false, members }, out)
    for (const packet of packets(new Map([[2, next]]), new Map())) deliver(all, packet)
    expect(client.replicas.get(id)?.bytes).toEqual(Uint8Array.of(1))
    objectsPart.view!(client, 0, { me: 3, primary: 2, epoch: 2, mesh: false, members }, out)
    expect(client.replicas.get(id)?.bytes).toEqual(Uint8Array.of(2))
  })
})
