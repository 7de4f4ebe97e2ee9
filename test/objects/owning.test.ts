// Goal: an object changes hands as the primary decides, each request has one answer, and no two
// own it.
// Method: a crew whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  act,
  answers,
  carry,
  type Crew,
  cut,
  destroy,
  die,
  give,
  grant,
  kinds,
  land,
  link,
  look,
  looks,
  lose,
  meet,
  pull,
  reply,
  rules,
  seeAll,
  settle,
  spawn,
  state,
  take,
  takeOver,
  thing,
  told,
  write,
} from './crew.ts'

const GRANT_MS = 2_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const FREE = 0
const ASK = 1
const FIXED = 2
const types = [rules(), rules({ take: 'ask' }), rules({ take: 'fixed' })]

/** A's object, in a star or a mesh of four. */
function four(type = FREE, mesh = false): { crew: Crew; key: number } {
  const crew = meet({ incs: [HOST, A, B, C], types, mesh })
  const key = spawn(crew, A, [1, 1], type)
  settle(crew)
  return { crew, key }
}

describe('who asks for an object', () => {
  test.each([false, true])('B1, B5, B25: that is free gets it; mesh: %s', (mesh) => {
    const { crew, key } = four(FREE, mesh)
    take(crew, B, key)
    expect(look(crew, B, key)).toBe('2 v0.0 1,1')
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(crew, B)).toEqual(['granted'])
    expect(told(crew, A, 'object-owner')).toEqual([
      { kind: 'object-owner', key, before: A, lost: [1, 1] },
    ])
    expect(told(crew, C, 'object-owner')).toEqual([
      { kind: 'object-owner', key, before: A, lost: null },
    ])
  })

  test('B43: its version is 0 when it is made, and one more at each change of owner', () => {
    const { crew, key } = four()
    const versions = [thing(crew, C, key).version]
    for (const inc of [B, C, HOST, A]) {
      take(crew, inc, key)
      settle(crew)
      versions.push(thing(crew, C, key).version)
    }
    expect(versions).toEqual([0, 1, 2, 3, 4].map((count) => ({ epoch: +(count > 0), count })))
    expect(looks(crew, key)).toEqual(['2 v1.4 1,1'])
  })

  test('B28: from the moment of the grant its changes are its new owner’s, and cost no way back', () => {
    const { crew, key } = four()
    take(crew, B, key)
    carry(crew, B, HOST)
    carry(crew, HOST, B)
    write(crew, B, key, 7)
    expect(look(crew, B, key)).toBe('3 v1.1 7,1')
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 7,1'])
  })

  test.each([false, true])(
    'B29, B30: of two at once one gets it, and the other hears no; mesh: %s',
    (mesh) => {
      const { crew, key } = four(FREE, mesh)
      take(crew, B, key)
      take(crew, C, key)
      carry(crew, C, HOST)
      carry(crew, B, HOST)
      settle(crew)
      expect(looks(crew, key)).toEqual(['4 v1.1 1,1'])
      expect([answers(crew, B), answers(crew, C)]).toEqual([['held'], ['granted']])
    },
  )

  test('B29: nobody owns it before the primary has said so', () => {
    const { crew, key } = four(FREE, true)
    cut(crew, HOST, B)
    take(crew, B, key)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 1,1'])
    expect(answers(crew, B)).toEqual([])
    link(crew, HOST, B)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(crew, B)).toEqual(['granted'])
  })

  test('that is fixed is refused', () => {
    const { crew, key } = four(FIXED)
    take(crew, B, key)
    take(crew, HOST, key)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 1,1'])
    expect([answers(crew, B), answers(crew, HOST)]).toEqual([['fixed'], ['fixed']])
  })

  test('that is gone hears so', () => {
    const { crew, key } = four()
    take(crew, B, key)
    destroy(crew, A, key)
    carry(crew, A, HOST)
    carry(crew, B, HOST)
    settle(crew)
    expect(answers(crew, B)).toEqual(['gone'])
    expect(looks(crew, key)).toEqual(['gone v0.0'])
  })

  test('as the primary gets it at once, and so does who asks it for its own', () => {
    const { crew, key } = four()
    take(crew, HOST, key)
    expect(answers(crew, HOST)).toEqual(['granted'])
    settle(crew)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
    take(crew, C, key)
    settle(crew)
    expect(looks(crew, key)).toEqual(['4 v1.2 1,1'])
  })

  test('B30: on the word of an older owner is refused, and does not get it after all', () => {
    const { crew, key } = four()
    take(crew, B, key)
    take(crew, HOST, key)
    settle(crew)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
    expect([answers(crew, HOST), answers(crew, B)]).toEqual([['granted'], ['late']])
  })

  test('twice has one grant', () => {
    const { crew, key } = four()
    for (let i = 0; i < 3; i++) take(crew, B, key)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(crew, B)).toEqual(['granted', 'granted', 'granted'])
  })

  test('while another is granted it hears no, until that one has told of it or is silent for long', () => {
    const { crew, key } = four()
    grant(crew, key, B)
    take(crew, C, key)
    carry(crew, C, HOST)
    carry(crew, HOST, C)
    expect(answers(crew, C)).toEqual(['held'])
    crew.now += GRANT_MS
    take(crew, C, key)
    carry(crew, C, HOST)
    carry(crew, HOST, C)
    expect(look(crew, C, key)).toBe('4 v1.2 1,1')
    settle(crew)
    expect(looks(crew, key)).toEqual(['4 v1.2 1,1'])
  })
})

describe('an owner that is asked', () => {
  test('lets who asked have it, in the state of that moment', () => {
    const { crew, key } = four(ASK)
    take(crew, B, key)
    settle(crew)
    expect(told(crew, A, 'object-asked')).toEqual([
      { kind: 'object-asked', key, by: B, request: 1 },
    ])
    expect(looks(crew, key)).toEqual(['2 v0.0 1,1'])
    write(crew, A, key, 6)
    reply(crew, A, key, true)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 6,1'])
    expect(answers(crew, B)).toEqual(['granted'])
  })

  test('or not', () => {
    const { crew, key } = four(ASK)
    take(crew, B, key)
    settle(crew)
    reply(crew, A, key, false)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 1,1'])
    expect(answers(crew, B)).toEqual(['denied'])
    take(crew, C, key)
    settle(crew)
    expect(told(crew, A, 'object-asked').map(({ by }) => by)).toEqual([B, C])
  })

  test('is asked by one at a time', () => {
    const { crew, key } = four(ASK)
    take(crew, B, key)
    settle(crew)
    take(crew, C, key)
    settle(crew)
    expect(answers(crew, C)).toEqual(['busy'])
    expect(told(crew, A, 'object-asked')).toHaveLength(1)
  })

  test('as the primary itself', () => {
    const { crew } = four(ASK)
    const key = spawn(crew, HOST, [3, 3], ASK)
    settle(crew)
    take(crew, B, key)
    settle(crew)
    expect(told(crew, HOST, 'object-asked')).toEqual([
      { kind: 'object-asked', key, by: B, request: 1 },
    ])
    reply(crew, HOST, key, true)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 3,3'])
  })

  test('by the primary gives it to that, whose request is answered', () => {
    const { crew, key } = four(ASK)
    take(crew, HOST, key)
    settle(crew)
    reply(crew, A, key, true)
    settle(crew)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
    expect(answers(crew, HOST)).toEqual(['granted'])
  })

  test('that goes before it answered leaves the answer to the next owner', () => {
    const { crew, key } = four(ASK)
    take(crew, B, key)
    settle(crew)
    lose(crew, A)
    settle(crew)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
    expect(answers(crew, B)).toEqual(['late'])
    take(crew, B, key)
    settle(crew)
    expect(told(crew, HOST, 'object-asked')).toEqual([
      { kind: 'object-asked', key, by: B, request: 2 },
    ])
  })

  test('on behalf of one that went is asked again by the next', () => {
    const { crew, key } = four(ASK)
    take(crew, B, key)
    settle(crew)
    lose(crew, B)
    take(crew, C, key)
    settle(crew)
    expect(told(crew, A, 'object-asked').map(({ by }) => by)).toEqual([B, C])
  })
})

describe('who gives an object away', () => {
  test.each([FREE, ASK, FIXED])('loses no write, whatever is on its way; type %d', (type) => {
    const { crew, key } = four(type)
    write(crew, A, key, 5)
    pull(crew, A, HOST)
    write(crew, A, key, 6, 1)
    give(crew, A, key, B)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 5,6'])
    expect(answers(crew, A)).toEqual(['granted'])
  })

  test('shows the server the state that it gives along, also if nobody ever takes it', () => {
    for (const mesh of [false, true]) {
      const { crew, key } = four(FREE, mesh)
      write(crew, A, key, 5)
      give(crew, A, key, B)
      // No update comes before the request that has the same state.
      die(crew, B)
      settle(crew)
      const [changed] = told(crew, HOST, 'object-changed').filter((one) => one.key === key)
      expect([changed?.mask, thing(crew, HOST, key).fields]).toEqual([0xffffffff, [5, 1]])
    }
  })

  test('may not change it meanwhile', () => {
    const { crew, key } = four()
    give(crew, A, key, B)
    expect(objects.isMine(state(crew, A), thing(crew, A, key))).toBe(false)
    expect(() => write(crew, A, key, 5)).toThrow('who sets an object owns it')
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
  })

  test('to one who is not here keeps it', () => {
    const { crew, key } = four()
    give(crew, A, key, B)
    die(crew, B)
    crew.here.delete(B)
    seeAll(crew)
    settle(crew)
    expect(answers(crew, A)).toEqual(['away'])
    write(crew, A, key, 5)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 5,1'])
  })

  test('B53: to one who dies before it told anybody has it again', () => {
    for (const mesh of [false, true]) {
      const { crew, key } = four(FREE, mesh)
      give(crew, A, key, B)
      carry(crew, A, HOST)
      expect(kinds(crew, HOST, B)).toEqual([KIND.grant])
      lose(crew, B)
      settle(crew)
      expect(answers(crew, A)).toEqual(['away'])
      write(crew, A, key, 5)
      settle(crew)
      expect(looks(crew, key)).toEqual(['2 v0.0 5,1'])
    }
  })

  test('and is taken at once loses it to who was granted it first', () => {
    const { crew, key } = four()
    take(crew, C, key)
    carry(crew, C, HOST)
    give(crew, A, key, B)
    settle(crew)
    expect(looks(crew, key)).toEqual(['4 v1.1 1,1'])
    expect([answers(crew, A), answers(crew, C)]).toEqual([['held'], ['granted']])
  })

  test('as the primary', () => {
    const { crew } = four()
    const key = spawn(crew, HOST)
    write(crew, HOST, key, 8)
    give(crew, HOST, key, C)
    settle(crew)
    expect(looks(crew, key)).toEqual(['4 v1.1 8,1'])
    expect(answers(crew, HOST)).toEqual(['granted'])
  })
})

describe('who loses an object', () => {
  test('loses what it wrote after the state that was granted, is told, and nothing else', () => {
    const { crew, key } = four()
    write(crew, A, key, 5)
    land(crew, pull(crew, A, HOST)!)
    take(crew, B, key)
    carry(crew, B, HOST)
    write(crew, A, key, 9, 1)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 5,1'])
    expect(told(crew, A, 'object-owner')).toEqual([
      { kind: 'object-owner', key, before: A, lost: [5, 9] },
    ])
  })

  test('B44: a destroy of what was granted meanwhile is nothing, and the object lives on', () => {
    for (const mesh of [false, true]) {
      const { crew, key } = four(FREE, mesh)
      take(crew, B, key)
      carry(crew, B, HOST)
      destroy(crew, A, key)
      carry(crew, HOST, B)
      settle(crew)
      expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
    }
  })
})

describe('grants', () => {
  test('that were lost with a link go again on the next', () => {
    const { crew, key } = four()
    take(crew, B, key)
    carry(crew, B, HOST)
    expect(kinds(crew, HOST, B)).toEqual([KIND.grant])
    link(crew, HOST, B)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(crew, B)).toEqual(['granted'])
  })

  test('B51: of two primaries never have the same version, and the later one wins', () => {
    const crew = meet({ incs: [HOST, A, B, C], mesh: true })
    const key = spawn(crew, A)
    settle(crew)
    grant(crew, key, B)
    // The old primary is alive, and its grant is on its way.
    Object.assign(crew, { primary: C, epoch: 2 })
    for (const inc of [C, A]) act(crew, inc, () => {})
    seeAll(crew)
    grant(crew, key, A)
    carry(crew, HOST, B)
    carry(crew, C, A)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v2.1 1,1'])
  })

  test('a request goes to a new primary, which has not heard of it', () => {
    const { crew, key } = four()
    take(crew, B, key)
    takeOver(crew, C)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v2.1 1,1'])
    expect(answers(crew, B)).toEqual(['granted'])
  })

  test('B51: a new primary lets stand what the old one granted, though it never heard of that', () => {
    for (const mesh of [false, true]) {
      const { crew, key } = four(FREE, mesh)
      take(crew, B, key)
      carry(crew, B, HOST)
      carry(crew, HOST, B)
      expect(look(crew, B, key)).toBe('3 v1.1 1,1')
      takeOver(crew, C)
      settle(crew)
      expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
    }
  })

  test('of several that none has confirmed the newest wins, and an older one is not forgotten', () => {
    const { crew, key } = four()
    grant(crew, key, B)
    carry(crew, HOST, B)
    expect(kinds(crew, B, HOST)).toEqual([KIND.tell])
    crew.now += GRANT_MS
    take(crew, C, key)
    carry(crew, C, HOST)
    // C dies before it heard; what B tells was granted too.
    lose(crew, C)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
    write(crew, B, key, 4)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 4,1'])
    grant(crew, key, A)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v1.3 4,1'])
  })

  test('B53: of one whose grantee dies having told some is reported, and adopted', () => {
    const { crew, key } = four(FREE, true)
    take(crew, B, key)
    carry(crew, B, HOST)
    carry(crew, HOST, B)
    carry(crew, B, C)
    expect([HOST, A, C].map((inc) => look(crew, inc, key))).toEqual([
      '2 v0.0 1,1',
      '2 v0.0 1,1',
      '3 v1.1 1,1',
    ])
    lose(crew, B)
    settle(crew)
    expect(looks(crew, key)).toEqual(['1 v1.2 1,1'])
  })
})

test('who does not own an object cannot end it (PR-2)', () => {
  const { crew, key } = four(FREE, true)
  expect(() => destroy(crew, B, key)).toThrow('who destroys an object owns it')
  settle(crew)
  expect(looks(crew, key)).toEqual(['2 v0.0 1,1'])
})
