// Goal: what the script says of stacks is so, and a room too many is seen.
// Method: stacks as text, with and without a planted room; functions of this file.
import { describe, expect, test } from 'vitest'
import { isForward, longChains } from './forwards.ts'
import { complaints, entered, type Frame, framesHere, framesOf, roomsOf } from './stacks.ts'
import { rowsOf } from './text.ts'

function sight(...rooms: string[]): { at: string; frames: Frame[] } {
  const lines = rooms.map(
    (room, i) => `    at Thing.run (file:///h/packages/holdfast/src/${room}/a.ts:${i + 1}:2)`,
  )
  return { at: 'here', frames: framesOf(['Error: x', ...lines.toReversed()].join('\n')) }
}

const LIMIT = { most: 3, again: ['member'] }

describe('a stack', () => {
  test('is read outermost first, and calls within a room are one entry', () => {
    const seen = sight('drivers', 'runtime', 'runtime', 'member')
    expect(roomsOf(seen)).toEqual(['drivers', 'runtime', 'member'])
    expect(entered([seen, sight('runtime', 'join')])).toHaveLength(4)
  })
  test('has no frame of what waits for a promise, of Node, or of what is in no room', () => {
    const stack = [
      'at async join (/h/packages/holdfast/src/join/join.ts:1:1)',
      'at new Live (/h/build/packages/holdfast/src/join/live.js?v=3:2:5)',
      'at /h/packages/holdfast/src/link/link.ts:3:1',
      'at rulesOf (/h/packages/holdfast/src/machine.ts:4:1)',
      'at Socket.emit (node:events:519:28)',
    ].join('\n    ')
    expect(framesOf(stack).map(({ room, line }) => [room, line])).toEqual([
      ['link', 3],
      ['join', 2],
    ])
  })
})

describe('a path is complained of', () => {
  test('not where it keeps its limit and the text says why', () => {
    const seen = [sight('drivers', 'member', 'link', 'member')]
    expect(complaints('it', seen, LIMIT)).toEqual([])
  })
  test('where a room is planted', () => {
    const seen = [sight('drivers', 'member', 'link', 'member'), sight('drivers', 'faults')]
    expect(complaints('it', seen, LIMIT)).toEqual([
      'it enters 4 rooms, at most 3: drivers, member, link, faults',
    ])
  })
  test('where a room is entered again, and no text says why', () => {
    expect(complaints('it', [sight('runtime', 'join', 'runtime')], LIMIT)).toEqual([
      'it enters runtime again, and the text does not say why',
    ])
  })
})

describe('a function that only forwards', () => {
  const deep = (run: () => Frame): Frame => run()
  const passing = (run: () => Frame): Frame => {
    return deep(run)
  }
  const working = (run: () => Frame): Frame => deep(() => ({ ...run(), room: 'runtime' }))
  /** The call of this file that is so far out. */
  function here(out: number): Frame {
    const line = new Error('here').stack!.split('\n')[out + 2]!
    const [, file, row, column] = /((?:\/[^/():]+)+):(\d+):(\d+)/.exec(line)!
    return { room: 'link', file: file!, line: Number(row), column: Number(column) }
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
  expect(rows.get('act')).toEqual({ most: 8, rooms: ['a', 'b'], again: ['b'], why: 'for so it is' })
  expect(rows.get('letter')!.why).toBe('')
})

test('who takes its own stack gets the rooms that it is in, and no more', () => {
  expect(framesHere()).toEqual([])
})
