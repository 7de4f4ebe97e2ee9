// Goal: who follows counts once and only as a member, and who asks twice is answered once.
// Method: bytes at the objects of a primary.
import { describe, expect, test } from 'vitest'
import { KIND, plain } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { REFUSALS } from '../../packages/holdfast/src/objects/protocol/state.ts'
import { createReader, readU8, readVarint } from '../../packages/holdfast/src/wire/bytes.ts'
import { Desk, GOOD, LIAR, ME, told, TYPE, wish } from './desk.ts'
import { carry, die, meet, rules, settle, spawn, state, takeOver, under } from './cluster.ts'

const BATCH_BYTES = 1_000

function kindsTo(desk: Desk, to: number): number[] {
  return desk.sent.filter((one) => one.to === to).map(({ bytes }) => bytes[0]!)
}

function refusals(desk: Desk, to: number): string[] {
  return desk.sent.flatMap(({ to: whom, bytes }) => {
    const reader = createReader(bytes)
    if (whom !== to || readU8(reader) !== KIND.refuse) return []
    const number = readVarint(reader)
    return [`${number} ${REFUSALS[readVarint(reader)]!} ${readVarint(reader)}`]
  })
}

describe('FOLLOW', () => {
  test('of who is no member, of an epoch before, or for a second time is ignored (PR-2)', () => {
    const desk = new Desk()
    const { counters } = desk.state
    expect(counters.ignored).toBe(0)
    desk.hear(9, plain(KIND.follow, 1))
    expect(counters.ignored).toBe(1)
    desk.hear(GOOD, plain(KIND.follow, 1))
    expect(counters.ignored).toBe(2)
    desk.state.subscribers.get(GOOD)!.follows = false
    desk.hear(GOOD, plain(KIND.follow, 0))
    expect(counters.ignored).toBe(3)
    expect(desk.state.subscribers.get(GOOD)!.follows).toBe(false)
    desk.hear(GOOD, plain(KIND.follow, 1))
    expect([counters.ignored, desk.state.subscribers.get(GOOD)!.follows]).toEqual([3, true])
  })
  test('is answered with all grants that were lost on their way (PR-2)', () => {
    const desk = new Desk()
    const { count } = desk.spawn(TYPE.plain)
    desk.hear(GOOD, wish(ME, count, GOOD))
    expect(kindsTo(desk, GOOD).filter((kind) => kind === KIND.grant)).toHaveLength(1)
    desk.state.subscribers.get(GOOD)!.follows = false
    desk.hear(GOOD, plain(KIND.follow, 1))
    expect(kindsTo(desk, GOOD).filter((kind) => kind === KIND.grant)).toHaveLength(2)
    expect(kindsTo(desk, LIAR)).not.toContain(KIND.grant)
  })
})

test('B26: what members who left had is reported in messages of about a kilobyte (PR-2)', () => {
  const [HOST, A, B, C] = [1, 2, 3, 4]
  const cluster = meet({ incs: [HOST, A, B, C], types: [rules()] })
  const keys = Array.from({ length: 300 }, (_, at) => spawn(cluster, A, [at % 100, 1]))
  settle(cluster)
  // B, who leads next, has heard of none of them; A dies with the primary.
  const { replicas } = state(cluster, B)
  for (const key of keys) expect(replicas.delete(key)).toBe(true)
  die(cluster, A)
  cluster.here.delete(A)
  takeOver(cluster, B)
  const reports: Uint8Array[] = []
  for (let step = 0; step < 20; step++) {
    const words = under(cluster, C, B).map(({ bytes }) => bytes)
    reports.push(...words.filter((bytes) => bytes[0] === KIND.unowned))
    carry(cluster, C, B)
    carry(cluster, B, C)
  }
  settle(cluster)
  expect(reports.length).toBeGreaterThan(2)
  const long = reports.slice(0, -1).map(({ length }) => length)
  expect(Math.min(...long)).toBeGreaterThanOrEqual(BATCH_BYTES)
  expect(Math.max(...long)).toBeLessThan(BATCH_BYTES + 100)
  const reported = keys.map((key) => state(cluster, B).replicas.get(key)?.owner)
  expect(new Set(reported)).toEqual(new Set([B]))
})

describe('who asks again', () => {
  test('while the owner is asked is not refused, and no more is asked (PR-2)', () => {
    const desk = new Desk()
    desk.hear(GOOD, told('tell', { creator: GOOD, count: 1, owner: GOOD, type: TYPE.word }))
    desk.sent.length = 0
    desk.hear(LIAR, wish(GOOD, 1, LIAR))
    expect(kindsTo(desk, GOOD)).toContain(KIND.ask)
    const asks = kindsTo(desk, GOOD).filter((kind) => kind === KIND.ask).length
    desk.hear(LIAR, wish(GOOD, 1, LIAR))
    expect(refusals(desk, LIAR)).toEqual([])
    expect(kindsTo(desk, GOOD).filter((kind) => kind === KIND.ask)).toHaveLength(asks)
    // By another number it is another request.
    desk.hear(LIAR, wish(GOOD, 1, LIAR, undefined, [0, 0], 2))
    expect(refusals(desk, LIAR)).toEqual([`2 busy ${LIAR}`])
  })
  test('for another than itself is ignored (PR-2)', () => {
    const desk = new Desk()
    const { count } = desk.spawn(TYPE.plain)
    const { ignored } = desk.state.counters
    desk.hear(LIAR, wish(ME, count, GOOD))
    expect([refusals(desk, LIAR), desk.state.counters.ignored]).toEqual([[], ignored + 1])
    expect(kindsTo(desk, GOOD)).not.toContain(KIND.grant)
  })
})

test('nothing is given to who watches, nor to who is not here (PR-2)', () => {
  const desk = new Desk()
  const given = { creator: GOOD, count: 1, owner: GOOD }
  desk.hear(GOOD, told('tell', given))
  desk.state.watching.add(LIAR)
  desk.hear(GOOD, wish(GOOD, 1, LIAR, given))
  desk.hear(GOOD, wish(GOOD, 1, 9, given, [0, 0], 2))
  expect(refusals(desk, GOOD)).toEqual([`1 away ${LIAR}`, '2 away 9'])
  expect(desk.find(GOOD, 1)).toMatchObject({ owner: GOOD, dead: false })
  desk.state.watching.delete(LIAR)
  desk.hear(GOOD, wish(GOOD, 1, LIAR, given, [0, 0], 3))
  expect(kindsTo(desk, LIAR)).toContain(KIND.grant)
})
