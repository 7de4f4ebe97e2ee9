// Goal: what is held leaves once, in order, and only when the backup has what it reveals.
// Method: the log by itself; a seeded hand appends, holds, acks and trims.
import { describe, expect, test } from 'vitest'
import * as prng from '../faults/prng.ts'
import * as commit from './log.ts'

const entry = (length: number): Uint8Array => new Uint8Array(length)

function released(log: commit.Log<string>, length: number): string[] {
  const left: string[] = []
  commit.release(log, length, (effect) => left.push(effect))
  return left
}

describe('the log', () => {
  test('C-2: an effect waits for all that was appended before it, and for no more', () => {
    const log = commit.create<string>(0)
    commit.hold(log, 'before')
    commit.append(log, 0, entry(1))
    commit.hold(log, 'first')
    commit.append(log, 0, entry(1))
    commit.hold(log, 'second')
    expect(released(log, 0)).toEqual(['before'])
    expect(released(log, 1)).toEqual(['first'])
    expect(released(log, 1)).toEqual([])
    expect(released(log, 9)).toEqual(['second'])
  })

  test('C-1: an ack of fewer entries than before, or of more than there are, is ignored', () => {
    const log = commit.create<string>(5)
    for (let i = 0; i < 3; i++) commit.append(log, 0, entry(1))
    expect(commit.acknowledge(log, 0, 7)).toBe(true)
    expect([6, 7, 9].map((length) => commit.acknowledge(log, 0, length))).toEqual([
      false,
      false,
      false,
    ])
    expect(log.acked).toBe(7)
  })

  test('C-3: entries that are acked are dropped, and their bytes with them', () => {
    const log = commit.create<string>(10)
    for (let length = 1; length <= 4; length++) commit.append(log, 0, entry(length))
    expect([log.base, log.bytes, commit.lengthOf(log)]).toEqual([10, 10, 14])
    commit.trim(log, 12)
    expect([log.base, log.bytes, commit.lengthOf(log)]).toEqual([12, 7, 14])
    expect(commit.entryAt(log, 11)).toBe(null)
    expect(commit.entryAt(log, 12)?.length).toBe(3)
    commit.trim(log, 99)
    expect([log.base, log.bytes, commit.lengthOf(log)]).toEqual([14, 0, 14])
  })

  test('C-5: the oldest entry that is not acked is as old as it is, or as the last ack (AP-19)', () => {
    const log = commit.create<string>(0)
    const since = [10, 20].map((now) => {
      commit.append(log, now, entry(1))
      return log.unackedSince
    })
    expect(since).toEqual([10, 10])
    commit.acknowledge(log, 30, 1)
    expect([log.unackedSince, commit.unackedCount(log)]).toEqual([30, 1])
    commit.acknowledge(log, 40, 2)
    expect([log.unackedSince, commit.unackedCount(log)]).toEqual([Infinity, 0])
  })

  test('seeds 1 to 50: effects leave in the order they were held, each once', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const chance = prng.create(seed)
      const log = commit.create<string>(0)
      const held: string[] = []
      const left: string[] = []
      for (let turn = 0; turn < 200; turn++) {
        if (prng.chance(chance, 0.5)) commit.append(log, 0, entry(1))
        if (prng.chance(chance, 0.5)) {
          held.push(`${turn}`)
          commit.hold(log, `${turn}`)
        }
        commit.acknowledge(log, 0, prng.below(chance, commit.lengthOf(log) + 3))
        commit.trim(log, log.acked)
        left.push(...released(log, log.acked))
      }
      left.push(...released(log, commit.lengthOf(log)))
      expect(left).toEqual(held)
    }
  })
})
