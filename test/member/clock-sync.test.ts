// Goal: whoever leads knows what time it is, as well as anybody can tell it.
// Method: a member of plain data, whose links have the samples that the test puts there.
import { describe, expect, test } from 'vitest'
import { createClock, timeAt } from '../../packages/holdfast/src/link/timing/clock.ts'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Runtime } from '../../packages/holdfast/src/member/state.ts'
import { steerClock } from '../../packages/holdfast/src/member/links.ts'

const SURE_MS = 125
const UNTOLD_MS = 2_000

const [ELDER, ME, NEWER] = [1, 2, 3]
const START = 5_000

/** What the member measured of one peer; nothing for null. */
type Sample = { trip: number; offset: number } | null

function member(primary: number, samples: Record<number, Sample>): Runtime {
  const peers = Object.entries(samples).map(([inc, sample]) => {
    const own = link.create(0)
    if (sample) own.clock.samples.push(sample)
    return [Number(inc), { inc: Number(inc), link: own }] as const
  })
  const view = { primary, members: [ELDER, ME, NEWER] }
  const session = { me: ME, client: { view }, server: { role: 'alone', lead: { since: START } } }
  const state = { clock: createClock(0), session, peers: new Map(peers) }
  return { member: state, now: START } as unknown as Runtime
}

/** Session time minus the own clock; null while it is not known. */
function shift({ member: { clock }, now }: Runtime): number | null {
  return clock.set ? timeAt(clock, now) - now : null
}

function steered(run: Runtime, ms = 0): number | null {
  run.now = START + ms
  steerClock(run)
  return shift(run)
}

describe('session time', () => {
  test('L9: of who follows is what its primary says, unless that may be far wrong', () => {
    const sure = { trip: 2 * SURE_MS, offset: 900 }
    const rough = { trip: 2 * SURE_MS + 1, offset: 900 }
    expect(steered(member(ELDER, { [ELDER]: sure }))).toBe(900)
    expect(steered(member(ELDER, { [ELDER]: rough }))).toBe(null)
    expect(steered(member(ELDER, { [ELDER]: null }))).toBe(null)
  })

  test('L9: of who leads before it heard that is what the oldest says', () => {
    const others = { [NEWER]: { trip: 10, offset: 40 }, [ELDER]: { trip: 600, offset: 30 } }
    expect(steered(member(ME, others))).toBe(30)
  })

  test('L9: and if nobody says it, what it heard of who led, however far that may be wrong', () => {
    const run = member(ELDER, { [ELDER]: { trip: 700, offset: 900 }, [NEWER]: null })
    expect(steered(run)).toBe(null)
    run.member.session.client.view.primary = ME
    run.member.peers.delete(ELDER)
    expect(steered(run, UNTOLD_MS)).toBe(null)
    expect(steered(run, UNTOLD_MS + 1)).toBe(900)
  })

  test('L9: and its own clock if it never heard anything', () => {
    const run = member(ME, { [NEWER]: null })
    expect(steered(run, UNTOLD_MS)).toBe(null)
    expect(steered(run, UNTOLD_MS + 1)).toBe(0)
    expect(run.member.peers.get(NEWER)!.link!.clock.shift).toBe(0)
  })
})
