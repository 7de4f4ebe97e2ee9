// Goal: a viewer knows when a state was made, and how old it was at each stage of its way.
// Method: an owner, a primary and a viewer, each with a clock of its own; packets are carried over
// at set times.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Millis, PeerId } from '../../packages/holdfast/src/machine.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { AGE_MAX } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  createWriter,
  finish,
  writeRaw,
  writeU16,
  writeU8,
  writeVarint,
} from '../../packages/holdfast/src/wire/bytes.ts'
import {
  act,
  carry as carryAll,
  type Cluster,
  land,
  meet,
  pull,
  rules,
  set,
  state,
  thing,
  told,
} from './cluster.ts'

const AHEAD_MAX_MS = 100

const [PRIMARY, OWNER, VIEWER] = [1, 2, 3] as const
const types = [rules(), rules({ timed: true })]
const MOVING = 1
let cluster: Cluster

beforeEach(() => {
  cluster = meet({ types })
  for (const [inc, one] of cluster.states) cluster.part.clock!(one, 1_000 * inc)
})

// The clocks are 1000, 2000 and 3000 behind session time.
function at(inc: PeerId, time: Millis): void {
  cluster.now = time - 1_000 * inc
}

function spawn(inc: PeerId, madeAt: Millis = NaN): number {
  at(inc, Number.isNaN(madeAt) ? 5_000 : madeAt)
  const { key } = act(cluster, inc, (turn) => objects.spawn(turn, MOVING, [1, 0], madeAt))
  const ways =
    cluster.mesh || inc === PRIMARY
      ? [[inc, VIEWER]]
      : [
          [inc, PRIMARY],
          [PRIMARY, VIEWER],
        ]
  for (const [from, to] of ways) {
    at(to!, cluster.now + 1_000 * from! + 1)
    carryAll(cluster, from!, to!)
  }
  for (const events of cluster.events.values()) events.length = 0
  return key
}

function change(inc: PeerId, key: number, value: number, madeAt: Millis): void {
  at(inc, madeAt)
  set(cluster, inc, key, [value, 0], 1, madeAt)
}

/** From one to another: built at one instant of session time, read at another. */
function hop(from: PeerId, to: PeerId, built: Millis, read: Millis): void {
  at(from, built)
  const packet = pull(cluster, from, to)!
  at(to, read)
  land(cluster, packet)
  cluster.part.acked!(state(cluster, from), to, packet.seq)
}

/** What there is from the owner by the primary to the viewer, from that time on. */
function carry(time: Millis): void {
  hop(OWNER, PRIMARY, time + 5, time + 20)
  hop(PRIMARY, VIEWER, time + 24, time + 50)
}

function agesSeen(): (readonly Millis[] | null)[] {
  return [PRIMARY, VIEWER].flatMap((inc) =>
    told(cluster, inc, 'object-changed').map(({ ages }) => ages),
  )
}

/** A frame with one update of the first field of the owner's first object. */
function frame(oseq: number, madeAt: Millis, ages: Millis[] | null): Uint8Array {
  const writer = createWriter()
  writeVarint(writer, 1 * 2 * 4 + 3)
  writeU8(writer, MOVING * 2 + 1)
  for (const part of [OWNER, 0, 0]) writeVarint(writer, part)
  writeU16(writer, oseq)
  writeVarint(writer, 2 * (2 * madeAt * 8 + 1) + (ages === null ? 0 : 1))
  if (ages)
    for (const part of [ages.length, ...ages.map((age) => age * 8)]) writeVarint(writer, part)
  // The mask and a value of 7, in bits.
  writeRaw(writer, Uint8Array.of(0b0100_0001, 0b1100_0000))
  return finish(writer)
}

function arrives(time: Millis, bytes: Uint8Array): void {
  at(VIEWER, time)
  land(cluster, { from: PRIMARY, to: VIEWER, seq: 0, bytes })
}

describe('the instant of a state', () => {
  test('goes with it, in session time, to whoever sees it', () => {
    const key = spawn(OWNER, 5_000)
    expect([PRIMARY, VIEWER].map((inc) => thing(cluster, inc, key).madeAt)).toEqual([5_000, 5_000])
    change(OWNER, key, 2, 6_000.125)
    carry(6_001)
    expect([PRIMARY, VIEWER].map((inc) => thing(cluster, inc, key).madeAt)).toEqual([
      6_000.125, 6_000.125,
    ])
  })

  test('T71: what leaves is the state of the moment in which the packet is built', () => {
    const key = spawn(OWNER, 5_000)
    for (let time = 5_010; time <= 5_090; time += 10) change(OWNER, key, time % 256, time)
    carry(5_090)
    expect(thing(cluster, VIEWER, key)).toMatchObject({ madeAt: 5_090, fields: [5_090 % 256, 0] })
  })

  test('is not known to an owner without session time, and that is said', () => {
    const key = spawn(OWNER)
    expect(thing(cluster, VIEWER, key).madeAt).toBeNaN()
    set(cluster, OWNER, key, [2, 0], 1)
    carry(6_000)
    expect(thing(cluster, VIEWER, key).madeAt).toBeNaN()
  })

  test('decides nothing: of two states the one with the larger oseq is newer', () => {
    const key = spawn(OWNER, 4_000)
    for (const [oseq, madeAt] of [
      [9, 5_000],
      [8, 5_100],
      [10, 4_900],
    ] as const) {
      arrives(6_000, frame(oseq, madeAt, null))
    }
    expect(thing(cluster, VIEWER, key)).toMatchObject({ oseq: 10, madeAt: 4_900, fields: [7, 0] })
    expect(state(cluster, VIEWER).counters.stale).toBe(1)
  })

  test('in the future it counts as the moment in which it came, and is counted', () => {
    const key = spawn(OWNER, 4_000)
    const seen = [AHEAD_MAX_MS, AHEAD_MAX_MS + 1, 1e9].map((ahead, i) => {
      arrives(6_000, frame(10 + i, 6_000 + ahead, null))
      return thing(cluster, VIEWER, key).madeAt
    })
    expect(seen).toEqual([6_000 + AHEAD_MAX_MS, 6_000, 6_000])
    expect(state(cluster, VIEWER).counters.ahead).toBe(2)
  })
})

describe('the ages', () => {
  test('T73: are those at the four stages up to the viewer, and at two up to the primary', () => {
    const key = spawn(OWNER, 5_000)
    change(OWNER, key, 2, 5_900)
    carry(5_900)
    for (const events of cluster.events.values()) events.length = 0
    change(OWNER, key, 3, 6_200)
    carry(6_200)
    expect(agesSeen()).toEqual([
      [5, 20, 20, 20],
      [5, 20, 24, 50],
    ])
  })

  test('T73: are said of one update in 200 ms, and not of the first', () => {
    const key = spawn(OWNER, 5_000)
    for (let step = 1; step <= 60; step++) {
      change(OWNER, key, step + 1, 5_000 + step * 20)
      carry(5_000 + step * 20)
    }
    const measured = agesSeen().filter((ages) => ages !== null)
    // At the primary and at the viewer each.
    expect(measured).toHaveLength(2 * 5)
  })

  test('T73: of a primary’s own objects begin with its sending', () => {
    const key = spawn(PRIMARY, 5_000)
    change(PRIMARY, key, 2, 5_500)
    hop(PRIMARY, VIEWER, 5_501, 5_510)
    for (const events of cluster.events.values()) events.length = 0
    change(PRIMARY, key, 3, 6_000)
    hop(PRIMARY, VIEWER, 6_004, 6_030)
    expect(agesSeen()).toEqual([[0, 0, 4, 30]])
  })

  test('T73: in a mesh are those from the owner on', () => {
    cluster = meet({ types, mesh: true })
    for (const [inc, one] of cluster.states) cluster.part.clock!(one, 1_000 * inc)
    const key = spawn(OWNER, 5_000)
    for (const [value, time] of [
      [2, 5_500],
      [3, 6_000],
    ] as const) {
      change(OWNER, key, value, time)
      hop(OWNER, VIEWER, time + 4, time + 30)
    }
    expect(agesSeen()).toEqual([null, [0, 0, 4, 30]])
  })

  test('T73: that nobody could have measured so do not count, and the state does', () => {
    const key = spawn(OWNER, 4_000)
    for (const [i, ages] of [[], [1], [1, 2]].entries()) arrives(6_000, frame(3 + i, 5_000, ages))
    expect(agesSeen()).toEqual([null, null, null])
    arrives(60_000, frame(9, 5_000, [1, 2, 3]))
    expect(agesSeen().at(-1)).toBeNull()
    expect(thing(cluster, VIEWER, key).oseq).toBe(9)
    arrives(6_000, frame(10, 5_000, [1, 2, AGE_MAX / 8 + 1]))
    arrives(6_000, frame(11, 5_000, [1, 2, 3, 4]))
    expect(state(cluster, VIEWER).counters.malformed).toBe(2)
    expect(thing(cluster, VIEWER, key).oseq).toBe(9)
  })
})
