// Goal: what becomes of objects whose owner went: adopted, given back, ended or kept; and of what
// only a survivor knew of them.
// Method: a crew whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  carry,
  type Crew,
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
} from './crew.ts'

const GRACE_MS = 60_000
const ENDED_MS = 2_500
const TOMBSTONE_MS = 60_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const KEEP = 0
const END = 1
const types = [rules(), rules({ onOwnerLeave: 'destroy' })]

function four(type = KEEP, mesh = false): { crew: Crew; key: number } {
  const crew = meet({ incs: [HOST, A, B, C], types, mesh })
  const key = spawn(crew, A, [1, 1], type)
  settle(crew)
  return { crew, key }
}

/** A process ends, as a page does that is closed. @param left  as the primary says of it */
function ends(crew: Crew, inc: number, left: boolean): void {
  die(crew, inc)
  crew.here.delete(inc)
  seeAll(crew, { left, ended: new Map([[inc, crew.now]]) })
}

/** Who went comes back with another number. */
function comeBack(crew: Crew, inc: number, player: number): void {
  join(crew, inc, player)
  settle(crew)
}

describe.each([
  ['star', false],
  ['mesh', true],
])('whose owner went, in a %s', (_, mesh) => {
  test.each([KEEP, END])(
    'B26: is adopted by the primary, and waits for its player; type %d',
    (type) => {
      const { crew, key } = four(type, mesh)
      write(crew, A, key, 5)
      settle(crew)
      lose(crew, A)
      settle(crew)
      expect(looks(crew, key)).toEqual(['1 v1.1 5,1'])
      expect(thing(crew, C, key).former).toBe(A)
      expect(told(crew, C, 'object-went')).toEqual([])
    },
  )

  test.each([KEEP, END])(
    'is given back to its player, who has another number now; type %d',
    (type) => {
      const { crew, key } = four(type, mesh)
      lose(crew, A)
      settle(crew)
      comeBack(crew, 9, A)
      expect(looks(crew, key)).toEqual(['9 v1.2 1,1'])
      expect(thing(crew, B, key).former).toBe(0)
      write(crew, 9, key, 7)
      settle(crew)
      expect(looks(crew, key)).toEqual(['9 v1.2 7,1'])
    },
  )

  test('B26: is granted once to who comes back, also if another view comes meanwhile (PR-2)', () => {
    const { crew, key } = four(KEEP, mesh)
    lose(crew, A)
    settle(crew)
    join(crew, 9, A)
    lose(crew, C)
    settle(crew)
    expect(looks(crew, key)).toEqual(['9 v1.2 1,1'])
  })

  test('is not given to somebody else who came', () => {
    const { crew, key } = four(KEEP, mesh)
    lose(crew, A)
    comeBack(crew, 9, 9)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
  })

  test('is given back after a change of primary too', () => {
    const { crew, key } = four(KEEP, mesh)
    lose(crew, A)
    settle(crew)
    takeOver(crew, B)
    settle(crew)
    expect(thing(crew, C, key)).toMatchObject({ owner: B, former: A })
    comeBack(crew, 9, A)
    expect(looks(crew, key)).toEqual(['9 v2.2 1,1'])
  })

  test('ends, if its type says so, when its player did not come back in time', () => {
    const { crew, key } = four(END, mesh)
    lose(crew, A)
    settle(crew)
    pass(crew, GRACE_MS - 2_000)
    expect(look(crew, C, key)).toBe('1 v1.1 1,1')
    pass(crew, 4_000)
    expect(looks(crew, key)).toEqual(['gone v1.2'])
    comeBack(crew, 9, A)
    expect(look(crew, 9, key)).toBe('gone v1.2')
  })

  test('or stays for good, and waits for nobody any more, as all are told', () => {
    const { crew, key } = four(KEEP, mesh)
    lose(crew, A)
    settle(crew)
    pass(crew, GRACE_MS + 2_000)
    expect(looks(crew, key)).toEqual(['1 v1.2 1,1'])
    expect(told(crew, C, 'object-owner')).toMatchObject([{ before: A }, { before: HOST }])
    comeBack(crew, 9, A)
    expect(looks(crew, key)).toEqual(['1 v1.2 1,1'])
  })

  test.each([
    [KEEP, '1 v1.1 1,1'],
    [END, 'gone v1.1'],
  ])('for good is not waited for; type %d', (type, ends) => {
    const { crew, key } = four(type, mesh)
    lose(crew, A, true)
    settle(crew)
    expect(looks(crew, key)).toEqual([ends])
    if (type === KEEP) expect(thing(crew, C, key).former).toBe(0)
  })

  test.each([
    ['at once, and leaves', true],
    ['only', false],
  ])('whose process ends %s: waits for a page that is loaded anew (N-16)', (_, left) => {
    const { crew, key } = four(END, mesh)
    const kept = spawn(crew, A, [2, 2], KEEP)
    settle(crew)
    ends(crew, A, left)
    settle(crew)
    expect(thing(crew, C, key).former).toBe(A)
    pass(crew, ENDED_MS - 200)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
    pass(crew, 300)
    expect(looks(crew, key)).toEqual(['gone v1.2'])
    // What stays anyway is its player's again, however slow the page is.
    expect([looks(crew, kept), thing(crew, C, kept).former]).toEqual([['1 v1.1 2,2'], A])
    pass(crew, GRACE_MS - 5_000)
    comeBack(crew, 9, A)
    expect(looks(crew, kept)).toEqual(['9 v1.2 2,2'])
  })

  test('whose process ends is given back to who is there in time, also if slow to take it (N-16)', () => {
    const { crew, key } = four(END, mesh)
    ends(crew, A, true)
    pass(crew, ENDED_MS - 100)
    // It is let in, and hears nothing yet.
    crew.here.set(9, A)
    enter(crew, 9)
    for (const inc of [HOST, B, C]) see(crew, inc, { ended: new Map([[A, 1_000]]) })
    pass(crew, 1_500)
    expect(look(crew, HOST, key)).toBe('1 v1.1 1,1')
    see(crew, 9)
    wire(crew)
    settle(crew)
    expect(looks(crew, key)).toEqual(['9 v1.2 1,1'])
  })

  test('whose process ends, and the primary’s behind it, waits no longer for that (N-16)', () => {
    const { crew, key } = four(END, mesh)
    const since = crew.now
    ends(crew, A, true)
    settle(crew)
    pass(crew, 2_000)
    const ended = new Map([
      [A, since],
      [HOST, crew.now],
    ])
    takeOver(crew, B, { ended })
    settle(crew)
    expect(thing(crew, C, key)).toMatchObject({ owner: B, former: A })
    pass(crew, ENDED_MS - 2_000 + 100)
    expect(looks(crew, key)).toEqual(['gone v2.2'])
  })

  test('B53: and that it destroyed, as the primary alone heard, is gone', () => {
    const { crew, key } = four(KEEP, mesh)
    destroy(crew, A, key)
    carry(crew, A, HOST)
    lose(crew, A)
    settle(crew)
    expect(looks(crew, key)).toEqual(['gone v0.0'])
  })

  test('that it destroyed and nobody heard of lives on: an end is final once the primary has it', () => {
    const { crew, key } = four(KEEP, mesh)
    destroy(crew, A, key)
    lose(crew, A)
    settle(crew)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
  })

  test('of several all are adopted, and what others own is untouched', () => {
    const { crew } = four(KEEP, mesh)
    const mine = [1, 2, 3].map(() => spawn(crew, B))
    const theirs = [spawn(crew, A), spawn(crew, A)]
    settle(crew)
    lose(crew, A)
    settle(crew)
    for (const key of mine) expect(looks(crew, key)).toEqual(['3 v0.0 1,1'])
    for (const key of theirs) expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
  })
})

describe('what a survivor knew', () => {
  test('B53: of an object that the primary never heard of, is reported, and it lives', () => {
    const crew = meet({ incs: [HOST, A, B, C], types, mesh: true })
    const key = spawn(crew, A)
    carry(crew, A, C)
    lose(crew, A)
    expect(look(crew, HOST, key)).toBe('unknown')
    settle(crew)
    expect(looks(crew, key)).toEqual(['1 v1.1 1,1'])
  })

  test('B53: of an end that the primary never heard of, is reported, and it is gone', () => {
    const { crew, key } = four(KEEP, true)
    destroy(crew, A, key)
    carry(crew, A, C)
    lose(crew, A)
    settle(crew)
    const [one] = looks(crew, key)
    expect(looks(crew, key)).toHaveLength(1)
    // The primary adopted it before it heard of the end: whatever it is, it is the same for all.
    expect(one).toMatch(/v1\.|gone/)
  })

  test('in a newer state than the primary had is what goes on, unless that has changed since', () => {
    for (const late of [false, true]) {
      const { crew, key } = four(KEEP, true)
      write(crew, A, key, 8)
      land(crew, pull(crew, A, C)!)
      lose(crew, A)
      expect(look(crew, HOST, key)).toBe('1 v1.1 1,1')
      if (late) write(crew, HOST, key, 3)
      settle(crew)
      expect(looks(crew, key)).toEqual([late ? '1 v1.1 3,1' : '1 v1.1 8,1'])
    }
  })

  test('in a star too: a new primary that lagged goes on from what its members saw', () => {
    const crew = meet({ incs: [HOST, A, B, C], types })
    const key = spawn(crew, HOST)
    settle(crew)
    write(crew, HOST, key, 8)
    land(crew, pull(crew, HOST, C)!)
    takeOver(crew, B)
    expect(look(crew, B, key)).toBe('3 v2.1 1,1')
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v2.1 8,1'])
  })

  test('is asked for once all that the primary knows is told: RESYNC stands behind it', () => {
    const crew = meet({ incs: [HOST, A, B, C], types })
    for (let i = 0; i < 300; i++) spawn(crew, HOST)
    settle(crew)
    takeOver(crew, B)
    carry(crew, C, B)
    const words = kinds(crew, B, C)
    expect(words.at(-1)).toBe(KIND.resync)
    expect(words.filter((kind) => kind === KIND.resync)).toHaveLength(1)
    expect(words.filter((kind) => kind === KIND.tell).length).toBeGreaterThan(2)
    settle(crew)
    expect(told(crew, C, 'objects-known').length).toBeGreaterThan(0)
  })

  test('of members that are here nothing is reported, nor by anybody but to the primary', () => {
    const { crew, key } = four(KEEP, true)
    lose(crew, C)
    settle(crew)
    for (const inc of [A, B]) expect(state(crew, inc).counters.ignored).toBe(0)
    expect(state(crew, HOST).counters.ignored).toBe(0)
    expect(looks(crew, key)).toEqual(['2 v0.0 1,1'])
  })

  test('B53: is told to nobody but the primary, also of what another was granted before (PR-2)', () => {
    const { crew, key } = four(KEEP, true)
    write(crew, A, key, 8)
    land(crew, pull(crew, A, C)!)
    grant(crew, key, B)
    carry(crew, HOST, B)
    lose(crew, A)
    carry(crew, B, C)
    expect(look(crew, C, key)).toBe('3 v1.1 1,1')
    expect(kinds(crew, C, B)).toEqual([])
  })

  test('of an object whose owner is here is a lie, and counted', () => {
    const { crew, key } = four(KEEP, true)
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
    if (report) hear(crew, HOST, B, report.bytes)
    expect(look(crew, HOST, key)).toBe('2 v0.0 1,1')
  })
})

describe('B49: what is remembered of the end', () => {
  test('B49: lasts a minute, over which nothing that is late can come, and then costs nothing', () => {
    const { crew, key } = four(KEEP, true)
    grant(crew, key, B)
    settle(crew)
    destroy(crew, B, key)
    settle(crew)
    pass(crew, TOMBSTONE_MS - 2_000)
    expect(looks(crew, key)).toEqual(['gone v1.1'])
    pass(crew, 4_000)
    expect(looks(crew, key)).toEqual(['unknown'])
    for (const one of crew.states.values()) expect([one.living, one.grants.size]).toEqual([0, 0])
  })

  test('a primary that dies within it leaves it to the next', () => {
    const { crew, key } = four()
    grant(crew, key, B)
    settle(crew)
    destroy(crew, B, key)
    settle(crew)
    takeOver(crew, C)
    settle(crew)
    join(crew, 9)
    settle(crew)
    expect(look(crew, 9, key)).toContain('gone')
  })
})

describe('a process in another session', () => {
  test('has nothing of the one before, and its requests are answered', () => {
    const { crew, key } = four()
    crew.events.get(B)!.length = 0
    crew.part.reset!(state(crew, B), {
      send: () => 0,
      emit: (event) => void crew.events.get(B)!.push(event as never),
    })
    expect(state(crew, B).replicas.size).toBe(0)
    expect(look(crew, B, key)).toBe('unknown')
  })

  test('comes back as another member: what was its own it hears of as another’s', () => {
    const { crew, key } = four()
    const before = state(crew, A)
    die(crew, A)
    crew.here.delete(A)
    see(crew, HOST)
    crew.here.set(9, A)
    enter(crew, 9)
    crew.states.set(9, before)
    for (const inc of [HOST, B, C, 9]) see(crew, inc)
    link(crew, HOST, 9)
    settle(crew)
    expect(looks(crew, key)).toEqual(['9 v1.2 1,1'])
  })
})
