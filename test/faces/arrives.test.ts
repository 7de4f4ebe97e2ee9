// Goal: `join` returns as soon as all that was there is here, whatever a game is made of.
// Method: whole sessions in virtual time.
import { expect, test } from 'vitest'
import { action, object, slots, u8 } from '../../src/index.ts'
import { world } from '../../src/proof/world.ts'

const set = action('set', (table, value: number) => table.set('value', value))
const Dot = object('dot', { hue: u8 })
const Count = slots('count', { start: 0, rule: (count: number) => count })

test.each([
  ['nothing', []],
  ['objects', [Dot]],
  ['actions', [set]],
  ['objects and actions', [Dot, set]],
  ['slots', [Count]],
])('who founds a room of %s, and who joins it, need no patience (AP-17)', async (_, types) => {
  const w = world({ seed: 1, conditions: 'rtt=40' })
  await w.join({ game: 'any', types })
  const founded = w.now()
  expect(founded).toBeLessThan(2_000)
  await w.join({ game: 'any', types })
  expect(w.now() - founded).toBeLessThan(2_000)
})

test('T80: whoever comes reads the table at once, in a game without objects (AP-17)', async () => {
  const w = world({ seed: 2, conditions: 'rtt=40' })
  const ada = await w.join({ game: 'any', types: [set] })
  const acted = ada.act(set, 7)
  await w.run(500)
  expect(await acted).toMatchObject({ ok: true })
  const grace = await w.join({ game: 'any', types: [set] })
  expect(grace.get('value')).toBe(7)
})
