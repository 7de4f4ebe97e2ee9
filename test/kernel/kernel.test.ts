// Goal: a restart leaves no trace in a deterministic kernel: the scene of the source, its two fixes
// and its bug.
// Method: an ordered log of signed batches to two replicas; one of them is restarted before every
// possible block, and before every pair of blocks; event logs and counts are compared.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { firstDifference } from '../../src/cli/diverge.ts'
import type { MailMessage } from '../../src/mailbox/messages.ts'
import * as kernels from './kernel.ts'
import { block, createKernel, type Dedup, type Kernel, sign, type Transaction } from './kernel.ts'

const FIXES = ['none', 'durable', 'durable-keys'] as const

function batch(numbers: number[], ack: number): MailMessage {
  const letters = numbers.map((n) => ({ n, body: Buffer.from(`letter ${n}`) }))
  return { kind: 'batch', letters, ack }
}

/** A client that posts, is answered, and is restarted twice: it sends its last batch once more. */
const SCENE: readonly Transaction[][] = [
  [sign('client', batch([1], 0))],
  [sign('client', batch([2, 1], 2)), sign('other', batch([1], 0))],
  [sign('client', batch([2, 3], 4))],
  [sign('client', batch([], 5))],
  [],
  [sign('client', batch([], 5)), sign('other', batch([1, 2], 0))],
  [sign('client', batch([3], 5))],
  [sign('client', batch([], 5))],
]

/** @param restarts before which blocks the replica is restarted */
function replay(
  dedup: Dedup,
  blocks: readonly Transaction[][],
  restarts: readonly number[] = [],
  between: (kernel: Kernel) => void = () => {},
): Kernel {
  let kernel = createKernel(dedup, { client: 5 })
  for (const [at, transactions] of blocks.entries()) {
    if (restarts.includes(at)) kernel = kernels.restart(kernel)
    between(kernel)
    block(kernel, transactions)
  }
  return kernel
}

const moments = SCENE.map((_block, at) => at)
const pairs = moments.flatMap((one) => moments.filter((two) => two > one).map((two) => [one, two]))
const all = [...moments.map((one) => [one]), ...pairs]

describe.each(FIXES)('with the fix "%s"', (dedup) => {
  const left = replay(dedup, SCENE)

  test('S22, S24, S25, S26, S27: a replica restarted at any moment has the same log and counts', () => {
    expect(left.disk.log.length).toBeGreaterThan(10)
    for (const restarts of all) {
      const right = replay(dedup, SCENE, restarts)
      expect(right.disk.log).toEqual(left.disk.log)
      expect([right.disk.cranks, right.disk.deliveries]).toEqual([
        left.disk.cranks,
        left.disk.deliveries,
      ])
    }
  })

  test('S18: what comes behind vattp is each letter once, in order, without numbers', () => {
    const received = left.disk.log
      .map((line) => JSON.parse(line) as kernels.Event)
      .filter(({ vat, peer }) => vat === 'comms' && peer === 'client')
    expect(received.map(({ detail }) => detail)).toEqual(['letter 1', 'letter 2', 'letter 3'])
    expect(left.disk.letters).toEqual([])
  })

  test('S21: a client that asks first leaves no trace either, and sends less', () => {
    const asked = replay(dedup, SCENE, [4], (kernel) => void kernels.query(kernel, 'client'))
    expect(asked.disk.log).toEqual(left.disk.log)
    expect(kernels.query(left, 'client')).toBe(3)
    // It is restarted after block 3 and knows what the chain has: it sends nothing.
    const quiet = SCENE.map((transactions, at) => (at < 4 ? transactions : []))
    expect(replay(dedup, quiet).disk.cranks).toBeLessThanOrEqual(left.disk.cranks)
  })
})

describe('with the bug', () => {
  test('S15, S22, S23: T=10 ack 5, a restart at T=15, T=20 ack 5 again: one crank more', () => {
    const scene = [[sign('client', batch([], 5))], [sign('client', batch([], 5))]]
    const left = replay('ram', scene)
    const right = replay('ram', scene, [1])
    expect([left.disk.cranks, right.disk.cranks]).toEqual([1, 2])
    expect([left.disk.deliveries.vattp, right.disk.deliveries.vattp]).toEqual([1, 2])
    // Nothing of it leaves the vat, and it is a difference all the same.
    expect(left.disk.heads).toEqual(right.disk.heads)
    expect(firstDifference(left.disk.log, right.disk.log)).toMatchObject({ line: 2, left: null })
  })

  test('S15: it is found wherever a restart stands before something that comes again', () => {
    const left = replay('ram', SCENE)
    const found = moments.filter((at) => {
      return firstDifference(left.disk.log, replay('ram', SCENE, [at]).disk.log) !== null
    })
    expect(found).toEqual([1, 2, 3, 4, 5, 6, 7])
  })
})

test('S16, S24: letters go as letters, sorted, and an ack as an ack behind them', () => {
  const kernel = createKernel('none', { client: 5 })
  block(kernel, [sign('client', batch([2, 1], 4))])
  const log = kernel.disk.log.map((line) => JSON.parse(line) as kernels.Event)
  expect(log.map(({ crank, type, detail }) => [crank, type, detail])).toEqual([
    [0, 'deliverInboundMessages', [[1, 2], 0]],
    [1, 'deliverInboundAck', [[], 4]],
    [2, 'receive', 'letter 1'],
    [3, 'receive', 'letter 2'],
  ])
})

test('S29: the device says whether the kernel has to run: without a filter always', () => {
  const again = sign('client', batch([1], 0))
  const said = (dedup: Dedup): boolean[] => {
    const kernel = createKernel(dedup)
    return [1, 2].map(() => kernels.deliverInbound(kernel, again))
  }
  expect(said('none')).toEqual([true, true])
  expect(said('durable')).toEqual([true, false])
  const forged = { ...again, signature: sign('other', batch([1], 0)).signature }
  expect(kernels.deliverInbound(createKernel('none'), forged)).toBe(false)
})

test('S30: the run queue is drained in order, at most 1,000 cranks a block', () => {
  const kernel = createKernel('none')
  const numbers = Array.from({ length: 1_500 }, (_, i) => i + 1)
  block(kernel, [sign('client', batch(numbers, 0))])
  expect([kernel.disk.cranks, kernel.disk.queue.length]).toEqual([1_000, 502])
  kernels.run(kernel)
  const received = kernel.disk.log
    .slice(2)
    .map((line) => (JSON.parse(line) as kernels.Event).detail)
  expect(received).toEqual(numbers.map((n) => `letter ${n}`))
})

test('`holdfast diverge` names the first line in which two logs of replicas differ', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kernel-'))
  const file = join(folder, 'a.log')
  try {
    const { log } = replay('none', SCENE).disk
    writeFileSync(file, log.join('\n'))
    const lines = readFileSync(file, 'utf8').split('\n')
    expect(firstDifference(lines, log)).toBe(null)
    const other = log.map((line, at) => (at === 3 ? line.replace('"crank":3', '"crank":4') : line))
    expect(firstDifference(log, other)).toMatchObject({ line: 4, left: log[3], right: other[3] })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
