// Goal: a join costs a known number of round trips and operations on curves, so that neither grows
// unnoticed.
// Method: in the simulator, where only the newcomer's line to the hub takes time, and a computation
// takes none.
import { expect, test } from 'vitest'
import { object, u16 } from '../../packages/holdfast/src/index.ts'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import type { Curves } from '../../packages/holdfast/src/ports.ts'
import { environmentOf, HUB_URL, world } from '../../packages/sim/src/session-world.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'

const Ball = object('ball', { at: u16 })
const game = { game: 'cost', types: [Ball] }
const ROUND_TRIP_MS = 100

type Counts = Record<'agree' | 'sign' | 'verify' | 'signer', number>

/** Curves that count what they are asked. */
function counting(counts: Counts): Curves {
  const { agree, sign, verify, signer } = toyCurves
  const counted =
    <Given extends unknown[], Answer>(name: keyof Counts, run: (...given: Given) => Answer) =>
    (...given: Given): Answer => {
      counts[name] += 1
      return run(...given)
    }
  return {
    ...toyCurves,
    agree: counted('agree', agree),
    sign: counted('sign', sign),
    verify: counted('verify', verify),
    signer: counted('signer', signer),
  }
}

test.each([1, 400])(
  'a page has the %i objects of a room after four round trips, one of them for its stream (44)',
  async (objects) => {
    const w = world({ seed: 1 })
    const ada = await w.join({ ...game, name: 'Ada' })
    for (let at = 0; at < objects; at++) ada.create(Ball, { at })
    await w.run(1_000)
    const counts = { agree: 0, sign: 0, verify: 0, signer: 0 }
    const node = w.sim.node('page')
    for (const [from, to] of [
      ['page', 'hub'],
      ['hub', 'page'],
    ] as const) {
      w.sim.conditions(from, to, `rtt=${ROUND_TRIP_MS}`)
    }
    const crypto = { ...(await environmentOf(node, 'browser').crypto()), curves: counting(counts) }
    const environment = { ...environmentOf(node, 'browser'), crypto: () => crypto }
    const startedAt = w.sim.now()
    let came = NaN
    void joinIn(environment, { ...game, server: HUB_URL }).then((page) => {
      came = w.sim.now() - startedAt
      expect(page.all(Ball)).toHaveLength(objects)
    })
    // The stream is not open yet.
    await w.run(ROUND_TRIP_MS / 4)
    expect(counts.agree).toBe(1)
    await w.run(3_000)
    expect(Math.round(came / ROUND_TRIP_MS)).toBe(4)
    // The link key, es and ss with a key of their own, ee and se; and the key of the player.
    expect(counts).toEqual({ agree: 6, sign: 1, verify: 0, signer: 1 })
  },
)
