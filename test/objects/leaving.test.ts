// Goal: what becomes of objects whose owner went: adopted, given back, ended or kept; and of what
// only a survivor knew of them.
// Method: a cluster whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  carry,
  type Cluster,
  destroy,
  die,
  enter,
  grant,
  hear,
  join,
  kinds,
  land,
  link,
  look,
  looks,
  lose,
  meet,
  pass,
  pull,
  rules,
  see,
  seeAll,
  settle,
  spawn,
  state,
  takeOver,
  thing,
  told,
  wire,
  write,
} from './cluster.ts'

const GRACE_MS = 60_000
const ENDED_MS = 2_500
const TOMBSTONE_MS = 60_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const KEEP = 0
const END = 1
const types = [rules(), rules({ onOwnerLeave: 'destroy' })]

function four(type = KEEP, mesh = false): { cluster: Cluster; key: number } {
  const cluster = meet({ incs: [HOST, A, B, C], types, mesh })
  const key = spawn(cluster, A, [1, 1], type)
  settle(cluster)
  return { cluster, key }
}

/** A process ends, as a page does that is closed. @param left  as the primary says of it */
function ends(cluster: Cluster, inc: number, left: boolean): void {
  die(cluster, inc)
  cluster.here.delete(inc)
  seeAll(cluster, { left, ended: new Map([[inc, cluster.now]]) })
}

/** Who went comes back with another number. */
function comeBack(cluster: Cluster, inc: number, player: number): void {
  join(cluster, inc, player)
  settle(cluster)
}

describe.each([
  ['star', false],
  ['mesh', true],
])('whose owner went, in a %s', (_, mesh) => {
  test.each([KEEP, END])(
    'B26: is adopted by the primary, and waits for its player; type %d',
    (type) => {
      const { cluster, key } = four(type, mesh)
      write(cluster, A, key, 5)
      settle(cluster)
      lose(cluster, A)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['1 v1.1 5,1'])
      expect(thing(cluster, C, key).former).toBe(A)
      expect(told(cluster, C, 'object-went')).toEqual([])
    },
  )

  test.each([KEEP, END])(
    'is given back to its player, who has another number now; type %d',
    (type) => {
      const { cluster, key } = four(type, mesh)
      lose(cluster, A)
      settle(cluster)
      comeBack(cluster, 9, A)
      expect(looks(cluster, key)).toEqual(['9 v1.2 1,1'])
      expect(thing(cluster, B, key).former).toBe(0)
      write(cluster, 9, key, 7)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['9 v1.2 7,1'])
    },
  )

  test('B26: is granted once to who comes back, also if another view comes meanwhile (PR-2)', () => {
    const { cluster, key } = four(KEEP, mesh)
    lose(cluster, A)
    settle(cluster)
    join(cluster, 9, A)
    lose(cluster, C)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['9 v1.2 1,1'])
  })

  test('is not given to somebody else who came', () => {
    const { cluster, key } = four(KEEP, mesh)
    lose(cluster, A)
    comeBack(cluster, 9, 9)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
  })

  test('is given back after a change of primary too', () => {
    const { cluster, key } = four(KEEP, mesh)
    lose(cluster, A)
    settle(cluster)
    takeOver(cluster, B)
    settle(cluster)
    expect(thing(cluster, C, key)).toMatchObject({ owner: B, former: A })
    comeBack(cluster, 9, A)
    expect(looks(cluster, key)).toEqual(['9 v2.2 1,1'])
  })

  test('ends, if its type says so, when its player did not come back in time', () => {
    const { cluster, key } = four(END, mesh)
    lose(cluster, A)
    settle(cluster)
    pass(cluster, GRACE_MS - 2_000)
    expect(look(cluster, C, key)).toBe('1 v1.1 1,1')
    pass(cluster, 4_000)
    expect(looks(cluster, key)).toEqual(['gone v1.2'])
    comeBack(cluster, 9, A)
    expect(look(cluster, 9, key)).toBe('gone v1.2')
  })

  test('or stays for good, and waits for nobody any more, as all are told', () => {
    const { cluster, key } = four(KEEP, mesh)
    lose(cluster, A)
    settle(cluster)
    pass(cluster, GRACE_MS + 2_000)
    expect(looks(cluster, key)).toEqual(['1 v1.2 1,1'])
    expect(told(cluster, C, 'object-owner')).toMatchObject([{ before: A }, { before: HOST }])
    comeBack(cluster, 9, A)
    expect(looks(cluster, key)).toEqual(['1 v1.2 1,1'])
  })

  test.each([
    [KEEP, '1 v1.1 1,1'],
    [END, 'gone v1.1'],
  ])('for good is not waited for; type %d', (type, ends) => {
    const { cluster, key } = four(type, mesh)
    lose(cluster, A, true)
    settle(cluster)
    expect(looks(cluster, key)).toEqual([ends])
    if (type === KEEP) expect(thing(cluster, C, key).former).toBe(0)
  })

  test.each([
    ['at once, and leaves', true],
    ['only', false],
  ])('whose process ends %s: waits for a page that is loaded anew (N-16)', (_, left) => {
    const { cluster, key } = four(END, mesh)
    const kept = spawn(cluster, A, [2, 2], KEEP)
    settle(cluster)
    ends(cluster, A, left)
    settle(cluster)
    expect(thing(cluster, C, key).former).toBe(A)
    pass(cluster, ENDED_MS - 200)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
    pass(cluster, 300)
    expect(looks(cluster, key)).toEqual(['gone v1.2'])
    // What stays anyway is its player's again, however slow the page is.
    expect([looks(cluster, kept), thing(cluster, C, kept).former]).toEqual([['1 v1.1 2,2'], A])
    pass(cluster, GRACE_MS - 5_000)
    comeBack(cluster, 9, A)
    expect(looks(cluster, kept)).toEqual(['9 v1.2 2,2'])
  })

  test('whose process ends is given back to who is there in time, also if slow to take it (N-16)', () => {
    const { cluster, key } = four(END, mesh)
    ends(cluster, A, true)
    pass(cluster, ENDED_MS - 100)
    // It is let in, and hears nothing yet.
    cluster.here.set(9, A)
    enter(cluster, 9)
    for (const inc of [HOST, B, C]) see(cluster, inc, { ended: new Map([[A, 1_000]]) })
    pass(cluster, 1_500)
    expect(look(cluster, HOST, key)).toBe('1 v1.1 1,1')
    see(cluster, 9)
    wire(cluster)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['9 v1.2 1,1'])
  })

  test('whose process ends, and the primary’s behind it, waits no longer for that (N-16)', () => {
    const { cluster, key } = four(END, mesh)
    const since = cluster.now
    ends(cluster, A, true)
    settle(cluster)
    pass(cluster, 2_000)
    const ended = new Map([
      [A, since],
      [HOST, cluster.now],
    ])
    takeOver(cluster, B, { ended })
    settle(cluster)
    expect(thing(cluster, C, key)).toMatchObject({ owner: B, former: A })
    pass(cluster, ENDED_MS - 2_000 + 100)
    expect(looks(cluster, key)).toEqual(['gone v2.2'])
  })

  test('B53: and that it destroyed, as the primary alone heard, is gone', () => {
    const { cluster, key } = four(KEEP, mesh)
    destroy(cluster, A, key)
    carry(cluster, A, HOST)
    lose(cluster, A)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['gone v0.0'])
  })

  test('that it destroyed and nobody heard of lives on: an end is final once the primary has it', () => {
    const { cluster, key } = four(KEEP, mesh)
    destroy(cluster, A, key)
    lose(cluster, A)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
  })

  test('of several all are adopted, and what others own is untouched', () => {
    const { cluster } = four(KEEP, mesh)
    const mine = [1, 2, 3].map(() => spawn(cluster, B))
    const theirs = [spawn(cluster, A), spawn(cluster, A)]
    settle(cluster)
    lose(cluster, A)
    settle(cluster)
    for (const key of mine) expect(looks(cluster, key)).toEqual(['3 v0.0 1,1'])
    for (const key of theirs) expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
  })
})

describe('what a survivor knew', () => {
  test('B53: of an object that the primary never heard of, is reported, and it lives', () => {
    const cluster = meet({ incs: [HOST, A, B, C], types, mesh: true })
    const key = spawn(cluster, A)
    carry(cluster, A, C)
    lose(cluster, A)
    expect(look(cluster, HOST, key)).toBe('unknown')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.1 1,1'])
  })

  test('B53: of an end that the primary never heard of, is reported, and it is gone', () => {
    const { cluster, key } = four(KEEP, true)
    destroy(cluster, A, key)
    carry(cluster, A, C)
    lose(cluster, A)
    settle(cluster)
    const [one] = looks(cluster, key)
    expect(looks(cluster, key)).toHaveLength(1)
    // The primary adopted it before it heard of the end: whatever it is, it is the same for all.
    expect(one).toMatch(/v1\.|gone/)
  })

  test('in a newer state than the primary had is what goes on, unless that has changed since', () => {
    for (const late of [false, true]) {
      const { cluster, key } = four(KEEP, true)
      write(cluster, A, key, 8)
      land(cluster, pull(cluster, A, C)!)
      lose(cluster, A)
      expect(look(cluster, HOST, key)).toBe('1 v1.1 1,1')
      if (late) write(cluster, HOST, key, 3)
      settle(cluster)
      expect(looks(cluster, key)).toEqual([late ? '1 v1.1 3,1' : '1 v1.1 8,1'])
    }
  })

  test('in a star too: a new primary that lagged goes on from what its members saw', () => {
    const cluster = meet({ incs: [HOST, A, B, C], types })
    const key = spawn(cluster, HOST)
    settle(cluster)
    write(cluster, HOST, key, 8)
    land(cluster, pull(cluster, HOST, C)!)
    takeOver(cluster, B)
    expect(look(cluster, B, key)).toBe('3 v2.1 1,1')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v2.1 8,1'])
  })

  test('is asked for once all that the primary knows is told: RESYNC stands behind it', () => {
    const cluster = meet({ incs: [HOST, A, B, C], types })
    for (let i = 0; i < 300; i++) spawn(cluster, HOST)
    settle(cluster)
    takeOver(cluster, B)
    carry(cluster, C, B)
    const words = kinds(cluster, B, C)
    expect(words.at(-1)).toBe(KIND.resync)
    expect(words.filter((kind) => kind === KIND.resync)).toHaveLength(1)
    expect(words.filter((kind) => kind === KIND.tell).length).toBeGreaterThan(2)
    settle(cluster)
    expect(told(cluster, C, 'objects-known').length).toBeGreaterThan(0)
  })

  test('of members that are here nothing is reported, nor by anybody but to the primary', () => {
    const { cluster, key } = four(KEEP, true)
    lose(cluster, C)
    settle(cluster)
    for (const inc of [A, B]) expect(state(cluster, inc).counters.ignored).toBe(0)
    expect(state(cluster, HOST).counters.ignored).toBe(0)
    expect(looks(cluster, key)).toEqual(['2 v0.0 1,1'])
  })

  test('B53: is told to nobody but the primary, also of what another was granted before (PR-2)', () => {
    const { cluster, key } = four(KEEP, true)
    write(cluster, A, key, 8)
    land(cluster, pull(cluster, A, C)!)
    grant(cluster, key, B)
    carry(cluster, HOST, B)
    lose(cluster, A)
    carry(cluster, B, C)
    expect(look(cluster, C, key)).toBe('3 v1.1 1,1')
    expect(kinds(cluster, C, B)).toEqual([])
  })

  test('of an object whose owner is here is a lie, and counted', () => {
    const { cluster, key } = four(KEEP, true)
    const lie = meet({ incs: [HOST, A, B, C], types, mesh: true })
    spawn(lie, A, [66, 6])
    settle(lie)
    die(lie, A)
    lie.here.delete(A)
    see(lie, HOST)
    see(lie, B)
    carry(lie, HOST, B)
    const report = lie.links
      .get(`${B}>${HOST}`)!
      .letters.find(({ bytes }) => bytes[0] === KIND.unowned)
    if (report) hear(cluster, HOST, B, report.bytes)
    expect(look(cluster, HOST, key)).toBe('2 v0.0 1,1')
  })
})

describe('B49: what is remembered of the end', () => {
  test('B49: lasts a minute, over which nothing that is late can come, and then costs nothing', () => {
    const { cluster, key } = four(KEEP, true)
    grant(cluster, key, B)
    settle(cluster)
    destroy(cluster, B, key)
    settle(cluster)
    pass(cluster, TOMBSTONE_MS - 2_000)
    expect(looks(cluster, key)).toEqual(['gone v1.1'])
    pass(cluster, 4_000)
    expect(looks(cluster, key)).toEqual(['unknown'])
    for (const one of cluster.states.values()) expect([one.living, one.grants.size]).toEqual([0, 0])
  })

  test('a primary that dies within it leaves it to the next', () => {
    const { cluster, key } = four()
    grant(cluster, key, B)
    settle(cluster)
    destroy(cluster, B, key)
    settle(cluster)
    takeOver(cluster, C)
    settle(cluster)
    join(cluster, 9)
    settle(cluster)
    expect(look(cluster, 9, key)).toContain('gone')
  })
})

describe('a process in another session', () => {
  test('has nothing of the one before, and its requests are answered', () => {
    const { cluster, key } = four()
    cluster.events.get(B)!.length = 0
    cluster.part.reset!(state(cluster, B), {
      send: () => 0,
      emit: (event) => void cluster.events.get(B)!.push(event as never),
    })
    expect(state(cluster, B).replicas.size).toBe(0)
    expect(look(cluster, B, key)).toBe('unknown')
  })

  test('comes back as another member: what was its own it hears of as another’s', () => {
    const { cluster, key } = four()
    const before = state(cluster, A)
    die(cluster, A)
    cluster.here.delete(A)
    see(cluster, HOST)
    cluster.here.set(9, A)
    enter(cluster, 9)
    cluster.states.set(9, before)
    for (const inc of [HOST, B, C, 9]) see(cluster, inc)
    link(cluster, HOST, 9)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['9 v1.2 1,1'])
  })
})
