// Goal: in a mesh a new primary leaves an object to its owner, though it knows it by a HIDE alone
// (T76).
// Method: a cluster in which somebody was granted an object and hid it from who leads next.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  answers,
  carry,
  type Cluster,
  die,
  grant,
  kinds,
  look,
  meet,
  pass,
  rules,
  see,
  set,
  settle,
  spawn,
  take,
  takeOver,
  thing,
  write,
} from './cluster.ts'

const SETTLE_MS = 3_000

const [HOST, A, B, C, D] = [1, 2, 3, 4, 5] as const
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

test('T76: in a mesh a new primary sees what was hidden from it by who had not heard of it yet', () => {
  const cluster = meet({ incs: [HOST, A, B, C], types: secret, mesh: true })
  const key = spawn(cluster, A, [0, 7])
  settle(cluster)
  write(cluster, A, key, B)
  settle(cluster)
  grant(cluster, key, B)
  carry(cluster, HOST, B)
  expect(kinds(cluster, B, C)).toContain(KIND.hide)
  // The primary hands over; B still takes the old one for it.
  cluster.primary = C
  cluster.epoch++
  see(cluster, C)
  carry(cluster, B, C)
  expect(thing(cluster, C, key)).toMatchObject({ hidden: true, owner: 0 })
  for (const inc of [HOST, A, B]) see(cluster, inc)
  settle(cluster)
  expect(look(cluster, C, key)).toBe('3 v1.1 3,7')
})

describe('T76: in a mesh a new primary that knows an object only by a HIDE', () => {
  // B was granted it and hid it from C, which knows its version, and not whose it is.
  function hiddenFromC(): { cluster: Cluster; key: number } {
    const cluster = meet({ incs: [HOST, A, B, C, D], types: secret, mesh: true })
    const key = spawn(cluster, A, [0, 7])
    settle(cluster)
    write(cluster, A, key, B)
    settle(cluster)
    grant(cluster, key, B)
    settle(cluster)
    set(cluster, B, key, [B, 9], 2)
    settle(cluster)
    expect(thing(cluster, C, key)).toMatchObject({ hidden: true, owner: 0 })
    return { cluster, key }
  }

  function lost(cluster: Cluster, ...incs: number[]): void {
    for (const inc of incs) {
      die(cluster, inc)
      cluster.here.delete(inc)
    }
    takeOver(cluster, C)
    settle(cluster)
  }

  test('T76: leaves it to its owner, who is there', () => {
    const { cluster, key } = hiddenFromC()
    lost(cluster)
    expect([B, C].map((inc) => look(cluster, inc, key))).toEqual(['3 v1.1 3,9', '3 v1.1 3,9'])
  })

  test('T76: takes it from who saw it last, if its owner died as well', () => {
    const { cluster, key } = hiddenFromC()
    set(cluster, B, key, [A, 9], 2)
    settle(cluster)
    lost(cluster, B)
    expect(look(cluster, C, key)).toBe('4 v2.1 2,9')
  })

  test('T76: adopts it when all have said what they have, and it is nobody’s', () => {
    const { cluster, key } = hiddenFromC()
    lost(cluster, A, B)
    expect(look(cluster, C, key)).toBe('hidden')
    pass(cluster, SETTLE_MS)
    expect(look(cluster, C, key)).toBe('4 v2.1 0,7')
  })

  test('T76: lets who asks for it wait until it knows', () => {
    const { cluster, key } = hiddenFromC()
    lost(cluster, A, B)
    take(cluster, D, key)
    settle(cluster)
    expect(answers(cluster, D)).toEqual([])
    pass(cluster, SETTLE_MS)
    settle(cluster)
    // It asked for a version that ended with its owner.
    expect(answers(cluster, D)).toEqual(['late'])
  })
})
