// Goal: who opens a kept room goes on with its time, whatever session it was in before.
import { expect, test } from 'vitest'
import { createClock, timeAt } from '../../src/link/clock.ts'
import { goOn } from '../../src/member/opening.ts'
import type { Runtime } from '../../src/member/state.ts'

test.each([
  ['of that session, whose clock is ahead, does not go back', 's', 90_000],
  ['of another session takes the time of the room', 'other', 5_000],
  ['that was in none takes it as well', '', 5_000],
])('a process %s', (_who, home, time) => {
  const clock = { ...createClock(100), time: 90_000, set: home !== '' }
  const run = { member: { home, clock }, now: 100 } as unknown as Runtime
  goOn(run, 's', 5_000)
  expect([timeAt(run.member.clock, 100), run.member.clock.set]).toEqual([time, true])
})
