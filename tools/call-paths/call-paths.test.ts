// Goal: what the script says of stacks is so, and a module too many is seen.
// Method: stacks as text, with and without a planted module; functions of this file.
import { describe, expect, test } from 'vitest'
import { isForward, longChains } from './forwards.ts'
import { complaints, entered, type Frame, framesHere, framesOf, modulesOf } from './stacks.ts'
import { rowsOf } from './text.ts'

function stack(...modules: string[]): { at: string; frames: Frame[] } {
  const lines = modules.map(
    (module, i) => `    at Thing.run (file:///h/packages/holdfast/src/${module}/a.ts:${i + 1}:2)`,
  )
  return { at: 'here', frames: framesOf(['Error: x', ...lines.toReversed()].join('\n')) }
}

const LIMIT = { most: 3, again: ['member'] }

describe('a stack', () => {
  test('is read outermost first, and calls within a module are one entry', () => {
    const seen = stack('drivers', 'runtime', 'runtime', 'member')
    expect(modulesOf(seen)).toEqual(['drivers', 'runtime', 'member'])
    expect(entered([seen, stack('runtime', 'join')])).toHaveLength(4)
  })
  test('has no frame of what waits for a promise, of Node, or of what is in no module', () => {
    const stack = [
      'at async join (/h/packages/holdfast/src/join/join.ts:1:1)',
      'at new Live (/h/build/packages/holdfast/src/join/live.js?v=3:2:5)',
      'at /h/packages/holdfast/src/link/link.ts:3:1',
      'at rulesOf (/h/packages/holdfast/src/machine.ts:4:1)',
      'at Socket.emit (node:events:519:28)',
    ].join('\n    ')
    expect(framesOf(stack).map(({ module, line }) => [module, line])).toEqual([
      ['link', 3],
      ['join', 2],
    ])
  })
})

describe('a path is complained of', () => {
  test('not where it keeps its limit and the text says why', () => {
    const seen = [stack('drivers', 'member', 'link', 'member')]
    expect(complaints('it', seen, LIMIT)).toEqual([])
  })
  test('where a module is planted', () => {
    const seen = [stack('drivers', 'member', 'link', 'member'), stack('drivers', 'faults')]
    expect(complaints('it', seen, LIMIT)).toEqual([
      'it enters 4 modules, at most 3: drivers, member, link, faults',
    ])
  })
  test('where a module is entered again, and no text says why', () => {
    expect(complaints('it', [stack('runtime', 'join', 'runtime')], LIMIT)).toEqual([
      'it enters runtime again, and the text does not say why',
    ])
  })
})

describe('a function that only forwards', () => {
  const deep = (run: () => Frame): Frame => run()
  const passing = (run: () => Frame): Frame => {
    return deep(run)
  }
  const working = (run: () => Frame): Frame => deep(() => ({ ...run(), module: 'runtime' }))
  /** The call of this file that is so far out. */
  function here(out: number): Frame {
    const line = new Error('here').stack!.split('\n')[out + 2]!
    const [, file, row, column] = /((?:\/[^/():]+)+):(\d+):(\d+)/.exec(line)!
    return { module: 'link', file: file!, line: Number(row), column: Number(column) }
  }

  test('is one whose body is a call with what it was given', () => {
    expect(isForward(passing(() => here(1)))).toBe(true)
    expect(isForward(passing(() => here(2)))).toBe(true)
    expect(isForward(working(() => here(3)))).toBe(false)
  })
  test('may stand behind one more, not behind two', () => {
    const one = passing(() => here(1))
    const chain = (length: number): string[] =>
      longChains('it', [{ at: 'here', frames: Array.from({ length }, () => one) }])
    expect(chain(2)).toEqual([])
    expect(chain(3)).toHaveLength(1)
  })
})

test('the table of the text is read by its paths', () => {
  const text = '| an `act` | 8 | a, b | b | for so it is |\n| a letter | 2 | a | | |\n| a | 1 | 2 |'
  const rows = rowsOf(text)
  expect([...rows.keys()]).toEqual(['act', 'letter'])
  expect(rows.get('act')).toEqual({
    most: 8,
    modules: ['a', 'b'],
    again: ['b'],
    why: 'for so it is',
  })
  expect(rows.get('letter')!.why).toBe('')
})

test('who takes its own stack gets the modules that it is in, and no more', () => {
  expect(framesHere()).toEqual([])
})
