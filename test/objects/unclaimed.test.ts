// Goal: in a mesh a new primary leaves an object to its owner, though it knows it by a HIDE alone
// (T76).
// Method: a crew in which somebody was granted an object and hid it from who leads next.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  answers,
  carry,
  type Crew,
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
} from './crew.ts'

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
  const crew = meet({ incs: [HOST, A, B, C], types: secret, mesh: true })
  const key = spawn(crew, A, [0, 7])
  settle(crew)
  write(crew, A, key, B)
  settle(crew)
  grant(crew, key, B)
  carry(crew, HOST, B)
  expect(kinds(crew, B, C)).toContain(KIND.hide)
  // The primary hands over; B still takes the old one for it.
  crew.primary = C
  crew.epoch++
  see(crew, C)
  carry(crew, B, C)
  expect(thing(crew, C, key)).toMatchObject({ hidden: true, owner: 0 })
  for (const inc of [HOST, A, B]) see(crew, inc)
  settle(crew)
  expect(look(crew, C, key)).toBe('3 v1.1 3,7')
})

describe('T76: in a mesh a new primary that knows an object only by a HIDE', () => {
  // B was granted it and hid it from C, which knows its version, and not whose it is.
  function hiddenFromC(): { crew: Crew; key: number } {
    const crew = meet({ incs: [HOST, A, B, C, D], types: secret, mesh: true })
    const key = spawn(crew, A, [0, 7])
    settle(crew)
    write(crew, A, key, B)
    settle(crew)
    grant(crew, key, B)
    settle(crew)
    set(crew, B, key, [B, 9], 2)
    settle(crew)
    expect(thing(crew, C, key)).toMatchObject({ hidden: true, owner: 0 })
    return { crew, key }
  }

  function lost(crew: Crew, ...incs: number[]): void {
    for (const inc of incs) {
      die(crew, inc)
      crew.here.delete(inc)
    }
    takeOver(crew, C)
    settle(crew)
  }

  test('T76: leaves it to its owner, who is there', () => {
    const { crew, key } = hiddenFromC()
    lost(crew)
    expect([B, C].map((inc) => look(crew, inc, key))).toEqual(['3 v1.1 3,9', '3 v1.1 3,9'])
  })

  test('T76: takes it from who saw it last, if its owner died as well', () => {
    const { crew, key } = hiddenFromC()
    set(crew, B, key, [A, 9], 2)
    settle(crew)
    lost(crew, B)
    expect(look(crew, C, key)).toBe('4 v2.1 2,9')
  })

  test('T76: adopts it when all have said what they have, and it is nobody’s', () => {
    const { crew, key } = hiddenFromC()
    lost(crew, A, B)
    expect(look(crew, C, key)).toBe('hidden')
    pass(crew, SETTLE_MS)
    expect(look(crew, C, key)).toBe('4 v2.1 0,7')
  })

  test('T76: lets who asks for it wait until it knows', () => {
    const { crew, key } = hiddenFromC()
    lost(crew, A, B)
    take(crew, D, key)
    settle(crew)
    expect(answers(crew, D)).toEqual([])
    pass(crew, SETTLE_MS)
    settle(crew)
    // It asked for a version that ended with its owner.
    expect(answers(crew, D)).toEqual(['late'])
  })
})
