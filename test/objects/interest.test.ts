// Goal: who may not see an object is told nothing of it (T76), who sees it anew has all of it, and
// who moves sees what is near.
// Method: a crew whose types say who sees what; every byte that leaves can be looked at.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import {
  answers,
  carry,
  type Crew,
  destroy,
  give,
  grant,
  join,
  kinds,
  land,
  look,
  looks,
  lose,
  meet,
  packets,
  pass,
  pull,
  rules,
  set,
  settle,
  spawn,
  state,
  takeOver,
  told,
  under,
  write,
} from './crew.ts'

const [HOST, A, B, C] = [1, 2, 3, 4] as const
/** Its first field says to whom alone it is shown; 0 to all. */
const secret = [
  rules({
    visibility: {
      kind: 'rule',
      sees:
        ([one]) =>
        (viewer) =>
          one === 0 || one === viewer,
    },
  }),
]
const place = { at: vec2(-500, 500, 1) }
const RADIUS = 40
const map = [
  rules({ visibility: { kind: 'near', column: 0, radius: RADIUS } }, place),
  rules({ eyes: 0 }, place),
]

/** Quantised. */
const spot = (x: number, y: number): number[] => [x + 500, y + 500]

function move(crew: Crew, inc: number, key: number, x: number, y: number): void {
  set(crew, inc, key, spot(x, y), 1)
  settle(crew)
}

describe.each([
  ['star', false],
  ['mesh', true],
])('T76: a rule of the game, in a %s', (_, mesh) => {
  function four(one: number): { crew: Crew; key: number } {
    const crew = meet({ incs: [HOST, A, B, C], types: secret, mesh })
    const key = spawn(crew, A, [one, 7])
    settle(crew)
    return { crew, key }
  }

  test('T76: who may not see it never hears of it, the server and its owner always do', () => {
    const { crew, key } = four(B)
    expect([HOST, A, B, C].map((inc) => look(crew, inc, key))).toEqual([
      '2 v0.0 3,7',
      '2 v0.0 3,7',
      '2 v0.0 3,7',
      'unknown',
    ])
    write(crew, A, key, 9, 1)
    const speaker = mesh ? A : HOST
    if (!mesh) land(crew, pull(crew, A, HOST)!)
    expect(pull(crew, speaker, C)).toBe(null)
    expect(under(crew, speaker, C)).toEqual([])
    destroy(crew, A, key)
    settle(crew)
    expect(['unknown', 'gone v0.0']).toContain(look(crew, C, key))
    expect(told(crew, C, 'object-came')).toEqual([])
    expect(told(crew, C, 'object-went')).toEqual([])
  })

  test('T76: who may not see it any more hears that once, and nothing after', () => {
    const { crew, key } = four(0)
    write(crew, A, key, B)
    const speaker = mesh ? A : HOST
    if (!mesh) {
      land(crew, pull(crew, A, HOST)!)
      expect(kinds(crew, HOST, C)).toEqual([KIND.hide])
    }
    settle(crew)
    expect([B, C].map((inc) => look(crew, inc, key))).toEqual(['2 v0.0 3,7', 'hidden'])
    expect(told(crew, C, 'object-went')).toHaveLength(1)
    for (let value = 10; value < 15; value++) {
      write(crew, A, key, value, 1)
      if (!mesh) land(crew, pull(crew, A, HOST)!)
      expect(pull(crew, speaker, C)).toBe(null)
      expect(under(crew, speaker, C)).toEqual([])
    }
  })

  test('T76: who sees it again has its newest state, and it came', () => {
    const { crew, key } = four(0)
    write(crew, A, key, B)
    settle(crew)
    write(crew, A, key, 77, 1)
    settle(crew)
    write(crew, A, key, 0)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 0,77'])
    expect(told(crew, C, 'object-came')).toHaveLength(2)
    write(crew, A, key, 78, 1)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 0,78'])
  })

  test('T76: what it shows changes hands unseen, and is seen in its new version', () => {
    const { crew, key } = four(0)
    write(crew, A, key, B)
    settle(crew)
    grant(crew, key, B)
    settle(crew)
    expect(look(crew, C, key)).toBe('hidden')
    write(crew, B, key, 0)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 0,7'])
  })

  test('T76: who is given it sees it', () => {
    const { crew, key } = four(A)
    expect(look(crew, C, key)).toBe('unknown')
    give(crew, A, key, C)
    settle(crew)
    expect(look(crew, C, key)).toBe('4 v1.1 2,7')
  })

  test('who may not see it any more keeps no ghost when another primary takes over', () => {
    const { crew, key } = four(0)
    write(crew, A, key, B)
    takeOver(crew, B)
    settle(crew)
    expect(look(crew, C, key)).toBe('hidden')
    expect(look(crew, B, key)).toContain('3,7')
  })

  test('a new primary sees what it might not see before', () => {
    const { crew, key } = four(B)
    takeOver(crew, C)
    settle(crew)
    expect(look(crew, C, key)).toContain('3,7')
  })

  test('T76: who owned it hears that it does not any more, and then sees no more of it', () => {
    for (const ways of ['give', 'grant']) {
      const { crew, key } = four(B)
      if (ways === 'give') give(crew, A, key, C)
      else grant(crew, key, C)
      settle(crew)
      expect(told(crew, A, 'object-owner')).toMatchObject([{ key, before: A }])
      if (ways === 'give') expect(answers(crew, A)).toEqual(['granted'])
      write(crew, C, key, 9, 1)
      pass(crew, 2_500)
      expect([A, B, C].map((inc) => look(crew, inc, key))).toEqual([
        'hidden',
        '4 v1.1 3,9',
        '4 v1.1 3,9',
      ])
    }
  })

  test('T76: what a survivor saw is reported before it is hidden, and lives', () => {
    const crew = meet({ incs: [HOST, A, B, C], types: secret, mesh })
    const key = spawn(crew, HOST, [0, 7])
    carry(crew, HOST, C)
    takeOver(crew, A)
    expect(look(crew, A, key)).toBe('unknown')
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v2.1 0,7'])
  })

  test('T76: a newcomer is shown as little, and so is who has a new primary', () => {
    const { crew, key } = four(B)
    join(crew, 5)
    settle(crew)
    expect(look(crew, 5, key)).toBe('unknown')
    takeOver(crew, B)
    settle(crew)
    write(crew, A, key, 8, 1)
    settle(crew)
    expect([A, B, C, 5].map((inc) => look(crew, inc, key))).toEqual([
      '2 v0.0 3,8',
      '2 v0.0 3,8',
      'unknown',
      'unknown',
    ])
  })

  test('T76: a rule that goes by something else is asked again each second', () => {
    let open = false
    const types = [rules({ visibility: { kind: 'rule', sees: () => () => open } })]
    const crew = meet({ incs: [HOST, A, B], types, mesh })
    const key = spawn(crew, A)
    settle(crew)
    expect(look(crew, B, key)).toBe('unknown')
    open = true
    pass(crew, 2_500)
    expect(look(crew, B, key)).toBe('2 v0.0 1,1')
    open = false
    pass(crew, 2_500)
    expect(look(crew, B, key)).toBe('hidden')
  })
})

describe('T76: what is near', () => {
  function field(): { crew: Crew; eye: number; things: Map<number, number> } {
    const crew = meet({ incs: [HOST, A, B], types: map })
    const eye = spawn(crew, B, spot(0, 0), 1)
    settle(crew)
    const things = new Map<number, number>()
    for (let x = -400; x <= 400; x += 20) things.set(x, spawn(crew, A, spot(x, 0)))
    settle(crew)
    return { crew, eye, things }
  }

  const seen = (crew: Crew, things: Map<number, number>): number[] =>
    [...things].filter(([, key]) => look(crew, B, key).startsWith('2 ')).map(([x]) => x)

  test('T76: to its eyes a member sees, and hardly more', () => {
    const { crew, things } = field()
    const near = seen(crew, things)
    for (const x of [-40, -20, 0, 20, 40]) expect(near).toContain(x)
    expect(Math.max(...near.map(Math.abs))).toBeLessThanOrEqual(RADIUS * 1.5 + 1)
  })

  test('T76: is seen at the radius, and not an eighth of that beyond it (PR-2)', () => {
    const { crew } = field()
    const thing = spawn(crew, A, spot(RADIUS, 0))
    settle(crew)
    expect(look(crew, B, thing)).toBe(look(crew, A, thing))
    for (const [x, isSeen] of [
      [RADIUS + RADIUS / 8 + 1, false],
      [RADIUS, true],
    ] as const) {
      move(crew, A, thing, x, 0)
      expect([x, look(crew, B, thing)]).toEqual([x, isSeen ? look(crew, A, thing) : 'hidden'])
    }
  })

  test('T76: is hidden from who gave it away far from its eyes, once it knows that (PR-2)', () => {
    const { crew } = field()
    const thing = spawn(crew, B, spot(300, 0))
    settle(crew)
    give(crew, B, thing, A)
    settle(crew)
    expect(look(crew, B, thing)).toBe(look(crew, A, thing))
    expect(told(crew, B, 'object-owner').map(({ key }) => key)).toEqual([thing])
    pass(crew, 2_500)
    expect([HOST, A, B].map((inc) => look(crew, inc, thing))).toEqual([
      '2 v1.1 800,500',
      '2 v1.1 800,500',
      'hidden',
    ])
  })

  test('T76: of eyes that are gone nothing is kept, however many come and go (PR-2)', () => {
    const brief = map.map((rule) => ({ ...rule, onOwnerLeave: 'destroy' as const }))
    const crew = meet({ incs: [HOST, A], types: brief })
    for (const inc of [B, C, 5]) {
      join(crew, inc)
      spawn(crew, inc, spot(0, 0), 1)
      settle(crew)
      expect([...state(crew, HOST).eyes.keys()]).toEqual([inc])
      lose(crew, inc, true)
      settle(crew)
      expect([...state(crew, HOST).eyes.keys()]).toEqual([])
    }
  })

  test('T76: comes into subscriber and leaves it as the eyes move, and as it moves itself', () => {
    const { crew, eye, things } = field()
    move(crew, B, eye, 200, 0)
    const near = seen(crew, things)
    for (const x of [160, 180, 200, 220, 240]) expect(near).toContain(x)
    for (const x of near) expect(Math.abs(x - 200)).toBeLessThanOrEqual(RADIUS * 2)
    const far = things.get(-400)!
    move(crew, A, far, 205, 0)
    expect(look(crew, B, far)).toBe(look(crew, A, far))
    move(crew, A, far, 400, 400)
    expect(look(crew, B, far)).toBe('hidden')
  })

  test('T76: flickers not for one who walks to and fro on a border', () => {
    const { crew, eye } = field()
    crew.events.get(B)!.length = 0
    for (let i = 0; i < 40; i++) move(crew, B, eye, i % 2 === 0 ? -1 : 1, i % 3 === 0 ? -1 : 1)
    const first = told(crew, B, 'object-came').length + told(crew, B, 'object-went').length
    for (let i = 0; i < 40; i++) move(crew, B, eye, i % 2 === 0 ? -1 : 1, i % 3 === 0 ? -1 : 1)
    const second = told(crew, B, 'object-came').length + told(crew, B, 'object-went').length
    expect(second - first).toBe(0)
  })

  test('T76: is all, to who has no eyes, and to the server', () => {
    const { crew, eye, things } = field()
    expect([...things.values()].every((key) => look(crew, HOST, key).startsWith('2 '))).toBe(true)
    destroy(crew, B, eye)
    settle(crew)
    expect(seen(crew, things)).toHaveLength(things.size)
  })

  test('T76: is as near under a new primary, though nothing moves', () => {
    const crew = meet({ incs: [HOST, A, B, C], types: map })
    spawn(crew, B, spot(0, 0), 1)
    settle(crew)
    const things = new Map<number, number>()
    for (let x = -400; x <= 400; x += 20) things.set(x, spawn(crew, A, spot(x, 0)))
    settle(crew)
    const before = seen(crew, things)
    takeOver(crew, C)
    settle(crew)
    expect(seen(crew, things)).toEqual(before)
    join(crew, 5)
    spawn(crew, 5, spot(200, 0), 1)
    settle(crew)
    for (const [x, key] of things) {
      const isSeen = look(crew, 5, key).startsWith('2 ')
      if (Math.abs(x - 200) <= RADIUS || Math.abs(x - 200) > RADIUS * 1.5) {
        expect([x, isSeen]).toEqual([x, Math.abs(x - 200) <= RADIUS])
      }
    }
  })

  test('T76: costs nothing for what is far: its moves reach only the server', () => {
    const { crew, things } = field()
    const far = things.get(400)!
    set(crew, A, far, spot(390, 0), 1)
    land(crew, pull(crew, A, HOST)!)
    crew.now += 50
    carry(crew, HOST, B)
    expect(packets(crew).filter(({ to }) => to === B)).toEqual([])
    expect(state(crew, B).replicas.size).toBeLessThan(20)
  })
})

test('T76: how places are told apart goes by the type that is seen, not by another (PR-2)', () => {
  const wide = { at: vec2(-1_000_000, 1_000_000, 1) }
  const subscriber = { kind: 'near', column: 0, radius: RADIUS } as const
  const types = [
    rules({}, place),
    rules({ visibility: subscriber }, wide),
    rules({ eyes: 0 }, wide),
  ]
  const crew = meet({ incs: [HOST, A, B], types })
  const far = (x: number): number[] => [x + 1_000_000, 1_000_000]
  spawn(crew, A, far(200_000), 2)
  const [near, away] = [spawn(crew, B, far(200_010), 1), spawn(crew, B, far(300_000), 1)]
  settle(crew)
  expect(told(crew, A, 'object-came').map(({ key }) => key)).toContain(near)
  expect([near, away].map((key) => look(crew, A, key) === 'unknown')).toEqual([false, true])
})
