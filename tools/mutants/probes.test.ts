import { runInThisContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { parse } from '../tidy/source.ts'
import { PROBES } from './marks.ts'
import { constantAt, probed, watching } from './probes.ts'

const FILE = 'packages/holdfast/src/link/a.ts'

/** Which probes a call of `f` sets off. */
function reached(text: string, call: string): number[] {
  const scope = globalThis as unknown as Record<string, Uint8Array | undefined>
  delete scope[PROBES]
  runInThisContext(`{ ${probed(parse(FILE, text), 0)}\n;${call} }`)
  const set = [...scope[PROBES]!.entries()].filter(([, byte]) => byte === 1)
  delete scope[PROBES]
  return set.map(([at]) => at)
}

/** The probes that tell whether a text ran. */
function watches(text: string, wanted: string): number[] {
  const start = text.indexOf(wanted)
  return [...watching([parse(FILE, text)], FILE, { start, end: start + wanted.length })]
}

describe('probes', () => {
  const text = `const MAX = 3
function f(a) {
  if (a > MAX) return 'many'
  else if (a < 0) return 'few'
  for (let i = 0; i < a; i++) g(i)
  switch (a) { case 1: return [1].map((x) => ({ x })); default: return 'some' }
}
function g() {}`

  test('are set off by what runs, and by nothing else', () => {
    const many = watches(text, `'many'`)
    const few = watches(text, `'few'`)
    expect(reached(text, 'f(4)')).toEqual(expect.arrayContaining(many))
    expect(reached(text, 'f(4)')).not.toEqual(expect.arrayContaining(few))
    expect(reached(text, 'f(-1)')).toEqual(expect.arrayContaining(few))
    for (const place of ['g(i)', '[1]', '({ x })']) {
      expect(reached(text, 'f(1)')).toEqual(expect.arrayContaining(watches(text, place)))
      expect(reached(text, 'f(0)')).not.toEqual(expect.arrayContaining(watches(text, place)))
    }
  })
  test('of a constant are those of the statements that name it', () => {
    expect(watches(text, '3')).toEqual(watches(text, 'a > MAX'))
  })
  test('are none where a constant is given its value, which the top of the file names', () => {
    const constant = (wanted: string): string => {
      const start = text.indexOf(wanted)
      return constantAt(parse(FILE, text), { start, end: start + wanted.length })
    }
    expect(['3', 'a > MAX', `'many'`].map(constant)).toEqual(['MAX', '', ''])
  })
  test('of a constant that a parameter has for its default are those of the function (PR-2)', () => {
    const late = `const MAX = 3
const MIN = 1
function create(a = MAX) {
  return a
}
const made = (a = MIN) => [a]
function other() { return create(2) }`
    expect(watches(late, '3')).toEqual(watches(late, 'return a'))
    expect(watches(late, '1')).toEqual(watches(late, '[a]'))
    for (const place of ['3', 'a = MAX']) {
      expect(reached(late, 'create()')).toEqual(expect.arrayContaining(watches(late, place)))
    }
  })
  test('move no line', () => {
    expect(probed(parse(FILE, text), 0).split('\n')).toHaveLength(text.split('\n').length)
  })
})
