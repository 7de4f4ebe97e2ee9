// Goal: a game's clock runs in session time, for whose turn it is, over the death of servers.
// Method: whole sessions in virtual time, with the actions as they ship.
import { describe, expect, test } from 'vitest'
import { clockText, leftOf } from './clock.ts'
import { act, type Cluster, manOn, table } from './cluster.ts'
import * as eights from './eights.ts'
import { Card } from './pieces.ts'
import { recordsAfter } from './records.ts'
import { isOn, roundOf } from './round.ts'
import { endOf } from './seats.ts'
import { ACTS } from './things.ts'

const MINUTE = 60_000

const hop = (cluster: Cluster, who: number, from: number, to: number): Promise<string> =>
  act(cluster, who, ACTS.hop, { man: manOn(cluster.all[who]!, from).id, to })

/** Black is the third player, white the fourth. */
async function draughts(clock: number): Promise<Cluster> {
  const cluster = await table('draughts', 1, clock)
  expect(await act(cluster, 2, ACTS.sit, { seat: 0 })).toBe('')
  expect(await act(cluster, 3, ACTS.sit, { seat: 1 })).toBe('')
  return cluster
}

function left({ all }: Cluster, who: string): number {
  const seen = all[2]!
  return Math.round(leftOf(seen.table, who, seen.now())! / 1000)
}

describe('draughts with a clock', () => {
  test('it runs from the first move on, for whose turn it is', async () => {
    const cluster = await draughts(MINUTE)
    await cluster.w.run(10_000)
    expect([left(cluster, 'b'), left(cluster, 'w')]).toEqual([60, 60])
    expect(await hop(cluster, 2, 9, 14)).toBe('')
    await cluster.w.run(20_000)
    expect([left(cluster, 'b'), left(cluster, 'w')]).toEqual([60, 40])
    expect(await hop(cluster, 3, 21, 17)).toBe('')
    await cluster.w.run(5_000)
    expect([left(cluster, 'b'), left(cluster, 'w')]).toEqual([55, 40])
  })

  test('who has no time left loses, once, though the server dies meanwhile', async () => {
    const cluster = await draughts(20_000)
    expect(await hop(cluster, 2, 9, 14)).toBe('')
    await cluster.w.run(10_000)
    cluster.w.kill(cluster.all[0]!)
    await cluster.w.run(15_000)
    const { player } = cluster.all[2]!.me
    expect(endOf(cluster.all[2]!.table)).toEqual({
      winner: player,
      text: `{${cluster.all[3]!.me.player}} ran out of time: black wins.`,
    })
    expect(left(cluster, 'w')).toBe(0)
    const said = recordsAfter(cluster.all[2]!.table, 0).map(({ text }) => text)
    expect(said.filter((text) => text === 'ran out of time')).toHaveLength(1)
    expect(await hop(cluster, 3, 21, 17)).toContain('over')
  })

  test('a game that ends stops it, and another begins with the whole time', async () => {
    const cluster = await draughts(20_000)
    expect(await hop(cluster, 2, 9, 14)).toBe('')
    await cluster.w.run(5_000)
    expect(await act(cluster, 3, ACTS.resign, null)).toBe('')
    expect(left(cluster, 'w')).toBe(15)
    await cluster.w.run(30_000)
    expect(left(cluster, 'w')).toBe(15)
    expect(endOf(cluster.all[2]!.table)!.text).toContain('resigned')
    expect(await act(cluster, 2, ACTS.again, null)).toBe('')
    expect([left(cluster, 'b'), left(cluster, 'w')]).toEqual([20, 20])
    await cluster.w.run(30_000)
    expect(endOf(cluster.all[2]!.table)).toBe(null)
  })

  test('nobody can say that time is up, and a clock gives what is sensible', async () => {
    const cluster = await draughts(20_000)
    expect(await hop(cluster, 2, 9, 14)).toBe('')
    expect(await act(cluster, 2, ACTS.timeUp, null)).toContain('says when time is up')
    await cluster.w.run(1_000)
    expect(endOf(cluster.all[2]!.table)).toBe(null)
    for (const clock of [1, 4_999, 3_600_001, 1.5, -7, Infinity, NaN]) {
      const asked = act(cluster, 2, ACTS.setUp, { game: 'draughts', clock })
      await expect(asked.then(String, String)).resolves.toMatch(/5 to 3600 seconds|JSON|number/)
    }
    expect(await act(cluster, 2, ACTS.setUp, { game: 'draughts' })).toBe('')
    expect(leftOf(cluster.all[2]!.table, 'b', cluster.all[2]!.now())).toBe(null)
    await cluster.w.run(30_000)
    expect(endOf(cluster.all[2]!.table)).toBe(null)
  })
})

describe('Crazy Eights with a clock', () => {
  test('who is too slow draws a card, and the turn passes, round and round', async () => {
    const cluster = await table('eights', 1, 10_000)
    for (const [place, who] of [2, 3].entries()) {
      expect(await act(cluster, who, ACTS.sit, { seat: place })).toBe('')
    }
    expect(await act(cluster, 2, ACTS.dealRound, null)).toBe('')
    const [one, other] = roundOf(cluster.all[2]!.table)!.players as [number, number]
    const held = (player: number): number =>
      cluster.all[2]!.all(Card).filter(({ state }) => state.hand === player).length
    expect(eights.playerOf(roundOf(cluster.all[2]!.table)!)).toBe(one)
    await cluster.w.run(11_000)
    expect(eights.playerOf(roundOf(cluster.all[2]!.table)!)).toBe(other)
    expect([held(one), held(other)]).toEqual([8, 7])
    // The next has the whole time of a turn.
    expect(leftOf(cluster.all[2]!.table, String(other), cluster.all[2]!.now())).toBeGreaterThan(
      8_500,
    )
    await cluster.w.run(10_000)
    expect([held(one), held(other)]).toEqual([8, 8])
    expect(recordsAfter(cluster.all[2]!.table, 0).at(-1)!.text).toBe(
      'was too slow, and drew a card',
    )
    expect(await act(cluster, 2, ACTS.breakOff, null)).toBe('')
    await cluster.w.run(30_000)
    expect([held(one), held(other)]).toEqual([8, 8])
    expect(isOn(cluster.all[2]!.table)).toBe(false)
  })

  test('a round that nobody plays comes to its end', async () => {
    const cluster = await table('eights', 2, 5_000)
    for (const [place, who] of [0, 1, 2, 3].entries()) {
      expect(await act(cluster, who, ACTS.sit, { seat: place })).toBe('')
    }
    expect(await act(cluster, 2, ACTS.dealRound, null)).toBe('')
    await cluster.w.run(4 * MINUTE)
    expect(endOf(cluster.all[2]!.table)).not.toBe(null)
  })
})

test('a clock shows minutes, and tenths when few seconds are left', () => {
  expect([600_000, 65_000, 59_001, 10_000].map((ms) => clockText(ms))).toEqual([
    '10:00',
    '1:05',
    '1:00',
    '0:10',
  ])
  expect([9_999, 4_210, 0].map((ms) => clockText(ms))).toEqual(['10.0', '4.3', '0.0'])
})
