// Goal: what not all may see changes hands and is hidden meanwhile, in any order of messages, and
// in the end each sees what it may see and nothing else (T76, B23).
// Method: a cluster whose links the test carries by hand; seeds of whole sessions found each case.
import { describe, expect, test } from 'vitest'
import { BARRIER } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { begin, KIND, writeName } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { finish } from '../../packages/holdfast/src/wire/bytes.ts'
import {
  carry,
  cut,
  type Cluster,
  grant,
  hear,
  heard,
  join,
  kinds,
  land,
  link,
  look,
  looks,
  lose,
  meet,
  packets,
  pass,
  pull,
  rules,
  settle,
  spawn,
  state,
  takeOver,
  thing,
  told,
  under,
  write,
} from './cluster.ts'

const SETTLE_MS = 3_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const
/** Nobody but its owner, and who leads, sees an object that says so. */
const NOBODY = 9
/** Its first field says from whom alone it is hidden; 0 from nobody. */
const types = [
  rules({
    visibility: {
      kind: 'rule',
      sees:
        ([one]) =>
        (viewer) =>
          one !== viewer && one !== NOBODY,
    },
  }),
]

function four(mesh = false): { cluster: Cluster; key: number } {
  const cluster = meet({ incs: [HOST, A, B, C], types, mesh })
  const key = spawn(cluster, A, [0, 1])
  settle(cluster)
  return { cluster, key }
}

describe('in a star', () => {
  // C owns it and has changed it; the server, which hid it from C at that moment, has it otherwise.
  function lost(): { cluster: Cluster; key: number } {
    const { cluster, key } = four()
    grant(cluster, key, C)
    carry(cluster, HOST, C)
    for (let n = 2; n < 9; n++) write(cluster, C, key, n, 1)
    write(cluster, A, key, C)
    land(cluster, pull(cluster, A, HOST)!)
    expect(kinds(cluster, HOST, C)).toEqual([KIND.hide])
    carry(cluster, HOST, C)
    expect(look(cluster, C, key)).toBe('4 v1.1 0,8')
    grant(cluster, key, HOST)
    settle(cluster)
    return { cluster, key }
  }

  test('T76: who was granted what is hidden from it at that moment hears that it lost it again', () => {
    const { cluster, key } = lost()
    const seen = [HOST, A, B, C].map((inc) => look(cluster, inc, key))
    expect(seen).toEqual(['1 v1.2 4,1', '1 v1.2 4,1', '1 v1.2 4,1', 'hidden'])
  })

  test('T76: what was ours and is hidden is seen again, though it changed less often than ours', () => {
    const { cluster, key } = lost()
    write(cluster, HOST, key, 0)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['1 v1.2 0,1'])
  })

  test('T76: what was ours and is hidden is adopted by us who lead alone, after three seconds (PR-2)', () => {
    const { cluster, key } = lost()
    expect(thing(cluster, C, key)).toMatchObject({ owner: 0, hidden: true })
    for (const inc of [A, B]) lose(cluster, inc)
    takeOver(cluster, C)
    pass(cluster, SETTLE_MS - 1)
    expect(look(cluster, C, key)).toBe('hidden')
    pass(cluster, 1)
    expect(thing(cluster, C, key)).toMatchObject({ owner: C, hidden: false, version: { epoch: 2 } })
  })

  test('T76: what was told before it was hidden opens no gate behind that', () => {
    const { cluster, key } = four()
    grant(cluster, key, HOST)
    settle(cluster)
    write(cluster, HOST, key, C)
    settle(cluster)
    expect(look(cluster, C, key)).toBe('hidden')
    write(cluster, HOST, key, 0)
    write(cluster, HOST, key, C)
    write(cluster, HOST, key, 0)
    expect(kinds(cluster, HOST, C)).toEqual([KIND.tell, KIND.hide, KIND.tell])
    // The first of them has come, the others are on the way.
    carry(cluster, HOST, C, 1, true)
    heard(cluster, HOST, C, state(cluster, HOST).subscribers.get(C)!.awaited[0]!.message)
    write(cluster, HOST, key, 9, 1)
    const early = packets(cluster).find(({ to }) => to === C)
    if (early) land(cluster, early)
    const { barrier } = state(cluster, HOST).subscribers.get(C)!
    expect(barrier[thing(cluster, HOST, key).index]).toBe(BARRIER.sent)
    settle(cluster)
    expect(look(cluster, C, key)).toBe(look(cluster, HOST, key))
  })
})

describe('a HIDE of what is hidden already', () => {
  /** A has hidden it from B. @returns what B ignored of a HIDE in its version, and in another */
  function again(mesh: boolean, from: number, grants = 0): number {
    const { cluster, key } = four(mesh)
    write(cluster, A, key, B)
    settle(cluster)
    expect(look(cluster, B, key)).toBe('hidden')
    const { counters } = state(cluster, B)
    const before = counters.ignored
    const writer = begin(KIND.hide)
    const version = { epoch: grants && 1, count: grants }
    writeName(writer, { ...thing(cluster, A, key), version })
    hear(cluster, B, from, finish(writer))
    expect([look(cluster, B, key), told(cluster, B, 'object-went').length]).toEqual(['hidden', 1])
    return counters.ignored - before
  }

  test('T76: is ignored, for it says nothing that is new (PR-2)', () => {
    expect([again(false, HOST), again(false, HOST, 1), again(true, A)]).toEqual([1, 1, 1])
  })
  test('T76: but in a mesh for one of a newer version, whose owner is not known yet (PR-2)', () => {
    expect([again(true, C, 1), again(true, A, 1)]).toEqual([0, 0])
  })
})

describe('who leads anew', () => {
  test('T76: tells nobody of what is hidden from itself, before its owner said how it is (PR-2)', () => {
    const { cluster, key } = four()
    write(cluster, A, key, B)
    settle(cluster)
    expect(look(cluster, B, key)).toBe('hidden')
    takeOver(cluster, B)
    join(cluster, 9)
    carry(cluster, 9, B)
    carry(cluster, B, 9)
    expect(look(cluster, 9, key)).toBe('unknown')
    settle(cluster)
    expect(look(cluster, 9, key)).toBe(look(cluster, A, key))
  })
})

describe('in a mesh', () => {
  test('T76: who hears only by its being hidden that it lost it hides it from whom it told (OB-2)', () => {
    const { cluster, key } = four(true)
    grant(cluster, key, B)
    carry(cluster, HOST, B)
    cut(cluster, B, HOST)
    // B tells C of its version, but that is long on its way.
    write(cluster, B, key, 0)
    cut(cluster, C, HOST)
    grant(cluster, key, HOST)
    write(cluster, HOST, key, NOBODY)
    link(cluster, C, HOST)
    carry(cluster, HOST, C)
    expect(look(cluster, C, key)).toBe('hidden')
    carry(cluster, B, C)
    expect(look(cluster, C, key)).toBe('hidden')
    link(cluster, B, HOST)
    settle(cluster)
    const seen = [HOST, A, B, C].map((inc) => look(cluster, inc, key))
    expect(seen).toEqual(['1 v1.2 9,1', 'hidden', 'hidden', 'hidden'])
  })

  test('T76: who had it before does not hide what its owner shows', () => {
    const { cluster, key } = four(true)
    grant(cluster, key, HOST)
    settle(cluster)
    grant(cluster, key, B)
    carry(cluster, HOST, B)
    cut(cluster, B, HOST)
    write(cluster, B, key, C)
    // In that state the server hears of it first, and lets C hear that it may not see it.
    link(cluster, B, HOST)
    carry(cluster, B, HOST)
    write(cluster, B, key, 0)
    carry(cluster, B, C)
    expect(kinds(cluster, HOST, C)).toEqual([KIND.hide])
    carry(cluster, HOST, C)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.2 0,1'])
  })

  test('T76: who hides what it takes for its own hears that it is so no more', () => {
    // C, from which A hid it, owns it and hides it from B, which was to own it in between.
    const { cluster, key } = four(true)
    write(cluster, A, key, C)
    settle(cluster)
    expect(look(cluster, C, key)).toBe('hidden')
    grant(cluster, key, B)
    grant(cluster, key, C)
    carry(cluster, HOST, C)
    write(cluster, C, key, B)
    carry(cluster, C, HOST)
    carry(cluster, HOST, B, 1)
    expect(look(cluster, B, key)).toBe('3 v1.1 4,1')
    // B never had what C told it before.
    under(cluster, C, B).length = 0
    carry(cluster, B, C)
    carry(cluster, C, B)
    expect(look(cluster, B, key)).toBe('hidden')
    settle(cluster)
    const seen = [HOST, A, B, C].map((inc) => look(cluster, inc, key))
    expect(seen).toEqual(['4 v1.2 3,1', '4 v1.2 3,1', 'hidden', '4 v1.2 3,1'])
  })

  test('T76: what a grantee took, hid from one member and left behind is seen by all again', () => {
    for (const owner of [HOST, A]) {
      const { cluster, key } = four(true)
      if (owner !== A) grant(cluster, key, owner)
      settle(cluster)
      write(cluster, owner, key, C)
      settle(cluster)
      grant(cluster, key, B)
      carry(cluster, HOST, B)
      carry(cluster, B, C)
      expect(state(cluster, C).replicas.get(key)).toMatchObject({ owner: 0, hidden: true })
      cut(cluster, B, HOST)
      cut(cluster, B, A)
      settle(cluster)
      expect(look(cluster, C, key)).toBe('hidden')
      // That B took it comes to nobody but C; for the others its owner is who it was.
      lose(cluster, B, true)
      write(cluster, owner, key, 0)
      write(cluster, owner, key, 7, 1)
      settle(cluster)
      expect(look(cluster, C, key)).toBe('hidden')
      pass(cluster, SETTLE_MS)
      settle(cluster)
      const seen = [HOST, A, C].map((inc) => look(cluster, inc, key))
      expect(seen).toEqual(Array(3).fill(`${owner} v1.${owner === A ? 2 : 3} 0,7`))
    }
  })
})
