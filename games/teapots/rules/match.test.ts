import type { Vec2 } from 'holdfast'
import { beforeEach, describe, expect, test } from 'vitest'
import { tableOfRows as emptyTable } from '../../rows.ts'
import { SPOTS } from './arena.ts'
import * as flight from './flight.ts'
import * as match from './match.ts'
import { angleOf, distance, subtract } from './plane.ts'
import * as rows from './standing.ts'

let table: ReturnType<typeof emptyTable>
let now: number
let places: Map<number, Vec2>

const court: match.Court = {
  now: () => now,
  placeOf: (player) => places.get(player) ?? null,
  others: (player) => [...places].filter(([other]) => other !== player).map(([, at]) => at),
}

function by(player: number): { inc: number; player: number } {
  return { inc: 100 + player, player }
}

function sit(player: number, at: Vec2): void {
  places.set(player, at)
  match.pour(table, court, by(player))
}

/** A throw from one straight at the other, and when it gets there. */
function claimed(from: number, victim: number, at = now): match.Claim {
  const [a, b] = [places.get(from)!, places.get(victim)!]
  const thrown = flight.rounded(at, a, angleOf(subtract(b, a)))
  const after = flight.timeFor(distance(a, b) - flight.HIT_RADIUS)
  return { ...thrown, victim, after }
}

function hits(from: number, victim: number): match.Counted {
  const claim = claimed(from, victim)
  now += 1000
  return match.hit(table, claim, court, by(from))
}

function row(player: number): rows.Standing {
  return rows.standing(table, player, now)!
}

beforeEach(() => {
  table = emptyTable()
  places = new Map()
  now = 50_000
  sit(1, SPOTS[0]!)
  sit(2, SPOTS[1]!)
  now += rows.SAFE_MS + 10
})

describe('T49: a hit', () => {
  test('spills tea, and is told to everybody as a blow', () => {
    expect(hits(1, 2)).toEqual({ points: 1, bounces: 0, tea: 2 })
    expect([row(1).points, row(2).tea, row(2).points]).toEqual([1, 2, 0])
    const [blow] = rows.blowsAfter(table, 0)
    expect(blow).toMatchObject({ number: 1, by: 1, victim: 2, points: 1, tea: 2 })
    expect(rows.blowsAfter(table, 1)).toEqual([])
  })

  test('counts once for one cube', () => {
    const claim = claimed(1, 2)
    now += 1000
    match.hit(table, claim, court, by(1))
    const kept = new Map(table.rows)
    expect(() => match.hit(table, claim, court, by(1))).toThrow('hit already')
    expect(table.rows).toEqual(kept)
  })

  test('of the last drop topples, scores more, and who topples another drinks', () => {
    hits(2, 1)
    hits(1, 2)
    hits(1, 2)
    expect(hits(1, 2)).toEqual({ points: 3, bounces: 0, tea: 0 })
    expect(row(1)).toMatchObject({ points: 5, streak: 1, best: 1, tea: 3 })
    expect(row(2)).toMatchObject({ tea: 0, streak: 0, since: now })
  })

  test('of a pot on the boil earns its streak besides', () => {
    rows.writeStanding(table, { ...row(2), streak: 4, best: 4, tea: 1 })
    expect(hits(1, 2).points).toBe(1 + match.TOPPLE_POINTS + 4)
    expect(row(2)).toMatchObject({ streak: 0, best: 4 })
  })

  test('round a corner earns a point for each bounce, up to a limit', () => {
    const shot = flight.rounded(now, SPOTS[0]!, 0.35)
    const way = flight.trace(shot)
    const [, second] = flight.bounceTimes(way)
    const after = second! + 30
    places.set(2, flight.placeAt(way, after).pos)
    now += 1500
    const claim = { ...shot, victim: 2, after }
    expect(match.hit(table, claim, court, by(1))).toMatchObject({ points: 3, bounces: 2 })
  })
})

describe('T49: a claim is refused', () => {
  const cases: [string, (claim: match.Claim) => match.Claim, string][] = [
    ['of a cube that passed elsewhere', (c) => ({ ...c, aim: c.aim + 1.2 }), 'come by'],
    ['from where the pot was not', (c) => ({ ...c, pos: [-c.pos[0], -c.pos[1]] }), 'not there'],
    ['from off the tray', (c) => ({ ...c, pos: [17, 0] }), 'off the tray'],
    ['of what is still to come', (c) => ({ ...c, at: c.at + 60_000 }), 'not happened'],
    ['of long ago', (c) => ({ ...c, at: c.at - 60_000 }), 'too long ago'],
    ['of a cube that flies too long', (c) => ({ ...c, after: 5_000 }), 'flies that long'],
    ['of a cube that flew backwards', (c) => ({ ...c, after: -1 }), 'flies that long'],
    ['on nobody', (c) => ({ ...c, victim: 9 }), 'lies already'],
    ['on oneself', (c) => ({ ...c, victim: 1 }), 'their own'],
  ]
  test.each(cases)('%s', (_name, forged, why) => {
    const claim = claimed(1, 2)
    now += claim.after + 50
    const kept = new Map(table.rows)
    expect(() => match.hit(table, forged(claim), court, by(1))).toThrow(why)
    expect(table.rows).toEqual(kept)
  })

  test.each([
    [null],
    [{}],
    ['x'],
    [{ at: 1, pos: [1], aim: 1, victim: 2, after: 3 }],
    [{ at: 1, pos: [1, '2'], aim: 1, victim: 2, after: 3 }],
    [{ at: Number.NaN, pos: [1, 2], aim: 1, victim: 2, after: 3 }],
  ])('that is none: %j', (args) => {
    expect(() => match.hit(table, args as never, court, by(1))).toThrow('six numbers')
  })

  test('of throws that follow too fast', () => {
    hits(1, 2)
    const [at] = rows.counted(table, 1)
    const claim = { ...claimed(1, 2, at! + flight.THROW_MS - 20) }
    expect(() => match.hit(table, claim, court, by(1))).toThrow('that fast')
  })

  test('on a pot that lies, or was just filled, or by who lies', () => {
    for (let i = 0; i < 3; i++) hits(1, 2)
    expect(() => hits(1, 2)).toThrow('lies already')
    expect(() => hits(2, 1)).toThrow('throws nothing')
    now += rows.LIE_MS
    match.pour(table, court, by(2))
    expect(() => {
      const claim = claimed(1, 2)
      now += 500
      match.hit(table, claim, court, by(1))
    }).toThrow('just filled')
  })

  test('of who has no pot', () => {
    places.set(3, SPOTS[2]!)
    expect(() => hits(3, 2)).toThrow('has no pot')
  })

  test('but the older it is, the farther its victim may have got', () => {
    const claim = claimed(1, 2)
    places.set(2, SPOTS[4]!)
    now += 900
    expect(() => match.hit(table, claim, court, by(1))).toThrow('come by')
    now += 3_000
    expect(match.hit(table, claim, court, by(1)).points).toBe(1)
  })
})

describe('T49: a pot is filled', () => {
  test('once, however often it asks', () => {
    const kept = new Map(table.rows)
    expect(match.pour(table, court, by(1))).toEqual(row(1))
    expect(table.rows).toEqual(kept)
  })

  test('again when it has lain long enough, far from the others, its points kept', () => {
    hits(2, 1)
    for (let i = 0; i < 3; i++) hits(1, 2)
    expect(() => match.pour(table, court, by(2))).toThrow('still lies')
    now += rows.LIE_MS
    const filled = match.pour(table, court, by(2))
    expect(filled).toMatchObject({ tea: 3, points: 1, since: now })
    expect(distance(SPOTS[filled.spot]!, places.get(1)!)).toBeGreaterThan(18)
  })

  test('of ever new players does not fill the table', () => {
    for (let player = 10; player < 10 + 2 * rows.ROWS_MAX; player++) sit(player, SPOTS[2]!)
    expect(table.keys('pot.')).toHaveLength(rows.ROWS_MAX)
    expect(row(10 + 2 * rows.ROWS_MAX - 1).tea).toBe(3)
  })
})

describe('T49: a round', () => {
  function win(): void {
    rows.writeStanding(table, { ...row(1), points: rows.POINTS_TO_WIN - 1 })
    rows.writeStanding(table, { ...row(2), points: 7, tea: 1 })
    hits(1, 2)
  }

  test('ends with a cup, and nothing counts while the winner is cheered', () => {
    win()
    expect(rows.round(table)).toEqual({ number: 2, from: now + rows.CHEER_MS, winner: 1 })
    expect(row(1)).toMatchObject({ cups: 1, points: rows.POINTS_TO_WIN + 2 })
    expect(() => hits(2, 1)).toThrow('round is over')
    now += rows.LIE_MS
    expect(match.pour(table, court, by(2))).toMatchObject({ tea: 3, points: 7 })
  })

  test('begins for all at once, with tea for all and no points', () => {
    win()
    now += rows.CHEER_MS
    expect(row(1)).toMatchObject({ points: 0, streak: 0, cups: 1, best: 1, tea: 3 })
    expect(row(2)).toMatchObject({ points: 0, tea: 3, since: rows.round(table).from })
    now += rows.SAFE_MS
    expect(hits(2, 1).tea).toBe(2)
    expect(rows.standings(table, [1, 2, 3], now).map(({ player }) => player)).toEqual([2, 1])
  })

  test('is not waited for when another clock said when it begins', () => {
    win()
    now = 100
    expect(rows.isCheering(rows.round(table), now)).toBe(false)
    expect(row(1).points).toBe(0)
  })
})

test('what another build wrote otherwise is nothing', () => {
  table.set('pot.1', 'one two')
  table.set('pot.2', 3)
  table.set('round', null)
  table.set('blow.3', '1 2 3')
  table.set('hits', 'many')
  expect(rows.standings(table, [1, 2], now)).toEqual([])
  expect(rows.round(table)).toEqual({ number: 1, from: 0, winner: 0 })
  expect([rows.hitsTotal(table), rows.blowsAfter(table, 0)]).toEqual([0, []])
})
