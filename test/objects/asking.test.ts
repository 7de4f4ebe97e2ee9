// Goal: what is asked for is answered once, for each who asked.
// Method: a cluster whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  act,
  answers,
  carry,
  type Cluster,
  destroy,
  kinds,
  link,
  looks,
  meet,
  reply,
  rules,
  settle,
  spawn,
  take,
  takeOver,
  told,
} from './cluster.ts'

const [HOST, A, B, C, D] = [1, 2, 3, 4, 5] as const

/** A's object, for which it is to be asked; B's request has come to the primary. */
function asked(): { cluster: Cluster; key: number } {
  const cluster = meet({ incs: [HOST, A, B], types: [rules({ take: 'ask' })] })
  const key = spawn(cluster, A)
  settle(cluster)
  take(cluster, B, key)
  carry(cluster, B, HOST)
  return { cluster, key }
}

describe('an owner that is asked', () => {
  test('for what it has ended meanwhile is not bothered (PR-2)', () => {
    const { cluster, key } = asked()
    expect(kinds(cluster, HOST, A)).toEqual([KIND.ask])
    destroy(cluster, A, key)
    settle(cluster)
    expect(told(cluster, A, 'object-asked')).toEqual([])
    expect(looks(cluster, key)).toEqual(['gone v0.0'])
  })

  test('says no once, however long that is on its way (PR-2)', () => {
    const { cluster, key } = asked()
    carry(cluster, HOST, A)
    reply(cluster, A, key, false)
    for (let verbs = 0; verbs < 3; verbs++) act(cluster, A, () => {})
    expect(kinds(cluster, A, HOST)).toEqual([KIND.decline])
    carry(cluster, A, HOST)
    carry(cluster, HOST, B)
    expect(answers(cluster, B)).toEqual(['denied'])
  })
})

describe('a primary whose link to a member is a new one', () => {
  test('asks again whom it has asked, and nobody else (PR-2)', () => {
    const { cluster } = asked()
    carry(cluster, HOST, A)
    expect(told(cluster, A, 'object-asked').length).toBe(1)
    const asks = (): number => kinds(cluster, HOST, A).filter((kind) => kind === KIND.ask).length
    // Who asked follows anew: of the owner nothing was lost.
    link(cluster, HOST, B)
    carry(cluster, B, HOST)
    expect(kinds(cluster, HOST, B)).toContain(KIND.resync)
    expect(asks()).toBe(0)
    link(cluster, HOST, A)
    carry(cluster, A, HOST)
    expect(asks()).toBe(1)
    settle(cluster)
    expect(told(cluster, A, 'object-asked').length).toBe(1)
  })
})

describe('a primary that is new', () => {
  test('B29: answers each who asked while it waited, though they number alike (PR-2)', () => {
    const cluster = meet({ incs: [HOST, A, B, C, D] })
    const [one, other] = [spawn(cluster, A), spawn(cluster, A)]
    settle(cluster)
    takeOver(cluster, A)
    expect(take(cluster, B, one)).toBe(take(cluster, C, other))
    // It decides nothing before D, too, has told what it has.
    for (const from of [B, C]) carry(cluster, from, A)
    expect([B, C].map((inc) => kinds(cluster, A, inc).includes(KIND.grant))).toEqual([false, false])
    settle(cluster)
    expect([B, C].map((inc) => answers(cluster, inc))).toEqual([['granted'], ['granted']])
    expect([one, other].map((key) => looks(cluster, key))).toEqual([['3 v2.1 1,1'], ['4 v2.1 1,1']])
  })
})
