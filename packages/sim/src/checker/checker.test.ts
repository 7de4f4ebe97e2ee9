import { describe, expect, test } from 'vitest'
import * as cells from './cells.ts'
import { check, render } from './checker.ts'
import type { CellModel, Model } from './checker.ts'

// Goal: a checker that is known to find what is there, neither less nor more.
// Method: two small models whose states can be counted by hand, and injected bugs.

interface Jugs {
  three: number
  five: number
}

/** Two jugs of three and five litres; the way to four litres takes six steps. */
function jugs(change: Partial<Model<Jugs>> = {}): Model<Jugs> {
  return {
    name: 'jugs',
    init: () => ({ three: 0, five: 0 }),
    actions: () => [
      { label: 'fill three', next: (jug) => void (jug.three = 3) },
      { label: 'fill five', next: (jug) => void (jug.five = 5) },
      { label: 'empty three', next: (jug) => void (jug.three = 0) },
      { label: 'empty five', next: (jug) => void (jug.five = 0) },
      {
        label: 'pour three into five',
        next: (jug) => pour(jug, Math.min(jug.three, 5 - jug.five)),
      },
      {
        label: 'pour five into three',
        next: (jug) => pour(jug, -Math.min(jug.five, 3 - jug.three)),
      },
    ],
    always: { 'no jug overflows': ({ three, five }) => (three <= 3 && five <= 5) || 'overflow' },
    ...change,
  }
}

function pour(jug: Jugs, amount: number): void {
  jug.three -= amount
  jug.five += amount
}

interface Wire {
  sent: number
  under: Set<string>
  read: string[]
  lost: number
  acked: number
}

/** Two letters over a wire that loses one: `again` says whether a lost one is sent again. */
function letters(again: boolean): Model<Wire> {
  return {
    name: 'letters',
    init: () => ({ sent: 0, under: new Set(), read: [], lost: 0, acked: 0 }),
    *actions(wire) {
      if (wire.sent < 2) yield { label: `post ${wire.sent}`, next: post }
      for (const letter of wire.under) {
        yield { label: `deliver ${letter}`, next: (to) => deliver(to, letter) }
        if (wire.lost === 0) {
          yield { label: `lose ${letter}`, environment: true, next: (to) => lose(to, letter) }
        }
      }
      if (again && wire.under.size === 0 && wire.read.length < wire.sent) {
        yield { label: 'post again', next: repost }
      }
    },
    always: {
      'nothing is read twice': ({ read }) => new Set(read).size === read.length || 'twice',
    },
    sometimes: { 'the second first': ({ read }) => read[0] === '1' },
    settled: { 'all are read': ({ read }) => read.length === 2 || `only ${read.length} of 2` },
    show: ({ read, under }) => `read [${read.join()}], under way [${[...under].join()}]`,
  }
}

function post(wire: Wire): void {
  wire.under.add(String(wire.sent++))
}

function deliver(wire: Wire, letter: string): void {
  wire.under.delete(letter)
  wire.read.push(letter)
}

function lose(wire: Wire, letter: string): void {
  wire.under.delete(letter)
  wire.lost++
}

function repost(wire: Wire): void {
  for (let n = 0; n < wire.sent; n++) if (!wire.read.includes(String(n))) wire.under.add(String(n))
}

describe('what is found', () => {
  test('two jugs have exactly 16 states of 24, in rings up to seven steps away', () => {
    const report = check(jugs(), { statesMax: 1000 })
    expect(report).toEqual({
      name: 'jugs',
      states: 16,
      edges: 96,
      depth: 7,
      complete: true,
      violation: null,
      sometimes: {},
    })
  })

  test('the shortest of all traces is told', () => {
    const four = jugs({ always: { 'never four': ({ five }) => five !== 4 || 'there are four' } })
    const { violation, complete } = check(four, { statesMax: 1000 })
    expect(complete).toBe(false)
    expect(violation).toEqual({
      property: 'never four',
      why: 'there are four',
      trace: [
        'fill five',
        'pour five into three',
        'empty three',
        'pour five into three',
        'fill five',
        'pour five into three',
      ],
      shown: null,
    })
  })

  test('a first state that is already wrong has an empty trace', () => {
    const { violation } = check(jugs({ always: { never: () => 'wrong' } }), { statesMax: 1 })
    expect(violation).toMatchObject({ property: 'never', trace: [] })
  })

  test('a `sometimes` that no state reaches is told as not reached', () => {
    const model = jugs({
      sometimes: { 'three full': ({ three }) => three === 3, 'six in all': (jug) => jug.five > 5 },
    })
    const report = check(model, { statesMax: 1000 })
    expect(report.sometimes).toEqual({ 'three full': true, 'six in all': false })
    expect(render(report)).toContain('sometimes six in all: NOT REACHED')
  })

  test('what throws is a violation with its trace', () => {
    const model = jugs({
      actions: (jug) => [
        { label: 'fill', next: (to) => void (to.five += 1) },
        ...(jug.five < 2 ? [] : [{ label: 'break', next: () => void JSON.parse('{') }]),
      ],
    })
    const { violation } = check(model, { statesMax: 1000 })
    expect(violation).toMatchObject({
      property: 'nothing throws',
      why: expect.stringContaining('SyntaxError') as string,
      trace: ['fill', 'fill', 'break'],
    })
  })

  test('what throws is shown as the last of the states (PR-2)', () => {
    const show = ({ five }: Jugs): string => `five has ${five}`
    const model = jugs({
      show,
      actions: () => [{ label: 'break', next: () => void JSON.parse('{') }],
    })
    const { violation } = check(model, { statesMax: 1000 })
    expect(violation).toMatchObject({ trace: ['break'], shown: ['five has 0', '(it throws)'] })
  })

  test('a model whose list of actions throws is told where it does (PR-2)', () => {
    const model = jugs({
      show: ({ five }) => `five has ${five}`,
      *actions(jug) {
        yield { label: 'fill', next: (to) => void to.five++ }
        if (jug.five > 0) JSON.parse('{')
      },
    })
    const { violation } = check(model, { statesMax: 1000 })
    expect(violation).toMatchObject({
      property: 'nothing throws',
      trace: ['fill', '(here actions itself throws, or differs from one call to the next)'],
      shown: ['five has 0', 'five has 1', '(it throws)'],
    })
  })

  test('an action that changes the state it was made for is caught as a bug of the model', () => {
    const model = jugs({
      actions: (jug) => [{ label: 'cheat', next: () => void (jug.five = 3) }],
    })
    expect(() => check(model, { statesMax: 10 })).toThrow('an action changed its parent state')
  })
})

describe('states that are rows of numbers', () => {
  // The litres in the jugs, and beside them how often one was filled, which tells no states apart.
  const [THREE, FIVE, FILLS] = [0, 1, 2]
  const rows = (change: Partial<Model<Int32Array>> = {}): Model<Int32Array> => {
    const pourInto = (jug: Int32Array, from: number, to: number, room: number): void => {
      const amount = Math.min(jug[from]!, room)
      jug[from]! -= amount
      jug[to]! += amount
    }
    const fill = (jug: Int32Array, at: number, litres: number): void => {
      jug[at] = litres
      jug[FILLS]!++
    }
    return {
      name: 'rows',
      flat: 2,
      init: () => new Int32Array(3),
      actions: () => [
        { label: (jug) => `fill three of ${jug[THREE]}`, next: (jug) => fill(jug, THREE, 3) },
        { label: (jug) => `fill five of ${jug[FIVE]}`, next: (jug) => fill(jug, FIVE, 5) },
        { label: 'empty three', next: (jug) => void (jug[THREE] = 0) },
        { label: 'empty five', next: (jug) => void (jug[FIVE] = 0) },
        { label: 'three into five', next: (jug) => pourInto(jug, THREE, FIVE, 5 - jug[FIVE]!) },
        { label: 'five into three', next: (jug) => pourInto(jug, FIVE, THREE, 3 - jug[THREE]!) },
      ],
      always: { 'no jug overflows': (jug) => (jug[THREE]! <= 3 && jug[FIVE]! <= 5) || 'overflow' },
      ...change,
    }
  }

  test('two jugs as rows have as many states and steps as by name', () => {
    const { states, edges, depth, complete } = check(rows(), { statesMax: 1000 })
    expect({ states, edges, depth, complete }).toEqual({
      states: 16,
      edges: 96,
      depth: 7,
      complete: true,
    })
  })

  test('the same trace is told, each step in words of the state it begins in', () => {
    const claim = (jug: Int32Array): true | string => jug[FIVE] !== 4 || `${jug[FILLS]} fills`
    const { violation } = check(rows({ always: { claim } }), { statesMax: 1000 })
    expect(violation!.why).toBe('2 fills')
    expect(violation!.trace).toEqual([
      'fill five of 0',
      'five into three',
      'empty three',
      'five into three',
      'fill five of 0',
      'five into three',
    ])
  })

  test('a step that changes the row it was made for is caught', () => {
    const actions: Model<Int32Array>['actions'] = (jug) => [
      { label: 'cheat', next: () => void (jug[FIVE] = 3) },
    ]
    const model = rows({ actions })
    expect(() => check(model, { statesMax: 10 })).toThrow('an action changed its parent state')
  })

  test('rings of more states than there is room for at first are kept whole', () => {
    const actions: Model<Int32Array>['actions'] = (row) =>
      row[0] === 12
        ? []
        : [0, 1, 2, 3].map((n) => ({
            label: `${n}`,
            next: (to: Int32Array) => {
              to[0]!++
              to[1] = (to[1]! * 7 + n) % 5_003
            },
          }))
    const found = new Set<number>()
    const always = {
      all: (row: Int32Array): true => Boolean(found.add(row[0]! * 10_000 + row[1]!)) as true,
    }
    const { states } = check(rows({ actions, always }), { statesMax: 1_000_000 })
    expect(states).toBe(found.size)
    expect(states).toBeGreaterThan(20_000)
  })
})

describe('states that consist of cells', () => {
  interface Pair {
    jugs: Jugs[]
    /** What was done last, which tells no states apart. */
    last: string
  }
  const model = (spill: boolean): CellModel<Pair> => {
    const all = cells.create()
    let runs = 0
    const does = cells.remember(all, (jug: Jugs, label: string): Jugs => {
      runs++
      const copy = { ...jug }
      for (const action of jugs().actions(jug)) if (action.label === label) action.next(copy)
      return copy
    })
    return {
      name: 'two pairs',
      cells: all,
      arrays: ['jugs'],
      aside: ['last'],
      init: () => ({ jugs: [0, 1].map(() => ({ three: 0, five: 0 })), last: '' }),
      *actions() {
        for (const { label } of jugs().actions({ three: 0, five: 0 }) as { label: string }[]) {
          const next = (pair: Pair): void => {
            pair.jugs[0] = does(pair.jugs[0]!, label)
            if (spill) pair.jugs[1]!.three = 1
            pair.last = label
          }
          yield { label, next }
        }
      },
      always: { 'each step runs once': () => runs <= 96 || `${runs} runs` },
      sometimes: { poured: ({ last }) => last === 'pour five into three' },
    }
  }

  test('two jugs have as many states and steps as by name', () => {
    const report = check(model(false), { statesMax: 1000 })
    expect(report).toMatchObject({ states: 16, edges: 96, depth: 7, violation: null })
    expect(report.sometimes).toEqual({ poured: true })
  })

  test('an action that changes a cell is caught', () => {
    expect(() => check(model(true), { statesMax: 10 })).toThrow('changed its parent state')
  })
})

describe('settled states', () => {
  test('a loss that nobody mends is found where only the environment could move', () => {
    const report = check(letters(false), { statesMax: 1000 })
    expect(render(report)).toBe(
      [
        'letters: 13 states (until the violation), 16 edges, depth 4',
        '  sometimes the second first: reached',
        'VIOLATED after 4 steps: all are read',
        '  only 1 of 2',
        '     = read [], under way []',
        '  1. post 0',
        '     = read [], under way [0]',
        '  2. post 1',
        '     = read [], under way [0,1]',
        '  3. deliver 0',
        '     = read [0], under way [1]',
        '  4. lose 1',
        '     = read [0], under way []',
      ].join('\n'),
    )
  })

  test('the same wire with letters posted again has no such state', () => {
    const report = check(letters(true), { statesMax: 1000 })
    expect(report).toMatchObject({ complete: true, violation: null })
    expect(report.sometimes).toEqual({ 'the second first': true })
  })
})

describe('bounds', () => {
  test('a bounded run says that it is not complete', () => {
    const report = check(jugs(), { statesMax: 5 })
    expect(report).toMatchObject({ states: 5, complete: false, violation: null })
    expect(render(report)).toContain('5 states (bounded)')
  })

  test('a run that fits its bound exactly is complete', () => {
    expect(check(jugs(), { statesMax: 16 })).toMatchObject({ states: 16, complete: true })
  })

  test.each([0, -1, 1.5, Number.NaN, 50_000_001])('%d states are refused by name', (statesMax) => {
    expect(() => check(jugs(), { statesMax })).toThrow(`statesMax must be an integer from 1 to`)
  })

  test('what `canonical` leaves out does not tell states apart', () => {
    const report = check(jugs({ canonical: ({ five }) => five }), { statesMax: 1000 })
    expect(report.states).toBeLessThan(16)
  })

  test('time is known through the given clock alone', () => {
    let instant = 100
    expect(check(jugs(), { statesMax: 100, now: () => (instant += 7) }).ms).toBe(7)
    expect(check(jugs(), { statesMax: 100 })).not.toHaveProperty('ms')
  })
})
