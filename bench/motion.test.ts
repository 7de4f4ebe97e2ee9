// Goal: what the bench of motion promises holds on every machine, for it measures no time.
import { expect, test } from 'vitest'
import { run } from './motion.ts'

test('ours is nearer to the truth than the source’s warp, and smoother', async () => {
  const { goals } = await run({ quick: true })
  expect(goals).toHaveLength(6)
  for (const { name, value, goal } of goals) {
    const limit = Number(goal.replace('<= ', ''))
    expect([name, value! <= limit]).toEqual([name, true])
  }
})
