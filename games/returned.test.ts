// Goal: whoever was away for so long that their object ended has one again, where it was.
import { expect, test } from 'vitest'
import { object, u8 } from 'holdfast'
import { world } from 'holdfast/sim'
import { Sole } from './returned.ts'

const Hand = object('hand', { at: u8 })

test('who is cut off for two minutes comes back as the same player, with a hand where it was', async () => {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const join = (name: string) => w.join({ game: 'hands', name, types: [Hand] })
  const [ada, grace] = [await join('Ada'), await join('Grace')]
  await w.runUntil(() => grace.safety === 'backed-up', 10_000)
  const own = new Sole(grace, Hand)
  own.make({ at: 7 })
  await w.run(1_000)
  const mend = w.partition([[w.nodeOf(grace)]])
  await w.run(120_000)
  expect(ada.all(Hand).length).toBe(0)
  mend()
  const isBack = (): boolean => ada.all(Hand).some(({ owner }) => owner?.name === 'Grace')
  expect(await w.runUntil(isBack, 30_000)).toBe(true)
  await w.run(1_000)
  expect([grace.me.player, own.handle?.alive]).toEqual([2, true])
  expect(ada.all(Hand).map(({ state }) => state.at)).toEqual([7])
})
