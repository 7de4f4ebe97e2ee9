// Goal: the page tells what the shipped objects do: each order of the source ends as it says.
// Method: the scenarios with and without the fix, and every order that links allow.
import { describe, expect, test } from 'vitest'
import { drag, draw, pass, type Picture } from './picture.ts'
import { costs } from './remedies.ts'
import { scenarioOf, SCENARIOS } from './scenarios.ts'
import { beliefs, judge } from './verdict.ts'

function pictureOf(id: string, fixed: boolean): Picture {
  const scenario = scenarioOf(id)
  return draw(scenario, scenario.wishes, fixed)
}

function orderOf({ arrows }: Picture): string {
  return arrows.map(({ name }) => name).join(' ')
}

describe('with the fix', () => {
  test.each([
    ['B45: C_0 M_ab_1 D_1', 'calm', 'C M_ab D'],
    ['B46: M_ab_1 C_0 D_1', 'mcd', 'M_ab C D'],
    ['B47: M_ab_1 D_1 C_0', 'mdc', 'M_ab D C'],
  ])('%s ends gone', (_title, id, order) => {
    const picture = pictureOf(id, true)
    expect(orderOf(picture)).toBe(order)
    expect(judge(picture)).toEqual({ kind: 'well', says: 'All four agree: the object is gone.' })
    const created = beliefs(picture).find(({ name }) => name === 'C')!
    const isOld = order !== 'C M_ab D'
    expect(created).toMatchObject(
      isOld ? { took: false, why: 'version 0 is older than 1' } : { took: true, why: '' },
    )
  })
  test('B48: a chain of migrations ends gone in every order', () => {
    const scenario = scenarioOf('chain')
    const times = [300, 380, 440, 500]
    const orders = permutations(times).map(([C, M_ab, M_bc, D]) => ({ C, M_ab, M_bc, D }))
    expect(orders).toHaveLength(24)
    for (const wishes of orders as Record<string, number>[]) {
      expect(judge(draw(scenario, wishes, true)).says).toBe('All five agree: the object is gone.')
    }
  })
  test('B41: a migration of what X never heard of acts as a CREATE', () => {
    const [migrated, created] = beliefs(pictureOf('shortest', true))
    expect(migrated).toMatchObject({ took: true, why: 'it acts as a CREATE', misled: false })
    expect(migrated!.now).toBe('B’s object, version 1')
    expect(created).toMatchObject({ took: false, now: 'B’s object, version 1' })
  })
})

describe('in the first form', () => {
  test('B31: M_ab before C, and X takes A for the owner for ever', () => {
    const picture = pictureOf('shortest', false)
    expect(orderOf(picture)).toBe('M_ab C')
    expect(picture.arrows.map(({ message }) => message.from)).toEqual(['HOST', 'A'])
    expect(judge(picture)).toEqual({
      kind: 'paradox',
      says:
        'X takes A for the owner, everybody else B: ' +
        'M_ab came before C, when there was nothing to migrate.',
    })
  })
  test('B31: M_ab D C, and X keeps what is gone', () => {
    expect(judge(pictureOf('mdc', false)).says).toBe(
      'X keeps an object of A that is gone for everybody else: ' +
        'C came after D, and nothing in it says that it is old.',
    )
    expect(judge(pictureOf('chain', false)).kind).toBe('paradox')
  })
  test('B31: M_ab C D ends well, by luck', () => {
    const { kind, says } = judge(pictureOf('mcd', false))
    expect(kind).toBe('luck')
    expect(says).toContain('after C X took A for the owner')
  })
  test('B32: it takes no more than one slow link; with even ways nothing happens', () => {
    const { wishes, ...scenario } = scenarioOf('shortest')
    const even = draw({ ...scenario, wishes }, {}, false)
    expect(judge(even).kind).toBe('well')
    const slow = draw({ ...scenario, wishes }, { C: 300 }, false)
    expect(judge(slow).kind).toBe('paradox')
  })
})

describe('dragging', () => {
  test('B12: the order of one link cannot be broken, and it says why', () => {
    const picture = pictureOf('calm', true)
    const { at, why } = drag(picture, 'M_ab', 500)
    expect(at).toBeLessThan(picture.arrows[2]!.at)
    expect(why).toBe('B to X is one ordered stream: M_ab left before D and arrives before it.')
    expect(drag(picture, 'D', 100).why).toBe(why)
    expect(drag(picture, 'M_ab', 10).why).toBe(
      'M_ab leaves B at 180 ms and cannot arrive before that.',
    )
    expect(drag(picture, 'C', 401)).toEqual({ at: 401, why: '' })
  })
  test('one press passes one neighbour, or says why it cannot', () => {
    const picture = pictureOf('calm', true)
    const { at } = pass(picture, 'C', 1)
    const { scenario } = picture
    const passed = draw(scenario, { ...scenario.wishes, C: at }, true)
    expect(orderOf(passed)).toBe('M_ab C D')
    const again = draw(scenario, { ...scenario.wishes, C: pass(passed, 'C', 1).at }, true)
    expect(orderOf(again)).toBe('M_ab D C')
    expect(pass(again, 'C', 1).why).toBe('C is the last already.')
    expect(pass(again, 'D', -1).why).toContain('ordered stream')
    const back = draw(scenario, { ...scenario.wishes, C: pass(again, 'C', -1).at }, true)
    expect(orderOf(back)).toBe('M_ab C D')
  })
  test('what the fix holds back is said: M_ab and D are of one sender then', () => {
    const scenario = scenarioOf('calm')
    const wishes = { C: 90, D: 330, M_ab: 400 }
    expect(orderOf(draw(scenario, wishes, false))).toBe('C D M_ab')
    const fixed = draw(scenario, wishes, true)
    expect(orderOf(fixed)).toBe('C M_ab D')
    expect(fixed.arrows[2]!.held).toContain('B to X is one ordered stream')
  })
})

describe('the rejected remedies', () => {
  const late = scenarioOf('mdc')
  const found = costs(late, late.wishes)
  test('B33: in a global order the rest waits for C, and for ever if A dies', () => {
    expect(found.waits).toEqual([
      { name: 'M_ab', from: 'HOST', ms: 220 },
      { name: 'D', from: 'B', ms: 100 },
    ])
    expect(found.stuck).toEqual({ names: ['M_ab', 'D'], links: ['HOST', 'B'] })
    expect(costs(late, scenarioOf('calm').wishes).waits).toEqual([])
  })
  test('B34: a handshake takes nearly twice the messages, and a limbo', () => {
    expect(found).toMatchObject({ handshake: 7, holdfast: 4, limboMs: 350 })
  })
  test('B35, B36: acks of messages are sent again and again; a queue holds what is early', () => {
    expect(found).toMatchObject({ resent: 3, acks: 3, parked: 2 })
  })
  test('every scenario has its figures', () => {
    for (const scenario of SCENARIOS) {
      const { handshake, holdfast, limboMs } = costs(scenario, scenario.wishes)
      expect(handshake).toBeGreaterThan(holdfast)
      expect(limboMs).toBeGreaterThan(0)
    }
  })
})

function permutations(all: readonly number[]): number[][] {
  if (all.length <= 1) return [[...all]]
  return all.flatMap((first) => {
    return permutations(all.filter((each) => each !== first)).map((rest) => [first, ...rest])
  })
}
