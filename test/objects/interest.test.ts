// Goal: who may not see an object is told nothing of it (T76), who sees it anew has all of it, and
// who moves sees what is near.
// Method: a cluster whose types say who sees what; every byte that leaves can be looked at.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import {
  answers,
  carry,
  type Cluster,
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
} from './cluster.ts'

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

function move(cluster: Cluster, inc: number, key: number, x: number, y: number): void {
  set(cluster, inc, key, spot(x, y), 1)
  settle(cluster)
}

describe.each([
  ['star', false],
  ['mesh', true],
])('T76: a rule of the game, in a %s', (_, mesh) => {
  function four(one: number): { cluster: Cluster; key: number } {
    const cluster = meet({ incs: [HOST, A, B, C], types: secret, mesh })
    const key = spawn(cluster, A, [one, 7])
    settle(cluster)
    return { cluster, key }
  }

  test('T76: who may not see it never hears of it, the server and its owner always do', () => {
    const { cluster, key } = four(B)
    expect([HOST, A, B, C].map((inc) => look(cluster, inc, key))).toEqual([
      '2 v0.0 3,7',
      '2 v0.0 3,7',
      '2 v0.0 3,7',
      'unknown',
    ])
    write(cluster, A, key, 9, 1)
    const speaker = mesh ? A : HOST
    if (!mesh) land(cluster, pull(cluster, A, HOST)!)
    expect(pull(cluster, speaker, C)).toBe(null)
    expect(under(cluster, speaker, C)).toEqual([])
    destroy(cluster, A, key)
    settle(cluster)
    expect(['unknown', 'gone v0.0']).toContain(look(cluster, C, key))
    expect(told(cluster, C, 'object-came')).toEqual([])
    expect(told(cluster, C, 'object-went')).toEqual([])
  })

  test('T76: who may not see it any more hears that once, and nothing after', () => {
    const { cluster, key } = four(0)
    write(cluster, A, key, B)
    const speaker = mesh ? A : HOST
    if (!mesh) {
      land(cluster, pull(cluster, A, HOST)!)
      expect(kinds(cluster, HOST, C)).toEqual([KIND.hide])
    }
    settle(cluster)
    expect([B, C].map((inc) => look(cluster, inc, key))).toEqual(['2 v0.0 3,7', 'hidden'])
    expect(told(cluster, C, 'object-went')).toHaveLength(1)
    for (let value = 10; value < 15; value++) {
      write(cluster, A, key, value, 1)
      if (!mesh) land(cluster, pull(cluster, A, HOST)!)
      expect(pull(cluster, speaker, C)).toBe(null)
      expect(under(cluster, speaker, C)).toEqual([])
    }
  })

  test('T76: who sees it again has its newest state, and it came', () => {
    const { cluster, key } = four(0)
    write(cluster, A, key, B)
    settle(cluster)
    write(cluster, A, key, 77, 1)
    settle(cluster)
    write(cluster, A, key, 0)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 0,77'])
    expect(told(cluster, C, 'object-came')).toHaveLength(2)
    write(cluster, A, key, 78, 1)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 0,78'])
  })

  test('T76: what it shows changes hands unseen, and is seen in its new version', () => {
    const { cluster, key } = four(0)
    write(cluster, A, key, B)
    settle(cluster)
    grant(cluster, key, B)
    settle(cluster)
    expect(look(cluster, C, key)).toBe('hidden')
    write(cluster, B, key, 0)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 0,7'])
  })

  test('T76: who is given it sees it', () => {
    const { cluster, key } = four(A)
    expect(look(cluster, C, key)).toBe('unknown')
    give(cluster, A, key, C)
    settle(cluster)
    expect(look(cluster, C, key)).toBe('4 v1.1 2,7')
  })

  test('who may not see it any more keeps no ghost when another primary takes over', () => {
    const { cluster, key } = four(0)
    write(cluster, A, key, B)
    takeOver(cluster, B)
    settle(cluster)
    expect(look(cluster, C, key)).toBe('hidden')
    expect(look(cluster, B, key)).toContain('3,7')
  })

  test('a new primary sees what it might not see before', () => {
    const { cluster, key } = four(B)
    takeOver(cluster, C)
    settle(cluster)
    expect(look(cluster, C, key)).toContain('3,7')
  })

  test('T76: who owned it hears that it does not any more, and then sees no more of it', () => {
    for (const ways of ['give', 'grant']) {
      const { cluster, key } = four(B)
      if (ways === 'give') give(cluster, A, key, C)
      else grant(cluster, key, C)
      settle(cluster)
      expect(told(cluster, A, 'object-owner')).toMatchObject([{ key, before: A }])
      if (ways === 'give') expect(answers(cluster, A)).toEqual(['granted'])
      write(cluster, C, key, 9, 1)
      pass(cluster, 2_500)
      expect([A, B, C].map((inc) => look(cluster, inc, key))).toEqual([
        'hidden',
        '4 v1.1 3,9',
        '4 v1.1 3,9',
      ])
    }
  })

  test('T76: what a survivor saw is reported before it is hidden, and lives', () => {
    const cluster = meet({ incs: [HOST, A, B, C], types: secret, mesh })
    const key = spawn(cluster, HOST, [0, 7])
    carry(cluster, HOST, C)
    takeOver(cluster, A)
    expect(look(cluster, A, key)).toBe('unknown')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v2.1 0,7'])
  })

  test('T76: a newcomer is shown as little, and so is who has a new primary', () => {
    const { cluster, key } = four(B)
    join(cluster, 5)
    settle(cluster)
    expect(look(cluster, 5, key)).toBe('unknown')
    takeOver(cluster, B)
    settle(cluster)
    write(cluster, A, key, 8, 1)
    settle(cluster)
    expect([A, B, C, 5].map((inc) => look(cluster, inc, key))).toEqual([
      '2 v0.0 3,8',
      '2 v0.0 3,8',
      'unknown',
      'unknown',
    ])
  })

  test('T76: a rule that goes by something else is asked again each second', () => {
    let open = false
    const types = [rules({ visibility: { kind: 'rule', sees: () => () => open } })]
    const cluster = meet({ incs: [HOST, A, B], types, mesh })
    const key = spawn(cluster, A)
    settle(cluster)
    expect(look(cluster, B, key)).toBe('unknown')
    open = true
    pass(cluster, 2_500)
    expect(look(cluster, B, key)).toBe('2 v0.0 1,1')
    open = false
    pass(cluster, 2_500)
    expect(look(cluster, B, key)).toBe('hidden')
  })
})

describe('T76: what is near', () => {
  function field(): { cluster: Cluster; eye: number; things: Map<number, number> } {
    const cluster = meet({ incs: [HOST, A, B], types: map })
    const eye = spawn(cluster, B, spot(0, 0), 1)
    settle(cluster)
    const things = new Map<number, number>()
    for (let x = -400; x <= 400; x += 20) things.set(x, spawn(cluster, A, spot(x, 0)))
    settle(cluster)
    return { cluster, eye, things }
  }

  const seen = (cluster: Cluster, things: Map<number, number>): number[] =>
    [...things].filter(([, key]) => look(cluster, B, key).startsWith('2 ')).map(([x]) => x)

  test('T76: to its eyes a member sees, and hardly more', () => {
    const { cluster, things } = field()
    const near = seen(cluster, things)
    for (const x of [-40, -20, 0, 20, 40]) expect(near).toContain(x)
    expect(Math.max(...near.map(Math.abs))).toBeLessThanOrEqual(RADIUS * 1.5 + 1)
  })

  test('T76: is seen at the radius, and not an eighth of that beyond it (PR-2)', () => {
    const { cluster } = field()
    const thing = spawn(cluster, A, spot(RADIUS, 0))
    settle(cluster)
    expect(look(cluster, B, thing)).toBe(look(cluster, A, thing))
    for (const [x, isSeen] of [
      [RADIUS + RADIUS / 8 + 1, false],
      [RADIUS, true],
    ] as const) {
      move(cluster, A, thing, x, 0)
      expect([x, look(cluster, B, thing)]).toEqual([x, isSeen ? look(cluster, A, thing) : 'hidden'])
    }
  })

  test('T76: is hidden from who gave it away far from its eyes, once it knows that (PR-2)', () => {
    const { cluster } = field()
    const thing = spawn(cluster, B, spot(300, 0))
    settle(cluster)
    give(cluster, B, thing, A)
    settle(cluster)
    expect(look(cluster, B, thing)).toBe(look(cluster, A, thing))
    expect(told(cluster, B, 'object-owner').map(({ key }) => key)).toEqual([thing])
    pass(cluster, 2_500)
    expect([HOST, A, B].map((inc) => look(cluster, inc, thing))).toEqual([
      '2 v1.1 800,500',
      '2 v1.1 800,500',
      'hidden',
    ])
  })

  test('T76: of eyes that are gone nothing is kept, however many come and go (PR-2)', () => {
    const brief = map.map((rule) => ({ ...rule, onOwnerLeave: 'destroy' as const }))
    const cluster = meet({ incs: [HOST, A], types: brief })
    for (const inc of [B, C, 5]) {
      join(cluster, inc)
      spawn(cluster, inc, spot(0, 0), 1)
      settle(cluster)
      expect([...state(cluster, HOST).eyes.keys()]).toEqual([inc])
      lose(cluster, inc, true)
      settle(cluster)
      expect([...state(cluster, HOST).eyes.keys()]).toEqual([])
    }
  })

  test('T76: comes into subscriber and leaves it as the eyes move, and as it moves itself', () => {
    const { cluster, eye, things } = field()
    move(cluster, B, eye, 200, 0)
    const near = seen(cluster, things)
    for (const x of [160, 180, 200, 220, 240]) expect(near).toContain(x)
    for (const x of near) expect(Math.abs(x - 200)).toBeLessThanOrEqual(RADIUS * 2)
    const far = things.get(-400)!
    move(cluster, A, far, 205, 0)
    expect(look(cluster, B, far)).toBe(look(cluster, A, far))
    move(cluster, A, far, 400, 400)
    expect(look(cluster, B, far)).toBe('hidden')
  })

  test('T76: flickers not for one who walks to and fro on a border', () => {
    const { cluster, eye } = field()
    cluster.events.get(B)!.length = 0
    for (let i = 0; i < 40; i++) move(cluster, B, eye, i % 2 === 0 ? -1 : 1, i % 3 === 0 ? -1 : 1)
    const first = told(cluster, B, 'object-came').length + told(cluster, B, 'object-went').length
    for (let i = 0; i < 40; i++) move(cluster, B, eye, i % 2 === 0 ? -1 : 1, i % 3 === 0 ? -1 : 1)
    const second = told(cluster, B, 'object-came').length + told(cluster, B, 'object-went').length
    expect(second - first).toBe(0)
  })

  test('T76: is all, to who has no eyes, and to the server', () => {
    const { cluster, eye, things } = field()
    expect([...things.values()].every((key) => look(cluster, HOST, key).startsWith('2 '))).toBe(
      true,
    )
    destroy(cluster, B, eye)
    settle(cluster)
    expect(seen(cluster, things)).toHaveLength(things.size)
  })

  test('T76: is as near under a new primary, though nothing moves', () => {
    const cluster = meet({ incs: [HOST, A, B, C], types: map })
    spawn(cluster, B, spot(0, 0), 1)
    settle(cluster)
    const things = new Map<number, number>()
    for (let x = -400; x <= 400; x += 20) things.set(x, spawn(cluster, A, spot(x, 0)))
    settle(cluster)
    const before = seen(cluster, things)
    takeOver(cluster, C)
    settle(cluster)
    expect(seen(cluster, things)).toEqual(before)
    join(cluster, 5)
    spawn(cluster, 5, spot(200, 0), 1)
    settle(cluster)
    for (const [x, key] of things) {
      const isSeen = look(cluster, 5, key).startsWith('2 ')
      if (Math.abs(x - 200) <= RADIUS || Math.abs(x - 200) > RADIUS * 1.5) {
        expect([x, isSeen]).toEqual([x, Math.abs(x - 200) <= RADIUS])
      }
    }
  })

  test('T76: costs nothing for what is far: its moves reach only the server', () => {
    const { cluster, things } = field()
    const far = things.get(400)!
    set(cluster, A, far, spot(390, 0), 1)
    land(cluster, pull(cluster, A, HOST)!)
    cluster.now += 50
    carry(cluster, HOST, B)
    expect(packets(cluster).filter(({ to }) => to === B)).toEqual([])
    expect(state(cluster, B).replicas.size).toBeLessThan(20)
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
  const cluster = meet({ incs: [HOST, A, B], types })
  const far = (x: number): number[] => [x + 1_000_000, 1_000_000]
  spawn(cluster, A, far(200_000), 2)
  const [near, away] = [spawn(cluster, B, far(200_010), 1), spawn(cluster, B, far(300_000), 1)]
  settle(cluster)
  expect(told(cluster, A, 'object-came').map(({ key }) => key)).toContain(near)
  expect([near, away].map((key) => look(cluster, A, key) === 'unknown')).toEqual([false, true])
})
