// Goal: a member that lies about objects harms none but its own, and stops nobody.
// Method: its bytes at the objects of a primary, one lie a test.
import { describe, expect, test } from 'vitest'
import { begin, KIND, plain } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { OBJECTS_MAX, OSEQ_WIRE_MAX } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { finish, writeU8, writeVarint } from '../../packages/holdfast/src/wire/bytes.ts'
import { Desk, GOOD, LIAR, ME, told, TYPE, update, wish } from './desk.ts'

const NOBODY = 9
const LAST = 2 ** 53 - 1

describe('nothing throws', () => {
  test('at versions that no further one can follow', () => {
    const desk = new Desk()
    const far = { count: 1, version: [0, LAST], owner: NOBODY } as const
    desk.hear(LIAR, told('unowned', { creator: NOBODY, ...far }))
    desk.hear(LIAR, told('tell', { creator: LIAR, ...far, owner: LIAR }))
    desk.view(ME, GOOD)
  })
  test('at an object given with a state that is made at the end of time', () => {
    const desk = new Desk()
    const ball = { creator: LIAR, count: 1, owner: LIAR, type: TYPE.timed }
    desk.hear(LIAR, told('tell', ball))
    desk.exchange()
    desk.pass(50)
    desk.hear(LIAR, wish(LIAR, 1, GOOD, { ...ball, oseq: 2, state: [8], madeAt: LAST }))
    desk.exchange()
  })
  test('at the version that is known in another type, which it does not get', () => {
    const desk = new Desk()
    const thing = { creator: LIAR, count: 1, owner: LIAR }
    desk.hear(LIAR, told('tell', { ...thing, type: TYPE.word }))
    desk.hear(LIAR, told('tell', { ...thing, type: TYPE.plain, oseq: 2 }))
    expect(desk.find(LIAR, 1)!.fields).toEqual(['hi'])
    desk.exchange()
  })
  test.each([TYPE.near, TYPE.eyes])(
    'at what was granted as of type %i and told as of another, while others look around',
    (type) => {
      const desk = new Desk()
      const { count } = desk.spawn(type)
      desk.hear(LIAR, wish(ME, count, LIAR))
      const granted = { creator: ME, count, version: [1, 1], owner: LIAR } as const
      desk.hear(LIAR, told('tell', { ...granted, type: TYPE.plain, oseq: 2 }))
      expect(desk.find(ME, count)!.type).toBe(type)
      for (const owner of [GOOD, LIAR]) {
        desk.hear(owner, told('tell', { creator: owner, count: 1, owner, type: TYPE.eyes }))
      }
    },
  )
})

describe('what is another’s stays', () => {
  test('at a version before all grants', () => {
    const desk = new Desk()
    desk.hear(GOOD, told('tell', { creator: GOOD, count: 1, owner: GOOD }))
    const taken = { creator: GOOD, count: 1, version: [0, 1], oseq: 9, state: [66] } as const
    desk.hear(LIAR, told('tell', { ...taken, owner: LIAR }))
    desk.hear(LIAR, told('unowned', { ...taken, owner: NOBODY }))
    expect(desk.find(GOOD, 1)).toMatchObject({ owner: GOOD, fields: [7] })
  })
  test('at the version of whoever was granted it (PR-2)', () => {
    const desk = new Desk()
    const { count } = desk.spawn(TYPE.plain)
    desk.hear(GOOD, wish(ME, count, GOOD))
    const granted = { creator: ME, count, version: [1, 1], owner: GOOD } as const
    desk.hear(GOOD, told('tell', { ...granted, oseq: 2, state: [8] }))
    expect(desk.find(ME, count)).toMatchObject({ owner: GOOD, fields: [8] })
    desk.hear(LIAR, told('tell', { ...granted, oseq: 9, state: [66] }))
    expect(desk.find(ME, count)).toMatchObject({ owner: GOOD, fields: [8] })
    desk.hear(GOOD, told('tell', { ...granted, oseq: 3, state: [9] }))
    expect(desk.find(ME, count)).toMatchObject({ owner: GOOD, fields: [9] })
  })
  test('at what the liar was granted, in the name of somebody else (PR-2)', () => {
    const desk = new Desk()
    const { count } = desk.spawn(TYPE.plain)
    desk.hear(LIAR, wish(ME, count, LIAR))
    const granted = { creator: ME, count, version: [1, 1] } as const
    desk.hear(LIAR, told('tell', { ...granted, owner: GOOD, oseq: 2, state: [66] }))
    expect(desk.find(ME, count)!.owner).not.toBe(GOOD)
    expect(desk.find(ME, count)!.fields).not.toEqual([66])
    desk.hear(LIAR, told('tell', { ...granted, owner: LIAR, oseq: 2, state: [8] }))
    expect(desk.find(ME, count)).toMatchObject({ owner: LIAR, fields: [8] })
  })
  test('at an orphan of a version that is still to come: there is none', () => {
    const desk = new Desk()
    const far = { creator: NOBODY, count: 1, version: [2 ** 20, 5], owner: NOBODY } as const
    desk.hear(LIAR, told('unowned', far))
    expect(desk.find(NOBODY, 1)).toBeUndefined()
  })
})

describe('nothing grows without bounds', () => {
  test('an oseq ends at OSEQ_WIRE_MAX, also by updates', () => {
    const desk = new Desk()
    desk.hear(LIAR, told('tell', { creator: LIAR, count: 1, owner: LIAR, oseq: OSEQ_WIRE_MAX }))
    desk.read(LIAR, update(LIAR, 1, 5, 9))
    expect(desk.find(LIAR, 1)?.oseq).toBe(OSEQ_WIRE_MAX)
  })
  test('60,000 graves of what never was are not all kept', () => {
    const desk = new Desk()
    for (let first = 1; first <= 60_000; first += 1_000) {
      const graves = Array.from({ length: 1_000 }, (_, n) => {
        return { creator: LIAR, count: first + n, owner: LIAR, dead: true }
      })
      desk.hear(LIAR, told('tell', ...graves))
    }
    expect(desk.state.replicas.size).toBeLessThanOrEqual(5 * OBJECTS_MAX)
  })
  test('who says 500 times that it follows is told all once', () => {
    const desk = new Desk()
    for (let n = 0; n < 200; n++) desk.spawn(TYPE.plain)
    desk.sent.length = 0
    for (let n = 0; n < 500; n++) desk.hear(LIAR, plain(KIND.follow, 1))
    expect(desk.sent.length).toBeLessThan(100)
  })
})

describe('what was asked for', () => {
  function asked(): Desk {
    const desk = new Desk()
    desk.hear(GOOD, told('tell', { creator: GOOD, count: 1, owner: GOOD, type: TYPE.word }))
    desk.hear(LIAR, wish(GOOD, 1, LIAR))
    expect(desk.state.openAsks.size).toBe(1)
    return desk
  }

  test('may be asked for again when the owner that was asked is gone', () => {
    const desk = asked()
    desk.view(ME, LIAR)
    desk.hear(LIAR, wish(GOOD, 1, LIAR, undefined, [1, 1]))
    expect(desk.events.map(({ kind }) => kind)).toContain('object-asked')
  })
  test('and is destroyed is forgotten', () => {
    const desk = asked()
    const { type } = desk.find(GOOD, 1)!
    desk.hear(GOOD, told('tell', { creator: GOOD, count: 1, owner: GOOD, type, dead: true }))
    desk.pass(2_000)
    expect(desk.state.openAsks.size).toBe(0)
  })
})

test('how many objects come is said by the primary alone, and never more than there can be', () => {
  const desk = new Desk()
  const totals = (): unknown[] => desk.events.filter(({ kind }) => kind === 'objects-total')
  desk.state.primary = GOOD
  desk.hear(LIAR, plain(KIND.total, 40))
  desk.hear(GOOD, plain(KIND.total, OBJECTS_MAX + 1))
  desk.hear(GOOD, plain(KIND.total, LAST))
  desk.hear(GOOD, Uint8Array.of(KIND.total, 40, 0))
  expect([totals(), desk.state.counters.malformed]).toEqual([[], 1])
  desk.hear(GOOD, plain(KIND.total, 40))
  expect(totals()).toEqual([{ kind: 'objects-total', total: 40 }])
})

test('words that there are not are malformed: of a resync, of a request, of a refusal', () => {
  const desk = new Desk()
  const request = begin(KIND.request)
  for (const number of [1, GOOD, 1, 0, 0]) writeVarint(request, number)
  writeU8(request, 3)
  for (const number of [LIAR, 0]) writeVarint(request, number)
  const lack = plain(KIND.full, GOOD, 1, 0, 0, 2)
  const bad = [Uint8Array.of(KIND.resync, 0, 0), finish(request), plain(KIND.refuse, 1, 9, 0), lack]
  for (const bytes of bad) desk.hear(ME, bytes)
  expect(desk.state.counters.malformed).toBe(bad.length)
  expect(desk.events.filter(({ kind }) => kind === 'objects-known')).toHaveLength(1)
})
