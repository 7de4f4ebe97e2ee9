// Goal: who looks through a pile sees it, and nobody else does; it locks nothing, also not when
// they go away; a pile is split in its order.
// Method: whole sessions in virtual time, with the actions and the rules as they ship.
import { expect, test } from 'vitest'
import { act, type Crew, done, table } from './crew.ts'
import { Card } from './pieces.ts'
import { DECK, DISCARD } from './places.ts'
import { recordsAfter } from './records.ts'
import { SEARCH_MS, searcherOf } from './search.ts'
import { ACTS } from './things.ts'

/** How many faces each of the crew sees. */
const seen = ({ all }: Crew): number[] =>
  all.map((each) => each.all(Card).filter(({ state }) => state.face !== null).length)

const top = ({ all }: Crew, who: number) => all[who]!.all(Card).findLast(({ state }) => state.deck)!

const said = ({ all }: Crew): string => recordsAfter(all[0]!.table, 0).at(-1)!.text

test('a deck is looked through by one, who takes a card; the others are told, and see nothing (PI-13)', async () => {
  const crew = await table('free')
  const { id } = top(crew, 2)
  expect(await act(crew, 2, ACTS.search, { card: id })).toBe('')
  expect(seen(crew)).toEqual([0, 0, 52, 0])
  expect(said(crew)).toBe('looks through the deck: 52 cards')
  expect(searcherOf(crew.all[3]!.table)).toBe(crew.all[2]!.me.player)
  expect(await act(crew, 3, ACTS.search, { card: id })).toContain('Somebody looks')
  expect(await act(crew, 3, ACTS.endSearch, { shuffle: true })).toContain('You look through no')
  // Into the hand of who looks, and open onto the table by another meanwhile.
  const { player } = crew.all[2]!.me
  const wanted = crew.all[2]!.all(Card)[7]!
  const face = wanted.state.face
  await done(crew, wanted.grab({ raise: true }))
  await done(crew, wanted.release({ hand: player, up: false }))
  expect(wanted.state).toMatchObject({ hand: player, deck: false, seer: 0, face })
  const other = top(crew, 3)
  await done(crew, other.grab({ raise: true }))
  await done(crew, other.release({ hand: crew.all[3]!.me.player, up: false }))
  expect(seen(crew)).toEqual([0, 0, 51, 1])
  expect(await act(crew, 2, ACTS.endSearch, { shuffle: true })).toBe('')
  expect(said(crew)).toBe('shuffled what they looked through')
  expect(seen(crew)).toEqual([0, 0, 1, 1])
})

test('what is not in a search cannot be got by one: seers are set by the table, and shuffling ends it', async () => {
  const crew = await table('free')
  const card = top(crew, 3)
  const { player } = crew.all[3]!.me
  expect(await done(crew, card.update({ seer: player }))).toMatchObject({
    ok: false,
    reason: 'The table says who looks through a pile.',
  })
  expect(await act(crew, 3, ACTS.search, { card: 987_654 })).toContain(
    'Card 987654 lies on no pile',
  )
  expect(await act(crew, 3, ACTS.search, null as never)).toContain('lies on no pile')
  expect(await act(crew, 3, ACTS.searchDue, null)).toContain('The table says when')
  await act(crew, 3, ACTS.search, { card: card.id })
  expect(await act(crew, 2, ACTS.shuffle, { all: false })).toBe('')
  expect([seen(crew), searcherOf(crew.all[0]!.table)]).toEqual([[0, 0, 0, 0], 0])
  // What was put away while somebody looked through it is seen by nobody when it is back.
  await act(crew, 3, ACTS.search, { card: card.id })
  await act(crew, 2, ACTS.setUp, { game: 'eights' })
  await act(crew, 2, ACTS.takeBack, null)
  expect(seen(crew)).toEqual([0, 0, 0, 0])
  await act(crew, 2, ACTS.setUp, { game: 'eights' })
  const law = crew.all[3]!.all(Card).find(({ state }) => !state.aside)!
  expect(await act(crew, 3, ACTS.search, { card: law.id })).toContain('Only at a free table')
})

test('who goes away while they look locks nothing, and who forgets looks no more after a while', async () => {
  const crew = await table('free')
  await act(crew, 3, ACTS.search, { card: top(crew, 3).id })
  crew.w.kill(crew.all[3]!)
  await crew.w.run(20_000)
  const left = { ...crew, all: crew.all.slice(0, 3) }
  expect(await act(left, 2, ACTS.search, { card: top(left, 2).id })).toBe('')
  expect(seen(left)).toEqual([0, 0, 52])
  await crew.w.run(SEARCH_MS)
  expect([seen(left), searcherOf(left.all[0]!.table)]).toEqual([[0, 0, 0], 0])
})

test('a pile is split: so many from its top lie beside it, in their order and as hidden as before', async () => {
  const crew = await table('free')
  const cards = crew.all[2]!.all(Card)
  const ids = cards.map(({ id }) => id)
  for (const count of [0, 52, -1, 1.5, 1e9, '3' as never]) {
    const asked = act(crew, 2, ACTS.split, { card: ids[3]!, count })
    expect(await asked).toMatch(new RegExp(`1 to 51 cards can be taken off, and not ${count}`))
  }
  expect(await act(crew, 2, ACTS.split, { card: ids[3]!, count: 26 })).toBe('')
  expect(said(crew)).toBe('took 26 cards off the deck')
  const taken = crew.all[1]!.all(Card).filter(({ state }) => !state.deck)
  expect(taken.map(({ id }) => id)).toEqual(ids.slice(26))
  const [{ at }] = [taken[0]!.state]
  expect(taken.every(({ state }) => String(state.at) === String(at))).toBe(true)
  expect([DECK, DISCARD]).not.toContainEqual(at)
  expect(seen(crew)).toEqual([0, 0, 0, 0])
  // Halves of halves find a place of their own.
  expect(await act(crew, 2, ACTS.split, { card: ids[30]!, count: 13 })).toBe('')
  expect(said(crew)).toBe('took 13 cards off a pile')
  const places = new Set(crew.all[1]!.all(Card).map(({ state }) => String(state.at)))
  expect(places.size).toBe(3)
  expect(await act(crew, 2, ACTS.search, { card: ids[30]! })).toBe('')
  expect(seen(crew)).toEqual([0, 0, 13, 0])
})

test('one card alone is no pile to split, and rules let none be split', async () => {
  const crew = await table('free')
  const card = top(crew, 2)
  await done(crew, card.grab({ raise: true }))
  await done(crew, card.release({ at: [300, 300], up: true }))
  expect(await act(crew, 2, ACTS.split, { card: card.id, count: 1 })).toContain('alone')
  await act(crew, 2, ACTS.setUp, { game: 'eights' })
  expect(await act(crew, 2, ACTS.split, { card: card.id, count: 1 })).toContain('the rules move')
})
