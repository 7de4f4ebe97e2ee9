// Goal: an action happens once or not at all, and what it says no to leaves no trace.
import { calmPart } from '../../../../../test/calmly.ts'
import { describe, expect, test } from 'vitest'
import type { PartOut } from '../../kind/protocol/part.ts'
import * as actions from './actions.ts'
import * as timers from './timers.ts'
import { type ActionEvent, type Actions, actionsPart, type Run } from './actions.ts'

const runs = new Map<string, Run>([
  [
    'score',
    (table, args, by) => {
      const { points } = args as { points: number }
      if (points < 0) throw new Error('points are not negative')
      const key = `score.${by.player}`
      table.set(key, ((table.get(key) as number | undefined) ?? 0) + points)
      return table.get(key)
    },
  ],
  [
    'half',
    (table) => {
      table.set('half', true)
      throw new Error('changed my mind')
    },
  ],
  ['in a while', (table, args) => table.later(args as number, { name: 'score' }, { points: 5 })],
  ['keep', (table, args) => table.keep(args as number)],
  ['clear', (table) => table.keys('score.').forEach((key) => table.delete(key))],
  ['flood', (table) => Array.from({ length: 300 }, (_, i) => table.set(`k${i}`, i)).length],
])
const part = calmPart(actionsPart(runs))

function perform(
  state: Actions,
  name: string,
  args: unknown,
): ReturnType<typeof actions.decodeAnswer> {
  const done = part.perform!(state, 0, actions.encodeCall(name, args), 7, 3)
  for (const change of done.changes) part.apply!(state, change)
  return actions.decodeAnswer(done.outcome)
}

function told(state: Actions, messages: Uint8Array[]): ActionEvent[] {
  const events: ActionEvent[] = []
  const out: PartOut<ActionEvent> = { send: () => 0, emit: (event) => void events.push(event) }
  part.view!(
    state,
    0,
    { session: 'a', me: 2, primary: 1, epoch: 1, mesh: false, left: false, members: [] },
    out,
  )
  for (const bytes of messages) part.receive!(state, 0, 1, bytes, out)
  return events
}

describe('actions', () => {
  test('keys and pieces together fit one entry of the log, or it is answered why not (PR-2)', () => {
    const also = (count: number, bytes: number) => () => ({
      api: {},
      done: () => ({ part: 7, changes: Array(count).fill(new Uint8Array(bytes)), news: null }),
      spent: () => null,
    })
    const outcome = (count: number, bytes: number): unknown => {
      const made = actionsPart(runs, [also(count, bytes)])
      const body = actions.encodeCall('score', { points: 1 })
      const done = made.perform!(actions.create(), 0, body, 7, 3)
      return actions.decodeAnswer(done.outcome)
    }
    expect(outcome(255, 100)).toEqual({ ok: true, value: 1 })
    const why = 'the action "score" failed: an action changes 256 keys and pieces: 257'
    expect(outcome(256, 100)).toEqual({ ok: false, why })
    expect(outcome(41, 1_000)).toMatchObject({ ok: false })
    // The key and the value of the score are 11 bytes of 40,960.
    expect(outcome(1, 40_949)).toEqual({ ok: true, value: 1 })
    const tooMuch = 'the action "score" failed: an action changes 40960 bytes: 40961'
    expect(outcome(1, 40_950)).toEqual({ ok: false, why: tooMuch })
  })

  test('T49: an action decides on the primary, and its changes and answer go together', () => {
    const state = actions.create()
    expect(perform(state, 'score', { points: 5 })).toEqual({ ok: true, value: 5 })
    expect(perform(state, 'score', { points: 2 })).toEqual({ ok: true, value: 7 })
    expect(state.committed.get('score.3')).toBe('7')
  })

  test('an action that throws changes nothing and tells why', () => {
    const state = actions.create()
    expect(perform(state, 'score', { points: -1 })).toEqual({
      ok: false,
      why: 'points are not negative',
    })
    expect(perform(state, 'half', null)).toEqual({ ok: false, why: 'changed my mind' })
    expect(perform(state, 'nothing', null)).toMatchObject({ ok: false })
    expect(state.committed.size).toBe(0)
  })

  test('T7: a backup that applies the same changes has the same table', () => {
    const primary = actions.create()
    const backup = actions.create()
    expect(part.restore!(backup, part.snapshot!(primary))).toBe(true)
    for (const points of [1, 2, 3]) {
      const done = part.perform!(primary, 0, actions.encodeCall('score', { points }), 7, 3)
      for (const change of done.changes) {
        part.apply!(primary, change)
        part.apply!(backup, change)
      }
    }
    expect(backup.committed).toEqual(primary.committed)
    perform(primary, 'clear', null)
    expect(part.restore!(backup, part.snapshot!(primary))).toBe(true)
    expect(backup.committed.size).toBe(0)
  })

  test('a member sees what it was told, by the primary alone', () => {
    const primary = actions.create()
    perform(primary, 'score', { points: 4 })
    const member = actions.create()
    expect(told(member, part.welcome!(primary))).toEqual([{ kind: 'table', keys: ['score.3'] }])
    expect(actions.read(member, 'score.3')).toBe(4)
    const out: PartOut = { send: () => 0, emit: () => {} }
    part.receive!(member, 0, 9, part.welcome!(actions.create())[0]!, out)
    expect(actions.keys(member, 'score')).toEqual(['score.3'])
  })

  test('a member hears of the game’s own rows alone, and of an empty table once (PR-2)', () => {
    const primary = actions.create()
    told(primary, [])
    part.clock!(primary, 1_000)
    const later = part.perform!(primary, 0, actions.encodeCall('in a while', 500), 7, 3)
    const member = actions.create()
    expect(told(member, part.welcome!(primary))).toEqual([{ kind: 'table', keys: [] }])
    expect(later.news).not.toBeNull()
    expect(told(member, [later.news!])).toEqual([])
    expect(actions.keys(member, '')).toEqual([])
  })

  test('a table that is longer than one message arrives whole', () => {
    const primary = actions.create()
    for (let i = 0; i < 2_000; i++)
      primary.committed.set(`key.${i}`, JSON.stringify('x'.repeat(40)))
    const messages = part.welcome!(primary)
    expect(messages.length).toBeGreaterThan(1)
    for (const bytes of messages) expect(bytes.length).toBeLessThan(64 * 1024)
    const member = actions.create()
    told(member, messages)
    expect(member.published).toEqual(primary.committed)
  })

  test('limits are named with their values', () => {
    const state = actions.create()
    expect(perform(state, 'flood', null)).toMatchObject({
      ok: false,
      why: expect.stringMatching(/256 keys.*300/) as string,
    })
  })

  test('an action changes 32,768 bytes by the estimate of the standard, and no byte more (PR-2)', () => {
    const made = actionsPart(
      new Map<string, Run>([
        [
          'write',
          (table, args) => {
            // With its quotes and its key of two letters each is 2,728 units of text.
            for (const key of ['k0', 'k1', 'k2']) table.set(key, 'x'.repeat(2_724))
            table.set('k3', 'x'.repeat(args as number))
            return true
          },
        ],
      ]),
    )
    const answer = (length: number): unknown => {
      const done = made.perform!(actions.create(), 0, actions.encodeCall('write', length), 7, 3)
      return actions.decodeAnswer(done.outcome)
    }
    expect(answer(2_724)).toEqual({ ok: true, value: true })
    expect(answer(2_725)).toEqual({
      ok: false,
      why: 'the action "write" failed: an action changes 32768 bytes at most: 32771',
    })
  })

  test('arguments and an answer have 8 KB each as JSON, and no byte more (PR-2)', () => {
    // With its quotes.
    const longest = 'x'.repeat(8_190)
    const made = actionsPart(
      new Map<string, Run>([
        ['echo', (_table, args) => args],
        ['more', () => `${longest}x`],
      ]),
    )
    const answer = (name: string, args: unknown): unknown => {
      const done = made.perform!(actions.create(), 0, actions.encodeCall(name, args), 7, 3)
      return actions.decodeAnswer(done.outcome)
    }
    expect(answer('echo', longest)).toEqual({ ok: true, value: longest })
    const why = 'the action "more" failed: what it gives has at most 8192 bytes as JSON: 8193'
    expect(answer('more', null)).toEqual({ ok: false, why })
    expect(() => answer('echo', `${longest}x`)).toThrow('8192 bytes as JSON: 8193')
  })

  test('in another session the table of the one before is gone, and the game hears so (PR-2)', () => {
    const primary = actions.create()
    perform(primary, 'score', { points: 4 })
    const member = actions.create()
    told(member, part.welcome!(primary))
    const events: unknown[] = []
    part.reset!(member, { send: () => 0, emit: (event) => void events.push(event) })
    expect([actions.keys(member), actions.read(member, 'score.3')]).toEqual([[], undefined])
    expect(events).toEqual([{ kind: 'table', keys: ['score.3'] }])
  })

  test('hostile news and answers are ignored', () => {
    const member = actions.create()
    const junk = [
      Uint8Array.of(),
      Uint8Array.of(1, 255, 255),
      Uint8Array.of(2, 1, 1, 97, 1, 1, 123),
    ]
    expect(told(member, junk)).toEqual([])
    for (const bytes of junk) expect(actions.decodeAnswer(bytes)).toBeNull()
  })

  test('a timer is run for who serves alone, and once', () => {
    const state = actions.create()
    told(state, [])
    part.clock!(state, 1_000)
    expect(perform(state, 'in a while', 50)).toEqual({ ok: true, value: 1 })
    const fire = (by: number): [changes: number, answer: unknown] => {
      const done = part.perform!(state, 60, actions.encodeFire(1), by, 3)
      for (const change of done.changes) part.apply!(state, change)
      return [done.changes.length, actions.decodeAnswer(done.outcome)]
    }
    const refused = { ok: false, why: 'timers are run by who serves alone' }
    for (const by of [2, 7, 0]) expect(fire(by)).toEqual([0, refused])
    // Its row goes, and what it wrote comes; the second time there is nothing to do.
    expect(fire(1)).toEqual([2, { ok: true, value: 5 }])
    expect(state.committed.get('score.0')).toBe('5')
    expect(fire(1)).toEqual([0, { ok: true, value: null }])
  })

  test('a timer that took the number of one that was lost does not run before it is due', () => {
    const state = actions.create()
    told(state, [])
    part.clock!(state, 1_000)
    // Its primary asked for the timer with that number, and then lost the log and made another one.
    expect(perform(state, 'in a while', 500)).toEqual({ ok: true, value: 1 })
    const { due } = timers.find(state.committed, 1)!
    const changesAt = (time: number): number =>
      part.perform!(state, time - 1_000, actions.encodeFire(1), 1, 3).changes.length
    expect([changesAt(due - 1), changesAt(due)]).toEqual([0, 2])
  })

  test('a timer of an action that there is no more says so, and does not come again (PR-2)', () => {
    const state = actions.create()
    told(state, [])
    part.clock!(state, 1_000)
    expect(perform(state, 'in a while', 50)).toEqual({ ok: true, value: 1 })
    const other = actionsPart(new Map())
    const answers = [60, 61].map((now) => {
      const { outcome, changes } = other.perform!(state, now, actions.encodeFire(1), 1, 3)
      for (const change of changes) other.apply!(state, change)
      return actions.decodeAnswer(outcome)
    })
    const none = { ok: false, why: 'no action is called score' }
    expect(answers).toEqual([none, { ok: true, value: null }])
  })

  test('timers and players that are kept have no room of their own in a full table', () => {
    const state = actions.create()
    told(state, [])
    part.clock!(state, 0)
    for (let i = 0; i < actions.KEYS_MAX; i++) state.committed.set(`key ${i}`, '1')
    const full = (name: string): unknown => {
      const why = `${actions.failureOf(name)}the table holds ${actions.KEYS_MAX} keys at most`
      return { ok: false, why }
    }
    expect(perform(state, 'in a while', 50)).toEqual(full('in a while'))
    expect(perform(state, 'keep', 3)).toEqual(full('keep'))
    // Whoever stands by is given all of it.
    const there = actions.create()
    expect(part.restore!(there, part.snapshot!(state))).toBe(true)
    expect(there.committed.size).toBe(actions.KEYS_MAX)
  })

  test('a timer is due at the very instant of its deadline, however session time is rounded', () => {
    const due = 73_242
    const row = new Map([[timers.keyOf(1), `[${due},"add",null]`]])
    for (const offset of [-257_393.90949093076, 0.1, 1e9 + 0.7, -1e12 / 3]) {
      const known = { ...timers.create(), offset }
      timers.reset(known, row)
      const at = timers.deadline(known)
      expect(timers.takeDue(known, at)).toEqual([1])
      expect(at + offset).toBeGreaterThanOrEqual(due)
      expect(timers.deadline(known)).toBeGreaterThan(at)
    }
  })

  test('timers fall in the order of their times, and then of their numbers (PR-2)', () => {
    const rows = [
      [3, 10],
      [1, 30],
      [2, 10],
    ].map(([id, due]) => [timers.keyOf(id!), `[${due},"add",null]`] as const)
    const known = { ...timers.create(), offset: 0 }
    timers.reset(known, new Map(rows))
    expect(timers.takeDue(known, 9)).toEqual([])
    expect(timers.takeDue(known, 30)).toEqual([2, 3, 1])
    // What was asked for is not asked for again at once.
    expect([30, 279, 280].map((now) => timers.takeDue(known, now))).toEqual([[], [], [2, 3, 1]])
  })

  test('who is in no session runs no timers, whatever the table says (PR-2)', () => {
    const state = actions.create()
    part.clock!(state, 0)
    timers.onRow(state.timers, timers.keyOf(1), '[5,"score",null]')
    const events: unknown[] = []
    const wake = (): void =>
      part.wake!(state, 10, { send: () => 0, emit: (event) => void events.push(event) })
    wake()
    expect([part.deadline!(state), events]).toEqual([Infinity, []])
    Object.assign(state, { me: 1, primary: 1 })
    expect(part.deadline!(state)).toBeLessThan(6)
    wake()
    expect(events).toEqual([{ kind: 'timers', ids: [1] }])
  })

  test('a table of timers that are none is taken as it is, and harms nobody', () => {
    for (const value of [
      '',
      'nonsense',
      '7',
      '[]',
      '["soon","score",null]',
      '[5,7,null]',
      'null',
    ]) {
      const there = actions.create()
      part.clock!(there, 0)
      const theirs = actions.create()
      theirs.committed.set('\0later 1', value)
      expect(part.restore!(there, part.snapshot!(theirs))).toBe(true)
      expect(part.deadline!(there)).toBe(Infinity)
      const done = part.perform!(there, 60, actions.encodeFire(1), 0, 0)
      expect(done.changes).toEqual([])
    }
  })
})

describe('a table', () => {
  const own = new Map<string, Run>([
    ['add', (table, args) => (args as string[]).map((key) => table.set(key, 1)).length],
    [
      'swap',
      (table) => {
        table.delete('a.1')
        table.set('a.3', 1)
        return table.keys('a.')
      },
    ],
    [
      'lose',
      (table, key) => {
        table.delete(key as string)
        return table.get(key as string) === undefined
      },
    ],
  ])
  const tables = calmPart(actionsPart(own))

  function perform(state: Actions, name: string, args: unknown): unknown {
    const done = tables.perform!(state, 0, actions.encodeCall(name, args), 7, 3)
    for (const change of done.changes) tables.apply!(state, change)
    return actions.decodeAnswer(done.outcome)
  }

  test('is full by what one action adds, too, and that action leaves nothing (PR-2)', () => {
    const state = actions.create()
    for (let i = 0; i < actions.KEYS_MAX - 2; i++) state.committed.set(`key ${i}`, '1')
    const why = `${actions.failureOf('add')}the table holds ${actions.KEYS_MAX} keys at most`
    expect(perform(state, 'add', ['x', 'y', 'z'])).toEqual({ ok: false, why })
    expect(state.committed.size).toBe(actions.KEYS_MAX - 2)
    expect(perform(state, 'add', ['x', 'y'])).toMatchObject({ ok: true })
    expect(perform(state, 'add', ['z'])).toEqual({ ok: false, why })
    expect(perform(state, 'add', ['x'])).toMatchObject({ ok: true })
  })
  test('names what an action has written so far, and not what it has deleted (PR-2)', () => {
    const state = actions.create()
    perform(state, 'add', ['a.1', 'a.2', 'b.1'])
    expect(perform(state, 'swap', null)).toEqual({ ok: true, value: ['a.2', 'a.3'] })
  })
  test('has no value for a key that the same action deleted (PR-2)', () => {
    const state = actions.create()
    perform(state, 'add', ['a.1', 'a.2'])
    expect(perform(state, 'lose', 'a.1')).toEqual({ ok: true, value: true })
    expect(perform(state, 'lose', 'never.there')).toEqual({ ok: true, value: true })
  })
  test('takes no key from a game that is none, also to delete it (PR-2)', () => {
    const made = actionsPart(
      new Map<string, Run>([['drop', (table, args) => table.delete(args as string)]]),
    )
    const answer = (key: unknown): unknown => {
      const state = actions.create()
      state.committed.set('\0later 1', '[5,"add",null]')
      const done = made.perform!(state, 0, actions.encodeCall('drop', key), 7, 3)
      expect(done.changes.length).toBe(key === 'a' ? 1 : 0)
      return actions.decodeAnswer(done.outcome)
    }
    expect(answer('a')).toMatchObject({ ok: true })
    const why = 'a key of the table does not begin with NUL'
    expect(answer('\0later 1')).toEqual({ ok: false, why: expect.stringContaining(why) })
    expect(answer(5)).toEqual({
      ok: false,
      why: 'the action "drop" failed: a key of the table is text: number',
    })
  })
  test('is restored from a whole table alone, and is as it was after anything else (PR-2)', () => {
    const state = actions.create()
    perform(state, 'add', ['a.1'])
    const { news } = tables.perform!(state, 0, actions.encodeCall('add', ['a.2']), 7, 3)
    for (const bytes of [news!, Uint8Array.of()]) {
      const restored = (): boolean => tables.restore!(state, bytes)
      expect(restored).not.toThrow()
      expect(restored()).toBe(false)
    }
    expect([...state.committed.keys()]).toEqual(['a.1'])
  })
  test('that is told anew takes the place of the one before: what was deleted is gone (PR-2)', () => {
    const [before, after] = [actions.create(), actions.create()]
    perform(before, 'add', ['a.1', 'a.2'])
    perform(after, 'add', ['a.2'])
    const member = actions.create()
    told(member, tables.welcome!(before))
    const events = told(member, tables.welcome!(after))
    expect(actions.keys(member, 'a.')).toEqual(['a.2'])
    expect(events).toEqual([{ kind: 'table', keys: ['a.2', 'a.1'] }])
  })
})
