// Goal: an object changes hands as the primary decides, each request has one answer, and no two
// own it.
// Method: a cluster whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  act,
  answers,
  carry,
  type Cluster,
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
} from './cluster.ts'

const GRANT_MS = 2_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const FREE = 0
const ASK = 1
const FIXED = 2
const types = [rules(), rules({ take: 'ask' }), rules({ take: 'fixed' })]

/** A's object, in a star or a mesh of four. */
function four(type = FREE, mesh = false): { cluster: Cluster; key: number } {
  const cluster = meet({ incs: [HOST, A, B, C], types, mesh })
  const key = spawn(cluster, A, [1, 1], type)
  settle(cluster)
  return { cluster, key }
}

describe('who asks for an object', () => {
  test.each([false, true])('B1, B5, B25: that is free gets it; mesh: %s', (mesh) => {
    const { cluster, key } = four(FREE, mesh)
    take(cluster, B, key)
    expect(look(cluster, B, key)).toBe('2 v0.0 1,1')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(cluster, B)).toEqual(['granted'])
    expect(told(cluster, A, 'object-owner')).toEqual([
      { kind: 'object-owner', key, before: A, lost: [1, 1] },
    ])
    expect(told(cluster, C, 'object-owner')).toEqual([
      { kind: 'object-owner', key, before: A, lost: null },
    ])
  })

  test('B43: its version is 0 when it is made, and one more at each change of owner', () => {
    const { cluster, key } = four()
    const versions = [thing(cluster, C, key).version]
    for (const inc of [B, C, HOST, A]) {
      take(cluster, inc, key)
      settle(cluster)
      versions.push(thing(cluster, C, key).version)
    }
    expect(versions).toEqual([0, 1, 2, 3, 4].map((count) => ({ epoch: +(count > 0), count })))
    expect(looks(cluster, key)).toEqual(['2 v1.4 1,1'])
  })

  test('B28: from the moment of the grant its changes are its new owner’s, and cost no way back', () => {
    const { cluster, key } = four()
    take(cluster, B, key)
    carry(cluster, B, HOST)
    carry(cluster, HOST, B)
    write(cluster, B, key, 7)
    expect(look(cluster, B, key)).toBe('3 v1.1 7,1')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 7,1'])
  })

  test.each([false, true])(
    'B29, B30: of two at once one gets it, and the other hears no; mesh: %s',
    (mesh) => {
      const { cluster, key } = four(FREE, mesh)
      take(cluster, B, key)
      take(cluster, C, key)
      carry(cluster, C, HOST)
      carry(cluster, B, HOST)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['4 v1.1 1,1'])
      expect([answers(cluster, B), answers(cluster, C)]).toEqual([['held'], ['granted']])
    },
  )

  test('B29: nobody owns it before the primary has said so', () => {
    const { cluster, key } = four(FREE, true)
    cut(cluster, HOST, B)
    take(cluster, B, key)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 1,1'])
    expect(answers(cluster, B)).toEqual([])
    link(cluster, HOST, B)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(cluster, B)).toEqual(['granted'])
  })

  test('that is fixed is refused', () => {
    const { cluster, key } = four(FIXED)
    take(cluster, B, key)
    take(cluster, HOST, key)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 1,1'])
    expect([answers(cluster, B), answers(cluster, HOST)]).toEqual([['fixed'], ['fixed']])
  })

  test('that is gone hears so', () => {
    const { cluster, key } = four()
    take(cluster, B, key)
    destroy(cluster, A, key)
    carry(cluster, A, HOST)
    carry(cluster, B, HOST)
    settle(cluster)
    expect(answers(cluster, B)).toEqual(['gone'])
    expect(looks(cluster, key)).toEqual(['gone v0.0'])
  })

  test('as the primary gets it at once, and so does who asks it for its own', () => {
    const { cluster, key } = four()
    take(cluster, HOST, key)
    expect(answers(cluster, HOST)).toEqual(['granted'])
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
    take(cluster, C, key)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['4 v1.2 1,1'])
  })

  test('B30: on the word of an older owner is refused, and does not get it after all', () => {
    const { cluster, key } = four()
    take(cluster, B, key)
    take(cluster, HOST, key)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
    expect([answers(cluster, HOST), answers(cluster, B)]).toEqual([['granted'], ['late']])
  })

  test('twice has one grant', () => {
    const { cluster, key } = four()
    for (let i = 0; i < 3; i++) take(cluster, B, key)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(cluster, B)).toEqual(['granted', 'granted', 'granted'])
  })

  test('while another is granted it hears no, until that one has told of it or is silent for long', () => {
    const { cluster, key } = four()
    grant(cluster, key, B)
    take(cluster, C, key)
    carry(cluster, C, HOST)
    carry(cluster, HOST, C)
    expect(answers(cluster, C)).toEqual(['held'])
    cluster.now += GRANT_MS
    take(cluster, C, key)
    carry(cluster, C, HOST)
    carry(cluster, HOST, C)
    expect(look(cluster, C, key)).toBe('4 v1.2 1,1')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['4 v1.2 1,1'])
  })
})

describe('an owner that is asked', () => {
  test('lets who asked have it, in the state of that moment', () => {
    const { cluster, key } = four(ASK)
    take(cluster, B, key)
    settle(cluster)
    expect(told(cluster, A, 'object-asked')).toEqual([
      { kind: 'object-asked', key, by: B, request: 1 },
    ])
    expect(looks(cluster, key)).toEqual(['2 v0.0 1,1'])
    write(cluster, A, key, 6)
    reply(cluster, A, key, true)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 6,1'])
    expect(answers(cluster, B)).toEqual(['granted'])
  })

  test('or not', () => {
    const { cluster, key } = four(ASK)
    take(cluster, B, key)
    settle(cluster)
    reply(cluster, A, key, false)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 1,1'])
    expect(answers(cluster, B)).toEqual(['denied'])
    take(cluster, C, key)
    settle(cluster)
    expect(told(cluster, A, 'object-asked').map(({ by }) => by)).toEqual([B, C])
  })

  test('is asked by one at a time', () => {
    const { cluster, key } = four(ASK)
    take(cluster, B, key)
    settle(cluster)
    take(cluster, C, key)
    settle(cluster)
    expect(answers(cluster, C)).toEqual(['busy'])
    expect(told(cluster, A, 'object-asked')).toHaveLength(1)
  })

  test('as the primary itself', () => {
    const { cluster } = four(ASK)
    const key = spawn(cluster, HOST, [3, 3], ASK)
    settle(cluster)
    take(cluster, B, key)
    settle(cluster)
    expect(told(cluster, HOST, 'object-asked')).toEqual([
      { kind: 'object-asked', key, by: B, request: 1 },
    ])
    reply(cluster, HOST, key, true)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 3,3'])
  })

  test('by the primary gives it to that, whose request is answered', () => {
    const { cluster, key } = four(ASK)
    take(cluster, HOST, key)
    settle(cluster)
    reply(cluster, A, key, true)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
    expect(answers(cluster, HOST)).toEqual(['granted'])
  })

  test('that goes before it answered leaves the answer to the next owner', () => {
    const { cluster, key } = four(ASK)
    take(cluster, B, key)
    settle(cluster)
    lose(cluster, A)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
    expect(answers(cluster, B)).toEqual(['late'])
    take(cluster, B, key)
    settle(cluster)
    expect(told(cluster, HOST, 'object-asked')).toEqual([
      { kind: 'object-asked', key, by: B, request: 2 },
    ])
  })

  test('on behalf of one that went is asked again by the next', () => {
    const { cluster, key } = four(ASK)
    take(cluster, B, key)
    settle(cluster)
    lose(cluster, B)
    take(cluster, C, key)
    settle(cluster)
    expect(told(cluster, A, 'object-asked').map(({ by }) => by)).toEqual([B, C])
  })
})

describe('who gives an object away', () => {
  test.each([FREE, ASK, FIXED])('loses no write, whatever is on its way; type %d', (type) => {
    const { cluster, key } = four(type)
    write(cluster, A, key, 5)
    pull(cluster, A, HOST)
    write(cluster, A, key, 6, 1)
    give(cluster, A, key, B)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 5,6'])
    expect(answers(cluster, A)).toEqual(['granted'])
  })

  test('shows the server the state that it gives along, also if nobody ever takes it', () => {
    for (const mesh of [false, true]) {
      const { cluster, key } = four(FREE, mesh)
      write(cluster, A, key, 5)
      give(cluster, A, key, B)
      // No update comes before the request that has the same state.
      die(cluster, B)
      settle(cluster)
      const [changed] = told(cluster, HOST, 'object-changed').filter((one) => one.key === key)
      expect([changed?.mask, thing(cluster, HOST, key).fields]).toEqual([0xffffffff, [5, 1]])
    }
  })

  test('may not change it meanwhile', () => {
    const { cluster, key } = four()
    give(cluster, A, key, B)
    expect(objects.isMine(state(cluster, A), thing(cluster, A, key))).toBe(false)
    expect(() => write(cluster, A, key, 5)).toThrow('who sets an object owns it')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
  })

  test('to one who is not here keeps it', () => {
    const { cluster, key } = four()
    give(cluster, A, key, B)
    die(cluster, B)
    cluster.here.delete(B)
    seeAll(cluster)
    settle(cluster)
    expect(answers(cluster, A)).toEqual(['away'])
    write(cluster, A, key, 5)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 5,1'])
  })

  test('B53: to one who dies before it told anybody has it again', () => {
    for (const mesh of [false, true]) {
      const { cluster, key } = four(FREE, mesh)
      give(cluster, A, key, B)
      carry(cluster, A, HOST)
      expect(kinds(cluster, HOST, B)).toEqual([KIND.grant])
      lose(cluster, B)
      settle(cluster)
      expect(answers(cluster, A)).toEqual(['away'])
      write(cluster, A, key, 5)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['2 v0.0 5,1'])
    }
  })

  test('and is taken at once loses it to who was granted it first', () => {
    const { cluster, key } = four()
    take(cluster, C, key)
    carry(cluster, C, HOST)
    give(cluster, A, key, B)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['4 v1.1 1,1'])
    expect([answers(cluster, A), answers(cluster, C)]).toEqual([['held'], ['granted']])
  })

  test('as the primary', () => {
    const { cluster } = four()
    const key = spawn(cluster, HOST)
    write(cluster, HOST, key, 8)
    give(cluster, HOST, key, C)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['4 v1.1 8,1'])
    expect(answers(cluster, HOST)).toEqual(['granted'])
  })
})

describe('who loses an object', () => {
  test('loses what it wrote after the state that was granted, is told, and nothing else', () => {
    const { cluster, key } = four()
    write(cluster, A, key, 5)
    land(cluster, pull(cluster, A, HOST)!)
    take(cluster, B, key)
    carry(cluster, B, HOST)
    write(cluster, A, key, 9, 1)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 5,1'])
    expect(told(cluster, A, 'object-owner')).toEqual([
      { kind: 'object-owner', key, before: A, lost: [5, 9] },
    ])
  })

  test('B44: a destroy of what was granted meanwhile is nothing, and the object lives on', () => {
    for (const mesh of [false, true]) {
      const { cluster, key } = four(FREE, mesh)
      take(cluster, B, key)
      carry(cluster, B, HOST)
      destroy(cluster, A, key)
      carry(cluster, HOST, B)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
    }
  })
})

describe('grants', () => {
  test('that were lost with a link go again on the next', () => {
    const { cluster, key } = four()
    take(cluster, B, key)
    carry(cluster, B, HOST)
    expect(kinds(cluster, HOST, B)).toEqual([KIND.grant])
    link(cluster, HOST, B)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
    expect(answers(cluster, B)).toEqual(['granted'])
  })

  test('B51: of two primaries never have the same version, and the later one wins', () => {
    const cluster = meet({ incs: [HOST, A, B, C], mesh: true })
    const key = spawn(cluster, A)
    settle(cluster)
    grant(cluster, key, B)
    // The old primary is alive, and its grant is on its way.
    Object.assign(cluster, { primary: C, epoch: 2 })
    for (const inc of [C, A]) act(cluster, inc, () => {})
    seeAll(cluster)
    grant(cluster, key, A)
    carry(cluster, HOST, B)
    carry(cluster, C, A)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v2.1 1,1'])
  })

  test('a request goes to a new primary, which has not heard of it', () => {
    const { cluster, key } = four()
    take(cluster, B, key)
    takeOver(cluster, C)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v2.1 1,1'])
    expect(answers(cluster, B)).toEqual(['granted'])
  })

  test('B51: a new primary lets stand what the old one granted, though it never heard of that', () => {
    for (const mesh of [false, true]) {
      const { cluster, key } = four(FREE, mesh)
      take(cluster, B, key)
      carry(cluster, B, HOST)
      carry(cluster, HOST, B)
      expect(look(cluster, B, key)).toBe('3 v1.1 1,1')
      takeOver(cluster, C)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
    }
  })

  test('of several that none has confirmed the newest wins, and an older one is not forgotten', () => {
    const { cluster, key } = four()
    grant(cluster, key, B)
    carry(cluster, HOST, B)
    expect(kinds(cluster, B, HOST)).toEqual([KIND.tell])
    cluster.now += GRANT_MS
    take(cluster, C, key)
    carry(cluster, C, HOST)
    // C dies before it heard; what B tells was granted too.
    lose(cluster, C)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
    write(cluster, B, key, 4)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 4,1'])
    grant(cluster, key, A)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v1.3 4,1'])
  })

  test('B53: of one whose grantee dies having told some is reported, and adopted', () => {
    const { cluster, key } = four(FREE, true)
    take(cluster, B, key)
    carry(cluster, B, HOST)
    carry(cluster, HOST, B)
    carry(cluster, B, C)
    expect([HOST, A, C].map((inc) => look(cluster, inc, key))).toEqual([
      '2 v0.0 1,1',
      '2 v0.0 1,1',
      '3 v1.1 1,1',
    ])
    lose(cluster, B)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.2 1,1'])
  })
})

test('who does not own an object cannot end it (PR-2)', () => {
  const { cluster, key } = four(FREE, true)
  expect(() => destroy(cluster, B, key)).toThrow('who destroys an object owns it')
  settle(cluster)
  expect(looks(cluster, key)).toEqual(['2 v0.0 1,1'])
})
