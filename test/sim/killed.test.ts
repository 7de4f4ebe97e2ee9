// Goal: whoever comes to a room of pages that are all dead, or cut off, opens it as soon as nobody
// can acknowledge anything that the hub lacks, and no sooner: what was acknowledged is there.
// Method: whole sessions in virtual time, with the shipped hub. All pages act without pause; they
// are killed at one instant, or their streams are cut one after the other, as a proxy does that
// goes down, and a stranger asks for the room until it has it.
import { describe, expect, test } from 'vitest'
import { between, create } from '../../packages/holdfast/src/faults/prng.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { comes, LAG_MS, opened, PAGE, playing } from './going.ts'

const seeds = (count: number): number[] => Array.from({ length: count }, (_none, at) => at + 1)
const pages = (count: number): (typeof PAGE)[] => Array.from({ length: count }, () => PAGE)
const madeOf = (seed: number) => {
  return { w: world({ seed, conditions: 'rtt=40' }), chaos: create(seed) }
}

describe('a room whose pages are all killed at one instant', () => {
  test.each(seeds(10))('was of one: it is open after a redial, seed %i (N-1)', async (seed) => {
    const { w, chaos } = madeOf(seed)
    const { all, acked } = await playing(w, pages(1))
    await w.run(between(chaos, 10, 3_000))
    w.kill(all[0]!)
    const { ms, lacks } = await opened(w, acked)
    expect(lacks).toEqual([])
    expect(ms).toBeLessThan(5_000)
  })

  test.each(seeds(30))('was of some: it is open after the lease, seed %i (N-1)', async (seed) => {
    const { w, chaos } = madeOf(seed)
    const { all, acked } = await playing(w, pages(2 + (seed % 3)))
    await w.run(between(chaos, 10, 3_000))
    const killedAt = w.now()
    for (const one of all) w.kill(one)
    const { ms, lacks } = await opened(w, acked)
    expect(lacks.filter(([, at]) => at < killedAt - LAG_MS)).toEqual([])
    expect(ms).toBeLessThan(17_000)
  })
})

describe('a room whose server dies before it has a backup', () => {
  test.each(seeds(20))('goes on with who is here after a redial, seed %i (N-8)', async (seed) => {
    const { w, chaos } = madeOf(seed)
    const { all, acked } = await playing(w, pages(1))
    await w.run(1_000)
    const survivor = await comes(w, 'survivor')
    await w.run(between(chaos, 0, 60))
    const wasAlone = survivor.safety !== 'backed-up'
    w.kill(all[0]!)
    const begun = w.now()
    expect(await w.runUntil(() => survivor.primary?.inc === survivor.me.inc, 20_000)).toBe(true)
    expect(w.now() - begun).toBeLessThan(wasAlone ? 6_500 : 2_500)
    await w.runUntil(() => survivor.safety === 'kept', 5_000)
    expect([...acked].filter(([what]) => survivor.table.get(what) !== 1)).toEqual([])
  })
})

describe('a room whose streams are cut one after the other', () => {
  test.each(seeds(60))('lacks nothing that was acknowledged, seed %i (N-1)', async (seed) => {
    const { w, chaos } = madeOf(seed)
    const { all, acked } = await playing(w, pages(2 + (seed % 2)))
    await w.run(between(chaos, 10, 2_000))
    const cuts: number[] = []
    for (const one of all) {
      cuts.push(w.now())
      const node = w.nodeOf(one)
      // Half dead: what the page sends is lost, or what it is sent, or both.
      if (seed % 3 !== 0) w.sim.deafen('hub', node)
      if (seed % 3 !== 1) w.sim.deafen(node, 'hub')
      await w.run(between(chaos, 0, 4_000))
    }
    const { lacks } = await opened(w, acked)
    const isExcused = (at: number): boolean => cuts.some((cut) => Math.abs(at - cut) < LAG_MS)
    expect(lacks.filter(([, at]) => !isExcused(at))).toEqual([])
    // Whoever served before acknowledges nothing any more.
    const { size } = acked
    await w.run(30_000)
    expect(acked.size).toBe(size)
  })
})
