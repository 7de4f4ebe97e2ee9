// Goal: what primary and backup keep is the same at both, bounded, and read as it was written.
// Method: the durable state and its pieces by themselves.
import { describe, expect, test } from 'vitest'
import * as prng from '../faults/prng.ts'
import { calmly } from '../../../../test/calmly.ts'
import * as chunks from '../wire/chunks.ts'
import * as durable from './durable.ts'
import { decode, encode } from '../wire/layout.ts'
import { type Delta, deltaLayout, type Member, PLAYERS_KEPT_MAX } from './layouts.ts'
import * as commit from './log.ts'

const OUTCOMES_MAX = 64

const KEY = new Uint8Array(32).fill(7)
const OUTCOME = Uint8Array.of(1)

function member(inc: number, player = inc): Member {
  const registerHash = new Uint8Array(16)
  const keys = { registerHash, link: KEY, key: KEY, rights: 1 }
  return { inc, player, name: 'p', kind: 'node', addresses: [], ...keys }
}

function withMembers(...incs: number[]): durable.Durable {
  const own = durable.create()
  for (const inc of incs) durable.apply(own, { kind: 'add', member: member(inc), settled: 0 })
  return own
}

function operation(player: number, seq: number): Delta {
  return { kind: 'operation', player, seq, outcome: OUTCOME, changes: [] }
}

describe('the durable state', () => {
  test('has a number more for each who comes or goes, and gives none out twice (PR-2)', () => {
    const own = withMembers(5, 3)
    expect([own.mv, own.nextInc]).toEqual([2, 6])
    durable.apply(own, { kind: 'remove', inc: 5, why: 'left' })
    durable.apply(own, { kind: 'remove', inc: 5, why: 'left' })
    expect([own.mv, own.nextInc, [...own.members.keys()]]).toEqual([3, 6, [3]])
  })
  test('knows who was asked last, and forgets whom it is told to (PR-2)', () => {
    const own = withMembers(1, 2)
    durable.apply(own, { kind: 'pointer', inc: 2 })
    durable.apply(own, { kind: 'forget', player: 1 })
    expect([own.pointer, [...own.players.keys()]]).toEqual([2, [2]])
  })
  test('T80: a player that comes again keeps its key, and never counts back (PR-2)', () => {
    const own = durable.create()
    const comes = (settled: number): number => {
      durable.apply(own, { kind: 'add', member: member(4), settled })
      return own.players.get(4)!.lastSeq
    }
    expect([comes(3), comes(2), comes(9)]).toEqual([3, 3, 9])
    expect(own.players.get(4)).toEqual({ player: 4, key: KEY, lastSeq: 9, outcomes: [] })
  })
  test('T80: keeps the last 64 outcomes of a player, and of who is not known none (PR-2)', () => {
    const own = withMembers(1)
    const kept = (count: number): number[] => {
      for (let seq = 1; seq <= count; seq++) calmly(() => durable.apply(own, operation(1, seq)))
      return own.players.get(1)!.outcomes.map(({ seq }) => seq)
    }
    expect(kept(64)).toEqual(Array.from({ length: 64 }, (_none, at) => at + 1))
    durable.apply(own, operation(1, 65))
    expect(own.players.get(1)!.outcomes).toHaveLength(64)
    expect(durable.outcomeOf(own, 1, 1)).toBe(null)
    expect(durable.outcomeOf(own, 1, 2)).toBe(OUTCOME)
    expect(durable.outcomeOf(own, 9, 2)).toBe(null)
    calmly(() => durable.apply(own, operation(9, 1)))
    expect([...own.players.keys()]).toEqual([1])
  })
  test('T38: is read from a snapshot as it was, and from nothing else (PR-2)', () => {
    const own = withMembers(1, 2)
    durable.apply(own, operation(2, 1))
    durable.apply(own, { kind: 'pointer', inc: 2 })
    const parts = [{ part: 5, bytes: Uint8Array.of(1, 2) }]
    const bytes = durable.snapshot(own, parts)
    expect(durable.restore(bytes)).toEqual({ durable: own, parts })
    for (const bad of [new Uint8Array(0), bytes.slice(0, -1), Uint8Array.of(...bytes, 0)]) {
      expect(calmly(() => durable.restore(bad))).toBe(null)
    }
  })
})

describe('pieces', () => {
  const SIZE = 4

  function put(pieces: Iterable<chunks.Piece>): Uint8Array | null {
    let known: chunks.Incoming | null = null
    for (const piece of pieces) known = calmly(() => chunks.take(known, piece))
    return known && calmly(() => chunks.whole(known!))
  }
  test('are as few as there can be, none longer than it may be, and make the whole again (PR-2)', () => {
    const chance = prng.create(3)
    for (let length = 0; length <= 3 * SIZE + 1; length++) {
      const bytes = Uint8Array.from({ length }, () => prng.below(chance, 256))
      const pieces = [...chunks.cut(bytes, SIZE)]
      expect(pieces).toHaveLength(Math.max(1, Math.ceil(length / SIZE)))
      for (const [at, piece] of pieces.entries()) {
        expect(piece).toMatchObject({ piece: at, of: pieces.length })
        expect(piece.bytes.length).toBeLessThanOrEqual(SIZE)
      }
      expect(put(pieces)).toEqual(bytes)
      expect(put(pieces.slice(0, -1))).toBe(null)
      expect(put([...pieces.slice(0, 1), ...pieces])).toEqual(bytes)
    }
  })
  test('that do not follow are passed over, and the first begins anew (PR-2)', () => {
    const bytes = Uint8Array.from({ length: 10 }, (_none, at) => at)
    const [first, second, third] = [...chunks.cut(bytes, SIZE)] as [
      chunks.Piece,
      chunks.Piece,
      chunks.Piece,
    ]
    expect(put([second, third])).toBe(null)
    expect(put([first, third, second, second, third, third])).toEqual(bytes)
    expect(put([first, { ...second, of: 2, bytes: third.bytes }, second, third])).toEqual(bytes)
    const other = { ...first, bytes: Uint8Array.of(9) }
    expect(put([first, second, other])).toBe(null)
    expect(put([first, second, other, second, third])).toEqual(Uint8Array.of(9, ...bytes.slice(4)))
  })
})

describe('the log', () => {
  test('C-1: that lacks nothing owes nothing, whoever had it (PR-2)', () => {
    const log = commit.create<string>(5)
    commit.append(log, 40, new Uint8Array(3))
    expect(log).toMatchObject({ unackedSince: 40, acked: 5 })
    commit.ackAll(log)
    expect(log).toMatchObject({ unackedSince: Infinity, acked: 6 })
    // An entry that only passes by is one that is known already.
    const other = commit.create<string>(5)
    commit.advance(other)
    expect([commit.lengthOf(other), other.acked, other.entries.length]).toEqual([6, 6, 0])
    commit.append(other, 50, new Uint8Array(1))
    expect(other.unackedSince).toBe(50)
  })
  test('C-3: is trimmed to what is lacking, and to no less than was trimmed before (PR-2)', () => {
    const log = commit.create<string>(5)
    for (let at = 0; at < 3; at++) commit.append(log, 0, new Uint8Array(2))
    const after = [4, 5, 6, 5].map((length) => {
      commit.trim(log, length)
      return [log.base, log.entries.length, log.bytes]
    })
    expect(after).toEqual([
      [5, 3, 6],
      [5, 3, 6],
      [6, 2, 4],
      [6, 2, 4],
    ])
  })
  test('C-2: lets go all that is held behind what is safe, and nothing twice (PR-2)', () => {
    const log = commit.create<string>(0)
    const left: string[] = []
    const release = (length: number): void => {
      calmly(() => commit.release(log, length, (effect) => void left.push(effect)))
    }
    release(9)
    commit.hold(log, 'a')
    commit.hold(log, 'b')
    release(0)
    release(0)
    expect([left, log.held]).toEqual([['a', 'b'], []])
  })
})

test('what is kept has the bounds that the standard names, and one more is refused (PR-2)', () => {
  const fits = (delta: Delta): boolean => {
    try {
      return decode(deltaLayout, encode(deltaLayout, delta)) !== null
    } catch {
      return false
    }
  }
  const add = (addresses: string[]): boolean => {
    return fits({ kind: 'add', member: { ...member(1), addresses }, settled: 0 })
  }
  expect([add(['a', 'b']), add(['a', 'b', 'c'])]).toEqual([true, false])
  expect([52, 53].map((length) => add(['a'.repeat(length)]))).toEqual([true, false])
  const bytesOf = (length: number): Uint8Array => new Uint8Array(length)
  const done = (outcome: Uint8Array, count = 0): boolean => {
    const changes = Array.from({ length: count }, () => ({ part: 5, bytes: OUTCOME }))
    return fits({ kind: 'operation', player: 1, seq: 1, outcome, changes })
  }
  expect([16_384, 16_385].map((length) => done(bytesOf(length)))).toEqual([true, false])
  expect([256, 257].map((count) => done(OUTCOME, count))).toEqual([true, false])
  expect([OUTCOMES_MAX, PLAYERS_KEPT_MAX]).toEqual([64, 1_024])
})
