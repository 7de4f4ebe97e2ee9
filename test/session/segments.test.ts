// Goal: a room is opened from its segments alone if they follow on each other and are all ours.
// Method: segments by hand, in the layouts of the module.
import { describe, expect, test } from 'vitest'
import { INC_MAX } from '../../packages/holdfast/src/machine.ts'
import * as durable from '../../packages/holdfast/src/replication/durable.ts'
import { type Delta, deltaLayout } from '../../packages/holdfast/src/replication/layouts.ts'
import {
  entriesSegmentLayout,
  read,
  type Segment,
  writeSnapshotSegment,
} from '../../packages/holdfast/src/session/segments.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'

const PARTS = [{ part: 5, bytes: Uint8Array.of(1) }]

function whole({ index = 3, said = index as number | null, nextInc = 4 } = {}): Segment {
  const state = durable.create()
  state.nextInc = nextInc
  const snapshot = durable.snapshot(state, PARTS)
  const settings = { terms: '', topology: 'star', playersMax: 8 } as const
  const own = { settings, lineage: [], segments: 1, schema: 7, types: 'card' }
  return { bytes: writeSnapshotSegment({ ...own, index, snapshot }), index: said }
}

function entries(index: number | null, ...deltas: Delta[]): Segment {
  const all = deltas.map((delta) => encode(deltaLayout, delta))
  return { bytes: encode(entriesSegmentLayout, { entries: all }), index }
}

const change = (at: number) => ({ part: 5, bytes: Uint8Array.of(at) })
const operation = (seq: number): Delta => {
  const changes = [change(seq)]
  return { kind: 'operation', player: 1, seq, outcome: new Uint8Array(0), changes }
}
const loose = (at: number): Delta => ({ kind: 'loose', changes: [change(at)] })
const lengthOf = (...segments: Segment[]): number | null => read(segments)?.length ?? null

describe('segments of a room', () => {
  test('are its whole state and what was recorded behind it, in order (PR-2)', () => {
    const segments = [whole(), entries(5, operation(1), operation(2)), entries(6, operation(3))]
    const room = read(segments)!
    expect(room).toMatchObject({ schema: 7, types: 'card', parts: PARTS, length: 6 })
    expect(room.changes).toEqual([1, 2, 3].map(change))
    expect(room.state.nextInc).toBe(4)
    expect(read([whole()])).toMatchObject({ length: 3, changes: [] })
  })
  test('have changes that are in no log, and those count for nothing there (PR-2)', () => {
    const room = read([whole(), entries(4, loose(9), operation(1), loose(8))])!
    expect([room.length, room.changes]).toEqual([4, [change(9), change(1), change(8)]])
  })
  test('whose seal says another length are none, and without a seal any (PR-2)', () => {
    expect(lengthOf(whole({ said: 2 }))).toBe(null)
    expect(lengthOf(whole({ said: null }))).toBe(3)
    for (const index of [3, 5]) {
      expect(lengthOf(whole(), entries(index, operation(1)))).toBe(null)
    }
    expect(lengthOf(whole(), entries(null, operation(1)))).toBe(4)
    // The second is judged by what stands before it.
    expect(lengthOf(whole(), entries(null, operation(1)), entries(5, operation(2)))).toBe(5)
    expect(lengthOf(whole(), entries(null, operation(1)), entries(4, operation(2)))).toBe(null)
  })
  test('of a session that has given out all its numbers are none (PR-2)', () => {
    expect(lengthOf(whole({ nextInc: INC_MAX - 1 }))).toBe(3)
    expect(lengthOf(whole({ nextInc: INC_MAX }))).toBe(null)
  })
  test('are none where one of them is none, or there is none (PR-2)', () => {
    const odd: Segment = { bytes: Uint8Array.of(9, 9, 9), index: null }
    expect(read([])).toBe(null)
    expect(lengthOf(odd)).toBe(null)
    expect(lengthOf(whole(), odd)).toBe(null)
    expect(lengthOf(entries(1, operation(1)))).toBe(null)
    const bytes = encode(entriesSegmentLayout, {
      entries: [encode(deltaLayout, loose(1)), odd.bytes],
    })
    expect(lengthOf(whole(), { bytes, index: null })).toBe(null)
  })
})
