// Goal: who is away keeps seat and hand; the others may agree to give or free them, or object.
// Method: whole sessions in virtual time, with the actions as they ship.
import type { Session } from 'holdfast'
import { describe, expect, test } from 'vitest'
import { CLAIM_MS } from './absence.ts'
import { act, type Cluster, done, table } from './cluster.ts'
import { claimsOf, keptName } from './kept.ts'
import { Card } from './pieces.ts'
import { isOn, roundOf } from './round.ts'
import { endOf, seatsOf } from './seats.ts'
import { ACTS, TYPES } from './things.ts'

const MINUTE = 60_000

/** A round of the last three; the third of the cluster is away from then on. */
async function round(clock = 0): Promise<{ cluster: Cluster; gone: Session; player: number }> {
  const cluster = await table('eights', 1, clock)
  for (const who of [1, 2, 3]) {
    expect(await act(cluster, who, ACTS.sit, { seat: who })).toBe('')
    expect(await act(cluster, who, ACTS.stay, { name: `player ${who}` })).toBe('')
  }
  expect(await act(cluster, 3, ACTS.dealRound, null)).toBe('')
  const gone = cluster.all[2]!
  const { player } = gone.me
  cluster.w.kill(gone)
  await cluster.w.run(15_000)
  return { cluster, gone, player }
}

/** The cards of a player as somebody sees them. */
function cards(session: Session, player: number): (number | null)[] {
  const hand = session.all(Card).filter(({ state }) => state.hand === player)
  return hand.map(({ state }) => state.face)
}

describe('who is away', () => {
  test('has seat and hand again after three minutes, by token (PI-7)', async () => {
    const { cluster, gone, player } = await round()
    await cluster.w.run(3 * MINUTE)
    expect(cards(cluster.all[3]!, player)).toHaveLength(5)
    expect(keptName(cluster.all[3]!.table, player)).toBe('player 2')
    const { token } = gone
    const back = await cluster.w.join({ game: 'tabletop', types: TYPES, name: 'Linus', token })
    await cluster.w.run(500)
    expect(back.me.player).toBe(player)
    expect(cards(back, player)).not.toContain(null)
    // What is left of who has nothing more is forgotten.
    cluster.all[2] = back
    expect(await act(cluster, 3, ACTS.breakOff, null)).toBe('')
    expect(await act(cluster, 2, ACTS.setUp, { game: 'free' })).toBe('')
    expect(keptName(back.table, player)).toBe(null)
  })

  test('gives up seat, hand and turn to who lost the token, if all who play agree (PI-7)', async () => {
    const { cluster, player } = await round()
    const { player: again } = cluster.all[0]!.me
    expect(await act(cluster, 0, ACTS.claim, { player, free: false })).toBe('')
    expect(claimsOf(cluster.all[3]!.table)).toMatchObject([{ player, by: again, agreed: [again] }])
    expect(cards(cluster.all[0]!, again)).toEqual([])
    expect(await act(cluster, 1, ACTS.vote, { player, yes: true })).toBe('')
    expect(claimsOf(cluster.all[3]!.table)).toHaveLength(1)
    expect(await act(cluster, 3, ACTS.vote, { player, yes: true })).toBe('')
    expect(claimsOf(cluster.all[3]!.table)).toEqual([])
    expect(cards(cluster.all[0]!, again)).toHaveLength(5)
    expect(cards(cluster.all[0]!, again)).not.toContain(null)
    expect(cards(cluster.all[3]!, again)).toEqual([null, null, null, null, null])
    expect(roundOf(cluster.all[3]!.table)!.players).toContain(again)
    expect(seatsOf(cluster.all[3]!.table)).toContain(again)
    expect(seatsOf(cluster.all[3]!.table)).not.toContain(player)
  })

  test('keeps it if one who plays objects; and silence agrees (PI-7)', async () => {
    const { cluster, player } = await round()
    const { player: again } = cluster.all[0]!.me
    expect(await act(cluster, 0, ACTS.claim, { player, free: false })).toBe('')
    expect(await act(cluster, 1, ACTS.vote, { player, yes: false })).toBe('')
    await cluster.w.run(2 * CLAIM_MS)
    expect(cards(cluster.all[3]!, player)).toHaveLength(5)
    expect(await act(cluster, 0, ACTS.claim, { player, free: false })).toBe('')
    await cluster.w.run(CLAIM_MS - 5_000)
    expect(cards(cluster.all[3]!, player)).toHaveLength(5)
    await cluster.w.run(10_000)
    expect(cards(cluster.all[3]!, again)).toHaveLength(5)
  })

  test('keeps it if they come back while the others are asked (PI-7)', async () => {
    const { cluster, gone, player } = await round()
    expect(await act(cluster, 0, ACTS.claim, { player, free: false })).toBe('')
    const { token } = gone
    await cluster.w.join({ game: 'tabletop', types: TYPES, name: 'Linus', token })
    await cluster.w.run(CLAIM_MS + 5_000)
    expect(cards(cluster.all[3]!, player)).toHaveLength(5)
    expect(claimsOf(cluster.all[3]!.table)).toEqual([])
  })

  test('locks nothing for ever: the others free it, and nobody knows those cards (PI-13)', async () => {
    const { cluster, player } = await round(20_000)
    expect(await act(cluster, 1, ACTS.claim, { player, free: true })).toBe('')
    expect(await act(cluster, 3, ACTS.vote, { player, yes: true })).toBe('')
    expect(cards(cluster.all[3]!, player)).toEqual([])
    expect(isOn(cluster.all[3]!.table)).toBe(false)
    expect(endOf(cluster.all[3]!.table)!.text).toContain('is away')
    expect(seatsOf(cluster.all[3]!.table)).not.toContain(player)
    await cluster.w.run(MINUTE)
    expect(await act(cluster, 3, ACTS.dealRound, null)).toBe('')
    expect(roundOf(cluster.all[3]!.table)!.players).toHaveLength(2)
  })
})

test('what cannot be claimed is refused, with a sentence', async () => {
  const { cluster, player } = await round()
  const claim = (who: number, of: number, free = false): Promise<string> =>
    act(cluster, who, ACTS.claim, { player: of, free })
  expect(await claim(0, cluster.all[1]!.me.player)).toContain('They are here')
  expect(await claim(0, 99)).toContain('nothing on the table')
  expect(await claim(0, 0)).toContain('nothing on the table')
  expect(await claim(1, player)).toContain('a hand already')
  expect(await act(cluster, 1, ACTS.vote, { player, yes: true })).toContain('decided already')
  expect(await claim(0, player, true)).toBe('')
  expect(await claim(1, player, true)).toContain('asked for that already')
  expect(await act(cluster, 0, ACTS.vote, { player, yes: true })).toContain('Only those who play')
  expect(await act(cluster, 1, ACTS.claimDue, player)).toContain('says when that is over')
  await done(cluster, cluster.all[0]!.leave())
})
