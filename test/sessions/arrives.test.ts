// Goal: `join` returns as soon as all that was there is here, whatever a game is made of.
// Method: whole sessions in virtual time.
import { expect, test } from 'vitest'
import { action, object, slots, u8 } from '../../packages/holdfast/src/index.ts'
import { world } from '../../packages/sim/src/session-world.ts'

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
  expect(grace.table.get('value')).toBe(7)
})

test('an option that none of the types is for is refused by its name (AP-6)', async () => {
  const w = world({ seed: 3 })
  for (const wrong of [{ objectsPerPlayer: 3 }, { updatesPerSecond: 20 }]) {
    const [name] = Object.keys(wrong)
    await expect(w.join({ game: 'any', types: [set], ...wrong })).rejects.toMatchObject({
      code: 'bad-value',
      message: `${name}: join was given no type that it is for`,
    })
    const session = await w.join({ game: name!, types: [Dot], ...wrong })
    expect(session.status).toBe('live')
  }
})

test('what only objects have is refused in a game without them (AP-17)', async () => {
  const session = await world({ seed: 4 }).join({ game: 'any', types: [set] })
  expect(() => session.debug.ages()).toThrow('join was given no type of objects')
  expect(() => session.create(Dot)).toThrow('the object "dot" was not given to join')
  expect([session.table.get('value'), session.table.keys()]).toEqual([undefined, []])
})
