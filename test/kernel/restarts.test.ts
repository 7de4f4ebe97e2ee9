// Goal: two replicas with the same input have the same event log, crank and delivery counts,
// whenever one of them is restarted; the device of the source fails this, and the place is named.
// Method: the scene of seed 003 with the shipped mailbox; a restart at every point of the input.
import { plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { diverge } from '../../packages/cli/src/diverge.ts'
import { type Batch, type Block, sign } from './chain.ts'
import { type Dedup, deliverInbound, start } from './device.ts'
import { ask, BLOCK_CRANKS_MAX, boot, type Kernel, logOf, takeHello } from './kernel.ts'
import { type ClientPolicy, play, replica } from './scene.ts'

const POLICIES: readonly ClientPolicy[] = ['preemptive', 'hello']
const folder = mkdtempSync(join(tmpdir(), 'holdfast-kernel-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Event {
  block?: number
  crank?: number
  method?: string
  ack?: number
  body?: string
  effects?: string[]
}

/** All that two replicas must have in common. */
function traceOf(kernel: Kernel): unknown {
  const { state, box } = kernel
  const heads = kernel.store.heads()
  return {
    log: logOf(kernel),
    state,
    heads,
    letters: ask(kernel, 'client', 0),
    peers: box.peers.size,
  }
}

function eventsOf(kernel: Kernel): Event[] {
  return logOf(kernel).map((line) => JSON.parse(line) as Event)
}

function batch(letters: [number, string][], ack: number): Batch {
  const text = new TextEncoder()
  return plainBatch(
    letters.map(([n, body]) => ({ n, body: text.encode(body) })),
    ack,
  )
}

function inOrder(...batches: Batch[]): Block[] {
  return batches.map((one, at) => sign('client', at + 1, one))
}

/** Every point at which a restart changed something. */
function tracesOfRestarts(dedup: Dedup, blocks: readonly Block[]): number[] {
  const { kernel: left, points } = replica(dedup, blocks)
  const expected = JSON.stringify(traceOf(left))
  expect(points).toBeGreaterThan(70)
  return Array.from({ length: points }, (_, at) => at + 1).filter((point) => {
    const { kernel: right } = replica(dedup, blocks, [point])
    return JSON.stringify(traceOf(right)) !== expected
  })
}

/** What `holdfast diverge` says of two replicas. */
function named(left: Kernel, right: Kernel): Promise<[told: string, equal: boolean]> {
  const paths = [join(folder, 'left.log'), join(folder, 'right.log')] as const
  writeFileSync(
    paths[0],
    logOf(left)
      .map((line) => `${line}\n`)
      .join(''),
  )
  writeFileSync(
    paths[1],
    logOf(right)
      .map((line) => `${line}\n`)
      .join(''),
  )
  return diverge(...paths)
}

describe.each(POLICIES)('a client under %s', (policy) => {
  const blocks = play(policy)
  test('S22, S24, S27: nothing is filtered: no restart at any point leaves a trace', () => {
    expect(tracesOfRestarts('none', blocks)).toEqual([])
  })
  test('S22, S25, S27: filtered by a durable state: no restart leaves a trace', () => {
    expect(tracesOfRestarts('durable', blocks)).toEqual([])
  })
  test('S22, S26, S27: filtered by durable keys: no restart leaves a trace', () => {
    expect(tracesOfRestarts('durable-keys', blocks)).toEqual([])
  })
  test('S22: nor does a process that lives for one transaction only', () => {
    for (const dedup of ['none', 'durable', 'durable-keys'] as const) {
      const { kernel: left, points } = replica(dedup, blocks)
      const everywhere = Array.from({ length: points * 2 }, (_, at) => at + 1)
      expect(traceOf(replica(dedup, blocks, everywhere).kernel)).toEqual(traceOf(left))
    }
  })
  test('S18: the layer above gets each letter once, in order, without its number', () => {
    for (const dedup of ['none', 'durable', 'durable-keys', 'ram'] as const) {
      const events = eventsOf(replica(dedup, blocks, [20, 60]).kernel)
      const received = events.filter(({ method }) => method === 'receive')
      expect(received.map(({ body }) => body)).toEqual([
        'hat',
        'scarf',
        'glove',
        'shoe',
        'sock',
        'coat',
        'cane',
      ])
    }
  })
})

test('S22: nor do any two restarts leave a trace where much comes twice', () => {
  const ack = batch([], 2)
  const two = batch(
    [1, 2].map((n): [number, string] => [n, `letter ${n}`]),
    0,
  )
  const blocks = inOrder(two, two, ack, ack, { ...two, ack: 2 })
  for (const dedup of ['none', 'durable', 'durable-keys'] as const) {
    const { kernel: left, points } = replica(dedup, blocks)
    const expected = JSON.stringify(traceOf(left))
    const wrong: [number, number][] = []
    for (let one = 1; one <= points; one++) {
      for (let other = one + 1; other <= points; other++) {
        const { kernel: right } = replica(dedup, blocks, [one, other])
        if (JSON.stringify(traceOf(right)) !== expected) wrong.push([one, other])
      }
    }
    expect(wrong).toEqual([])
  }
})

describe('who asks first', () => {
  test('S20, S21: a start that asks brings no transaction; one just in case does', () => {
    const sent = POLICIES.map((policy) => play(policy).filter((block) => block).length)
    expect(sent).toEqual([11, 8])
  })
  test('S21, S22: one that is asked at every point, and restarted at any, is like the other', () => {
    for (const policy of POLICIES) {
      const blocks = play(policy)
      const answers: string[] = []
      const { kernel: left, points } = replica('none', blocks, [], (kernel, at) => {
        answers[at] = JSON.stringify(ask(kernel, 'client', 0))
      })
      const trace = JSON.stringify(traceOf(left))
      const wrong: [point: number, asked: number][] = []
      for (let point = 1; point <= points; point++) {
        const { kernel: right } = replica('none', blocks, [point], (kernel, at) => {
          if (JSON.stringify(ask(kernel, 'client', 0)) !== answers[at]) wrong.push([point, at])
          if (kernel.changes.length > 0) wrong.push([point, at])
        })
        if (JSON.stringify(traceOf(right)) !== trace) wrong.push([point, 0])
      }
      expect(wrong).toEqual([])
    }
  })
  test('S23: a hello that becomes an event is found, and named', async () => {
    const blocks = play('hello')
    const { kernel: left } = replica('none', blocks)
    const { kernel: right } = replica('none', blocks, [], (kernel, at) => {
      if (at === 12) takeHello(kernel, 'client', 0)
    })
    const [told, equal] = await named(left, right)
    expect(equal).toBe(false)
    expect(told).toMatch(/^>.*"method":"deliverInboundAck","peer":"client","ack":0/m)
  })
})

describe('the bug', () => {
  // The client's last ack, and the same once more: a replica that lives on does nothing for it.
  const blocks = inOrder(
    batch(
      [
        [1, 'hat'],
        [2, 'scarf'],
      ],
      0,
    ),
    batch([], 2),
    batch([], 2),
    batch([[3, 'coat']], 2),
  )
  /** The point after the last transaction of a block. */
  const after = (height: number): number => {
    let last = 0
    replica('ram', blocks, [], ({ state }, at) => {
      if (state.height === height) last = 2 * at
    })
    return last
  }

  test('S15, S22, S23: a filter in memory: one more event after a restart, named', async () => {
    const { kernel: left } = replica('ram', blocks)
    const { kernel: right } = replica('ram', blocks, [after(2)])
    expect(right.state.crank).toBe(left.state.crank + 1)
    expect(right.state.deliveries).toEqual({
      vattp: left.state.deliveries.vattp + 1,
      comms: left.state.deliveries.comms,
    })
    // Nothing of it leaves the vat.
    expect(ask(right, 'client', 0)).toEqual(ask(left, 'client', 0))
    const [told, equal] = await named(left, right)
    expect(equal).toBe(false)
    const line = logOf(left).findIndex((text, at) => text !== logOf(right)[at]) + 1
    expect(told).toContain(`line ${line} of ${join(folder, 'left.log')}`)
    expect(told).toMatch(/^> .*"block":3,"queued":1/m)
    expect(told).toMatch(
      /^> .*"method":"deliverInboundAck","peer":"client","ack":2,"effects":\[\]/m,
    )
    expect(told).toMatch(/^ {2}block +4 \| 3$/m)
  })
  test('S15, S27: a restart tells exactly where something comes again that had come', async () => {
    const { kernel: left, points } = replica('ram', blocks)
    const expected: number[] = []
    // From the first ack on until the last batch with the same ack has come.
    const [first, last] = [after(1) + 2, after(3)]
    for (let point = 1; point <= points; point++) {
      const [, equal] = await named(left, replica('ram', blocks, [point]).kernel)
      expect(equal).toBe(point < first || point > last + 1)
      if (!equal) expected.push(point)
    }
    expect(expected.length).toBeGreaterThan(3)
  })
  test('S15, S27: the whole scene finds it under either policy', () => {
    for (const policy of POLICIES) {
      expect(tracesOfRestarts('ram', play(policy)).length).toBeGreaterThan(10)
    }
  })
})

describe('the device', () => {
  const durable = { get: () => null, set: () => {} }
  test('S16, S24: letters sorted, all of them, then the ack', () => {
    const device = start('none', durable)
    const came = batch(
      [
        [3, 'c'],
        [1, 'a'],
        [2, 'b'],
      ],
      7,
    )
    const [letters, ack] = deliverInbound(device, durable, 'client', came)
    const messages = [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]
    expect(letters).toEqual({
      vat: 'vattp',
      method: 'deliverInboundMessages',
      peer: 'client',
      messages,
    })
    expect(ack).toEqual({ vat: 'vattp', method: 'deliverInboundAck', peer: 'client', ack: 7 })
    expect(deliverInbound(device, durable, 'client', came)).toEqual([letters, ack])
    expect(device.memory).toEqual({})
  })
  test('S29: the kernel runs for a duplicate only where nothing is filtered', () => {
    const blocks = inOrder(batch([[1, 'a']], 0), batch([[1, 'a']], 0))
    const runs = (dedup: Dedup): (number | undefined)[] =>
      eventsOf(replica(dedup, blocks).kernel).flatMap(({ block }) => block ?? [])
    expect(runs('none')).toEqual([1, 2])
    for (const dedup of ['durable', 'durable-keys', 'ram'] as const)
      expect(runs(dedup)).toEqual([1])
  })
  test('S25: its state is written with each batch, and read at the start', () => {
    const { kernel } = replica('durable', play('preemptive'))
    const expected = { client: { letters: 7, ack: 7 } }
    expect(JSON.parse(new TextDecoder().decode(kernel.store.get('device')!))).toEqual(expected)
    expect(boot('durable', kernel.store).device.memory).toEqual(expected)
  })
  test('S26: or by key, and nothing of it is in memory', () => {
    const { kernel } = replica('durable-keys', play('preemptive'))
    expect(kernel.store.keys('device')).toEqual(['device/client/ack', 'device/client/letters'])
    expect(kernel.device.memory).toEqual({})
  })
})

describe('the log of the chain', () => {
  test('S19: what is forged, repeated or out of turn leaves no trace', () => {
    const [first, second] = inOrder(batch([[1, 'a']], 0), batch([[2, 'b']], 0))
    const forged = { ...second!, from: 'other' }
    const stranger = { ...second!, from: 'stranger' }
    const changed = { ...second!, bytes: second!.bytes.map((byte) => byte ^ 1) }
    const good = replica('none', [first!, null, null, null, null, second!]).kernel
    const bad = replica('none', [first!, forged, stranger, changed, first!, second!]).kernel
    expect(traceOf(bad)).toEqual(traceOf(good))
  })
  test('S30: first in, first out, by at most 1,000 cranks a block, restarted or not', () => {
    const letters = Array.from({ length: 600 }, (_, at): [number, string] => [at + 1, `${at}`])
    const blocks = [...inOrder(batch(letters, 0)), null, null]
    const { kernel: left } = replica('none', blocks)
    const events = eventsOf(left)
    // Two for the batch, then one for each letter and one for each answer.
    expect(events.map(({ block }, at) => (block ? at : -1)).filter((at) => at >= 0)).toEqual([
      0,
      BLOCK_CRANKS_MAX + 1,
    ])
    expect(left.state.crank).toBe(2 + 600 + 600)
    const received = events.filter(({ method }) => method === 'receive')
    expect(received.map(({ body }) => body)).toEqual(letters.map(([, body]) => body))
    const methods = events.filter(({ crank }) => crank).map(({ method }) => method)
    expect(methods.slice(2)).toEqual([
      ...Array(600).fill('receive'),
      ...Array(600).fill('transmit'),
    ])
    for (const point of [3, 2_001, 2_002, 2_003, 2_004]) {
      expect(traceOf(replica('none', blocks, [point]).kernel)).toEqual(traceOf(left))
    }
  })
})
