// Goal: what hostile packets do to those who play is what it was when it was frozen: which of them
// count as what, and what the others hold, say and are told meanwhile.
// Method: short storms of the fuzz by seed, into the shipped machines, in virtual time.
// Slow: it plays whole sessions in a storm of packets.
import { describe, expect, test } from 'vitest'
import { hashValues, thawed } from '../frozen.ts'
import { cheat, complaints, rage, type Scene, scene } from '../fuzz/cluster.ts'
import * as hub from '../fuzz/hub.ts'

const SEEDS = [11, 12, 13, 14]
const PACKETS = 1_000
const CHEATS = 120
const MESSAGES = 1_200

/** What the good members hold, and all that happened in their world. */
function courseOf({ good, world }: Scene): string {
  const held = good.map(({ parts, runner: { member }, session }) => [
    [parts.objects, parts.pieces.counters, parts.pieces.committed.gen, parts.actions],
    [member.counters, member.seal!.counters, session.client.view],
  ])
  return `${hashValues([held, world.sim.counters])}`
}

describe('what was frozen', () => {
  test.each(SEEDS)('lies of a member and a stranger, seed %d', async (seed) => {
    const made = await scene(seed)
    rage(made, PACKETS)
    const course = courseOf(made)
    expect(complaints(made)).toEqual([])
    expect(thawed('lies', { [seed]: `${course} ${courseOf(made)}` })).toEqual([])
  })

  test.each(SEEDS.slice(0, 2))('a member that cheats at cards, seed %d', async (seed) => {
    const made = await scene(seed)
    cheat(made, CHEATS)
    const course = courseOf(made)
    expect(complaints(made)).toEqual([])
    expect(thawed('cheats', { [seed]: `${course} ${courseOf(made)}` })).toEqual([])
  })

  test.each(SEEDS.slice(0, 2))('lies of strangers to the hub, seed %d', (seed) => {
    const made = hub.desk(seed)
    hub.storm(made, MESSAGES)
    const course = `${hashValues([[...made.told], made.hub.counters, made.hub.registers])}`
    expect(hub.complaints(made)).toEqual([])
    expect(thawed('storms', { [seed]: `${course} ${hashValues(made.hub.registers)}` })).toEqual([])
  })
})
