// Goal: where there is no room for more, what is there goes on as ever.
// Method: a cluster with a small quota, and a primary with as many objects as there may be.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { OBJECTS_MAX } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { lackOf } from '../../packages/holdfast/src/objects/protocol/state.ts'
import { answers, join, looks, lose, meet, seeAll, settle, spawn, state, take } from './cluster.ts'
import { Desk, GOOD, LIAR, ME, told, TYPE, wish } from './desk.ts'

const [HOST, A, B] = [1, 2, 3] as const

describe('where there is no room for more', () => {
  test.each([false, true])(
    'B25: an object changes hands though its maker may make no more; mesh: %s (PR-2)',
    (mesh) => {
      const cluster = meet({ incs: [HOST, A, B], mesh })
      seeAll(cluster, { terms: 'objects=1' })
      const key = spawn(cluster, A)
      settle(cluster)
      take(cluster, B, key)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
      expect(answers(cluster, B)).toEqual(['granted'])
      expect(state(cluster, HOST).counters.full).toBe(0)
    },
  )

  test('B25: who is alone has no quota, and has one again with others (PR-2)', () => {
    const cluster = meet({ incs: [HOST, A] })
    seeAll(cluster, { terms: 'objects=1' })
    const lacks = (): unknown => lackOf(state(cluster, HOST), HOST)
    expect(lacks()).toBe(null)
    spawn(cluster, HOST)
    expect(lacks()).toBe('quota')
    lose(cluster, A)
    seeAll(cluster, { terms: 'objects=1' })
    expect(lacks()).toBe(null)
    join(cluster, B)
    seeAll(cluster, { terms: 'objects=1' })
    expect(lacks()).toBe('quota')
  })

  test('B53: as many again are known that are gone (PR-2)', () => {
    const desk = new Desk()
    for (let made = 0; made < 10_000; made++) desk.spawn(TYPE.plain)
    const gone = { creator: GOOD, count: 1, owner: GOOD, dead: true } as const
    desk.hear(GOOD, told('tell', gone))
    expect(desk.find(GOOD, 1)).toMatchObject({ dead: true })
  })

  test('B53: what a grantee made of an object before it went is adopted (PR-2)', () => {
    const desk = new Desk()
    for (let made = 0; made < OBJECTS_MAX; made++) desk.spawn(TYPE.plain)
    desk.hear(GOOD, wish(ME, 1, GOOD))
    desk.view(ME, LIAR)
    desk.sent.length = 0
    const granted = { creator: ME, count: 1, version: [1, 1], owner: GOOD } as const
    desk.hear(LIAR, told('unowned', { ...granted, oseq: 2, state: [9] }))
    expect(desk.find(ME, 1)).toMatchObject({ owner: ME, fields: [9], dead: false })
    expect(desk.sent.filter(({ bytes }) => bytes[0] === KIND.full)).toEqual([])
  })
})
