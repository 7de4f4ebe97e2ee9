// Goal: what comes out of the box lies beside what is there, is bounded, and goes back; dice roll
// what they have; a counter counts within its bounds; jokers are hidden like all cards.
// Method: whole sessions in virtual time, with the actions and the rules as they ship.
import { expect, test } from 'vitest'
import { SIDES_OF_DICE, THINGS_MAX, type Wanted } from './box.ts'
import { act, type Cluster, done, table } from './cluster.ts'
import { nameOf } from './faces.ts'
import { Card, COUNT_MAX, Die, Token } from './pieces.ts'
import { recordsAfter } from './records.ts'
import { ACTS } from './things.ts'

const out = (cluster: Cluster, what: Wanted['what'], kind: number): Promise<string> =>
  act(cluster, 2, ACTS.takeOut, { what, kind })

test('dice of all kinds come out, roll up to their sides, and go back', async () => {
  const cluster = await table('free')
  for (const sides of SIDES_OF_DICE) expect(await out(cluster, 'die', sides)).toBe('')
  const dice = cluster.all[3]!.all(Die).slice(-6)
  expect(dice.map(({ state }) => state.sides)).toEqual([...SIDES_OF_DICE])
  const most = new Map<string, number>()
  for (let times = 0; times < 60; times++) {
    expect(await act(cluster, 3, ACTS.roll, { die: null })).toBe('')
    for (const { id, state } of dice) {
      expect(state.pips).toBeGreaterThan(0)
      expect(state.pips).toBeLessThanOrEqual(state.sides)
      most.set(id, Math.max(most.get(id) ?? 0, state.pips))
    }
  }
  expect(most.get(dice[5]!.id)).toBeGreaterThan(12)
  expect(await done(cluster, dice[5]!.update({ sides: 200 }))).toMatchObject({ code: 'refused' })
  expect(await out(cluster, 'die', 7)).toBe('A die has 4, 6, 8, 10, 12, 20 sides, and not 7.')
  const ids = dice.map(({ id }) => id)
  await done(cluster, dice[0]!.grab())
  expect(await act(cluster, 2, ACTS.putBack, { ids })).toBe('')
  expect(cluster.all[2]!.all(Die)).toHaveLength(3)
  for (const wrong of [ids.slice(1), ['987654'], ['no id'], [cluster.all[2]!.all(Card)[0]!.id]]) {
    expect(await act(cluster, 2, ACTS.putBack, { ids: wrong })).toContain('Only tokens, counters')
  }
  for (const wrong of [[], 'all', Array.from({ length: 61 }, () => 1)]) {
    const asked = act(cluster, 2, ACTS.putBack, { ids: wrong as never })
    expect(await asked).toContain(`1 to ${THINGS_MAX} things`)
  }
})

test('tokens and counters lie each on a spot of its own, and there is room for so many', async () => {
  const cluster = await table('free')
  expect(await out(cluster, 'token', 6)).toBe('Colours are 0 to 5, and not 6.')
  expect(await out(cluster, 'token', '1' as never)).toContain('Colours are')
  expect(await out(cluster, 'coin' as never, 1)).toContain('no "coin"')
  expect(await act(cluster, 2, ACTS.takeOut, null as never)).toContain('no "undefined"')
  for (let colour = 0; colour < 6; colour++) {
    expect(await out(cluster, 'token', colour)).toBe('')
    expect(await out(cluster, 'counter', colour)).toBe('')
  }
  expect(recordsAfter(cluster.all[0]!.table, 0).at(-2)!.text).toBe('took out a violet token')
  const places = cluster.all[3]!.all(Token).map(({ state }) => String(state.at))
  expect(new Set(places).size).toBe(12)
  for (let lie = 14; lie < THINGS_MAX; lie++) expect(await out(cluster, 'token', 0)).toBe('')
  expect(await out(cluster, 'die', 6)).toBe('A table has room for 60 tokens, counters and dice.')
  await act(cluster, 2, ACTS.setUp, { game: 'eights' })
  expect(await out(cluster, 'die', 6)).toBe('The box belongs to the free table.')
  expect(cluster.all[3]!.all(Token).every(({ state }) => state.aside)).toBe(true)
  await act(cluster, 2, ACTS.takeBack, null)
  expect(cluster.all[3]!.all(Token).filter(({ state }) => !state.aside)).toHaveLength(58)
})

test('a counter is set by anybody, within its bounds; a token has no number', async () => {
  const cluster = await table('free')
  await out(cluster, 'counter', 1)
  await out(cluster, 'token', 1)
  const [counter, token] = cluster.all[3]!.all(Token)
  expect(await done(cluster, counter!.update({ value: COUNT_MAX }))).toMatchObject({ ok: true })
  expect(cluster.all[1]!.all(Token)[0]!.state.value).toBe(9999)
  expect(await done(cluster, counter!.update({ value: COUNT_MAX + 1 }))).toMatchObject({
    reason: 'A counter goes from 0 to 9999, and not to 10000.',
  })
  expect(await done(cluster, token!.update({ value: 1 }))).toMatchObject({
    reason: 'That token has no number.',
  })
  expect(await done(cluster, token!.update({ colour: 3 }))).toMatchObject({ ok: false })
  await done(cluster, token!.grab())
  await done(
    cluster,
    token!.release({ at: [5_000, 5] as never }).catch(() => token!.release()),
  )
  expect(token!.holder).toBe(null)
})

test('two jokers come into the deck unseen, and go wherever they are', async () => {
  const cluster = await table('free')
  const before = cluster.all[3]!.all(Card).map(({ id }) => id)
  for (const times of [1, 2]) {
    expect(await act(cluster, 2, ACTS.jokers, { in: true }), `time ${times}`).toBe('')
    expect(cluster.all[3]!.all(Card)).toHaveLength(54)
  }
  expect(cluster.all[3]!.all(Card).every(({ state }) => state.face === null)).toBe(true)
  // All cards are dealt, so some hand has each joker.
  const players = cluster.all.slice(1).map(({ me }) => me.player)
  for (const count of [13, 5]) {
    expect(await act(cluster, 3, ACTS.deal, { count, players })).toBe('')
  }
  const faces = cluster.all.flatMap((session) =>
    session.all(Card).flatMap(({ state }) => (state.face === null ? [] : [state.face])),
  )
  expect(faces.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 54 }, (_, face) => face))
  expect([52, 53].map(nameOf)).toEqual(['black joker', 'red joker'])
  expect(await act(cluster, 2, ACTS.jokers, { in: false })).toBe('')
  expect(cluster.all[3]!.all(Card)).toHaveLength(52)
  expect(cluster.all[3]!.all(Card).map(({ id }) => id)).not.toEqual(before)
  await act(cluster, 2, ACTS.setUp, { game: 'draughts' })
  expect(await act(cluster, 2, ACTS.jokers, { in: true })).toContain('The box belongs')
})
