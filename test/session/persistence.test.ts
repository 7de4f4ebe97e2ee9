// Goal: what a primary writes at the hub of a room that is kept, when, and what waits for it.
// Method: the shipped functions on a primary by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import {
  type AckPolicy,
  NOT_NEXT,
  type ToHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { deltaLayout } from '../../packages/holdfast/src/replication/layouts.ts'
import * as persistence from '../../packages/holdfast/src/session/persistence.ts'
import {
  entriesSegmentLayout,
  type Persistence,
  snapshotSegmentLayout,
} from '../../packages/holdfast/src/session/segments.ts'
import type { Lead, Session } from '../../packages/holdfast/src/session/state.ts'
import { decode } from '../../packages/holdfast/src/wire/layout.ts'
import { backedUpOf, listening, memberOf, primaryOf } from './scene.ts'

type Kept = Extract<ToHub, { kind: 'keep' }>

/** A primary of so many members, alone or with a backup, of whose room the hub knows nothing. */
function room(count = 1, founds = false) {
  const { session } = count === 1 ? primaryOf(1) : backedUpOf(count)
  Object.assign(session, { terms: 'keep=600', keeps: true })
  const { server } = session as Session & { server: { lead: Lead } }
  const more = { founds, free: -1 }
  server.lead = persistence.beginLead(session, 0, 0, [], more)
  if (founds) persistence.onAttached(session)
  const heard = listening()
  const of = (): Persistence => server.lead.persistence
  const segments = (): Kept[] =>
    heard.asked.splice(0).filter(({ kind }) => kind === 'keep') as Kept[]
  const flush = (now: number): Kept[] => {
    persistence.flush({ session, now, out: heard.out })
    return segments()
  }
  const says = (number: number, why = '', index = 9, acks: AckPolicy = 'strict'): void => {
    const message = { kind: 'kept', session: session.id, number, index, acks, why } as const
    persistence.onKept({ session, now: 0, out: heard.out }, message)
  }
  return { session, server, of, flush, says, segments, heard }
}

/** One whose first segment the hub has. */
function written(count = 1) {
  const made = room(count)
  expect(made.flush(1_000)).toHaveLength(1)
  made.says(1, '', 3, count === 1 ? 'strict' : 'relayed')
  made.heard.events.length = 0
  return made
}

const note = ({ server }: ReturnType<typeof room>, now: number, length = 3): void => {
  persistence.noteEntry(server.lead, now, new Uint8Array(length).fill(7), { length: 9, acts: true })
}

const entriesIn = ({ bytes }: Kept): Uint8Array[] => decode(entriesSegmentLayout, bytes)!.entries

describe('the first segment', () => {
  test('is the whole, is due at once, and goes on one number from the next (PR-2)', () => {
    const made = room()
    expect(persistence.deadline(made.session)).toBe(-Infinity)
    const [first, ...others] = made.flush(1_000)
    expect(others).toEqual([])
    expect(first).toMatchObject({ number: 1, from: null, acks: 'strict', piece: 0, of: 1, next: 2 })
    expect(made.of()).toMatchObject({ inFlight: true, sentAt: 1_000, number: 1, entriesBytes: 0 })
    expect(made.of().snapshotBytes).toBe(first!.bytes.length)
  })
  test('has the types of the room, as long as their text fits a segment (PR-2)', () => {
    const typesOf = (keptTypes: string): string => {
      const { session, heard } = room()
      Object.assign(session, { keptTypes })
      return decode(snapshotSegmentLayout, persistence.save(session, heard.out)!.bytes)!.types
    }
    const longest = 'é'.repeat(16 * 1024)
    expect([typesOf(longest), typesOf(`${longest}a`)]).toEqual([longest, ''])
  })
  test('is for who serves, where the terms say so and the hub is up (PR-2)', () => {
    const open = room().session
    expect(persistence.isKept(open)).toBe(true)
    expect(persistence.isKept({ terms: 'keep=0', keeps: true })).toBe(false)
    expect(persistence.isKept({ terms: '', keeps: true })).toBe(false)
    expect(persistence.isKept({ terms: 'keep=600', keeps: false })).toBe(false)
    persistence.onDetached(open)
    expect([persistence.deadline(open), persistence.standing(open)]).toEqual([Infinity, 'waiting'])
    persistence.onAttached(open)
    expect(persistence.deadline(open)).toBe(-Infinity)
    const { own } = memberOf(2)
    expect([persistence.deadline(own), persistence.standing(own)]).toEqual([Infinity, null])
    expect([persistence.limitOf(own), persistence.save(own, listening().out)]).toEqual([
      Infinity,
      null,
    ])
  })
  test('is written anew two seconds after it had no answer, and ten after a no (PR-2)', () => {
    const made = room()
    made.flush(1_000)
    expect(persistence.deadline(made.session)).toBe(3_000)
    expect(made.flush(2_999)).toEqual([])
    expect(made.flush(3_000)).toMatchObject([{ number: 2, from: null }])
    made.says(2, 'full')
    expect(made.heard.events).toEqual([{ kind: 'kept', why: 'full' }])
    expect(persistence.deadline(made.session)).toBe(13_000)
    expect(made.flush(12_999)).toEqual([])
    expect(made.flush(13_000)).toMatchObject([{ number: 3, from: null }])
    made.says(3)
    expect(made.heard.events).toEqual([
      { kind: 'kept', why: 'full' },
      { kind: 'kept', why: '' },
    ])
  })
})

describe('who is alone', () => {
  test('has acknowledged what the hub has, and no more (PR-2)', () => {
    const made = room()
    expect([persistence.limitOf(made.session), persistence.standing(made.session)]).toEqual([
      -1,
      'waiting',
    ])
    made.flush(1_000)
    expect(persistence.limitOf(made.session)).toBe(-1)
    made.says(1, '', 4)
    expect([persistence.limitOf(made.session), persistence.standing(made.session)]).toEqual([
      4,
      'kept',
    ])
    // A word that is late takes nothing back.
    made.says(1, '', 2)
    expect(persistence.limitOf(made.session)).toBe(4)
  })
  test('writes at once, others a tenth of a second later, in one segment (PR-2)', () => {
    const alone = written()
    note(alone, 2_000)
    expect(persistence.deadline(alone.session)).toBe(-Infinity)
    const two = written(2)
    note(two, 2_000)
    note(two, 2_050)
    expect(persistence.deadline(two.session)).toBe(2_100)
    expect(two.flush(2_099)).toEqual([])
    const [segment] = two.flush(2_100)
    expect(entriesIn(segment!)).toEqual([new Uint8Array(3).fill(7), new Uint8Array(3).fill(7)])
    expect(two.of()).toMatchObject({ entries: [], bytes: 0, entriesBytes: segment!.bytes.length })
    expect([persistence.limitOf(two.session), persistence.standing(two.session)]).toEqual([
      Infinity,
      null,
    ])
  })
})

describe('what is kept and in no log', () => {
  const change = (at: number) => ({ part: 5, bytes: Uint8Array.of(at) })
  function stirred(count: number): { loose: number[][]; bytes: number } {
    const made = written()
    const changes = Array.from({ length: count }, (_, at) => change(at))
    persistence.markUnlogged(made.session, 2_000)
    // By the clock, also for who is alone: nobody waits for it.
    expect(persistence.deadline(made.session)).toBe(2_100)
    persistence.markUnlogged(made.session, 2_050)
    expect(persistence.deadline(made.session)).toBe(2_100)
    const { out } = made.heard
    const parts = { ...out.parts, unloggedChanges: () => changes }
    persistence.flush({ session: made.session, now: 2_100, out: { ...out, parts } })
    const [segment] = made.segments()
    expect(made.of().unlogged).toBe(false)
    const deltas = entriesIn(segment!).map((bytes) => decode(deltaLayout, bytes)!)
    const loose = deltas.map((delta) => {
      return delta.kind === 'loose' ? delta.changes.map(({ bytes }) => bytes[0]!) : []
    })
    return { loose, bytes: segment!.bytes.length }
  }
  test('is written in entries of 32 changes at most, each once and in order (PR-2)', () => {
    const upTo = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => from + at)
    expect(stirred(1).loose).toEqual([[0]])
    expect(stirred(32).loose).toEqual([upTo(0, 32)])
    expect(stirred(65).loose).toEqual([upTo(0, 32), upTo(32, 64), [64]])
  })
  test('is not stirred before the whole was written, which has it (PR-2)', () => {
    const made = room()
    persistence.markUnlogged(made.session, 500)
    expect(made.of().unlogged).toBe(false)
    note(made, 500)
    expect(made.of().entries).toEqual([])
  })
})

describe('the whole is written again', () => {
  test('when entries are more than 64 KiB and than the whole (PR-2)', () => {
    const limit = 64 * 1024
    for (const [length, from] of [[limit, 3] as const, [limit + 1, null] as const]) {
      const made = written()
      made.of().sent = 3
      note(made, 2_000, length)
      expect(made.flush(2_000)[0]!.from).toBe(from)
    }
  })
  test('when 256 KiB of them wait (PR-2)', () => {
    const made = written()
    note(made, 2_000, 256 * 1024)
    expect(made.of()).toMatchObject({ bytes: 256 * 1024 })
    note(made, 2_000, 1)
    expect(made.of()).toMatchObject({ bytes: 0, sent: -1, entries: [], inFlight: false })
  })
  test('when the hub says that entries do not follow, or took them not (PR-2)', () => {
    const made = written()
    note(made, 2_000)
    made.flush(2_000)
    made.says(2, NOT_NEXT)
    expect(made.of()).toMatchObject({ sent: -1, inFlight: false, why: '' })
    expect(persistence.deadline(made.session)).toBe(-Infinity)
    expect(made.heard.events).toEqual([])
  })
})

describe('who leaves', () => {
  test('writes what waits, as the whole if a segment is on its way, and else nothing (PR-2)', () => {
    const idle = written(2)
    persistence.writeAll({ session: idle.session, now: 2_000, out: idle.heard.out })
    expect(idle.segments()).toEqual([])
    const made = written(2)
    note(made, 2_000)
    persistence.writeAll({ session: made.session, now: 2_000, out: made.heard.out })
    expect(made.segments()).toMatchObject([{ number: 2, from: expect.any(Number) as number }])
    note(made, 2_001)
    persistence.writeAll({ session: made.session, now: 2_001, out: made.heard.out })
    expect(made.segments()).toMatchObject([{ number: 3, from: null }])
    persistence.onDetached(made.session)
    note(made, 2_002)
    persistence.writeAll({ session: made.session, now: 2_002, out: made.heard.out })
    expect(made.segments()).toEqual([])
  })

  const aside = (made: ReturnType<typeof room>): boolean => {
    return persistence.writeAll({ session: made.session, now: 2_001, out: made.heard.out }, true)
  }

  test('says nothing of the room beside the stream if the disk has it all (N-1)', () => {
    const made = written(2)
    expect(aside(made)).toBe(true)
    expect(made.segments()).toEqual([])
  })

  test('says beside the stream what waits, though that is closed (N-1)', () => {
    const made = written(2)
    persistence.onDetached(made.session)
    note(made, 2_000)
    expect(aside(made)).toBe(true)
    expect(made.segments()).toMatchObject([{ number: 2, from: expect.any(Number) as number }])
  })

  test('says the whole again beside the stream while a segment is on its way (N-1)', () => {
    const made = written(2)
    note(made, 1_500)
    expect(made.flush(2_000)).toHaveLength(1)
    expect(aside(made)).toBe(true)
    expect(made.segments()).toMatchObject([{ number: 3, from: null }])
  })

  test('does not say it again if the room is large, and then says that it lacks it (N-1)', () => {
    const made = written(2)
    note(made, 1_500, 50_000)
    expect(made.flush(2_000).length).toBeGreaterThan(0)
    expect(aside(made)).toBe(false)
    expect(made.segments()).toEqual([])
  })
})

test('an answer for another session, or to a segment before, ends no waiting (PR-2)', () => {
  const made = room()
  made.flush(1_000)
  made.flush(3_000)
  const message = {
    kind: 'kept',
    session: 'other',
    number: 2,
    index: 9,
    acks: 'strict',
    why: '',
  } as const
  persistence.onKept({ session: made.session, now: 0, out: made.heard.out }, message)
  expect(made.of()).toMatchObject({ kept: -1, inFlight: true })
  made.says(1, '', 2)
  expect(made.of()).toMatchObject({ kept: 2, inFlight: true })
  made.says(2, '', 2, 'free')
  expect(made.of()).toMatchObject({ kept: 2, inFlight: false, believedAcks: 'free' })
})
