// Goal: a world is stepped at a fixed rate by whoever serves and nobody else, goes on at the next
// server with the tick that is due, and makes up for a standstill within its bound.
// Method: whole sessions in virtual time; servers are killed, cut off and stand still.
import { describe, expect, test } from 'vitest'
import { object, type SimulationStep, u16 } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const Ball = object('ball', { at: u16 }, { onOwnerLeave: 'keep' })

function joining(w: SessionWorld, name: string): Promise<Session> {
  return w.join({ game: 'world', room: 'r', types: [Ball], name })
}

/** Simulates, and notes what was stepped. */
function stepping(session: Session, hz: number, options: object = {}): SimulationStep[] {
  const steps: SimulationStep[] = []
  session.simulate(hz, (step) => void steps.push(step), options)
  return steps
}

const ticks = (steps: readonly SimulationStep[]): number[] => steps.map(({ tick }) => tick)

/** Whether each number is one more than the last. */
function isGapless(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number === numbers[at - 1]! + 1)
}

describe('a simulation', () => {
  test.each([1, 7.5, 20, 60, 250])('steps %d times a second of session time', async (hz) => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    const ada = await joining(w, 'Ada')
    const steps = stepping(ada, hz)
    const [begun, at] = [ada.now(), w.now()]
    await w.run(10_000)
    expect(Math.abs(steps.length - ((w.now() - at) * hz) / 1_000)).toBeLessThanOrEqual(1)
    expect(isGapless(ticks(steps))).toBe(true)
    for (const { tick, ms, now, skipped } of steps) {
      expect([ms, now, skipped]).toEqual([1_000 / hz, tick * (1_000 / hz), 0])
    }
    expect(steps[0]!.now).toBeGreaterThan(begun)
    expect(steps.at(-1)!.now).toBeLessThan(ada.now() + 0.1)
  })

  test('runs at the server alone, and at the next one after it died, with no tick twice', async () => {
    const w = world({ seed: 2, conditions: 'rtt=30,jitter=5,loss=2%' })
    const sessions: Session[] = []
    const steps: SimulationStep[][] = []
    for (const name of ['Ada', 'Grace', 'Linus']) {
      const session = await joining(w, name)
      sessions.push(session)
      steps.push(stepping(session, 20))
    }
    await w.runUntil(() => sessions[0]!.safety === 'backed-up', 10_000)
    await w.run(3_000)
    const standing = steps.map(({ length }) => length)
    expect([standing[0]! > 50, standing[1], standing[2]]).toEqual([true, 0, 0])
    const server = sessions[0]!
    w.kill(server)
    await w.runUntil(() => steps[1]!.length + steps[2]!.length > 40, 30_000)
    const all = [...ticks(steps[0]!), ...ticks(steps[1]!), ...ticks(steps[2]!)]
    expect(new Set(all).size).toBe(all.length)
    expect(all).toEqual(all.toSorted((one, other) => one - other))
    // Whoever joins meanwhile steps nothing.
    const last = await joining(w, 'Mary')
    const more = stepping(last, 20)
    await w.run(1_000)
    expect(more).toEqual([])
  })

  test('of a server that handed over and serves again no tick is made up for', async () => {
    const w = world({ seed: 8, conditions: 'rtt=20' })
    const [ada, grace] = [await joining(w, 'Ada'), await joining(w, 'Grace')]
    const steps = [stepping(ada, 20), stepping(grace, 20)]
    for (const [from, to] of [
      [ada, grace],
      [grace, ada],
    ] as const) {
      expect(await w.runUntil(() => from.safety === 'backed-up', 20_000)).toBe(true)
      from.handOver()
      expect(await w.runUntil(() => to.primary?.inc === to.me.inc, 20_000)).toBe(true)
      await w.run(3_000)
    }
    const all = steps.flatMap((one) => ticks(one))
    expect([new Set(all).size, steps.every((one) => one.length > 40)]).toEqual([all.length, true])
  })

  test('goes on from what everybody sees: a ball that the server moved', async () => {
    const w = world({ seed: 3, conditions: 'rtt=30' })
    const move = (session: Session): void => {
      session.simulate(20, () => {
        const [ball] = session.all(Ball)
        if (!ball) session.create(Ball, { at: 0 })
        else if (ball.mine) ball.set({ at: ball.state.at + 1 })
      })
    }
    const ada = await joining(w, 'Ada')
    move(ada)
    const grace = await joining(w, 'Grace')
    move(grace)
    await w.runUntil(() => ada.safety === 'backed-up', 10_000)
    await w.run(2_000)
    const before = grace.all(Ball)[0]!.state.at
    w.kill(ada)
    expect(await w.runUntil(() => grace.all(Ball)[0]!.state.at > before + 20, 30_000)).toBe(true)
    expect(grace.all(Ball).length).toBe(1)
  })

  test('makes up for a standstill within its bound, and tells of what it skipped', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const ada = await joining(w, 'Ada')
    const whole = stepping(ada, 20)
    const brief = stepping(ada, 20, { catchUp: 200 })
    const none = stepping(ada, 20, { catchUp: 0 })
    await w.run(1_000)
    w.stall(w.nodeOf(ada), 600)
    await w.run(2_000)
    const told = (steps: readonly SimulationStep[]): number =>
      steps.reduce((sum, { skipped }) => sum + skipped, 0)
    expect([isGapless(ticks(whole)), told(whole)]).toEqual([true, 0])
    // 12 ticks were due: 4 of them were made up for, or the newest alone.
    expect([told(brief), told(none)]).toEqual([8, 11])
    for (const steps of [brief, none]) {
      for (const [at, { tick, skipped }] of steps.entries()) {
        if (at > 0) expect(tick - steps[at - 1]!.tick).toBe(skipped + 1)
      }
    }
  })

  test('goes on when a step throws, which is reported', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada = await joining(w, 'Ada')
    const errors: unknown[] = []
    ada.on('error', ({ where, error }) => errors.push([where, String(error)]))
    let count = 0
    ada.simulate(20, () => {
      count++
      throw new Error('the step broke')
    })
    await w.run(1_000)
    expect(count).toBeGreaterThan(15)
    expect(errors).toEqual([['the step of simulate', 'Error: the step broke']])
  })

  test('ends when it is stopped, from a step too, and with the session', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const ada = await joining(w, 'Ada')
    let count = 0
    const stop = ada.simulate(250, () => {
      if (++count === 10) stop()
    })
    const steps = stepping(ada, 20)
    await w.run(1_000)
    expect(count).toBe(10)
    const left = ada.leave()
    await w.run(2_000)
    await left
    const { length } = steps
    await w.run(1_000)
    expect(steps.length).toBe(length)
    expect(() => ada.simulate(20, () => {})).toThrow('the session was left')
  })

  test.each([
    [0, () => {}, {}, 'simulate takes 1 to 250 steps a second: 0'],
    [251, () => {}, {}, 'simulate takes 1 to 250 steps a second: 251'],
    [NaN, () => {}, {}, 'simulate takes 1 to 250 steps a second: NaN'],
    [20, 7, {}, 'the step of simulate'],
    [20, async () => {}, {}, 'the step of simulate'],
    [20, () => {}, { catchUp: 60_001 }, 'catchUp is 0 to 60000 ms: 60001'],
    [20, () => {}, { catchup: 1 }, 'catchup'],
  ])('%s steps of %s with %j are refused', async (hz, step, options, why) => {
    const w = world({ seed: 7, conditions: 'rtt=20' })
    const ada = await joining(w, 'Ada')
    expect(() => ada.simulate(hz, step as never, options as never)).toThrow(why)
  })
})

test('at a hand-over no tick is stepped by both servers, and by neither those of a round trip (N-21)', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const w = world({ seed, conditions: 'rtt=60,jitter=20' })
    const [ada, grace] = [await joining(w, 'Ada'), await joining(w, 'Grace')]
    const [first, second] = [stepping(ada, 60), stepping(grace, 60)]
    expect(await w.runUntil(() => ada.safety === 'backed-up', 20_000)).toBe(true)
    await w.run(3_000 + seed * 7)
    ada.handOver()
    await w.run(2_000)
    expect(second.length).toBeGreaterThan(60)
    const neither = second[0]!.tick - first.at(-1)!.tick - 1
    // A round trip to the hub takes 60 to 100 ms, and their clocks differ by some ms.
    expect([seed, neither >= 0 && neither <= 8, neither]).toEqual([seed, true, neither])
    expect(isGapless(ticks(first)) && isGapless(ticks(second))).toBe(true)
  }
})
