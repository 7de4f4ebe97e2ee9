// Goal: what the primary decides of updates, and what a player is shown meanwhile.
// Method: a primary and members in one process; each hears what it is told at once, or not.
import { describe, expect, test } from 'vitest'
import { bool, piece, reject, secret, text, u8 } from '../../packages/holdfast/src/index.ts'
import { encodeTable, readBody } from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import {
  draft,
  type PieceTypes,
  REFUSED_MAX,
  removePending,
  shown,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { act, ask, follow, hear, room, type Seat, welcome } from './room.ts'

const Card = piece(
  'card',
  {
    mark: u8,
    open: bool,
    face: secret(u8, (card, who) => card['open'] === true || card.heldBy === who),
  },
  {
    rules: {
      update: (_card, patch) => {
        if (patch.mark === 200) return reject(`${'\u{1f0a1}'.repeat(90)}!`)
        if (patch.mark === 201) throw new Error('é'.repeat(300))
        return patch
      },
    },
  },
)
const types: PieceTypes = [Card.rules]
// Nothing of it is secret, so a grab of it is recorded as it was made.
const Chip = piece(
  'chip',
  { mark: u8 },
  { rules: { update: (_chip, patch) => (patch.mark === 200 ? reject('no such chip') : patch) } },
)
const chips: PieceTypes = [Chip.rules]
const mark = (value: number) => ({ mask: 1, fields: [value] })

describe('what becomes of an update', () => {
  test('O6, O7: each gives complete values, and one state of each piece is kept', () => {
    const all = room(types, 2, 3)
    const [ada, bob] = all.seats as [Seat, Seat]
    const size = (): number => all.part.snapshot!(all.primary.state).length
    act(all, ada, 1, mark(1))
    const before = size()
    for (let i = 0; i < 500; i++) act(all, i % 2 ? ada : bob, 1 + (i % 3), mark(i % 100))
    expect(all.primary.state.committed.rows.size).toBe(3)
    expect(size() - before).toBeLessThan(30)
    const last = ask(all, ada, 2, mark(42))
    hear(all, ada, last)
    // The same bytes once more say the same again: nothing in them is a difference.
    hear(all, ada, last)
    expect(shown(bob.state, types, 2)!.fields[0]).toBe(42)
  })

  test('O28, O29: each has a number of its player, noted for its piece until it is answered', () => {
    const all = room(types, 1, 2)
    const [ada] = all.seats as [Seat]
    const bodies = [ask(all, ada, 1, mark(1)), ask(all, ada, 2, mark(2)), ask(all, ada, 1, mark(3))]
    expect(bodies.map((body) => body[1])).toEqual([1, 2, 3])
    const noted = (): [number, number[]][] => {
      return [...ada.state.pending].map(([id, list]) => [id, list.map(({ seq }) => seq)])
    }
    expect(noted()).toEqual([
      [1, [1, 3]],
      [2, [2]],
    ])
    for (const body of bodies.slice(0, 2)) hear(all, ada, body)
    expect(noted()).toEqual([[1, [3]]])
    // What was told of the third tells of the first, too, should that have been missed.
    const late = ask(all, ada, 1, mark(4))
    hear(all, ada, bodies[2]!, [ada])
    expect(shown(ada.state, types, 1)!.fields[0]).toBe(4)
    hear(all, ada, late)
    expect(noted()).toEqual([])
    expect(shown(ada.state, types, 1)!.fields[0]).toBe(4)
  })

  test('O12, O13: the tag is the newest it heard of any piece, and no older than the last of others is enough (PR-4)', () => {
    const all = room(chips, 2, 2)
    const [ada, bob] = all.seats as [Seat, Seat]
    const genOf = (id: number): number => all.primary.state.committed.rows.get(id)!.gen
    const tagOf = (body: Uint8Array): number => (readBody(body) as { tag: number }).tag
    act(all, bob, 2, mark(1))
    const other = ask(all, ada, 1, mark(1))
    expect(tagOf(other)).toBe(genOf(2))
    expect(genOf(2)).toBeGreaterThan(genOf(1))
    expect(hear(all, ada, other)).toMatchObject({ kind: 'recorded' })
    // As old as the last of others, and no older.
    act(all, bob, 2, mark(2))
    const equal = ask(all, ada, 2, mark(3))
    expect(tagOf(equal)).toBe(genOf(2))
    expect(hear(all, ada, equal)).toMatchObject({ kind: 'recorded' })
    const late = ask(all, ada, 2, mark(4))
    act(all, bob, 2, mark(5))
    expect(tagOf(late)).toBeLessThan(genOf(2))
    expect(hear(all, ada, late)).toMatchObject({ kind: 'conflict', by: bob.state.player })
  })

  test('O5, O32: one that could not be asked for is taken back alone', () => {
    const all = room(types, 1, 1)
    const [ada] = all.seats as [Seat]
    const first = ask(all, ada, 1, mark(1))
    ask(all, ada, 1, mark(2))
    removePending(ada.state, 1, 2, { emit: () => {} })
    expect(shown(ada.state, types, 1)!.fields[0]).toBe(1)
    hear(all, ada, first)
    expect(ada.state.pending.size).toBe(0)
    expect(shown(ada.state, types, 1)!.fields[0]).toBe(1)
  })

  test('O43: in doubt it is inapplicable, nonsense only what can be nothing else', () => {
    const all = room(types, 2, 3)
    const [ada, bob] = all.seats as [Seat, Seat]
    const gone = ask(all, bob, 3, mark(1))
    const opened = draft(all.primary.state, types, 7, 0)
    opened.api.remove(3)
    for (const change of opened.done().changes) all.part.apply!(all.primary.state, change)
    expect(hear(all, bob, gone)).toEqual({ kind: 'refused', reason: 'it is gone' })
    act(all, ada, 1, { hold: 'grab' })
    expect(act(all, bob, 1, { hold: 'grab' })).toMatchObject({ kind: 'held', by: 1 })
    expect(act(all, bob, 1, { hold: 'release' })).toMatchObject({ kind: 'refused' })
    expect(act(all, bob, 2, { mask: 4, fields: [0, 0, 9] })).toMatchObject({ kind: 'refused' })
    expect(act(all, bob, 2, {})).toMatchObject({ kind: 'bogus' })
    expect(hear(all, bob, Uint8Array.of(1))).toMatchObject({ kind: 'bogus' })
    const unknown = ask(all, bob, 2, mark(1))
    unknown[2] = 99
    expect(hear(all, bob, unknown)).toMatchObject({ kind: 'bogus' })
  })

  test('O42: what is malformed is nonsense, and stops nothing (PR-2)', () => {
    const all = room(types, 1, 1)
    const [ada] = all.seats as [Seat]
    const whole = ask(all, ada, 1, mark(1))
    for (const body of [
      Uint8Array.of(),
      Uint8Array.of(1),
      Uint8Array.of(2, 0),
      whole.slice(0, 4),
    ]) {
      const heard: unknown[] = []
      expect(() => heard.push(hear(all, ada, body))).not.toThrow()
      expect(heard).toEqual([{ kind: 'bogus', reason: 'an update that is malformed' }])
    }
    expect(hear(all, ada, whole).kind).toBe('recorded')
  })

  test('O44, O45: a rule that throws refuses the update, however long its sentence is', () => {
    const all = room(types, 2, 1)
    const [ada, bob] = all.seats as [Seat, Seat]
    for (const value of [200, 201]) {
      const outcome = act(all, ada, 1, mark(value))
      expect(outcome.kind).toBe('refused')
      const { reason } = outcome as { reason: string }
      expect(new TextEncoder().encode(reason).length).toBeLessThanOrEqual(200)
      expect(reason.length).toBeGreaterThan(20)
    }
    expect(ada.events.filter(({ kind }) => kind === 'piece-refused')).toHaveLength(2)
    expect(shown(ada.state, types, 1)!.fields[0]).toBe(0)
    expect(act(all, bob, 1, mark(5)).kind).toBe('recorded')
    expect(bob.events.filter(({ kind }) => kind === 'piece-refused')).toEqual([])
  })

  test('O45: a stranger who is refused, however often, does not interrupt a drag', () => {
    const all = room(chips, 3, 1)
    const [ada, bob, cy] = all.seats as [Seat, Seat, Seat]
    // Not even the grab is recorded when the first of Bob is refused.
    const drag = [ask(all, ada, 1, { hold: 'grab' }), ask(all, ada, 1, mark(10))]
    expect(act(all, bob, 1, mark(200)).kind).toBe('refused')
    for (const body of drag) expect(hear(all, ada, body).kind).toBe('recorded')
    for (let step = 11; step < 40; step++) {
      const move = ask(all, ada, 1, mark(step))
      for (const seat of [bob, cy]) {
        expect(act(all, seat, 1, { hold: 'release' }).kind).toBe('refused')
        expect(act(all, seat, 1, mark(99)).kind).toBe('held')
      }
      expect(shown(ada.state, chips, 1)!.fields[0]).toBe(step)
      expect(hear(all, ada, move).kind).toBe('recorded')
    }
    expect(ada.events.filter(({ kind }) => kind !== 'piece-changed')).toEqual([
      { kind: 'piece-came', id: 1 },
    ])
    expect(bob.events.filter(({ kind }) => kind === 'piece-refused')).toHaveLength(59)
  })

  test('O40, O45: what who is refused did since is void, also for who takes over', () => {
    const all = room(types, 2, 1)
    const [ada, bob] = all.seats as [Seat, Seat]
    const under = ask(all, ada, 1, mark(5))
    const [refused, since] = [ask(all, bob, 1, mark(200)), ask(all, bob, 1, mark(7))]
    expect(hear(all, bob, refused, [bob]).kind).toBe('refused')
    expect(all.part.restore!(all.primary.state, all.part.snapshot!(all.primary.state))).toBe(true)
    expect(hear(all, bob, since)).toEqual({ kind: 'conflict', by: 2 })
    expect(hear(all, ada, under).kind).toBe('recorded')
    welcome(all, bob)
    expect(bob.state.pending.size).toBe(0)
    expect(act(all, bob, 1, mark(8)).kind).toBe('recorded')
  })

  test('O45: more of whom are refused than a piece remembers are all told the same', () => {
    const all = room(types, REFUSED_MAX + 1, 1)
    const bodies = all.seats.map((seat) => ask(all, seat, 1, mark(200)))
    const under = all.seats.map((seat) => ask(all, seat, 1, mark(7)))
    for (const [at, body] of bodies.entries()) {
      expect(hear(all, all.seats[at]!, body).kind).toBe('refused')
      expect(all.primary.state.committed.rows.get(1)!.refused).toHaveLength((at + 1) % 17)
    }
    for (const [at, body] of under.entries()) {
      expect(hear(all, all.seats[at]!, body).kind).toBe('conflict')
    }
  })

  test('O48: a grab in passing is honoured for who was the last to let go, and for nobody else (PR-3)', () => {
    const all = room(chips, 2, 1)
    const [ada, bob] = all.seats as [Seat, Seat]
    const grab = (seat: Seat, loose = false): Uint8Array =>
      ask(all, seat, 1, { hold: 'grab' }, loose)
    const release = (seat: Seat): Uint8Array => ask(all, seat, 1, { hold: 'release' })
    hear(all, ada, grab(ada))
    // Neither has heard that she let go.
    hear(all, ada, release(ada), [ada, bob])
    expect(hear(all, bob, grab(bob, true), [ada, bob])).toMatchObject({ kind: 'conflict' })
    expect(hear(all, ada, grab(ada, true))).toMatchObject({ kind: 'recorded' })
    expect(all.primary.state.committed.rows.get(1)!.heldBy).toBe(ada.state.player)
    // Once more, but then he held it and let go of it, of which she has not heard.
    hear(all, ada, release(ada))
    welcome(all, bob)
    const hers = grab(ada, true)
    hear(all, bob, grab(bob), [ada])
    hear(all, bob, release(bob), [ada])
    expect(hear(all, ada, hers)).toEqual({ kind: 'conflict', by: bob.state.player })
    expect(all.primary.state.committed.rows.get(1)!.heldBy).toBe(0)
  })

  test('O48: what a rule makes of a grab in passing holds, as of any other (PR-2)', () => {
    const [chip] = chips as [PieceTypes[number]]
    const counting: PieceTypes = [
      { ...chip, decide: ({ fields }) => ({ ok: true, fields: [(fields[0] as number) + 1] }) },
    ]
    const all = room(counting, 1, 1)
    const [ada] = all.seats as [Seat]
    const row = () => all.primary.state.committed.rows.get(1)!
    act(all, ada, 1, { hold: 'grab' })
    hear(all, ada, ask(all, ada, 1, { hold: 'release' }), [ada])
    expect(row()).toMatchObject({ heldBy: 0, fields: [2] })
    expect(act(all, ada, 1, { hold: 'grab' }, true).kind).toBe('recorded')
    expect(row()).toMatchObject({ heldBy: 1, fields: [3] })
    expect(ada.state.published.get(1)).toMatchObject({ heldBy: 1, fields: [3] })
  })

  test('O48: a grab in passing is recorded where there are no rules, too (PR-2)', () => {
    const [chip] = chips as [PieceTypes[number]]
    const all = room([{ ...chip, decide: null }], 2, 1)
    const [ada, bob] = all.seats as [Seat, Seat]
    act(all, ada, 1, { hold: 'grab' })
    act(all, ada, 1, { hold: 'release' })
    // Of which she has not heard, so that any other update of hers comes too late.
    hear(all, bob, ask(all, bob, 1, mark(5)), [ada])
    const late = ask(all, ada, 1, { hold: 'grab' }, true)
    const outcomes: string[] = []
    expect(() => outcomes.push(hear(all, ada, late).kind)).not.toThrow()
    expect(outcomes).toEqual(['recorded'])
  })

  test('O55: only a grab alone may be loose', () => {
    const all = room(types, 1, 1)
    const [ada] = all.seats as [Seat]
    for (const op of [mark(1), { hold: 'release' }, { hold: 'wrest' }] as const) {
      expect(act(all, ada, 1, op, true)).toMatchObject({ kind: 'bogus' })
    }
    expect(act(all, ada, 1, { hold: 'grab', ...mark(1) }, true)).toMatchObject({ kind: 'bogus' })
    expect(act(all, ada, 1, { hold: 'grab' }, true)).toMatchObject({ kind: 'clamped' })
  })
})

describe('a session that goes on from what a member was told', () => {
  test('O57: a table that comes in parts holds with its last, all of it at once (PR-2)', () => {
    const all = room(chips, 2, 3)
    const [ada, bob] = all.seats as [Seat, Seat]
    for (const id of [1, 2]) hear(all, bob, ask(all, bob, id, mark(7)), [ada])
    const { gen, rows } = all.primary.state.committed
    const marks = () => [...ada.state.published].map(([id, row]) => [id, row.fields[0]])
    const give = (first: boolean, last: boolean, ...ids: number[]): void => {
      const part = { first, last, gen, lostRanges: [], rows: ids.map((id) => rows.get(id)!) }
      const out = { send: () => 0, emit: (event: unknown) => void told.push(event) }
      all.part.receive!(ada.state, 0, 100, encodeTable(chips, part), out)
    }
    const told: unknown[] = []
    give(true, false, 1)
    give(false, false, 2)
    expect([marks(), told]).toEqual([[1, 2, 3].map((id) => [id, 0]), []])
    give(false, true, 3)
    expect(marks()).toEqual([
      [1, 7],
      [2, 7],
      [3, 0],
    ])
    expect(told).toHaveLength(3)
  })

  test('O57: of a piece that went meanwhile nothing is pending, also no grab in passing (PR-2)', () => {
    const all = room(chips, 1, 2)
    const [ada] = all.seats as [Seat]
    for (const id of [1, 2]) ask(all, ada, id, { hold: 'grab' }, true)
    const opened = draft(all.primary.state, chips, 7, 0)
    opened.api.remove(1)
    for (const change of opened.done().changes) all.part.apply!(all.primary.state, change)
    welcome(all, ada)
    expect([...ada.state.published.keys()]).toEqual([2])
    expect([...ada.state.pending.keys()]).toEqual([2])
  })

  test('O58: who comes back shows nothing that goes on from what was lost', () => {
    const all = room(chips, 2, 3)
    const [ada, bob] = all.seats as [Seat, Seat]
    hear(all, ada, ask(all, ada, 2, mark(2)), [ada])
    const late = ask(all, bob, 3, mark(3))
    const told = all.part.published!(ada.state)
    for (const [at, seat] of all.seats.entries()) follow(all, seat, at + 1, 100, 2)
    follow(all, all.primary, 100, 100, 2)
    expect(all.part.restore!(all.primary.state, told)).toBe(true)
    welcome(all, ada)
    hear(all, ada, ask(all, ada, 1, mark(4)), [bob])
    expect(bob.state.pending.size).toBe(1)
    welcome(all, bob)
    expect(bob.state.pending.size).toBe(0)
    expect(bob.events).toContainEqual({ kind: 'piece-conflict', id: 3, by: 0 })
    expect(hear(all, bob, late).kind).toBe('conflict')
  })

  test('O58: nor are tags of no history when it goes on so once more', () => {
    const all = room(chips, 3, 3)
    const [ada, bob, cy] = all.seats as [Seat, Seat, Seat]
    const goOn = (witness: Seat, epoch: number): void => {
      const told = all.part.published!(witness.state)
      for (const seat of [all.primary, ada, cy]) {
        follow(all, seat, seat === all.primary ? 100 : seat.state.me, 100, epoch)
      }
      expect(all.part.restore!(all.primary.state, told)).toBe(true)
      welcome(all, ada)
      welcome(all, cy)
    }
    act(all, ada, 1, mark(1))
    // Bob alone is told what is lost, goes on from it, and is away for long.
    hear(all, ada, ask(all, ada, 2, mark(2)), [ada, cy])
    const late = ask(all, bob, 3, mark(3))
    goOn(ada, 2)
    expect(act(all, ada, 1, mark(4)).kind).toBe('recorded')
    const between = ask(all, cy, 3, mark(5))
    goOn(cy, 3)
    expect(act(all, ada, 1, mark(6)).kind).toBe('recorded')
    expect(hear(all, bob, late).kind).toBe('conflict')
    expect(hear(all, cy, between).kind).toBe('recorded')
  })

  test('O58: tags of what was lost are stale, tags of before and after are not', () => {
    const all = room(types, 2, 3)
    const [ada, bob] = all.seats as [Seat, Seat]
    const early = ask(all, bob, 1, mark(10))
    hear(all, ada, ask(all, ada, 2, mark(20)), [ada])
    const told = all.part.published!(ada.state)
    const late = ask(all, bob, 3, mark(30))
    // Ada recovers the session; Bob saw more.
    follow(all, all.primary, 100, 100, 2)
    expect(all.part.restore!(all.primary.state, told)).toBe(true)
    expect(hear(all, bob, late).kind).toBe('conflict')
    expect(hear(all, bob, early).kind).toBe('recorded')
    welcome(all, bob)
    welcome(all, ada)
    expect(act(all, bob, 3, mark(31)).kind).toBe('recorded')
    expect(bob.state.pending.size).toBe(0)
    expect(hear(all, bob, late).kind).toBe('conflict')
    const rows = [ada, bob].map(({ state }) =>
      [1, 2, 3].map((id) => state.published.get(id)!.fields[0]),
    )
    expect(rows).toEqual([
      [10, 0, 31],
      [10, 0, 31],
    ])
  })

  test('O58: an update of a piece that a recovery lost is refused: it is no nonsense (PI-4)', () => {
    const all = room(types, 2, 1)
    const [ada, bob] = all.seats as [Seat, Seat]
    const told = all.part.published!(ada.state)
    const opened = draft(all.primary.state, types, 7, 0)
    opened.api.create(0, 0, [], 'b19')
    for (const change of opened.done().changes) all.part.apply!(all.primary.state, change)
    welcome(all, bob)
    const late = ask(all, bob, 2, mark(30))
    follow(all, all.primary, 100, 100, 2)
    all.part.restore!(all.primary.state, told)
    expect(hear(all, bob, late)).toEqual({ kind: 'refused', reason: 'it is gone' })
    const invented = ask(all, { ...ada, state: { ...bob.state, processed: 0 } }, 2, mark(1))
    expect(hear(all, ada, invented).kind).toBe('bogus')
  })

  test('O53: faces that nobody was shown are lost, and an action makes them anew', () => {
    const all = room(types, 2, 2)
    const [ada] = all.seats as [Seat]
    act(all, ada, 1, { hold: 'grab' })
    follow(all, all.primary, 100, 100, 2)
    all.part.restore!(all.primary.state, all.part.published!(ada.state))
    const rows = [...all.primary.state.committed.rows.values()]
    expect(rows.map(({ id, hidden }) => [id, hidden])).toEqual([
      [1, 0],
      [2, 4],
    ])
    follow(all, all.primary, 100, 100, 2)
    expect(all.primary.events).toContainEqual({ kind: 'pieces-lost', ids: [2] })
    for (const seat of all.seats) welcome(all, seat)
    act(all, ada, 2, { hold: 'grab' })
    expect(act(all, ada, 2, { mask: 4, fields: [0, 0, 9] })).toMatchObject({ kind: 'refused' })
    const opened = draft(all.primary.state, types, 7, 0)
    opened.api.change(2, 4, [0, 0, 33])
    for (const change of opened.done().changes) all.part.apply!(all.primary.state, change)
    welcome(all, ada)
    expect(ada.state.published.get(2)).toMatchObject({ hidden: 0, fields: [0, 0, 33] })
  })
})

test('O29: a table goes to a newcomer in messages of some 24 KB (PR-2)', () => {
  const long = [piece('note', { text: text(200, 200) }).rules]
  const all = room(long, 0, 400)
  for (const row of all.primary.state.committed.rows.values()) row.fields[0] = 'x'.repeat(200)
  const lengths = all.part.welcome!(all.primary.state).map(({ length }) => length)
  expect(lengths.length).toBeGreaterThan(3)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(24 * 1_024 + 300)
  expect(Math.min(...lengths.slice(0, -1))).toBeGreaterThan(14 * 1_024)
})
