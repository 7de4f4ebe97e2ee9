// Goal: what a member makes of what it hears, in whatever order it comes.
// Method: a cluster in a mesh, whose links and packets the test carries by hand.
import { describe, expect, test } from 'vitest'
import { KIND, plain } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  carry,
  type Cluster,
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
} from './cluster.ts'

const [HOST, A, B, C, X] = [1, 2, 3, 4, 5] as const
const mesh = (): Cluster => meet({ incs: [HOST, A, B, C, X], mesh: true })

/** A created it, B was granted it, and X has heard of nothing. */
function migrated(): { cluster: Cluster; key: number } {
  const cluster = mesh()
  const key = spawn(cluster, A)
  for (const to of [HOST, B, C]) carry(cluster, A, to)
  grant(cluster, key, B)
  carry(cluster, HOST, B)
  for (const to of [HOST, A, C]) carry(cluster, B, to)
  return { cluster, key }
}

describe('that an object stands or is gone', () => {
  test('B45: C_0 M_ab_1 D_1 ends gone', () => {
    const { cluster, key } = migrated()
    carry(cluster, A, X)
    expect(look(cluster, X, key)).toBe('2 v0.0 1,1')
    carry(cluster, B, X)
    expect(look(cluster, X, key)).toBe('3 v1.1 1,1')
    destroy(cluster, B, key)
    carry(cluster, B, X)
    expect(look(cluster, X, key)).toBe('gone v1.1')
  })

  test('B46: M_ab_1 C_0 D_1 ends gone, and C_0 is ignored', () => {
    const { cluster, key } = migrated()
    carry(cluster, B, X)
    carry(cluster, A, X)
    expect(look(cluster, X, key)).toBe('3 v1.1 1,1')
    expect(state(cluster, X).counters.stale).toBe(1)
    destroy(cluster, B, key)
    carry(cluster, B, X)
    expect(look(cluster, X, key)).toBe('gone v1.1')
  })

  test('B47, B49: M_ab_1 D_1 C_0 ends gone: who buried it remembers in which version', () => {
    const { cluster, key } = migrated()
    carry(cluster, B, X)
    destroy(cluster, B, key)
    carry(cluster, B, X)
    carry(cluster, A, X)
    expect(look(cluster, X, key)).toBe('gone v1.1')
    expect(state(cluster, X).counters.stale).toBe(1)
  })

  test('B41: a migration of an object that is not known creates it, with its whole state', () => {
    const { cluster, key } = migrated()
    expect(look(cluster, X, key)).toBe('unknown')
    carry(cluster, B, X)
    expect(look(cluster, X, key)).toBe('3 v1.1 1,1')
  })

  test('B42, B44: a creation that is older than what is known is nothing, from its creator too', () => {
    const { cluster, key } = migrated()
    const old = under(cluster, A, X)[0]!.bytes
    carry(cluster, B, X)
    write(cluster, B, key, 7)
    settle(cluster)
    hear(cluster, X, A, old)
    expect(look(cluster, X, key)).toBe('3 v1.1 7,1')
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
      const { cluster, key } = migrated()
      grant(cluster, key, C)
      carry(cluster, HOST, C)
      for (const to of [HOST, A, B]) carry(cluster, C, to)
      write(cluster, C, key, 9)
      destroy(cluster, C, key)
      for (const from of order) carry(cluster, from, X)
      expect(look(cluster, X, key)).toBe('gone v1.2')
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['gone v1.2'])
    }
  })

  test('B44: the end of an older version is nothing: it lives on with whom it was granted', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    settle(cluster)
    grant(cluster, key, B)
    // A has not heard of it yet.
    destroy(cluster, A, key)
    carry(cluster, HOST, B)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
  })

  test('a version that was there already is nothing new, and its end counts once', () => {
    const { cluster, key } = migrated()
    const stands = under(cluster, B, X)[0]!.bytes
    carry(cluster, B, X)
    hear(cluster, X, B, stands)
    expect(state(cluster, X).counters.stale).toBe(1)
    destroy(cluster, B, key)
    const gone = under(cluster, B, X)[0]!.bytes
    carry(cluster, B, X)
    hear(cluster, X, B, gone)
    hear(cluster, X, B, stands)
    expect(state(cluster, X).counters.stale).toBe(3)
    expect(look(cluster, X, key)).toBe('gone v1.1')
  })

  test('T76: who says an old version is told the new one by its owner, where not all see all (PR-2)', () => {
    const all = { kind: 'rule', sees: () => () => true } as const
    for (const subscriber of [null, all]) {
      const cluster = meet({
        incs: [HOST, A, B],
        mesh: true,
        types: [rules({ visibility: subscriber })],
      })
      const key = spawn(cluster, A)
      const { bytes } = under(cluster, A, B)[0]!
      settle(cluster)
      grant(cluster, key, B)
      settle(cluster)
      hear(cluster, B, A, bytes)
      expect(state(cluster, B).counters.stale).toBe(1)
      expect(kinds(cluster, B, A)).toEqual(subscriber ? [KIND.tell] : [])
    }
  })

  test('B48: a version of what the primary never granted nor knew is ignored (PR-2)', () => {
    const { cluster, key } = migrated()
    const stands = under(cluster, B, X)[0]!.bytes
    const other = mesh()
    expect(() => hear(other, HOST, B, stands)).not.toThrow()
    expect(look(other, HOST, key)).toBe('unknown')
    expect(state(other, HOST).counters.ignored).toBe(1)
  })

  test('what stands in the version we have, in a newer state, counts as an update of all', () => {
    const { cluster, key } = migrated()
    carry(cluster, B, X)
    carry(cluster, B, X)
    write(cluster, B, key, 8)
    // All is told anew, and X has the version already.
    link(cluster, B, X)
    cluster.events.get(X)!.length = 0
    carry(cluster, B, X)
    expect(look(cluster, X, key)).toBe('3 v1.1 8,1')
    expect(cluster.events.get(X)).toEqual([
      { kind: 'object-changed', key, mask: 0xffffffff, ages: null },
    ])
  })
})

describe('updates', () => {
  function two(): { cluster: Cluster; key: number; next: (value: number) => Packet } {
    const cluster = meet({ incs: [HOST, A], mesh: true })
    const key = spawn(cluster, A)
    settle(cluster)
    const next = (value: number): Packet => {
      write(cluster, A, key, value)
      return pull(cluster, A, HOST)!
    }
    return { cluster, key, next }
  }

  test('B21: an update before the creation is nothing, and one after the end', () => {
    const { cluster, key, next } = two()
    const packet = next(5)
    const third = meet({ incs: [HOST, A], mesh: true })
    land(third, packet)
    expect(look(third, HOST, key)).toBe('unknown')
    expect(state(third, HOST).counters.stale).toBe(1)
    destroy(cluster, A, key)
    settle(cluster)
    land(cluster, packet)
    expect(look(cluster, HOST, key)).toBe('gone v0.0')
    expect(state(cluster, HOST).counters.stale).toBe(1)
  })

  test('B22: an update that comes out of order, or twice, is nothing', () => {
    const { cluster, key, next } = two()
    const [older, newer] = [next(5), next(6)]
    for (const packet of [newer, older, newer]) land(cluster, packet)
    expect(look(cluster, HOST, key)).toBe('2 v0.0 6,1')
    expect(state(cluster, HOST).counters.stale).toBe(2)
  })

  test('B50: an update of an earlier time of the same owner is nothing', () => {
    const cluster = meet({ incs: [HOST, A, B], mesh: true })
    const key = spawn(cluster, A)
    settle(cluster)
    write(cluster, A, key, 5)
    const late = pull(cluster, A, HOST)!
    for (const to of [B, A]) {
      grant(cluster, key, to)
      settle(cluster)
    }
    // B granted it in the state that B had, so this update is ahead of all that is known.
    expect(looks(cluster, key)).toHaveLength(1)
    const before = look(cluster, HOST, key)
    land(cluster, late)
    expect(look(cluster, HOST, key)).toBe(before)
    expect(thing(cluster, HOST, key).version).toEqual({ epoch: 1, count: 2 })
  })

  test('an update counts from its owner alone', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    settle(cluster)
    write(cluster, A, key, 5)
    const packet = pull(cluster, A, X)!
    land(cluster, { ...packet, from: B })
    expect(look(cluster, X, key)).toBe('2 v0.0 1,1')
    expect(state(cluster, X).counters.ignored).toBe(1)
    land(cluster, packet)
    expect(look(cluster, X, key)).toBe('2 v0.0 5,1')
  })
})

test('that somebody follows is nothing to who does not lead, and is said once (PR-2)', () => {
  const cluster = mesh()
  settle(cluster)
  const ignored = [A, A, HOST].map((to) => {
    hear(cluster, to, B, plain(KIND.follow, 1))
    return state(cluster, to).counters.ignored
  })
  expect(ignored).toEqual([0, 1, 1])
})

describe('a grant', () => {
  test('B52: that comes before the object makes it: it carries all there is', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    carry(cluster, A, HOST)
    grant(cluster, key, X)
    carry(cluster, HOST, X)
    expect(look(cluster, X, key)).toBe('5 v1.1 1,1')
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['5 v1.1 1,1'])
  })

  test('goes on from the newer state: of what the grantee has, and of what the grant says', () => {
    for (const [ahead, value] of [
      [HOST, 9],
      [X, 8],
    ] as const) {
      const cluster = mesh()
      const key = spawn(cluster, A)
      settle(cluster)
      if (ahead === X) write(cluster, A, key, 8)
      else write(cluster, A, key, 9)
      land(cluster, pull(cluster, A, ahead)!)
      grant(cluster, key, X)
      carry(cluster, HOST, X)
      expect(look(cluster, X, key)).toBe(`5 v1.1 ${value},1`)
    }
  })

  test('counts from our primary alone, and once', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    settle(cluster)
    grant(cluster, key, X)
    const { bytes } = under(cluster, HOST, X)[0]!
    hear(cluster, X, B, bytes)
    expect(look(cluster, X, key)).toBe('2 v0.0 1,1')
    expect(state(cluster, X).counters.ignored).toBe(1)
    carry(cluster, HOST, X)
    write(cluster, X, key, 6)
    hear(cluster, X, HOST, bytes)
    expect(look(cluster, X, key)).toBe('5 v1.1 6,1')
    expect(state(cluster, X).counters.stale).toBe(1)
  })
})

test('of a whole state only what differs counts as changed, and is passed on (PR-2)', () => {
  const cluster = meet({ incs: [HOST, A, B, C] })
  const key = spawn(cluster, A)
  settle(cluster)
  const before = [...thing(cluster, HOST, key).changedAt]
  write(cluster, A, key, 7, 1)
  // The request has the newest state, before any packet.
  give(cluster, A, key, B)
  carry(cluster, A, HOST)
  const { oseq, changedAt, fields } = thing(cluster, HOST, key)
  expect(fields).toEqual([1, 7])
  expect(changedAt).toEqual([before[0], oseq])
  expect(oseq).toBeGreaterThan(before[1]!)
  settle(cluster)
  expect(looks(cluster, key)).toEqual(['3 v1.1 1,7'])
})
