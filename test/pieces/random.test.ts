// Goal: whatever several hands do to a few cards, in whatever order words, failovers, absences and
// recoveries come, the claims of the source hold, and in the end all show the same.
// Method: random walks in the scene of the models, with many hands; a failure shrinks.
// Slow: it walks at random from many seeds.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALWAYS, SETTLED } from '../../proof/models/pieces.ts'
import { act, again, arriveDown, arriveUp, begin } from '../../proof/models/pieces-scene.ts'
import type { Hand, Scene, Scope } from '../../proof/models/pieces-scene.ts'
import { actions } from '../../proof/models/pieces.ts'
import { labelOf } from '../../packages/sim/src/checker/checker.ts'
import { hashValues, thawed } from '../frozen.ts'

// So many that every update has a number of its own.
const DOES = {
  move: 4,
  grab: 3,
  release: 3,
  wrest: 1,
  raise: 2,
  lower: 1,
  loose: 2,
  refused: 1,
  clamped: 1,
  open: 1,
  shut: 1,
}
const STEPS_MAX = 160
const LATER_MAX = 2_000
const FROZEN = 24
// A busy machine takes long for so many claims after each step.
const SLOW_MS = 60_000

interface Walk {
  wrong: string[]
  trace: string[]
  scene: Scene
}

function judge(scene: Scene, claims: typeof ALWAYS): string[] {
  return Object.entries(claims).flatMap(([name, holds]) => {
    const why = holds(scene)
    return why === true ? [] : [`${name}: ${why}`]
  })
}

/** Takes a step for each number, and then those that must follow until nothing does. */
function walk(scope: Scope, steps: readonly number[]): Walk {
  const scene = begin(scope)
  const trace: string[] = []
  for (const step of steps) {
    const all = [...actions(scope, scene)]
    const chosen = all[step % all.length]
    if (!chosen) break
    trace.push(labelOf(chosen, scene))
    chosen.next(scene)
    const wrong = judge(scene, ALWAYS)
    if (wrong.length > 0) return { wrong, trace, scene }
  }
  for (let later = 0; later < LATER_MAX; later++) {
    const next = [...actions(scope, scene)].find(({ environment }) => !environment)
    if (!next) return { wrong: judge(scene, SETTLED), trace, scene }
    trace.push(labelOf(next, scene))
    next.next(scene)
    const wrong = judge(scene, ALWAYS)
    if (wrong.length > 0) return { wrong, trace, scene }
  }
  return { wrong: ['it never settles'], trace, scene }
}

const steps = fc.array(fc.nat(10_000), { maxLength: STEPS_MAX, size: 'max' })
const crowd = fc.record({
  hands: fc.integer({ min: 2, max: 5 }),
  cards: fc.integer({ min: 1, max: 3 }),
})

function holds(more: Partial<Scope>, numRuns: number): void {
  fc.assert(
    fc.property(crowd, steps, (many, list) => {
      const { wrong, trace } = walk({ does: DOES, lags: true, ...many, ...more }, list)
      if (wrong.length > 0) expect.fail([...trace, ...wrong].join('\n'))
    }),
    { numRuns },
  )
}

describe('many hands', () => {
  test(
    'O2, O15, O18, O26: on a primary that stays',
    () => {
      holds({ absences: 0 }, 25)
    },
    SLOW_MS,
  )

  test(
    'O4, O57, O58: over failovers and absences',
    () => {
      holds({ failovers: 2, absences: 3 }, 25)
    },
    SLOW_MS,
  )

  test(
    'O58: over recoveries from what was told',
    () => {
      holds({ failovers: 1, absences: 2, recoveries: 2 }, 25)
    },
    SLOW_MS,
  )
})

test('O15, O57, O58: walks that were frozen say what they said, word for word', () => {
  const digests: Record<number, string> = {}
  const lists = fc.sample(steps, { seed: 18, numRuns: FROZEN })
  for (const [seed, list] of lists.entries()) {
    const scope = { does: DOES, lags: true, hands: 2 + (seed % 3), cards: 2 }
    const more = { failovers: seed % 3, absences: seed % 4, recoveries: seed % 2 }
    const { wrong, trace, scene } = walk({ ...scope, ...more }, list)
    expect(wrong).toEqual([])
    digests[seed] = `${hashValues(trace)} ${hashValues(scene)}`
  }
  expect(thawed('pieces', digests)).toEqual([])
})

test('O31: what is asked again is answered again; in what all hear its number stands once (PR-3)', () => {
  const scope: Scope = { does: { move: 1 }, hands: 2 }
  const scene = begin(scope)
  const [hand, other] = scene.hands as [Hand, Hand]
  act(scene, hand, 1, 'move')
  arriveUp(scope, scene, hand)
  again(hand)
  arriveUp(scope, scene, hand)
  // In the stream of updates its number stands once; only who asks is answered again.
  expect(hand.down.map(({ kind }) => kind)).toEqual(['news', 'done', 'done'])
  expect(other.down.map(({ kind }) => kind)).toEqual(['news'])
  while (other.down.length > 0) arriveDown(scope, scene, other)
  while (hand.down.length > 0) arriveDown(scope, scene, hand)
  expect(hand.fates).toEqual({ '1.1': 'recorded' })
  expect(judge(scene, { ...ALWAYS, ...SETTLED })).toEqual([])
})
