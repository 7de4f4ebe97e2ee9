// Goal: a viewer knows when a state was made, and how old it was at each stage of its way.
// Method: an owner, a primary and a viewer as plain states, packets carried over at set times.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Millis, PartOut, PeerId } from '../machine.ts'
import { createWriter, finish, writeBytes, writeU8, writeVarint } from '../wire/bytes.ts'
import * as objects from './objects.ts'
import { type ObjectEvent, objectsPart, type Objects } from './objects.ts'
import { AGE_MAX } from './stamp.ts'

const MOVING = 1
const [PRIMARY, OWNER, VIEWER] = [1, 2, 3]
let all: Map<PeerId, Objects>
let events: ObjectEvent[]
let seq: number
const out: PartOut<ObjectEvent> = { send: () => 0, emit: (event) => void events.push(event) }

// The clocks are 1000, 2000 and 3000 behind session time.
const clockOf = (inc: PeerId, time: Millis): Millis => time - 1000 * inc
const of = (inc: number | undefined): Objects => all.get(inc!)!

beforeEach(() => {
  events = []
  seq = 0
  all = new Map()
  const members = [1, 2, 3].map((inc) => ({ inc, player: inc }))
  for (const { inc } of members) {
    const state = objects.create([false, true])
    objectsPart.view!(state, 0, { me: inc, primary: 1, epoch: 1, mesh: false, members }, out)
    objectsPart.clock!(state, 1000 * inc)
    all.set(inc, state)
  }
})

/** What one says to another at that session time; null for nothing. */
function packet(from: number, to: number, time: Millis): Uint8Array | null {
  const writer = createWriter()
  const wrote = objectsPart.write!(of(from), clockOf(from, time), to, ++seq, writer, 1_000)
  return wrote ? finish(writer) : null
}

function read(to: number, from: number, time: Millis, bytes: Uint8Array | null): void {
  objectsPart.read!(of(to), clockOf(to, time), from, bytes!, out)
}

/** Carries what there is from the owner by the primary to the viewer, from that time on. */
function carry(time: Millis): void {
  read(PRIMARY!, OWNER!, time + 20, packet(OWNER!, PRIMARY!, time + 5))
  read(VIEWER!, PRIMARY!, time + 50, packet(PRIMARY!, VIEWER!, time + 24))
}

function agesSeen(): (readonly Millis[] | null)[] {
  return events.flatMap((event) => (event.kind === 'object-changed' ? [event.ages] : []))
}

function record(madeAt: number, ages: number[], oseq = 9): Uint8Array {
  const writer = createWriter()
  for (const part of [OWNER!, 1]) writeVarint(writer, part)
  writeU8(writer, MOVING)
  writeVarint(writer, oseq)
  writeBytes(writer, Uint8Array.of(7), 1)
  for (const part of [madeAt, ages.length, ...ages]) writeVarint(writer, part)
  return finish(writer)
}

describe('the instant of a state', () => {
  test('goes with it, in session time, to whoever sees it', () => {
    const id = objects.spawn(of(OWNER), MOVING, Uint8Array.of(1), 5_000)
    carry(5_000)
    expect([PRIMARY, VIEWER].map((inc) => of(inc).replicas.get(id)!.madeAt)).toEqual([5000, 5000])
  })

  test('T71: what leaves is the state of the moment in which the packet is built', () => {
    const id = objects.spawn(of(OWNER), MOVING, Uint8Array.of(1), 5_000)
    for (let at = 5_010; at <= 5_090; at += 10) {
      objects.set(of(OWNER), id, Uint8Array.of(at % 256), at)
    }
    carry(5_090)
    const seen = of(VIEWER).replicas.get(id)!
    expect([seen.madeAt, ...seen.bytes]).toEqual([5_090, 5_090 % 256])
  })

  test('is not known to an owner without session time, and that is said', () => {
    const id = objects.spawn(of(OWNER), MOVING, Uint8Array.of(1))
    carry(5_000)
    expect(of(VIEWER).replicas.get(id)!.madeAt).toBeNaN()
  })

  test('decides nothing: of two states the one with the larger oseq is newer', () => {
    for (const [madeAt, oseq] of [
      [40_000, 9],
      [41_000, 8],
      [39_000, 10],
    ]) {
      read(VIEWER!, PRIMARY!, 6_000, record(madeAt!, [], oseq))
    }
    expect(of(VIEWER).replicas.get('2.1')).toMatchObject({ oseq: 10, madeAt: 39_000 / 8 })
    expect(of(VIEWER).counters.stale).toBe(1)
  })

  test('in the future it counts as the moment in which it came, and is counted', () => {
    for (const ahead of [objects.AHEAD_MAX_MS, objects.AHEAD_MAX_MS + 1, 1e12]) {
      read(VIEWER!, PRIMARY!, 6_000, record((6_000 + ahead) * 8, [], 10 + (ahead % 7)))
    }
    expect(of(VIEWER).counters.ahead).toBe(2)
    for (const { madeAt } of of(VIEWER).replicas.values()) expect(madeAt).toBeLessThan(6_101)
  })
})

describe('T73: the ages', () => {
  test('are those at the four stages up to the viewer, and at two up to the primary', () => {
    const id = objects.spawn(of(OWNER), MOVING, Uint8Array.of(1), 5_000)
    carry(5_000)
    objects.set(of(OWNER), id, Uint8Array.of(2), 6_000)
    events = []
    carry(6_000)
    expect(agesSeen()).toEqual([
      [5, 20, 20, 20],
      [5, 20, 24, 50],
    ])
  })

  test('are said of one update in 200 ms, and of no new object', () => {
    const id = objects.spawn(of(OWNER), MOVING, Uint8Array.of(0), 5_000)
    carry(5_000)
    expect(agesSeen()).toEqual([])
    for (let step = 1; step <= 60; step++) {
      objects.set(of(OWNER), id, Uint8Array.of(step), 5_000 + step * 20)
      carry(5_000 + step * 20)
    }
    const measured = agesSeen().filter((ages) => ages !== null)
    // At the primary and at the viewer each.
    expect(measured).toHaveLength(2 * 6)
  })

  test('of a primary’s own objects begin with its sending', () => {
    const id = objects.spawn(of(PRIMARY), MOVING, Uint8Array.of(1), 5_000)
    read(VIEWER!, PRIMARY!, 5_010, packet(PRIMARY!, VIEWER!, 5_001))
    objects.set(of(PRIMARY), id, Uint8Array.of(2), 6_000)
    read(VIEWER!, PRIMARY!, 6_030, packet(PRIMARY!, VIEWER!, 6_004))
    expect(agesSeen()).toEqual([[0, 0, 4, 30]])
  })

  test('that nobody could have measured so do not count, and the state does', () => {
    read(VIEWER!, PRIMARY!, 6_000, record(40_000, [], 2))
    for (const [at, ages] of [[], [8], [8, 16]].entries()) {
      read(VIEWER!, PRIMARY!, 6_000, record(40_000, ages, 3 + at))
    }
    expect(agesSeen()).toEqual([null, null, null])
    read(VIEWER!, PRIMARY!, 60_000, record(40_000, [8, 16, 24], 9))
    expect(agesSeen().at(-1)).toBeNull()
    expect(of(VIEWER).replicas.get('2.1')!.oseq).toBe(9)
    read(VIEWER!, PRIMARY!, 6_000, record(40_000, [8, 16, AGE_MAX + 1], 10))
    read(VIEWER!, PRIMARY!, 6_000, record(40_000, [8, 16, 24, 32], 11))
    expect(of(VIEWER).counters.malformed).toBe(2)
    expect(of(VIEWER).replicas.get('2.1')!.oseq).toBe(9)
  })
})
