import { world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { begin, collect, game, Gem, GEMS } from '../src/game.ts'

test('a gem counts once, and the score outlives the server', async () => {
  const w = world({ seed: 7, conditions: 'rtt=60,loss=2%' })
  const ada = await w.join({ ...game, name: 'Ada' })
  const grace = await w.join({ ...game, name: 'Grace' })
  await w.run(3_000)
  void ada.act(begin)
  await w.run(1_000)
  expect(ada.all(Gem).length).toBe(GEMS)

  const gem = ada.all(Gem)[0]!.id
  const both = Promise.all([ada.act(collect, { gem }), grace.act(collect, { gem })])
  await w.run(1_000)
  expect((await both).filter(({ ok }) => ok).length).toBe(1)

  const points = (): number =>
    Number(grace.table.get('score 1') ?? 0) + Number(grace.table.get('score 2') ?? 0)
  expect(points()).toBe(1)
  w.kill(ada) // who served
  await w.run(5_000)
  expect(grace.primary?.name).toBe('Grace')
  expect(points()).toBe(1)
  expect(grace.all(Gem).length).toBe(GEMS)
})
