// Goal: timers, kept players and rows of a table at their bounds: the largest is taken, the next is
// refused by name, limit and value, and nothing of it is written.
// Method: the verbs on rows in a map.
import { describe, expect, test } from 'vitest'
import * as actions from './actions.ts'
import * as keeping from './reserved-rows.ts'
import type { Rows } from './reserved-rows.ts'
import * as timers from './timers.ts'

const DAY = 24 * 60 * 60 * 1_000

/** Rows of a table in memory. */
function rowsOf(): Rows & { readonly all: Map<string, string | null> } {
  const all = new Map<string, string | null>()
  return {
    all,
    names: () => [...all.keys()],
    current: (key) => all.get(key),
    write: (key, value) => void all.set(key, value),
  }
}

describe('timers', () => {
  function settingOf(now = 1_000) {
    const knows = (name: string): boolean => name === 'ring'
    return { rows: rowsOf(), now, bytesMax: 60, knows }
  }
  test('go off after 0 ms to 30 days (PR-2)', () => {
    const setting = settingOf()
    expect([timers.set(setting, 0, 'ring', 1), timers.set(setting, 30 * DAY, 'ring', 2)]).toEqual([
      1, 2,
    ])
    const kept = setting.rows.all as Map<string, string>
    expect(timers.find(kept, 1)).toEqual({ due: 1_000, name: 'ring', args: 1 })
    expect(timers.find(kept, 2)).toEqual({ due: 1_000 + 30 * DAY, name: 'ring', args: 2 })
    expect(timers.find(kept, 3)).toBeNull()
    for (const ms of [-1, 30 * DAY + 1, NaN, '5', null]) {
      expect(() => timers.set(setting, ms, 'ring', 1)).toThrow('a timer takes 0 to 2592000000 ms')
    }
  })
  test('run what was given to join, at a time that is known, in a row that fits (PR-2)', () => {
    for (const name of ['other', 7, null]) {
      expect(() => timers.set(settingOf(), 1, name, 1)).toThrow('a timer runs an action that was')
    }
    expect(() => timers.set(settingOf(NaN), 1, 'ring', 1)).toThrow('is not known yet')
    // [1001,"ring","…"] is 16 bytes beside its text.
    const setting = settingOf()
    expect(timers.set(setting, 1, 'ring', 'x'.repeat(44))).toBe(1)
    expect(() => timers.set(setting, 1, 'ring', 'x'.repeat(45))).toThrow('60 bytes: 61')
    expect(timers.set(setting, 1, 'ring', 'x')).toBe(2)
  })
  test('are a thousand at most, and are there once until they are cancelled (PR-2)', () => {
    const setting = settingOf()
    for (let count = 0; count < 1_000; count++) timers.set(setting, 5, 'ring', null)
    expect(() => timers.set(setting, 5, 'ring', null)).toThrow('1000 timers wait at most: 1000')
    for (const id of ['7', 0, 1_001]) expect(timers.cancel(setting, id)).toBe(false)
    expect([timers.cancel(setting, 7), timers.cancel(setting, 7)]).toEqual([true, false])
    expect(timers.set(setting, 5, 'ring', null)).toBe(1_001)
  })
  test('fall in the order of their times, sixteen at once, from their instant on (PR-2)', () => {
    const clock = timers.create()
    const row = (due: number): string => `[${due},"ring",null]`
    const kept = new Map([['score', '1']])
    for (let id = 1; id <= 20; id++) kept.set(timers.keyOf(id), row(2_000 + (20 - id)))
    timers.reset(clock, kept)
    expect([clock.due.size, timers.deadline(clock)]).toEqual([20, Infinity])
    clock.offset = 500
    expect(timers.takeDue(clock, 1_499)).toEqual([])
    expect(timers.takeDue(clock, 1_500)).toEqual([20])
    timers.onRow(clock, timers.keyOf(20), null)
    timers.onRow(clock, 'score', '[1,"ring",null]')
    expect([clock.due.size, clock.first]).toEqual([19, 2_001])
    expect(timers.takeDue(clock, 9_000)).toEqual(Array.from({ length: 16 }, (_, at) => 19 - at))
    // What was asked for is asked for again only after a while, or when a timer was written.
    expect(timers.takeDue(clock, 9_000)).toEqual([])
    timers.onRow(clock, timers.keyOf(21), row(1))
    expect(timers.takeDue(clock, 9_000)[0]).toBe(21)
    timers.reset(clock, new Map())
    expect([clock.due.size, clock.first]).toEqual([0, Infinity])
  })
})

describe('kept players', () => {
  test('are named by their numbers, from 1 (PR-2)', () => {
    const rows = rowsOf()
    for (const player of [0, -1, 1.5, NaN, '1', null]) {
      expect(() => keeping.keep(rows, player, true)).toThrow('a table keeps players, by their num')
    }
    keeping.keep(rows, 1, true)
    expect(keeping.all(rows)).toEqual([1])
  })
  test('are 256 at most; who is kept twice is kept once, and is free again (PR-2)', () => {
    const rows = rowsOf()
    for (let player = 256; player >= 1; player--) keeping.keep(rows, player, true)
    keeping.keep(rows, 7, true)
    expect(keeping.all(rows)).toHaveLength(256)
    expect(keeping.all(rows).slice(0, 3)).toEqual([1, 2, 3])
    expect(() => keeping.keep(rows, 300, true)).toThrow('a table keeps 256 players at most: 256')
    keeping.keep(rows, 300, false)
    keeping.keep(rows, 7, false)
    expect(rows.all.has('\0keep 300')).toBe(false)
    keeping.keep(rows, 300, true)
    expect(keeping.all(rows).at(-1)).toBe(300)
  })
})

describe('rows of a table', () => {
  function written(key: unknown, value: unknown): unknown {
    const runs = new Map([['set', (table: actions.Table) => table.set(key as string, value as 1)]])
    const part = actions.actionsPart(runs)
    const done = part.perform!(actions.create(), 0, actions.encodeCall('set', null), 7, 3)
    const answer = actions.decodeAnswer(done.outcome)
    return answer && 'why' in answer ? answer.why : done.changes.length
  }
  test('have a key of 128 bytes at most, and a value of 4,096 (PR-2)', () => {
    expect(written('é'.repeat(64), 1)).toBe(1)
    expect(written(`${'é'.repeat(64)}a`, 1)).toMatch(/128.*129/)
    expect(written('k', 'x'.repeat(4_094))).toBe(1)
    expect(written('k', 'x'.repeat(4_095))).toMatch(/4096.*4097/)
  })
  test.each([null, true, '', 0, -1.5])('have a value like %j (PR-2)', (value) => {
    expect(written('k', value)).toBe(1)
  })
  test.each([
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [{}, 'an object'],
    [[], 'an object'],
  ])('have no value like %j, which is named (PR-2)', (value, found) => {
    const takes = 'the table takes text, finite numbers, true, false and null'
    expect(written('k', value)).toBe(
      `${actions.failureOf('set')}${takes}, at "k" it was given ${found}`,
    )
  })
})
