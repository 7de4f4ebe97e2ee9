// Goal: what is enacted is what the checker found, and with the shipped rules no order matters.
// Method: the order of the checker's shortest trace; every order of a chain of migrations.
import { describe, expect, test } from 'vitest'
import { type Deed, enact, type Play, type Telling } from '../../packages/sim/src/enact.ts'
import { ROOMS } from './index.ts'
import type { NamedModel } from './rows.ts'

const MEMBERS = ['HOST', 'A', 'B', 'X']
const PROMPT_MS = 10

/** Messages to X arrive in this order, all others at once. */
function inOrder(order: readonly string[]): Play['arrival'] {
  return (message) => {
    const place = order.indexOf(nameOf(message))
    return message.to === 'X' && place >= 0 ? 500 + 10 * place : message.sentAt + PROMPT_MS
  }
}

const isPlanted = ({ name }: NamedModel): boolean => name === 'host-sends-migrate'

function nameOf({ word, count }: Telling): string {
  return `${word} ${count}`
}

const moved: Deed[] = [
  { at: 0, who: 'A', does: 'create' },
  { at: 100, who: 'HOST', does: 'grant', to: 'B' },
]
const chain: Deed[] = [
  ...moved,
  { at: 200, who: 'HOST', does: 'grant', to: 'C' },
  { at: 300, who: 'C', does: 'destroy' },
]

describe('enact', () => {
  test('B31: the shortest trace of the checker, enacted, ends as the checker says', () => {
    const { violation } = ROOMS['objects']!.find(isPlanted)!.explore()
    const toX = violation!.trace.filter((label) => label.includes(' to 4: '))
    const order = toX.map((label) => label.replace(/.*: (\w+) \d\.(\d).*/, '$1 $2'))
    expect(order).toEqual(['MIGRATE 1', 'CREATE 0'])
    expect(violation!.trace.filter((label) => label.includes('destroys'))).toEqual([])

    const play = { members: MEMBERS, deeds: moved, arrival: inOrder(order) }
    const paradox = enact({ ...play, firstForm: true })
    expect(paradox.agree).toBe(false)
    expect(paradox.ends['X']).toEqual({ kind: 'owned', owner: 'A', count: 0 })
    expect(paradox.ends['B']).toEqual({ kind: 'owned', owner: 'B', count: 1 })
    const fixed = enact({ ...play, firstForm: false })
    expect(fixed.agree).toBe(true)
    expect(fixed.ends['X']).toEqual({ kind: 'owned', owner: 'B', count: 1 })
  })

  test('B48: a chain of migrations ends gone in each of 24 orders', () => {
    const members = ['HOST', 'A', 'B', 'C', 'X']
    for (const order of orders(['CREATE 0', 'MIGRATE 1', 'MIGRATE 2', 'DESTROY 2'])) {
      const { ends } = enact({ members, deeds: chain, firstForm: false, arrival: inOrder(order) })
      for (const end of Object.values(ends)) expect(end).toEqual({ kind: 'gone', count: 2 })
    }
  })

  test('B12: a link keeps its order, whenever its messages should arrive', () => {
    const arrival = inOrder(['DESTROY 2', 'MIGRATE 2'])
    const members = ['HOST', 'A', 'B', 'C', 'X']
    const { arrivals } = enact({ members, deeds: chain, firstForm: false, arrival })
    const toX = arrivals.filter(({ message }) => message.to === 'X' && message.from === 'C')
    expect(toX.map(({ message }) => nameOf(message))).toEqual(['MIGRATE 2', 'DESTROY 2'])
  })

  test('who does not own it cannot destroy it, and nobody is somebody else', () => {
    const at = 50
    const late = (deed: Deed) => () =>
      enact({ members: MEMBERS, deeds: [moved[0]!, deed], firstForm: false, arrival: inOrder([]) })
    expect(late({ at, who: 'B', does: 'destroy' })).toThrow('B cannot destroy at 50 ms')
    expect(late({ at, who: 'A', does: 'grant', to: 'B' })).toThrow('A cannot grant at 50 ms')
    expect(late({ at, who: 'Y', does: 'create' })).toThrow('nobody is called Y')
  })
})

function orders(words: readonly string[]): string[][] {
  if (words.length <= 1) return [[...words]]
  return words.flatMap((first) => {
    return orders(words.filter((word) => word !== first)).map((rest) => [first, ...rest])
  })
}
