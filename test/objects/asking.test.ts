// Goal: what is asked for is answered once, for each who asked.
// Method: a crew whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  act,
  answers,
  carry,
  type Crew,
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
} from './crew.ts'

const [HOST, A, B, C, D] = [1, 2, 3, 4, 5] as const

/** A's object, for which it is to be asked; B's request has come to the primary. */
function asked(): { crew: Crew; key: number } {
  const crew = meet({ incs: [HOST, A, B], types: [rules({ take: 'ask' })] })
  const key = spawn(crew, A)
  settle(crew)
  take(crew, B, key)
  carry(crew, B, HOST)
  return { crew, key }
}

describe('an owner that is asked', () => {
  test('for what it has ended meanwhile is not bothered (PR-2)', () => {
    const { crew, key } = asked()
    expect(kinds(crew, HOST, A)).toEqual([KIND.ask])
    destroy(crew, A, key)
    settle(crew)
    expect(told(crew, A, 'object-asked')).toEqual([])
    expect(looks(crew, key)).toEqual(['gone v0.0'])
  })

  test('says no once, however long that is on its way (PR-2)', () => {
    const { crew, key } = asked()
    carry(crew, HOST, A)
    reply(crew, A, key, false)
    for (let verbs = 0; verbs < 3; verbs++) act(crew, A, () => {})
    expect(kinds(crew, A, HOST)).toEqual([KIND.decline])
    carry(crew, A, HOST)
    carry(crew, HOST, B)
    expect(answers(crew, B)).toEqual(['denied'])
  })
})

describe('a primary whose link to a member is a new one', () => {
  test('asks again whom it has asked, and nobody else (PR-2)', () => {
    const { crew } = asked()
    carry(crew, HOST, A)
    expect(told(crew, A, 'object-asked').length).toBe(1)
    const asks = (): number => kinds(crew, HOST, A).filter((kind) => kind === KIND.ask).length
    // Who asked follows anew: of the owner nothing was lost.
    link(crew, HOST, B)
    carry(crew, B, HOST)
    expect(kinds(crew, HOST, B)).toContain(KIND.resync)
    expect(asks()).toBe(0)
    link(crew, HOST, A)
    carry(crew, A, HOST)
    expect(asks()).toBe(1)
    settle(crew)
    expect(told(crew, A, 'object-asked').length).toBe(1)
  })
})

describe('a primary that is new', () => {
  test('B29: answers each who asked while it waited, though they number alike (PR-2)', () => {
    const crew = meet({ incs: [HOST, A, B, C, D] })
    const [one, other] = [spawn(crew, A), spawn(crew, A)]
    settle(crew)
    takeOver(crew, A)
    expect(take(crew, B, one)).toBe(take(crew, C, other))
    // It decides nothing before D, too, has told what it has.
    for (const from of [B, C]) carry(crew, from, A)
    expect([B, C].map((inc) => kinds(crew, A, inc).includes(KIND.grant))).toEqual([false, false])
    settle(crew)
    expect([B, C].map((inc) => answers(crew, inc))).toEqual([['granted'], ['granted']])
    expect([one, other].map((key) => looks(crew, key))).toEqual([['3 v2.1 1,1'], ['4 v2.1 1,1']])
  })
})
