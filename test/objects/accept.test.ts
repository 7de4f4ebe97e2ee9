// Goal: what a member makes of what it hears, in whatever order it comes.
// Method: a crew in a mesh, whose links and packets the test carries by hand.
import { describe, expect, test } from 'vitest'
import { KIND, plain } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  carry,
  type Crew,
  destroy,
  give,
  grant,
  hear,
  kinds,
  land,
  link,
  look,
  looks,
  meet,
  type Packet,
  pull,
  rules,
  settle,
  spawn,
  state,
  thing,
  under,
  write,
} from './crew.ts'

const [HOST, A, B, C, X] = [1, 2, 3, 4, 5] as const
const mesh = (): Crew => meet({ incs: [HOST, A, B, C, X], mesh: true })

/** A created it, B was granted it, and X has heard of nothing. */
function migrated(): { crew: Crew; key: number } {
  const crew = mesh()
  const key = spawn(crew, A)
  for (const to of [HOST, B, C]) carry(crew, A, to)
  grant(crew, key, B)
  carry(crew, HOST, B)
  for (const to of [HOST, A, C]) carry(crew, B, to)
  return { crew, key }
}

describe('that an object stands or is gone', () => {
  test('B45: C_0 M_ab_1 D_1 ends gone', () => {
    const { crew, key } = migrated()
    carry(crew, A, X)
    expect(look(crew, X, key)).toBe('2 v0.0 1,1')
    carry(crew, B, X)
    expect(look(crew, X, key)).toBe('3 v1.1 1,1')
    destroy(crew, B, key)
    carry(crew, B, X)
    expect(look(crew, X, key)).toBe('gone v1.1')
  })

  test('B46: M_ab_1 C_0 D_1 ends gone, and C_0 is ignored', () => {
    const { crew, key } = migrated()
    carry(crew, B, X)
    carry(crew, A, X)
    expect(look(crew, X, key)).toBe('3 v1.1 1,1')
    expect(state(crew, X).counters.stale).toBe(1)
    destroy(crew, B, key)
    carry(crew, B, X)
    expect(look(crew, X, key)).toBe('gone v1.1')
  })

  test('B47, B49: M_ab_1 D_1 C_0 ends gone: who buried it remembers in which version', () => {
    const { crew, key } = migrated()
    carry(crew, B, X)
    destroy(crew, B, key)
    carry(crew, B, X)
    carry(crew, A, X)
    expect(look(crew, X, key)).toBe('gone v1.1')
    expect(state(crew, X).counters.stale).toBe(1)
  })

  test('B41: a migration of an object that is not known creates it, with its whole state', () => {
    const { crew, key } = migrated()
    expect(look(crew, X, key)).toBe('unknown')
    carry(crew, B, X)
    expect(look(crew, X, key)).toBe('3 v1.1 1,1')
  })

  test('B42, B44: a creation that is older than what is known is nothing, from its creator too', () => {
    const { crew, key } = migrated()
    const old = under(crew, A, X)[0]!.bytes
    carry(crew, B, X)
    write(crew, B, key, 7)
    settle(crew)
    hear(crew, X, A, old)
    expect(look(crew, X, key)).toBe('3 v1.1 7,1')
  })

  test('B48: of a chain of three owners each order of their messages ends the same', () => {
    const orders = [
      [A, B, C],
      [A, C, B],
      [B, A, C],
      [B, C, A],
      [C, A, B],
      [C, B, A],
    ] as const
    for (const order of orders) {
      const { crew, key } = migrated()
      grant(crew, key, C)
      carry(crew, HOST, C)
      for (const to of [HOST, A, B]) carry(crew, C, to)
      write(crew, C, key, 9)
      destroy(crew, C, key)
      for (const from of order) carry(crew, from, X)
      expect(look(crew, X, key)).toBe('gone v1.2')
      settle(crew)
      expect(looks(crew, key)).toEqual(['gone v1.2'])
    }
  })

  test('B44: the end of an older version is nothing: it lives on with whom it was granted', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    settle(crew)
    grant(crew, key, B)
    // A has not heard of it yet.
    destroy(crew, A, key)
    carry(crew, HOST, B)
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
  })

  test('a version that was there already is nothing new, and its end counts once', () => {
    const { crew, key } = migrated()
    const stands = under(crew, B, X)[0]!.bytes
    carry(crew, B, X)
    hear(crew, X, B, stands)
    expect(state(crew, X).counters.stale).toBe(1)
    destroy(crew, B, key)
    const gone = under(crew, B, X)[0]!.bytes
    carry(crew, B, X)
    hear(crew, X, B, gone)
    hear(crew, X, B, stands)
    expect(state(crew, X).counters.stale).toBe(3)
    expect(look(crew, X, key)).toBe('gone v1.1')
  })

  test('T76: who says an old version is told the new one by its owner, where not all see all (PR-2)', () => {
    const all = { kind: 'rule', sees: () => () => true } as const
    for (const subscriber of [null, all]) {
      const crew = meet({
        incs: [HOST, A, B],
        mesh: true,
        types: [rules({ visibility: subscriber })],
      })
      const key = spawn(crew, A)
      const { bytes } = under(crew, A, B)[0]!
      settle(crew)
      grant(crew, key, B)
      settle(crew)
      hear(crew, B, A, bytes)
      expect(state(crew, B).counters.stale).toBe(1)
      expect(kinds(crew, B, A)).toEqual(subscriber ? [KIND.tell] : [])
    }
  })

  test('B48: a version of what the primary never granted nor knew is ignored (PR-2)', () => {
    const { crew, key } = migrated()
    const stands = under(crew, B, X)[0]!.bytes
    const other = mesh()
    expect(() => hear(other, HOST, B, stands)).not.toThrow()
    expect(look(other, HOST, key)).toBe('unknown')
    expect(state(other, HOST).counters.ignored).toBe(1)
  })

  test('what stands in the version we have, in a newer state, counts as an update of all', () => {
    const { crew, key } = migrated()
    carry(crew, B, X)
    carry(crew, B, X)
    write(crew, B, key, 8)
    // All is told anew, and X has the version already.
    link(crew, B, X)
    crew.events.get(X)!.length = 0
    carry(crew, B, X)
    expect(look(crew, X, key)).toBe('3 v1.1 8,1')
    expect(crew.events.get(X)).toEqual([
      { kind: 'object-changed', key, mask: 0xffffffff, ages: null },
    ])
  })
})

describe('updates', () => {
  function two(): { crew: Crew; key: number; next: (value: number) => Packet } {
    const crew = meet({ incs: [HOST, A], mesh: true })
    const key = spawn(crew, A)
    settle(crew)
    const next = (value: number): Packet => {
      write(crew, A, key, value)
      return pull(crew, A, HOST)!
    }
    return { crew, key, next }
  }

  test('B21: an update before the creation is nothing, and one after the end', () => {
    const { crew, key, next } = two()
    const packet = next(5)
    const third = meet({ incs: [HOST, A], mesh: true })
    land(third, packet)
    expect(look(third, HOST, key)).toBe('unknown')
    expect(state(third, HOST).counters.stale).toBe(1)
    destroy(crew, A, key)
    settle(crew)
    land(crew, packet)
    expect(look(crew, HOST, key)).toBe('gone v0.0')
    expect(state(crew, HOST).counters.stale).toBe(1)
  })

  test('B22: an update that comes out of order, or twice, is nothing', () => {
    const { crew, key, next } = two()
    const [older, newer] = [next(5), next(6)]
    for (const packet of [newer, older, newer]) land(crew, packet)
    expect(look(crew, HOST, key)).toBe('2 v0.0 6,1')
    expect(state(crew, HOST).counters.stale).toBe(2)
  })

  test('B50: an update of an earlier time of the same owner is nothing', () => {
    const crew = meet({ incs: [HOST, A, B], mesh: true })
    const key = spawn(crew, A)
    settle(crew)
    write(crew, A, key, 5)
    const late = pull(crew, A, HOST)!
    for (const to of [B, A]) {
      grant(crew, key, to)
      settle(crew)
    }
    // B granted it in the state that B had, so this update is ahead of all that is known.
    expect(looks(crew, key)).toHaveLength(1)
    const before = look(crew, HOST, key)
    land(crew, late)
    expect(look(crew, HOST, key)).toBe(before)
    expect(thing(crew, HOST, key).version).toEqual({ epoch: 1, count: 2 })
  })

  test('an update counts from its owner alone', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    settle(crew)
    write(crew, A, key, 5)
    const packet = pull(crew, A, X)!
    land(crew, { ...packet, from: B })
    expect(look(crew, X, key)).toBe('2 v0.0 1,1')
    expect(state(crew, X).counters.ignored).toBe(1)
    land(crew, packet)
    expect(look(crew, X, key)).toBe('2 v0.0 5,1')
  })
})

test('that somebody follows is nothing to who does not lead, and is said once (PR-2)', () => {
  const crew = mesh()
  settle(crew)
  const ignored = [A, A, HOST].map((to) => {
    hear(crew, to, B, plain(KIND.follow, 1))
    return state(crew, to).counters.ignored
  })
  expect(ignored).toEqual([0, 1, 1])
})

describe('a grant', () => {
  test('B52: that comes before the object makes it: it carries all there is', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    carry(crew, A, HOST)
    grant(crew, key, X)
    carry(crew, HOST, X)
    expect(look(crew, X, key)).toBe('5 v1.1 1,1')
    settle(crew)
    expect(looks(crew, key)).toEqual(['5 v1.1 1,1'])
  })

  test('goes on from the newer state: of what the grantee has, and of what the grant says', () => {
    for (const [ahead, value] of [
      [HOST, 9],
      [X, 8],
    ] as const) {
      const crew = mesh()
      const key = spawn(crew, A)
      settle(crew)
      if (ahead === X) write(crew, A, key, 8)
      else write(crew, A, key, 9)
      land(crew, pull(crew, A, ahead)!)
      grant(crew, key, X)
      carry(crew, HOST, X)
      expect(look(crew, X, key)).toBe(`5 v1.1 ${value},1`)
    }
  })

  test('counts from our primary alone, and once', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    settle(crew)
    grant(crew, key, X)
    const { bytes } = under(crew, HOST, X)[0]!
    hear(crew, X, B, bytes)
    expect(look(crew, X, key)).toBe('2 v0.0 1,1')
    expect(state(crew, X).counters.ignored).toBe(1)
    carry(crew, HOST, X)
    write(crew, X, key, 6)
    hear(crew, X, HOST, bytes)
    expect(look(crew, X, key)).toBe('5 v1.1 6,1')
    expect(state(crew, X).counters.stale).toBe(1)
  })
})

test('of a whole state only what differs counts as changed, and is passed on (PR-2)', () => {
  const crew = meet({ incs: [HOST, A, B, C] })
  const key = spawn(crew, A)
  settle(crew)
  const before = [...thing(crew, HOST, key).changedAt]
  write(crew, A, key, 7, 1)
  // The request has the newest state, before any packet.
  give(crew, A, key, B)
  carry(crew, A, HOST)
  const { oseq, changedAt, fields } = thing(crew, HOST, key)
  expect(fields).toEqual([1, 7])
  expect(changedAt).toEqual([before[0], oseq])
  expect(oseq).toBeGreaterThan(before[1]!)
  settle(crew)
  expect(looks(crew, key)).toEqual(['3 v1.1 1,7'])
})
