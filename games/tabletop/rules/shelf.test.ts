// Goal: a table that was cleared can be taken back for a minute, by anybody, as it lay; and what
// lies aside meanwhile is seen and moved by nobody.
// Method: whole sessions in virtual time, with the actions as they ship.
import type { Session } from 'holdfast'
import { expect, test } from 'vitest'
import { thingsOf } from '../kinds.ts'
import { leftOf } from './clock.ts'
import { act, type Cluster, done, table } from './cluster.ts'
import { playerOf } from './eights.ts'
import { keptName } from './kept.ts'
import { Card } from './pieces.ts'
import { isOn, roundOf } from './round.ts'
import { gameOf, seatsOf } from './seats.ts'
import { clearedBy, UNDO_MS } from './shelf.ts'
import { ACTS } from './things.ts'

/** A round of two, with a clock. */
async function round(): Promise<Cluster> {
  const cluster = await table('eights', 3, 60_000)
  for (const [seat, who] of [2, 3].entries()) {
    expect(await act(cluster, who, ACTS.sit, { seat })).toBe('')
    expect(await act(cluster, who, ACTS.stay, { name: `player ${who}` })).toBe('')
  }
  expect(await act(cluster, 2, ACTS.dealRound, null)).toBe('')
  return cluster
}

/** All that somebody sees of the table. */
function seen(session: Session): unknown {
  const things = thingsOf(session).map(({ id, handle }) => [id, handle.state])
  return [gameOf(session.table), session.table.get('eights'), seatsOf(session.table), things]
}

test('a cleared table comes back as it lay, hands and clock too (PI-13)', async () => {
  const cluster = await round()
  await cluster.w.run(10_000)
  const before = cluster.all.map((session) => seen(session))
  expect(await act(cluster, 0, ACTS.setUp, { game: 'free' })).toBe('')
  const cleared = cluster.all[3]!
  expect([gameOf(cleared.table), thingsOf(cleared).length, isOn(cleared.table)]).toEqual([
    'free',
    54,
    false,
  ])
  expect(clearedBy(cleared.table, cleared.now())).toBe(cluster.all[0]!.me.player)
  await cluster.w.run(20_000)
  expect(await act(cluster, 3, ACTS.takeBack, null)).toBe('')
  expect(cluster.all.map((session) => seen(session))).toEqual(before)
  expect(clearedBy(cleared.table, cleared.now())).toBe(null)
  expect(keptName(cleared.table, cluster.all[2]!.me.player)).toBe('player 2')
  // Time did not run meanwhile, and does again.
  const player = playerOf(roundOf(cleared.table)!)
  const left = leftOf(cleared.table, String(player), cleared.now())!
  expect(Math.abs(left - 50_000)).toBeLessThan(1_500)
  await cluster.w.run(52_000)
  expect(playerOf(roundOf(cleared.table)!)).not.toBe(player)
})

test('what lies aside is moved by nobody, and gone after a minute (PI-13)', async () => {
  const cluster = await round()
  const [ada] = cluster.all as [Session]
  const [old] = ada.all(Card)
  expect(await act(cluster, 0, ACTS.setUp, { game: 'free' })).toBe('')
  expect(await done(cluster, old!.update({ at: [5, 5] }))).toMatchObject({
    reason: 'The table was cleared.',
  })
  expect(await done(cluster, old!.update({ aside: false }))).toMatchObject({ ok: false })
  // Who clears it again has that taken back, and no more.
  expect(await act(cluster, 0, ACTS.setUp, { game: 'draughts' })).toBe('')
  expect(await act(cluster, 1, ACTS.takeBack, null)).toBe('')
  expect([gameOf(ada.table), thingsOf(ada).length]).toEqual(['free', 54])
  expect(await act(cluster, 1, ACTS.takeBack, null)).toContain('for a minute only')
  expect(await act(cluster, 0, ACTS.setUp, { game: 'eights' })).toBe('')
  expect(await act(cluster, 1, ACTS.sweep, null)).toContain('The table says')
  await cluster.w.run(UNDO_MS + 2_000)
  expect(ada.all(Card)).toHaveLength(52)
  expect(await act(cluster, 1, ACTS.takeBack, null)).toContain('for a minute only')
  expect(ada.table.keys('old.')).toEqual([])
})
