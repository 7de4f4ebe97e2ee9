// Goal: a session knows a definition by its kind, name and fields, not by its identity: hot reload
// runs modules again, and a page may load two copies of the library.
// Method: whole sessions in virtual time are joined with some definitions and used with equal ones,
// made by the same copy of the library and by another.
import { expect, test, vi } from 'vitest'
import * as library from '../../packages/holdfast/src/index.ts'
import { world } from '../../packages/sim/src/session-world.ts'

type Library = typeof library

function definitionsOf({ object, piece, action, procedure, slots, u8 }: Library) {
  const Card = piece('card', { face: u8 })
  return {
    Card,
    Dot: object('dot', { hue: u8 }),
    deal: action('deal', (table, face: number) => {
      const { id } = table.create(Card, { face })
      return [table.all(Card).length, table.find(Card, id)!.state.face]
    }),
    ask: procedure<number, number>('ask'),
    Count: slots('count', { start: 0, rule: (count: number) => count }),
  }
}

async function anotherCopy(): Promise<Library> {
  vi.resetModules()
  return import('../../packages/holdfast/src/index.ts')
}

test.each([
  ['the same copy of the library', () => library],
  ['another copy', anotherCopy],
])('equal definitions of %s are known', async (_, load) => {
  const [given, equal] = [definitionsOf(library), definitionsOf(await load())]
  const w = world({ seed: 1, conditions: 'rtt=40' })
  // The one that runs, which uses the definition of its own module.
  const types = [
    given.Dot,
    given.Card,
    { ...given.deal, run: equal.deal.run },
    given.ask,
    given.Count,
  ]
  const session = await w.join({ game: 'any', types })
  const dot = session.create(equal.Dot, { hue: 7 })
  expect([...session.all(equal.Dot)]).toEqual([dot])
  expect(session.all(equal.Dot)).toBe(session.all(given.Dot))
  const dealt = session.act(equal.deal, 5)
  await w.run(500)
  expect(await dealt).toEqual({ ok: true, value: [1, 5] })
  expect(session.all(equal.Card).map(({ state }) => state.face)).toEqual([5])
  session.answer(equal.ask, (value) => value + 1)
  const asked = session.call('primary', equal.ask, 1)
  await w.run(500)
  expect(await asked).toEqual({ ok: true, value: 2 })
  expect(session.part(equal.Count)).toBe(session.part(given.Count))
})

test('a definition whose fields changed is refused, and the error says what to do', async () => {
  const { object, u8, u16 } = library
  const session = await world({ seed: 2 }).join({
    game: 'any',
    types: [object('dot', { hue: u8 })],
  })
  const why = 'it has changed since, so reload the page'
  expect(() => session.all(object('dot', { hue: u16 }))).toThrow(
    `the object "dot" was not given to join with these fields: ${why}`,
  )
})
