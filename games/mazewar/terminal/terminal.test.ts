// Goal: a terminal shows what it should, with few words, and reads keys as terminals send them.
// Method: a small terminal of our own plays back what is written, and must show the same.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Controller } from '../controller.ts'
import { Practice } from '../practice.ts'
import { createDots, dot, line, show } from './dots.ts'
import { createBuffer, type TerminalBuffer, isPlain, put, update, write } from './buffer.ts'
import { counts, read, type Repeats } from './keys.ts'
import { COLUMNS_MIN, layOut, LINES_MIN } from './layout.ts'

/** Plays what was written on a screen that shows something already. */
function playBack(shown: string[][], words: string): string[][] {
  const screen = shown.map((row) => [...row])
  let [x, y] = [0, 0]
  // oxlint-disable-next-line no-control-regex
  for (const [all, given, verb] of words.matchAll(/\u001b\[([?0-9;]*)([A-Za-z])|[^\u001b]/gu)) {
    if (verb === 'H')
      [y, x] = given!.split(';').map((number) => Number(number) - 1) as [number, number]
    else if (verb === undefined) screen[y]![x++] = all
  }
  return screen
}

function rowsOf({ columns, lines, signs }: TerminalBuffer): string[][] {
  return Array.from({ length: lines }, (_, y) => signs.slice(y * columns, (y + 1) * columns))
}

describe('the buffer', () => {
  const cell = fc.tuple(fc.nat(19), fc.nat(5), fc.constantFrom('a', 'b', '●', ' '), fc.nat(3))
  test('what changed is written, and the screen is then as it should be', () => {
    fc.assert(
      fc.property(fc.array(cell), fc.array(cell), (first, then) => {
        const one = createBuffer(20, 6, 1)
        const other = createBuffer(20, 6, 1)
        for (const [x, y, sign, ink] of first) put(one, x, y, sign, ink)
        for (const [x, y, sign, ink] of then) put(other, x, y, sign, ink)
        const screen = playBack(rowsOf(createBuffer(20, 6, 0)), update(null, one))
        expect(screen).toEqual(rowsOf(one))
        expect(playBack(screen, update(one, other))).toEqual(rowsOf(other))
      }),
    )
  })
  test('nothing is written where nothing changed, and little where little did', () => {
    const one = createBuffer(80, 24, 1)
    const other = createBuffer(80, 24, 1)
    expect(update(one, other)).toBe('')
    put(other, 5, 5, 'x', 2)
    expect(update(one, other).length).toBeLessThan(80)
  })
  test('a name cannot speak to the terminal, nor shift what is beside it', () => {
    const buffer = createBuffer(20, 1, 0)
    write(buffer, 0, 0, 'a\u001b[2Jb\u0007\u202e漢', 1)
    expect(buffer.signs.slice(0, 9).join('')).toBe('a?[2Jb???')
    for (const sign of ['\u001b', '\u009b', '\u0000', '\u00ad', '\u0301', '漢', '🙂']) {
      expect(isPlain(sign)).toBe(false)
    }
    for (const sign of ['a', 'é', 'Ж', '●', '▀', '↑']) expect(isPlain(sign)).toBe(true)
  })
})

describe('dots', () => {
  const area = { left: 0, top: 0, columns: 4, lines: 2 }
  test('each of the eight dots of a cell has its own bit', () => {
    const dots = createDots(area)
    for (let x = 0; x < 2; x++) for (let y = 0; y < 4; y++) dot(dots, x, y, 1)
    const buffer = createBuffer(4, 2, 0)
    show(dots, buffer, () => 7)
    expect(buffer.signs[0]).toBe('⣿')
  })
  test('a line that ends far beside the area is drawn where it is inside', () => {
    const dots = createDots(area)
    line(dots, [-1e7, 1], [1e7, 1], 0.5)
    line(dots, [0, -50], [-50, 0], 1)
    const buffer = createBuffer(4, 2, 0)
    show(dots, buffer, () => 7)
    expect(buffer.signs.join('')).toBe('⠒⠒⠒⠒    ')
  })
})

describe('keys', () => {
  test('arrows, letters and chords, as one gust or one by one', () => {
    const wishes = read('\u001b[A\u001bODw D\u001b[C').map((key) => 'wish' in key && key.wish)
    expect(wishes).toEqual(['ahead', 'left', 'ahead', 'fire', 'right', 'right'])
    expect(read('\u0003').map(({ kind }) => kind)).toEqual(['leave'])
    expect(read('\u001b[200~zzz\u001b[15~')).toEqual([])
  })
  test('a held key turns twice a second, and steps as often as it comes', () => {
    const repeats: Repeats = new Map()
    const times = Array.from({ length: 30 }, (_, i) => i * 33)
    expect(times.filter((now) => counts(repeats, 'left', now))).toHaveLength(3)
    expect(times.filter((now) => counts(repeats, 'ahead', now))).toHaveLength(30)
    // Struck, not held.
    expect([2000, 2150, 2300].filter((now) => counts(repeats, 'left', now))).toHaveLength(3)
  })
})

describe('the screen', () => {
  const controller = new Controller(new Practice({ name: 'Ada', bots: 3, seed: 2, now: 0 }))
  const standing = { title: 'MAZEWAR', words: 'three bots', help: false }
  test('at any size there is a picture, or the word that it is too small', () => {
    for (const columns of [1, 20, 59, 60, 80, 119, 120, 200, 400]) {
      for (const lines of [1, 10, 17, 18, 24, 60]) {
        const buffer = layOut(columns, lines, controller, standing, 0)
        expect(buffer.signs).toHaveLength(columns * lines)
        const text = buffer.signs.join('')
        const large = columns >= COLUMNS_MIN && lines >= LINES_MIN
        expect(text.includes('0 points')).toBe(large)
        if (large) expect(text).toContain('Ada (you)')
      }
    }
  })
  test('a small one says what it needs, in whole words that fit (SL-8)', () => {
    for (const [columns, lines] of [
      [59, 17],
      [40, 24],
      [20, 10],
      [12, 12],
    ] as const) {
      const { signs } = layOut(columns, lines, controller, standing, 0)
      const rows = Array.from({ length: lines }, (_, y) =>
        signs
          .slice(y * columns, (y + 1) * columns)
          .join('')
          .trimEnd(),
      )
      const said = rows.filter(Boolean).join(' ')
      expect(said).toBe(
        `The maze needs 60x18, this window has ${columns}x${lines}: make it larger.`,
      )
    }
    expect(layOut(7, 2, controller, standing, 0).signs.join('')).toContain('60x18')
  })
  test("one's own row is there, whatever one's place is (SL-8)", () => {
    const many = new Practice({ name: 'Ada', bots: 40, seed: 2, now: 0 })
    const last = new Controller(many)
    for (const lines of [18, 24, 40]) {
      expect(layOut(80, lines, last, standing, 0).signs.join('')).toContain('Ada (you)')
    }
  })
  test('help lies over the view', () => {
    const buffer = layOut(100, 30, controller, { ...standing, help: true }, 0)
    expect(buffer.signs.join('')).toContain('HOW IT IS PLAYED')
  })
})
