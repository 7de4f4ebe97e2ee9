// Goal: seats at one tray agree on what happened, whatever happens to the server.
// Method: whole sessions in virtual time, bots at every seat, one clock for all of them.
import type { Session } from 'holdfast'
import { type SessionWorld, world } from 'holdfast/sim'
import { describe, expect, test } from 'vitest'
import { SessionCourt } from './court.ts'
import { createMind, type Mind, think } from './rules/brain.ts'
import { STEP_MS } from './rules/pot.ts'
import * as rows from './rules/standing.ts'
import { Cube, decisions, Pot, typesOf } from './rules/things.ts'
import { Seat } from './seat.ts'
import { Sugar } from './sugar.ts'

interface Player {
  session: Session
  seat: Seat
  mind: Mind
  refused: string[]
}

async function sit(w: SessionWorld, name: string, skill = 0.8): Promise<Player> {
  const court = new SessionCourt()
  const decided = decisions(court)
  const session = await w.join({ game: 'teapots', name, types: typesOf(decided) })
  court.session = session
  const refused: string[] = []
  const events = { threw: () => {}, refused: (why: string) => void refused.push(why) }
  const seat = new Seat(session, decided, new Sugar(session), 1, events)
  return { session, seat, mind: createMind(session.me.player, skill), refused }
}

async function play(w: SessionWorld, players: readonly Player[], ms: number): Promise<void> {
  for (let past = 0; past < ms; past += STEP_MS) {
    await w.run(STEP_MS)
    for (const { seat, mind, session } of players) {
      if (session.status === 'live') seat.intent = think(mind, seat.sight())
      seat.advance(w.now())
    }
  }
}

function pointsOf(session: Session): string {
  return session.table
    .keys()
    .map((key) => `${key}: ${String(session.table.get(key))}`)
    .join('\n')
}

/** Whole sessions and many steps take a while on a machine that is busy. */
const LONG = { timeout: 60_000 }

describe('seats at one tray', LONG, () => {
  test('T8, T49: bots hit one another, and every hit is counted once, the same for all', async () => {
    const w = world({ seed: 3, conditions: 'rtt=60,loss=3%,jitter=15' })
    const players = [await sit(w, 'Ada'), await sit(w, 'Grace'), await sit(w, 'Linus')]
    await play(w, players, 12_000)
    const total = rows.hitsTotal(players[0]!.session.table)
    expect(total).toBeGreaterThan(5)
    for (const { seat } of players) seat.intent = { move: [0, 0], aim: null, fire: false }
    await w.run(3_000)
    const [first] = players
    for (const { session } of players) {
      expect(pointsOf(session)).toBe(pointsOf(first!.session))
      expect(session.all(Pot)).toHaveLength(3)
    }
    const claims = players.reduce((sum, { seat }) => sum + seat.counted, 0)
    expect(claims).toBe(rows.hitsTotal(first!.session.table))
  })

  test('T49: what is no claim is refused by the name of its field (AP-3)', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const { hit } = decisions(new SessionCourt())
    const claim = { at: 1, pos: [1, 2], aim: 1, victim: 2, after: 3 } as const
    const session = await w.join({ game: 'teapots', name: 'Eve', types: [hit] })
    const no = (args: unknown): Promise<unknown> => session.act(hit, args as never)
    await expect(no(null)).rejects.toThrow(
      /must be an object of the fields at, pos, aim, victim, after/,
    )
    const odd = no({ ...claim, pos: [1, '2'] })
    await expect(odd).rejects.toThrow(/field pos: must be a finite number: "2"/)
    await expect(no({ ...claim, points: 9 })).rejects.toThrow(/no field is called "points"/)
  })

  test('T49, T80: the server dies in the middle of it: no hit is lost, none counts twice', async () => {
    const w = world({ seed: 8, conditions: 'rtt=40,loss=2%' })
    const players: Player[] = []
    for (const name of ['Ada', 'Grace', 'Linus', 'Hedy']) players.push(await sit(w, name))
    await w.runUntil(() => players.every(({ session }) => session.safety === 'backed-up'), 10_000)
    await play(w, players, 6_000)
    const [ada, ...others] = players
    const before = others.map(({ session, seat }) => [session.me.player, seat.counted])
    w.kill(ada!.session)
    await play(w, others, 8_000)
    await w.run(3_000)
    expect(others.map(({ session }) => session.me.player)).toEqual(before.map(([id]) => id))
    expect(others[0]!.session.primary!.name).not.toBe('Ada')
    for (const { session } of others) {
      expect(pointsOf(session)).toBe(pointsOf(others[0]!.session))
    }
    const { session } = others[0]!
    const blows = rows.blowsAfter(session.table, 0)
    expect(blows.map(({ number }) => number)).toEqual(
      blows.map((_, i) => rows.hitsTotal(session.table) - blows.length + 1 + i),
    )
    // What a seat was told counted is in the table; Ada's own last hits nobody was told of.
    const told = others.reduce((sum, { seat }) => sum + seat.counted, 0)
    expect(rows.hitsTotal(session.table) - told).toBeLessThanOrEqual(ada!.seat.counted + 2)
    expect(rows.hitsTotal(session.table)).toBeGreaterThanOrEqual(told)
    expect(rows.hitsTotal(session.table)).toBeGreaterThan(5)
  })

  test('T8: a cube flies the same way for all, though only its throw was told', async () => {
    const w = world({ seed: 5, conditions: 'rtt=80' })
    const ada = await sit(w, 'Ada')
    const grace = await sit(w, 'Grace')
    await play(w, [ada, grace], 400)
    for (const { seat } of [ada, grace]) seat.intent = { move: [0, 0], aim: null, fire: false }
    ada.seat.body = { ...ada.seat.body, aim: 1.234 }
    expect(ada.seat.throw()).toBe(true)
    await w.run(200)
    const now = ada.session.now()
    const mine = ada.seat.flights.at(now)
    const seen = grace.seat.flights.at(now)
    expect(mine).toHaveLength(1)
    expect(seen.map(({ flight, at, ends }) => ({ flight, at, ends }))).toEqual(
      mine.map(({ flight, at, ends }) => ({ flight, at, ends })),
    )
    expect(grace.session.all(Cube).filter(({ mine: own }) => !own)).toHaveLength(4)
  })

  test('who gets up leaves nothing on the tray', async () => {
    const w = world({ seed: 6 })
    const ada = await sit(w, 'Ada')
    const grace = await sit(w, 'Grace')
    await play(w, [ada, grace], 500)
    ada.seat.leave()
    await play(w, [grace], 500)
    expect(grace.session.all(Pot)).toHaveLength(1)
    expect(grace.session.all(Cube)).toHaveLength(4)
    expect(ada.seat.throw()).toBe(false)
  })
})
