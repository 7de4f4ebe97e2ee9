// Goal: a plan draws what its options allow, and nothing that they do not.
import { describe, expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { FAULT_KINDS, sentenceOf } from '../../packages/sim/src/faults.ts'
import type { Fault, FaultKind, Schedule, Step } from '../../packages/sim/src/faults.ts'
import { plan, type PlanOptions, STEPS_MAX } from '../../proof/schedules.ts'
import { calmly } from '../calmly.ts'

const OPTIONS: PlanOptions = { nodes: ['a', 'b', 'c'], hub: 'hub', ms: 30_000, count: 60 }

function steps(change: Partial<PlanOptions>, seeds = 20): Step[] {
  const all = Array.from({ length: seeds }, (_, seed) => prng.create(seed))
  return all.flatMap((chance) => calmly(() => plan(chance, { ...OPTIONS, ...change })))
}

function kindsOf(all: readonly Step[]): FaultKind[] {
  return [...new Set(all.map(({ fault }) => fault.kind))].sort()
}

function faults<Kind extends FaultKind>(all: readonly Step[], kind: Kind) {
  return all
    .map(({ fault }) => fault)
    .filter((one): one is Fault & { kind: Kind } => {
      return one.kind === kind
    })
}

const { hub: _, ...WITHOUT_HUB } = OPTIONS

describe('options', () => {
  test('are taken at their limits (PR-2)', () => {
    const calm = calmly(() => plan(prng.create(1), { ...OPTIONS, calmMs: 0 }))
    expect(calm.some(({ at }) => at > 20_000)).toBe(true)
    const short = calmly(() => plan(prng.create(1), { ...OPTIONS, calmMs: 29_999 }))
    expect(short.filter(({ fault }) => fault.kind !== 'restart').every(({ at }) => at === 0)).toBe(
      true,
    )
    expect(calmly(() => plan(prng.create(1), { ...OPTIONS, count: 0 }))).toEqual([])
    const most = calmly(() =>
      plan(prng.create(1), { ...OPTIONS, count: STEPS_MAX, kinds: ['loss'] }),
    )
    expect([STEPS_MAX, most.length]).toEqual([10_000, 10_000])
  })
  test('are refused beyond them (PR-2)', () => {
    const draw = (change: Partial<PlanOptions>) => () => {
      return plan(prng.create(1), { ...OPTIONS, ...change })
    }
    for (const ms of [0, -1, NaN]) expect(draw({ ms })).toThrow(`must be above 0 ms: ${ms}`)
    for (const calmMs of [-1, 30_000, NaN]) {
      expect(draw({ calmMs })).toThrow(`calmMs must be from 0 to below 30000: ${calmMs}`)
    }
    for (const count of [-1, STEPS_MAX + 1, NaN]) {
      expect(draw({ count })).toThrow(`the count of a plan must be from 0 to 10000: ${count}`)
    }
  })
  test('that leave no kind draw nothing (PR-2)', () => {
    expect(steps({ kinds: [] })).toEqual([])
    expect(steps({ kinds: ['restart'] })).toEqual([])
  })
})

describe('who is there decides what is drawn', () => {
  test('an outage is the hub’s, and without a hub there is none (PR-2)', () => {
    expect(kindsOf(steps({}))).toEqual([...FAULT_KINDS].sort())
    expect(faults(steps({}), 'outage').every(({ node }) => node === 'hub')).toBe(true)
    const without = steps({ hub: undefined as never })
    expect(kindsOf(without)).toEqual(FAULT_KINDS.filter((kind) => kind !== 'outage').sort())
    for (const { groups } of faults(without, 'partition')) {
      expect(groups.flat().sort()).toEqual(['a', 'b', 'c'])
    }
    for (const { from, to } of faults(without, 'deafness')) {
      expect(['a', 'b', 'c']).toContain(from)
      expect(['a', 'b', 'c']).toContain(to)
      expect(from).not.toBe(to)
    }
  })
  test('one alone is cut from nobody, one with a hub from that (PR-2)', () => {
    const alone = kindsOf(steps({ nodes: ['a'], hub: undefined as never }))
    expect(alone).not.toContain('partition')
    expect(alone).not.toContain('deafness')
    expect(alone).toContain('stall')
    const pair = kindsOf(steps({ nodes: ['a'] }))
    expect(pair).toContain('partition')
    expect(pair).toContain('deafness')
    expect(kindsOf(steps({ ...WITHOUT_HUB, nodes: ['a', 'b'] }))).toContain('partition')
  })
})

describe('what is drawn', () => {
  test('a loss comes one by one as often as in runs of 2 to 9 (PR-2)', () => {
    const bursts = faults(steps({ kinds: ['loss'] }), 'loss').map((one) => one.conditions.burst!)
    const alone = bursts.filter((burst) => burst === 1).length / bursts.length
    expect(alone).toBeGreaterThan(0.4)
    expect(alone).toBeLessThan(0.6)
    expect([...new Set(bursts)].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
  test('a clock goes at half its pace to almost its pace (PR-2)', () => {
    const drawn = faults(steps({ kinds: ['slow-clock'] }), 'slow-clock')
    const factors = drawn.map(({ factor }) => factor)
    expect([Math.min(...factors) < 0.52, Math.max(...factors) > 0.97]).toEqual([true, true])
    expect(factors.every((factor) => factor >= 0.5 && factor <= 0.99)).toBe(true)
  })
  test('a fault lasts 50 ms to 3 s, and no longer than until the calm (PR-2)', () => {
    const drawn = steps({ kinds: ['deafness'] })
    const lasts = drawn.map(({ at, fault }) => {
      const { ms } = fault as Fault & { kind: 'deafness' }
      expect(at + ms).toBeLessThanOrEqual(20_000)
      return ms
    })
    const early = lasts.filter((_ms, i) => drawn[i]!.at < 17_000)
    expect(Math.min(...early)).toBeGreaterThanOrEqual(50)
    expect(Math.min(...early)).toBeLessThan(75)
    expect(Math.max(...lasts)).toBeLessThan(3_000)
  })
})

describe('crashes', () => {
  test('without restarts nobody comes back, and with them most do, before the calm (PR-2)', () => {
    expect(kindsOf(steps({ kinds: ['crash'] }))).toEqual(['crash'])
    const both = steps({ kinds: ['crash', 'restart'], count: 3 }, 300)
    const back = both.filter(({ fault }) => fault.kind === 'restart')
    const share = back.length / (both.length - back.length)
    expect(share).toBeGreaterThan(0.6)
    expect(share).toBeLessThan(0.8)
    expect(back.every(({ at }) => at <= 20_000)).toBe(true)
  })
  test('as many are down at once as may be, and each of them once (PR-2)', () => {
    let most = 0
    for (let seed = 0; seed < 60; seed++) {
      const down = new Set<string>()
      const kinds = ['crash', 'restart'] as const
      for (const { fault } of plan(prng.create(seed), { ...OPTIONS, kinds, downMax: 2 })) {
        if (fault.kind === 'restart') expect(down.delete(fault.node)).toBe(true)
        if (fault.kind !== 'crash') continue
        expect(down.has(fault.node)).toBe(false)
        down.add(fault.node)
        most = Math.max(most, down.size)
      }
    }
    expect(most).toBe(2)
    expect(steps({ downMax: 0, kinds: ['crash', 'restart'] })).toEqual([])
  })
  test('a machine dies in three of ten, a process else (PR-2)', () => {
    const crashes = faults(steps({ kinds: ['crash'], count: 1 }, 600), 'crash')
    const share = crashes.filter(({ silent }) => silent).length / crashes.length
    expect(Math.abs(share - 0.3)).toBeLessThan(0.06)
  })
})

describe('schedules', () => {
  const options: PlanOptions = { nodes: ['a', 'b', 'c'], hub: 'hub', ms: 30_000 }
  const seeds = Array.from({ length: 200 }, (_, seed) => seed)

  test('the same seed gives the same schedule', () => {
    const one = plan(prng.create(9), options)
    expect(plan(prng.create(9), options)).toEqual(one)
    expect(plan(prng.create(10), options)).not.toEqual(one)
  })

  test('200 seeds draw every kind of fault, and each ends before the calm', () => {
    const kinds = new Set<string>()
    for (const seed of seeds) {
      for (const { at, fault } of plan(prng.create(seed), options)) {
        kinds.add(fault.kind)
        expect(at + ('ms' in fault ? fault.ms : 0)).toBeLessThanOrEqual(20_000)
      }
    }
    expect([...kinds].sort()).toEqual([...FAULT_KINDS].sort())
  })

  test('a stall lasts 1.5 s at most, for beyond it is a crash; what else lasts up to 3 s (PR-2)', () => {
    const longest = (kind: 'stall' | 'deafness'): number => {
      const steps = plan(prng.create(kind), { ...options, count: 500, kinds: [kind] })
      return Math.max(...steps.map(({ fault }) => ('ms' in fault ? fault.ms : 0)))
    }
    expect(Math.round(longest('stall') / 100)).toBe(15)
    expect(Math.round(longest('deafness') / 100)).toBe(30)
  })

  test('in 200 seeds never are two nodes down at once', () => {
    for (const seed of seeds) {
      const down = new Set<string>()
      for (const { fault } of plan(prng.create(seed), { ...options, count: 100 })) {
        if (fault.kind === 'crash') down.add(fault.node)
        if (fault.kind === 'restart') down.delete(fault.node)
        expect(down.size).toBeLessThanOrEqual(1)
      }
    }
  })

  test('whoever came back may crash again, but nobody in that instant (PR-2)', () => {
    let again = 0
    for (const seed of seeds) {
      const kinds = ['crash', 'restart'] as const
      const short = { ...options, ms: 3_000, calmMs: 0, count: 2_000, kinds }
      const returns = new Set<number>()
      for (const { at, fault } of plan(prng.create(seed), short)) {
        if (fault.kind === 'restart') returns.add(at)
        else {
          expect(returns).not.toContain(at)
          if (returns.size > 0) again++
        }
      }
    }
    expect(again).toBeGreaterThan(seeds.length / 2)
  })

  test('both sides of a partition have somebody, and nobody is on both', () => {
    for (const seed of seeds) {
      const kinds = ['partition'] as const
      for (const { fault } of plan(prng.create(seed), { ...options, kinds })) {
        if (fault.kind !== 'partition') throw new Error(fault.kind)
        expect(fault.groups.flat().sort()).toEqual(['a', 'b', 'c', 'hub'])
        for (const group of fault.groups) expect(group).not.toEqual([])
      }
    }
  })

  test('a schedule reads as a list of sentences', () => {
    const steps: Schedule = [
      { at: 0, fault: { kind: 'loss', conditions: { lossShare: 0.1, burst: 3 }, ms: 500 } },
      { at: 10, fault: { kind: 'partition', groups: [['a', 'b'], ['c']], ms: 800 } },
      { at: 20, fault: { kind: 'deafness', from: 'a', to: 'b', ms: 5 } },
      { at: 30, fault: { kind: 'crash', node: 'a', silent: false } },
      { at: 30, fault: { kind: 'crash', node: 'b', silent: true } },
      { at: 40, fault: { kind: 'restart', node: 'a' } },
      { at: 50, fault: { kind: 'stall', node: 'c', ms: 300 } },
      { at: 60, fault: { kind: 'slow-clock', node: 'c', factor: 0.9, ms: 300 } },
      { at: 70, fault: { kind: 'outage', node: 'hub', ms: 300 } },
    ]
    expect(steps.map(({ fault }) => sentenceOf(fault))).toEqual([
      'loss loss=10%,burst=3 for 500 ms',
      'partition a b | c for 800 ms',
      'b is deaf to a for 5 ms',
      'crash of a',
      'the machine of b dies',
      'restart of a',
      'c stalls for 300 ms',
      'the clock of c goes at 0.9 for 300 ms',
      'outage of hub for 300 ms',
    ])
  })

  test('options out of their limits are refused with limit and value', () => {
    const draw = (change: Partial<PlanOptions>) => () =>
      plan(prng.create(1), { ...options, ...change })
    expect(draw({ nodes: [] })).toThrow('at least one node: 0')
    expect(draw({ ms: 0 })).toThrow('above 0 ms: 0')
    expect(draw({ calmMs: 30_000 })).toThrow('calmMs must be from 0 to below 30000: 30000')
    expect(draw({ count: 10_001 })).toThrow('from 0 to 10000: 10001')
  })
})
