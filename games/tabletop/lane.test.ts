import { expect, test } from 'vitest'
import { Lane } from './lane.ts'

test('48 go at once, the others follow in order as room is made, also after a failure', async () => {
  const lane = new Lane()
  const begun: number[] = []
  const ends: (() => void)[] = []
  const all = Array.from({ length: 60 }, (_, number) =>
    lane.run(async () => {
      begun.push(number)
      await new Promise<void>((resolve, reject) =>
        ends.push(number === 0 ? () => reject(new Error('no')) : resolve),
      )
      return number
    }),
  )
  expect(begun).toHaveLength(48)
  expect([lane.isQuiet, lane.isIdle]).toEqual([false, false])
  ends[0]!()
  await expect(all[0]).rejects.toThrow('no')
  await expect.poll(() => begun.length).toBe(49)
  for (let number = 1; number < 60; number++) {
    await expect.poll(() => ends.length).toBeGreaterThan(number)
    ends[number]!()
  }
  expect(await Promise.all(all.slice(1))).toEqual(Array.from({ length: 59 }, (_, at) => at + 1))
  expect(begun).toEqual(Array.from({ length: 60 }, (_, at) => at))
  expect([lane.isQuiet, lane.isIdle]).toEqual([true, true])
})
