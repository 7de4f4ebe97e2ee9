// Goal: whatever paths do, messages come in order and once, and by a path that works; no path is
// used that is not proven; figures of one path say nothing of another.
// Method: two ends in virtual time, over paths that change by a seed; planted bugs break the claims
// by name.
import { describe, expect, test } from 'vitest'
import * as link from '../../packages/holdfast/src/link/link.ts'
import { create, next, pick, type Prng } from '../../packages/holdfast/src/faults/prng.ts'
import { type Bug, Net, type Side, SKEW } from './net.ts'

const [DIRECT, CHANNEL, RELAY] = ['udp:a', 'rtc:7.1', 'relay:7'] as const
/** Within this a message arrives, while one path works in both directions. */
const BRIDGED_MS = 4_000

/** The claim that a course of changes breaks, with what was seen; '' if all hold. */
function course(seed: number, bug: Bug | null): string {
  const chance = create(seed)
  const net = new Net({ [DIRECT]: 1, [CHANNEL]: 8, [RELAY]: 30 }, bug)
  net.begin(RELAY)
  for (let round = 0; round < 12; round++) {
    change(net, chance)
    const wait = pick(chance, [100, 400, 1_500, BRIDGED_MS + 500])
    for (const until = net.now + wait; net.now < until;) {
      for (const end of net.ends) end.say()
      if (next(chance) < 0.05) net.deceive(pick<Side>(chance, [0, 1]))
      net.run(Math.min(until, net.now + 25))
    }
    const broken = judge(net, wait > BRIDGED_MS)
    if (broken) return broken
  }
  return ''
}

// One path at least works in both directions.
function change({ ways }: Net, chance: Prng): void {
  const all = [...ways.values()]
  for (const way of all) {
    const kind = next(chance)
    const oneWay = kind < 0.85
    way.up = kind < 0.4 ? [true, true] : kind < 0.7 ? [false, false] : [oneWay, !oneWay]
  }
  pick(chance, all).up = [true, true]
}

function judge({ ends, now, unproven }: Net, isCalm: boolean): string {
  if (unproven > 0) return `paths.proven: ${unproven} packets`
  for (const { side, disorder, got } of ends) {
    if (disorder) return `paths.order: ${disorder}`
    const due = ends[1 - side]!.said.filter((at) => at - (1 - side) * SKEW < now - BRIDGED_MS)
    if (isCalm && got.length < due.length) return `paths.bridged: ${due.length - got.length} wait`
  }
  return ''
}

/** The claims that courses of seeds break, and how many do. */
function broken(seeds: number, bug: Bug | null): string[] {
  const all = Array.from({ length: seeds }, (_, at) => course(at + 1, bug))
  return all.filter((one) => one !== '')
}

describe('over paths that come, go, flap and work one way', () => {
  test('PA1, PA3, PA4: 1,000 courses: messages come in order, by proven paths, and none waits', () => {
    expect(broken(1_000, null)).toEqual([])
  }, 120_000)
  test.each([
    ['late-packet-counts', 'paths.bridged'],
    ['breaks-first', 'paths.proven'],
    ['foreign-candidate', 'paths.proven'],
  ] as const)('a planted bug, %s, breaks %s', (bug, claim) => {
    const claims = new Set(broken(20, bug).map((one) => one.split(':')[0]))
    expect([...claims]).toContain(claim)
  })
})

describe('packets that go by a relay of 60 ms and by a path of 2 ms in turns', () => {
  /**
   * Each end changes every half second, the second one 150 ms after the first.
   *
   * @returns the share of packets that count as lost, all wrongly, and the largest clock error
   */
  function alternating(bug: Bug | null): { spurious: number; error: number } {
    const net = new Net({ [DIRECT]: 1, [RELAY]: 30 }, bug)
    net.begin(DIRECT)
    net.run(2_000)
    let error = 0
    for (let turn = 0; turn < 120; turn++) {
      const end = net.ends[turn % 2]!
      const isRelay = turn % 4 < 2
      end.paths.chosen = end.paths.candidates.find(({ kind }) => (kind === 'relay') === isRelay)!
      end.go(end.paths.chosen)
      for (const until = net.now + (turn % 2 === 0 ? 150 : 350); net.now < until;) {
        for (const one of net.ends) one.say()
        net.run(net.now + 5)
        const offsets = net.ends.map((one) => link.offset(one.link)!)
        error = Math.max(error, Math.abs(offsets[0]! - SKEW), Math.abs(offsets[1]! + SKEW))
      }
    }
    const counters = net.ends.map((end) => end.link.counters)
    const [lost, sent] = (['lost', 'sent'] as const).map(
      (one) => counters[0]![one] + counters[1]![one],
    )
    return { spurious: lost! / sent!, error }
  }
  test('L5, L9: one in a hundred counts as lost at most, and clocks are wrong by 2 ms at most', () => {
    const { spurious, error } = alternating(null)
    expect(spurious).toBeLessThanOrEqual(0.01)
    expect(error).toBeLessThanOrEqual(2)
  })
  test('a planted bug, shared-figures, breaks that', () => {
    expect(alternating('shared-figures').error).toBeGreaterThan(2)
  })
})
