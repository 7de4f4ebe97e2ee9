// Goal: objects that may be balanced are spread evenly over the members, and nothing else is moved.
// Method: a crew whose links the test carries by hand.
import { describe, expect, test } from 'vitest'
import {
  type Crew,
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
} from './crew.ts'

const BALANCE_MS = 1_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const

describe('objects that may be balanced', () => {
  const even = [rules({ balance: true }), rules()]

  function counts(crew: Crew): number[] {
    const owners = [...state(crew, HOST).replicas.values()]
      .filter(({ type }) => type === 0)
      .map(({ owner }) => owner)
    return [...crew.here.keys()].map((inc) => owners.filter((owner) => owner === inc).length)
  }

  test('B27: are moved from the fullest to the emptiest, one a second, until all have about as many', () => {
    const crew = meet({ incs: [HOST, A, B], types: even })
    for (let i = 0; i < 12; i++) spawn(crew, A, [i, 0])
    settle(crew)
    expect(counts(crew)).toEqual([0, 12, 0])
    pass(crew, 3 * BALANCE_MS)
    expect(Math.max(...counts(crew))).toBeGreaterThanOrEqual(9)
    pass(crew, 10 * BALANCE_MS)
    expect(counts(crew)).toEqual([4, 4, 4])
    const events = crew.events.get(B)!.length
    pass(crew, 10 * BALANCE_MS)
    expect(crew.events.get(B)!.length).toBe(events)
    join(crew, C)
    pass(crew, 10 * BALANCE_MS)
    expect(counts(crew)).toEqual([3, 3, 3, 3])
  })

  test('B27: and those that are gone are nobody’s (PR-2)', () => {
    const crew = meet({ incs: [HOST, A, B], types: even })
    const gone = Array.from({ length: 6 }, () => spawn(crew, A))
    for (const inc of [HOST, A, B]) spawn(crew, inc)
    settle(crew)
    for (const key of gone) destroy(crew, A, key)
    settle(crew)
    expect(gone.map((key) => thing(crew, HOST, key).dead)).toEqual(gone.map(() => true))
    pass(crew, 3 * BALANCE_MS)
    expect(gone.map((key) => thing(crew, HOST, key).owner)).toEqual(gone.map(() => A))
    expect(told(crew, HOST, 'object-owner')).toEqual([])
  })

  test('B27: and no others, and not over a difference of one', () => {
    const crew = meet({ incs: [HOST, A, B], types: even })
    for (let i = 0; i < 6; i++) spawn(crew, A, [i, 0], 1)
    for (const inc of [A, B]) spawn(crew, inc)
    pass(crew, 10 * BALANCE_MS)
    expect(counts(crew)).toEqual([0, 1, 1])
    expect(told(crew, HOST, 'object-owner')).toEqual([])
  })
})
