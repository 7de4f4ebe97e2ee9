// Goal: a room from which everybody is gone at one instant, in whatever way, is opened by who comes
// next, with all that was acknowledged, each once.
// Method: whole sessions in virtual time, with the shipped hub. Pages and processes with paths of
// their own act without pause until all of them are killed, end, or leave, or some each way; the
// hub may be killed with them, or in the same instant as one that says goodbye. Every seed is
// another room; many, for the instants that matter are short.
import { describe, expect, test } from 'vitest'
import {
  below,
  between,
  chance,
  create,
  pick,
  type Prng,
} from '../../packages/holdfast/src/faults/prng.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { LAG_MS, opened, PAGE, playing } from './going.ts'

const SEEDS = 1_000
const EACH = 50

type Way = 'killed' | 'ends' | 'leaves' | 'mixed'
const WAYS: readonly Way[] = ['killed', 'ends', 'leaves', 'mixed']

function goes(w: SessionWorld, chaos: Prng, one: Session, way: Way): void {
  const own = way === 'mixed' ? pick(chaos, ['killed', 'ends', 'leaves'] as const) : way
  if (own === 'killed') w.kill(one)
  else if (own === 'ends') one.end('the page is gone')
  else void one.leave()
}

async function gone(seed: number): Promise<string> {
  const chaos = create(seed)
  const w = world({ seed, conditions: `rtt=${between(chaos, 5, 120)}` })
  const hasPaths = chance(chaos, 0.25)
  const places = Array.from({ length: 1 + below(chaos, 4) }, () => (hasPaths ? {} : PAGE))
  const { all, acked } = await playing(w, places)
  await w.run(between(chaos, 5, 2_000))
  const goneAt = w.now()
  const way = pick(chaos, WAYS)
  for (const one of all) goes(w, chaos, one, way)
  const isHubKilled = chance(chaos, 0.25)
  if (isHubKilled) {
    w.killHub()
    await w.run(between(chaos, 10, 2_000))
    w.restartHub()
  }
  const { ms, lacks, twice } = await opened(w, acked)
  // Who leaves, or says goodbye to a hub that lives, has everything on disk.
  const isOrderly = way === 'leaves' || (way === 'ends' && !isHubKilled)
  const lost = lacks.filter(([, at]) => isOrderly || at < goneAt - LAG_MS)
  if (lost.length > 0) return `seed ${seed}: ${lost.join()} is not there`
  if (twice.length > 0) return `seed ${seed}: ${twice.join()} was done twice`
  return ms < 66_000 ? '' : `seed ${seed}: ${ms} ms`
}

describe('everybody gone at one instant', () => {
  const firsts = Array.from({ length: SEEDS / EACH }, (_none, at) => at * EACH + 1)
  test.each(firsts)(`in every way, ${EACH} seeds from %i on (N-1)`, async (first) => {
    const wrong: string[] = []
    for (let seed = first; seed < first + EACH; seed++) wrong.push(await gone(seed))
    expect(wrong.filter((why) => why !== '')).toEqual([])
  })
})
