// Goal: objects that may be balanced are spread evenly over the members, and nothing else is moved.
// Method: a cluster whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import {
  type Cluster,
  destroy,
  join,
  meet,
  pass,
  rules,
  settle,
  spawn,
  state,
  thing,
  told,
} from './cluster.ts'

const BALANCE_MS = 1_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const

describe('objects that may be balanced', () => {
  const even = [rules({ balance: true }), rules()]

  function counts(cluster: Cluster): number[] {
    const owners = [...state(cluster, HOST).replicas.values()]
      .filter(({ type }) => type === 0)
      .map(({ owner }) => owner)
    return [...cluster.here.keys()].map((inc) => owners.filter((owner) => owner === inc).length)
  }

  test('B27: are moved from the fullest to the emptiest, one a second, until all have about as many', () => {
    const cluster = meet({ incs: [HOST, A, B], types: even })
    for (let i = 0; i < 12; i++) spawn(cluster, A, [i, 0])
    settle(cluster)
    expect(counts(cluster)).toEqual([0, 12, 0])
    pass(cluster, 3 * BALANCE_MS)
    expect(Math.max(...counts(cluster))).toBeGreaterThanOrEqual(9)
    pass(cluster, 10 * BALANCE_MS)
    expect(counts(cluster)).toEqual([4, 4, 4])
    const events = cluster.events.get(B)!.length
    pass(cluster, 10 * BALANCE_MS)
    expect(cluster.events.get(B)!.length).toBe(events)
    join(cluster, C)
    pass(cluster, 10 * BALANCE_MS)
    expect(counts(cluster)).toEqual([3, 3, 3, 3])
  })

  test('B27: and those that are gone are nobody’s (PR-2)', () => {
    const cluster = meet({ incs: [HOST, A, B], types: even })
    const gone = Array.from({ length: 6 }, () => spawn(cluster, A))
    for (const inc of [HOST, A, B]) spawn(cluster, inc)
    settle(cluster)
    for (const key of gone) destroy(cluster, A, key)
    settle(cluster)
    expect(gone.map((key) => thing(cluster, HOST, key).dead)).toEqual(gone.map(() => true))
    pass(cluster, 3 * BALANCE_MS)
    expect(gone.map((key) => thing(cluster, HOST, key).owner)).toEqual(gone.map(() => A))
    expect(told(cluster, HOST, 'object-owner')).toEqual([])
  })

  test('B27: and no others, and not over a difference of one', () => {
    const cluster = meet({ incs: [HOST, A, B], types: even })
    for (let i = 0; i < 6; i++) spawn(cluster, A, [i, 0], 1)
    for (const inc of [A, B]) spawn(cluster, inc)
    pass(cluster, 10 * BALANCE_MS)
    expect(counts(cluster)).toEqual([0, 1, 1])
    expect(told(cluster, HOST, 'object-owner')).toEqual([])
  })
})
