// Goal: who looks through a pile sees it, and nobody else does; it locks nothing, also not when
// they go away; a pile is split in its order.
// Method: whole sessions in virtual time, with the actions and the rules as they ship.
import { expect, test } from 'vitest'
import { act, type Cluster, done, table } from './cluster.ts'
import { Card } from './pieces.ts'
import { DECK, DISCARD } from './places.ts'
import { recordsAfter } from './records.ts'
import { SEARCH_MS, searcherOf } from './search.ts'
import { ACTS } from './things.ts'

/** How many faces each of the cluster sees. */
const seen = ({ all }: Cluster): number[] =>
  all.map((each) => each.all(Card).filter(({ state }) => state.face !== null).length)

const top = ({ all }: Cluster, who: number) =>
  all[who]!.all(Card).findLast(({ state }) => state.deck)!

const said = ({ all }: Cluster): string => recordsAfter(all[0]!.table, 0).at(-1)!.text

test('a deck is looked through by one, who takes a card; the others are told, and see nothing (PI-13)', async () => {
  const cluster = await table('free')
  const { id } = top(cluster, 2)
  expect(await act(cluster, 2, ACTS.search, { card: id })).toBe('')
  expect(seen(cluster)).toEqual([0, 0, 52, 0])
  expect(said(cluster)).toBe('looks through the deck: 52 cards')
  expect(searcherOf(cluster.all[3]!.table)).toBe(cluster.all[2]!.me.player)
  expect(await act(cluster, 3, ACTS.search, { card: id })).toContain('Somebody looks')
  expect(await act(cluster, 3, ACTS.endSearch, { shuffle: true })).toContain('You look through no')
  // Into the hand of who looks, and open onto the table by another meanwhile.
  const { player } = cluster.all[2]!.me
  const wanted = cluster.all[2]!.all(Card)[7]!
  const face = wanted.state.face
  await done(cluster, wanted.grab({ raise: true }))
  await done(cluster, wanted.release({ hand: player, up: false }))
  expect(wanted.state).toMatchObject({ hand: player, deck: false, seer: 0, face })
  const other = top(cluster, 3)
  await done(cluster, other.grab({ raise: true }))
  await done(cluster, other.release({ hand: cluster.all[3]!.me.player, up: false }))
  expect(seen(cluster)).toEqual([0, 0, 51, 1])
  expect(await act(cluster, 2, ACTS.endSearch, { shuffle: true })).toBe('')
  expect(said(cluster)).toBe('shuffled what they looked through')
  expect(seen(cluster)).toEqual([0, 0, 1, 1])
})

test('what is not in a search cannot be got by one: seers are set by the table, and shuffling ends it', async () => {
  const cluster = await table('free')
  const card = top(cluster, 3)
  const { player } = cluster.all[3]!.me
  expect(await done(cluster, card.update({ seer: player }))).toMatchObject({
    ok: false,
    reason: 'The table says who looks through a pile.',
  })
  expect(await act(cluster, 3, ACTS.search, { card: '987654' })).toContain(
    'Card 987654 lies on no pile',
  )
  expect(await act(cluster, 3, ACTS.search, null as never)).toContain('lies on no pile')
  expect(await act(cluster, 3, ACTS.searchDue, null)).toContain('The table says when')
  await act(cluster, 3, ACTS.search, { card: card.id })
  expect(await act(cluster, 2, ACTS.shuffle, { all: false })).toBe('')
  expect([seen(cluster), searcherOf(cluster.all[0]!.table)]).toEqual([[0, 0, 0, 0], 0])
  // What was put away while somebody looked through it is seen by nobody when it is back.
  await act(cluster, 3, ACTS.search, { card: card.id })
  await act(cluster, 2, ACTS.setUp, { game: 'eights' })
  await act(cluster, 2, ACTS.takeBack, null)
  expect(seen(cluster)).toEqual([0, 0, 0, 0])
  await act(cluster, 2, ACTS.setUp, { game: 'eights' })
  const law = cluster.all[3]!.all(Card).find(({ state }) => !state.aside)!
  expect(await act(cluster, 3, ACTS.search, { card: law.id })).toContain('Only at a free table')
})

test('who goes away while they look locks nothing, and who forgets looks no more after a while', async () => {
  const cluster = await table('free')
  await act(cluster, 3, ACTS.search, { card: top(cluster, 3).id })
  cluster.w.kill(cluster.all[3]!)
  await cluster.w.run(20_000)
  const left = { ...cluster, all: cluster.all.slice(0, 3) }
  expect(await act(left, 2, ACTS.search, { card: top(left, 2).id })).toBe('')
  expect(seen(left)).toEqual([0, 0, 52])
  await cluster.w.run(SEARCH_MS)
  expect([seen(left), searcherOf(left.all[0]!.table)]).toEqual([[0, 0, 0], 0])
})

test('a pile is split: so many from its top lie beside it, in their order and as hidden as before', async () => {
  const cluster = await table('free')
  const cards = cluster.all[2]!.all(Card)
  const ids = cards.map(({ id }) => id)
  for (const count of [0, 52, -1, 1.5, 1e9, '3' as never]) {
    const asked = act(cluster, 2, ACTS.split, { card: ids[3]!, count })
    expect(await asked).toMatch(new RegExp(`1 to 51 cards can be taken off, and not ${count}`))
  }
  expect(await act(cluster, 2, ACTS.split, { card: ids[3]!, count: 26 })).toBe('')
  expect(said(cluster)).toBe('took 26 cards off the deck')
  const taken = cluster.all[1]!.all(Card).filter(({ state }) => !state.deck)
  expect(taken.map(({ id }) => id)).toEqual(ids.slice(26))
  const [{ at }] = [taken[0]!.state]
  expect(taken.every(({ state }) => String(state.at) === String(at))).toBe(true)
  expect([DECK, DISCARD]).not.toContainEqual(at)
  expect(seen(cluster)).toEqual([0, 0, 0, 0])
  // Halves of halves find a place of their own.
  expect(await act(cluster, 2, ACTS.split, { card: ids[30]!, count: 13 })).toBe('')
  expect(said(cluster)).toBe('took 13 cards off a pile')
  const places = new Set(cluster.all[1]!.all(Card).map(({ state }) => String(state.at)))
  expect(places.size).toBe(3)
  expect(await act(cluster, 2, ACTS.search, { card: ids[30]! })).toBe('')
  expect(seen(cluster)).toEqual([0, 0, 13, 0])
})

test('one card alone is no pile to split, and rules let none be split', async () => {
  const cluster = await table('free')
  const card = top(cluster, 2)
  await done(cluster, card.grab({ raise: true }))
  await done(cluster, card.release({ at: [300, 300], up: true }))
  expect(await act(cluster, 2, ACTS.split, { card: card.id, count: 1 })).toContain('alone')
  await act(cluster, 2, ACTS.setUp, { game: 'eights' })
  expect(await act(cluster, 2, ACTS.split, { card: card.id, count: 1 })).toContain('the rules move')
})
