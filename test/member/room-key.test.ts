// Goal: what is kept of a room with a key is opened by that key, in order and whole: a hub that
// leaves a segment out, doubles or moves one, or mixes two writings, is found out.
// Method: the shipped sealing and reading of segments, by hand; every way to leave one out.
import { describe, expect, test } from 'vitest'
import { load, seal } from '../../packages/holdfast/src/member/stored-room.ts'
import { markOf, open } from '../../packages/holdfast/src/member/room-key.ts'
import type { Runtime } from '../../packages/holdfast/src/member/state.ts'
import type { Saved } from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import * as durable from '../../packages/holdfast/src/replication/durable.ts'
import { deltaLayout } from '../../packages/holdfast/src/replication/layouts.ts'
import { settingsOf } from '../../packages/holdfast/src/session/output.ts'
import {
  entriesSegmentLayout,
  writeSnapshotSegment,
} from '../../packages/holdfast/src/session/segments.ts'
import { toyCiphers } from '../../packages/sim/src/toy-ciphers.ts'
import { fingerprint } from '../../packages/holdfast/src/wire/digest.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { calmly } from '../calmly.ts'
import { Bare } from './bare.ts'

const KEY = new Uint8Array(32).fill(7)
const TERMS = `keep=10;sealed=${markOf(toyCiphers, KEY)}`
const OTHER = new Uint8Array(32).fill(8)

/** A member of the session of the segments, with that key. */
function holding(roomKey: Uint8Array | null): Runtime {
  const { run } = new Bare({ roomKey })
  Object.assign(run.member.session, { id: 's', terms: TERMS })
  return run
}

const whole = (run: Runtime): Uint8Array => {
  const schema = fingerprint('')
  const snapshot = durable.snapshot(durable.create(), [])
  const own = { settings: settingsOf(run.member.session), lineage: [], segments: 1 }
  return seal(
    run,
    writeSnapshotSegment({ ...own, schema, types: '', index: 0, snapshot }),
    0,
    'whole',
  )
}

// Objects are in no log: the index stays.
const loose = (run: Runtime, value: number): Uint8Array => {
  const changes = [{ part: 4, bytes: Uint8Array.of(value) }]
  const entry = encode(deltaLayout, { kind: 'loose', changes })
  return seal(run, encode(entriesSegmentLayout, { entries: [entry] }), 0, 'entries')
}

/** What somebody reads of these segments: the changes behind the whole, or null. */
function read(segments: Uint8Array[], run = holding(KEY)): number[] | string | null {
  const found = load(run, { session: 's', terms: TERMS, segments } as unknown as Saved)
  if ('code' in found) return found.code
  return found.changes.flatMap(({ bytes }) => [...bytes])
}

function written(): Uint8Array[] {
  const run = holding(KEY)
  return [whole(run), loose(run, 1), loose(run, 2), loose(run, 3)]
}

describe('segments of a room with a key', () => {
  test('are read in order, and by nobody else', () => {
    expect(read(written())).toEqual([1, 2, 3])
    expect(read(written(), holding(OTHER))).toBe('forbidden')
    expect(read(written(), holding(null))).toBe('forbidden')
  })

  test('are nothing where they are no segments, whatever bytes stand there (PR-2)', () => {
    const place = { session: 's', before: new Uint8Array(16) }
    for (const bytes of [new Uint8Array(0), Uint8Array.of(1), new Uint8Array(60).fill(255)]) {
      expect(calmly(() => open(toyCiphers, KEY, place, bytes))).toBe(null)
    }
  })

  test('may end early, for the newest may not have come; none before is left out', () => {
    const all = written()
    expect(read(all.slice(0, 3))).toEqual([1, 2])
    for (const at of [0, 1, 2]) {
      const rest = all.filter((_, place) => place !== at)
      expect(read(rest), `without ${at}`).toBe('store')
    }
  })

  test.each([
    ['doubled', [0, 1, 1, 2]],
    ['turned round', [0, 2, 1, 3]],
    ['from the middle', [1, 2, 3]],
  ])('are not read when one is %s', (_, order) => {
    const all = written()
    expect(read(order.map((at) => all[at]!))).toBe('store')
  })

  test('of two writings are not mixed', () => {
    const run = holding(KEY)
    const first = [whole(run), loose(run, 1)]
    const second = [whole(run), loose(run, 2), loose(run, 3)]
    expect(read(second)).toEqual([2, 3])
    expect(read([first[0]!, first[1]!, second[2]!])).toBe('store')
  })

  test('go on behind what they went on from though a file was written between', () => {
    const run = holding(KEY)
    const all = [whole(run), loose(run, 1)]
    const file = seal(run, new Uint8Array(3), 0, 'file')
    expect(file.length).toBeGreaterThan(3)
    expect(read([...all, loose(run, 2)])).toEqual([1, 2])
  })

  test('of which one bit is another are not read', () => {
    const all = written()
    for (const [at, segment] of all.entries()) {
      for (let place = 0; place < segment.length; place += 5) {
        const bad = segment.slice()
        bad[place]! ^= 1
        expect(read(all.with(at, bad)), `segment ${at}, byte ${place}`).toBe('store')
      }
    }
  })
})
