// Goal: a store of a session keeps its value until what it is of changes, and calls its listeners
// for nothing else.
// Method: whole sessions in virtual time; listeners of all stores count.
import { expect, test } from 'vitest'
import {
  action,
  allStore,
  handleStore,
  membersStore,
  object,
  piece,
  type Session,
  statusStore,
  type Store,
  tableStore,
  text,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const Card = piece('card', { title: text(20), face: u8 })
const Dot = object('dot', { hue: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const deal = action('deal', (table, title: string) => {
  table.create(Card, { title })
  table.set('dealt', table.all(Card).length)
})
const note = action('note', (table, word: string) => table.set('note', word))
const game = { game: 'stores', types: [Card, Dot, deal, note] }

async function both(): Promise<[SessionWorld, Session, Session]> {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const ada = await w.join({ ...game, name: 'Ada' }, { name: 'Ada' })
  const grace = await w.join({ ...game, name: 'Grace' }, { name: 'Grace' })
  await w.runUntil(() => grace.safety === 'backed-up', 10_000)
  ada.create(Dot, { hue: 1 })
  void ada.act(deal, 'one')
  void ada.act(deal, 'two')
  await w.run(500)
  expect([grace.all(Card).length, grace.all(Dot).length]).toEqual([2, 1])
  return [w, ada, grace]
}

/** Counts by name how often the listeners of stores are called. */
function counted(stores: Record<string, Store<unknown>>): () => string[] {
  let called: string[] = []
  for (const [name, { subscribe }] of Object.entries(stores)) {
    subscribe(() => void called.push(name))
  }
  return () => {
    const before = called
    called = []
    return before.toSorted()
  }
}

test('listeners of stores are called for what is read, and for nothing else', async () => {
  const [w, ada, grace] = await both()
  const [one, two] = grace.all(Card) as unknown as [never, never]
  const stores = {
    cards: allStore(grace, Card),
    list: allStore(grace, Card, (all) => all.map((card) => card)),
    one: handleStore(grace, one),
    two: handleStore(grace, two),
    dot: handleStore(grace, grace.all(Dot)[0]!),
    members: membersStore(grace),
    status: statusStore(grace),
    dealt: tableStore(grace, 'dealt'),
  }
  const calls = counted(stores)
  const after = async (happen: () => unknown): Promise<string[]> => {
    void happen()
    await w.run(500)
    return calls()
  }
  const values = (): unknown[] => Object.values(stores).map(({ snapshot }) => snapshot())
  const before = values()
  expect(await after(() => ada.act(note, 'x'))).toEqual([])
  for (const [at, value] of values().entries()) expect(value).toBe(before[at])
  expect(await after(() => ada.all(Card)[0]!.update({ face: 7 }))).toEqual(['cards', 'one'])
  expect(stores.one.snapshot()).toMatchObject({ state: { face: 7 }, pending: false })
  expect(await after(() => ada.act(deal, 'three'))).toEqual(['cards', 'dealt', 'list'])
  expect(stores.dealt.snapshot()).toBe(3)
  expect(await after(() => ada.all(Dot)[0]!.set({ hue: 2 }))).toEqual(['dot'])
  expect(stores.dot.snapshot()).toMatchObject({ state: { hue: 2 }, mine: false })
})

test('a store of a handle changes with its owner, and with own updates at once', async () => {
  const [w, , grace] = await both()
  const dot = handleStore(grace, grace.all(Dot)[0]!)
  const card = handleStore(grace, grace.all(Card)[0]!)
  const calls = counted({ dot, card })
  void grace.all(Card)[0]!.update({ face: 9 })
  expect(calls()).toEqual(['card'])
  expect(card.snapshot()).toMatchObject({ state: { face: 9 }, pending: true })
  void grace.all(Dot)[0]!.take()
  await w.run(500)
  expect(calls()).toEqual(['card', 'dot'])
  expect(card.snapshot()).toMatchObject({ state: { face: 9 }, pending: false })
  expect(dot.snapshot()).toMatchObject({ mine: true, owner: { name: 'Grace' } })
})

test('stores of members and of the session follow a takeover, until they are stopped', async () => {
  const [w, ada, grace] = await both()
  const [members, status] = [membersStore(grace), statusStore(grace)]
  expect(members.snapshot().map(({ name }) => name)).toEqual(['Ada', 'Grace'])
  expect(status.snapshot()).toMatchObject({ status: 'live', primary: { name: 'Ada' } })
  const calls = counted({ members })
  let stopped = 0
  const stop = status.subscribe(() => void stopped++)
  stop()
  ada.debug.crash()
  await w.run(15_000)
  expect(members.snapshot().map(({ name }) => name)).toEqual(['Grace'])
  expect(status.snapshot()).toMatchObject({ primary: { name: 'Grace' }, backup: null })
  expect([calls(), stopped]).toEqual([['members'], 0])
})
