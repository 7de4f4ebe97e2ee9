// Goal: a world that nobody decides on is the same for all who are in it (slot.converge).
// Method: whole sessions in virtual time; members and the network fail under them.
import { describe, expect, test } from 'vitest'
import {
  type HoldfastError,
  slots,
  type SlotsHandle,
  type SlotsTurn,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { ROWS } from '../../proof/rows.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { agree, openRow, scene, TYPES } from './row.ts'

describe.each(['mesh', 'star'] as const)('a world of slots in a %s', (topology) => {
  test('M32: of two who want one cell in one slot the higher has it, for all', async () => {
    const { w, players } = await scene(1, 3, topology)
    const [ada, grace, linus] = players as [(typeof players)[0], ...typeof players]
    // All in one instant, so in one slot; whose is told first does not matter.
    grace!.row.act({ to: 4 })
    ada.row.act({ to: 4 })
    linus!.row.act({ to: 7 })
    await w.run(600)
    const want = { at: { 2: 4, 3: 7 }, count: { 1: 1, 2: 1, 3: 1 } }
    expect(players.map(({ row }) => row.state)).toEqual([want, want, want])
  })

  test('M31: an act shows at once to oneself, and to all when its slot is over', async () => {
    const { w, players } = await scene(2, 3, topology)
    const [ada, grace] = players as [(typeof players)[0], ...typeof players]
    ada.row.act({ to: 3 })
    expect(ada.row.ahead.at).toEqual({ 1: 3 })
    expect(ada.row.state.at).toEqual({})
    const slot = ada.row.slot
    await w.runUntil(() => grace!.row.state.at[1] === 3, 2_000)
    expect(grace!.row.slot).toBe(slot + 1)
  })

  test('M5: who comes later has the world of those who are there', async () => {
    const { w, players } = await scene(3, 3, topology)
    players.forEach(({ row }, i) => row.act({ to: i }))
    await w.run(5_000)
    const session = await w.join(
      { game: 'row', name: 'Late', topology, types: TYPES },
      { name: 'Late' },
    )
    const late = { session, row: openRow(session) }
    expect(late.row.status).toBe('joining')
    expect(() => late.row.act({ to: 9 })).toThrow(/still on its way/)
    await w.runUntil(() => late.row.status === 'live', 5_000)
    late.row.act({ to: 9 })
    await w.run(1_000)
    const all = [...players, late]
    expect(agree(all)).toBe(true)
    expect(late.row.state.at).toEqual({ 1: 0, 2: 1, 3: 2, 4: 9 })
  })

  test('M25: who goes is gone for all, and whoever served may be the one', async () => {
    const { w, players } = await scene(4, 4, topology)
    players.forEach(({ row }, i) => row.act({ to: i }))
    await w.run(1_000)
    w.kill(players[0]!.session)
    const rest = players.slice(1)
    await w.runUntil(() => rest.every(({ row }) => !(1 in row.state.at)), 20_000)
    rest[1]!.row.act({ to: 0 })
    await w.run(3_000)
    expect(agree(rest)).toBe(true)
    expect(rest[0]!.row.state.at).toEqual({ 2: 1, 3: 0, 4: 3 })
  })

  test('M26: with every third packet lost all see all acts', async () => {
    const { w, players } = await scene(5, 4, topology, 'rtt=40,loss=30%,jitter=20')
    for (let round = 0; round < 40; round++) {
      const { row } = players[round % 4]!
      row.act({ to: (round * 5) % 12 })
      await w.run(130)
    }
    await w.run(4_000)
    expect(agree(players)).toBe(true)
    const counts = players.map(({ session, row }) => row.state.count[session.me.player])
    expect(counts).toEqual([10, 10, 10, 10])
  })
})

describe('who is cut off', () => {
  test('M36: what two cannot tell each other comes by a third, and nobody is wrong', async () => {
    const { w, players } = await scene(7, 4, 'mesh')
    const [ada, grace] = players as [(typeof players)[0], ...typeof players]
    w.deafen('Ada', 'Grace')
    w.deafen('Grace', 'Ada')
    ada.row.act({ to: 5 })
    grace!.row.act({ to: 5 })
    await w.run(2_000)
    expect(agree(players)).toBe(true)
    expect(ada.row.state.at).toEqual({ 2: 5 })
    expect(players.map(({ row }) => row.counters.late)).toEqual([0, 0, 0, 0])
  })

  test('M37: cut off from all for a moment, nothing is lost', async () => {
    const { w, players } = await scene(8, 3, 'mesh')
    const mend = w.partition([['Linus']])
    players.forEach(({ row }, i) => row.act({ to: i }))
    await w.run(900)
    mend()
    await w.run(2_000)
    expect(agree(players)).toBe(true)
    expect(players[0]!.row.state.at).toEqual({ 1: 0, 2: 1, 3: 2 })
  })

  test('M37: cut off for longer, it has the world of the others, and is told what is void', async () => {
    const { w, players } = await scene(9, 4, 'mesh')
    const [ada, grace] = players as [(typeof players)[0], ...typeof players]
    const lost: unknown[] = []
    ada.row.on('void', (acts) => lost.push(...acts))
    // The oldest and server at that: its world is not the one that holds.
    const mend = w.partition([['Ada']])
    ada.row.act({ to: 3 })
    grace!.row.act({ to: 3 })
    await w.run(4_000)
    mend()
    expect(await w.runUntil(() => agree(players) && ada.row.status === 'live', 30_000)).toBe(true)
    await w.run(3_000)
    expect(agree(players)).toBe(true)
    expect(ada.row.state.at[2]).toBe(3)
    expect(lost).toEqual([{ to: 3 }])
  })
})

describe('rules', () => {
  const acts = { act: { n: u8 } }

  test('M32: with order fair each is first as often as the other, and all agree on it', async () => {
    const w = world({ seed: 12, conditions: 'rtt=20' })
    const rule = (wins: Record<number, number>, done: readonly { by: number }[]) => {
      const first = done[0]?.by
      return first === undefined ? wins : { ...wins, [first]: (wins[first] ?? 0) + 1 }
    }
    const Fair = slots('wins', { start: {}, rule, order: 'fair', ...acts })
    const worlds: SlotsHandle<Record<number, number>, { n: number }>[] = []
    for (const name of ['Ada', 'Grace']) {
      const types = [Fair]
      const session = await w.join({ game: 'fair', name, topology: 'mesh', types }, { name })
      worlds.push(session.part(Fair))
    }
    await w.runUntil(() => worlds.every(({ status }) => status === 'live'), 10_000)
    for (let n = 0; n < 120; n++) {
      for (const one of worlds) one.act({ n: 1 })
      await w.run(200)
    }
    await w.run(1_000)
    const [mine, theirs] = worlds.map(({ state }) => state)
    expect(mine).toEqual(theirs)
    expect(Object.keys(mine!)).toHaveLength(2)
    for (const wins of Object.values(mine!)) expect(wins).toBeGreaterThan(35)
  })

  test('one that throws, or changes what it is given, leaves the world and is told', async () => {
    const w = world({ seed: 13 })
    const failures: unknown[] = []
    const rule = (list: number[], done: readonly { act: { n: number } }[]) => {
      if (done.some(({ act }) => act.n === 9)) throw new Error('nine')
      if (done.some(({ act }) => act.n === 8)) list.push(8)
      return [...list, ...done.map(({ act }) => act.n)]
    }
    const List = slots('list', { start: [], rule, ...acts })
    const session = await w.join({ game: 'bad', topology: 'mesh', types: [List] })
    const one = session.part(List)
    one.on('failed', ({ error }) => failures.push((error as Error).message))
    await w.runUntil(() => one.status === 'live', 5_000)
    for (const n of [1, 9, 2, 8, 3]) {
      one.act({ n })
      await w.run(400)
    }
    await w.run(3_000)
    expect(one.state).toEqual([1, 2, 3])
    expect(failures).toEqual(['nine', expect.stringContaining('not extensible')])
  })

  test('one that makes a world which cannot be told leaves it, and says so', async () => {
    const w = world({ seed: 17 })
    const failures: string[] = []
    const bad: Record<number, unknown> = { 1: 'x'.repeat(50_000), 2: 1n }
    const rule = (now: unknown, done: readonly { act: { n: number } }[]) =>
      done.length > 0 ? (bad[done[0]!.act.n] ?? 'fine') : now
    const Big = slots<unknown, typeof acts.act>('big', { start: 'start', rule, ...acts })
    const session = await w.join({ game: 'big', topology: 'mesh', types: [Big] })
    const one = session.part(Big)
    one.on('failed', ({ error }) => failures.push((error as Error).message))
    await w.runUntil(() => one.status === 'live', 5_000)
    for (const n of [1, 2]) {
      one.act({ n })
      await w.run(4_000)
    }
    expect(one.state).toBe('start')
    expect(failures[0]).toBe('a world has at most 49152 bytes as JSON: 50002')
    expect(failures[1]).toMatch(/a bigint/)
    one.act({ n: 3 })
    await w.run(4_000)
    expect(one.state).toBe('fine')
  })

  test('one that differs at a member is told at both ends, with the slot and how many (SL-3)', async () => {
    const w = world({ seed: 18, conditions: 'rtt=20' })
    const rule = (by: number) => (count: number, done: readonly unknown[]) =>
      count + by * done.length
    const told: [string, number, number][] = []
    const worlds: SlotsHandle<number, { n: number }>[] = []
    for (const [i, name] of ['Ada', 'Grace', 'Linus'].entries()) {
      const Count = slots('count', { start: 0, rule: rule(i === 1 ? 2 : 1), ...acts })
      const types = [Count]
      const session = await w.join({ game: 'differs', name, topology: 'mesh', types }, { name })
      const one = session.part(Count)
      one.on('diverged', ({ slot, player }) => told.push([name, player, slot]))
      worlds.push(one)
    }
    await w.runUntil(() => worlds.every(({ status }) => status === 'live'), 10_000)
    const at = worlds[0]!.slot
    worlds[0]!.act({ n: 1 })
    await w.run(6_000)
    // Whose world Grace hears first she takes, and may have heard the other's before.
    const ends = told
      .map(([name, player]) => `${name} ${player}`)
      .filter((end) => end !== 'Grace 3')
    expect(ends.toSorted()).toEqual(['Ada 2', 'Grace 1', 'Linus 2'])
    for (const [, , slot] of told) expect(slot - at).toBeLessThan(6)
    const others = told.filter(([name]) => name === 'Grace').length
    expect(worlds.map(({ disagreeing }) => disagreeing)).toEqual([1, others, 1])
    expect(worlds.map(({ state }) => state)).toEqual([1, 1, 1])
  })

  test('chance is the same for all, and another in each slot', async () => {
    const w = world({ seed: 14 })
    const rule = (drawn: number[], done: readonly unknown[], turn: SlotsTurn) =>
      done.length > 0 ? [...drawn, turn.random(), turn.random()] : drawn
    const Dice = slots('dice', { start: [], rule, ...acts })
    const worlds: SlotsHandle<number[], { n: number }>[] = []
    for (const name of ['Ada', 'Grace']) {
      const types = [Dice]
      const session = await w.join({ game: 'dice', name, topology: 'mesh', types }, { name })
      worlds.push(session.part(Dice))
    }
    await w.runUntil(() => worlds.every(({ status }) => status === 'live'), 10_000)
    for (const one of worlds) {
      one.act({ n: 1 })
      await w.run(600)
    }
    const [mine, theirs] = worlds.map(({ state }) => state)
    expect(mine).toEqual(theirs)
    expect(new Set(mine).size).toBe(4)
  })

  test('in a star the server must be in it: until then it is on its way', async () => {
    const w = world({ seed: 15 })
    const [ada, grace] = [
      await w.join({ game: 'row', types: TYPES }),
      await w.join({ game: 'row', types: TYPES }),
    ]
    const hers = openRow(grace!)
    await w.run(5_000)
    expect(hers.status).toBe('joining')
    openRow(ada!)
    await w.runUntil(() => hers.status === 'live', 5_000)
    expect(hers.status).toBe('live')
  })

  test('options out of range are refused, with the limit and the value', () => {
    const rule = (one: unknown) => one
    expect(() => slots('bad', { start: 0, rule, ms: 5 })).toThrow('a slot has 20 to 5000 ms: 5')
    expect(() => slots('bad', { start: 'x'.repeat(50_000), rule })).toThrow(
      'a world has at most 49152 bytes as JSON: 50002',
    )
    expect(() => slots('bad', { start: new Map(), rule })).toThrow('plain values only')
    const deaf = Object.defineProperty({}, 'x', { enumerable: true, set: () => {} })
    expect(() => slots('bad', { start: deaf, rule })).toThrow('a world has no getter in it: x')
    expect(() => slots('bad', { start: 0, rule, order: 'first' as never })).toThrow(
      'highest or fair',
    )
  })
})

describe.each(['mesh', 'star'] as const)('options that differ, in a %s', (topology) => {
  const rule = (n: number, done: readonly unknown[]) => n + done.length
  const Other = slots('row', { ms: 100, start: 0, rule, order: 'fair' })
  const wish = { game: 'row', name: 'Late', topology } as const

  test('keep a build out, with both sides named (SL-4)', async () => {
    const { w } = await scene(19, 2, topology)
    await expect(w.join({ ...wish, types: [Other] }, { name: 'Late' })).rejects.toThrow(
      'type "row", field "act": json here, none there',
    )
  })

  test('refuse to open where a build says that it has the same, and may be mended (SL-4)', async () => {
    const { w, players } = await scene(19, 2, topology)
    const types = [{ ...Other, text: ROWS.highest.text }]
    const late = await w.join({ ...wish, types }, { name: 'Late' })
    await w.run(1_000)
    expect(() => late.part(types[0]!)).toThrow(
      'worlds of slots do not fit: here ms 100, order fair, act json, ' +
        'at player 1 ms 200, order highest, act { to: u8 }',
    )
    expect(players.map(({ row }) => row.status)).toEqual(['live', 'live'])
  })
})

test('options that differ are told to whoever waited for the server (SL-4)', async () => {
  const w = world({ seed: 20 })
  const rule = (n: number, done: readonly unknown[]) => n + done.length
  const Other = { ...slots('row', { ms: 100, start: 0, rule }), text: ROWS.highest.text }
  const ada = await w.join({ game: 'row', types: TYPES })
  const grace = await w.join({ game: 'row', types: [Other] })
  const errors: HoldfastError[] = []
  const other = grace.part(Other)
  other.on('refused', (error) => errors.push(error))
  await w.run(1_000)
  const mine = openRow(ada)
  await w.runUntil(() => errors.length > 0, 5_000)
  expect(
    errors.map(({ code, message }) => [code, /ms 100.*player 1 ms 200/.test(message)]),
  ).toEqual([['schema', true]])
  expect([other.status, other.state, mine.status]).toEqual(['refused', 0, 'live'])
  expect(() => other.act(1)).toThrow(/do not fit/)
})
