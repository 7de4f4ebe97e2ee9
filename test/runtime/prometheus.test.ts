// Goal: whatever a program of ours shows at /metrics is what Prometheus reads.
// Method: a reader by the rules of the format, over all texts there are and over hostile names.
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../packages/cli/src/serve/metrics.ts'
import { create } from '../../packages/hub/src/machine/hub.ts'
import type { StreamServerCounters } from '../../packages/holdfast/src/drivers/net/server/stream-counters.ts'
import { ceilingsOf, figuresText } from '../../packages/hub/src/server/hub-figures.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import { metricsOf } from '../../packages/mailbox/src/runtime/figures.ts'
import { countsText, metricText } from '../../packages/holdfast/src/api/prometheus.ts'
import { readMetrics } from './prometheus.ts'

const HOSTILE = ['a"b', 'a\\b', 'a\nb', 'a\\"b\\', '{a="b"} 1', 'ä\u{1f0a1}', '', '\\n']

describe('a reader of the format', () => {
  test.each([
    ['a line that does not end', 'a 1'],
    ['HELP that stands twice', '# HELP a b\n# HELP a b\na 1\n'],
    ['TYPE behind a sample', 'a 1\n# TYPE a gauge\n'],
    ['a kind that there is not', '# TYPE a number\na 1\n'],
    ['a metric that is gone back to', 'a 1\nb 1\na{c="d"} 1\n'],
    ['a sample that stands twice', 'a{b="c",d="e"} 1\na{d="e",b="c"} 2\n'],
    ['a quote in a label', 'a{b="c"d"} 1\n'],
    ['an escape that there is not', 'a{b="\\t"} 1\n'],
    ['a value that is none', 'a one\n'],
    ['a value as JavaScript writes it', 'a Infinity\n'],
  ])('refuses %s', (_what, text) => {
    expect(() => readMetrics(text)).toThrow(/line/)
  })
})

describe('a metric as text', () => {
  test('any label and any help is read as it was', () => {
    const samples = HOSTILE.map((peer, value) => ({ labels: { peer }, value }))
    for (const help of HOSTILE) {
      const [read] = readMetrics(metricText('a', 'gauge', help, samples))
      expect(read).toEqual({ name: 'a', help, kind: 'gauge', samples })
    }
  })
  test('any value is read as it was', () => {
    const values = [0, -1, 0.1, 1e-7, 2 ** 60, 1e21, Infinity, -Infinity, NaN]
    const samples = values.map((value, at) => ({ labels: { at: `${at}` }, value }))
    const [read] = readMetrics(metricText('a', 'gauge', 'help', samples))
    expect(read?.samples.map(({ value }) => value)).toEqual(values)
  })
  test('counts are one metric, each by the name of what it counts', () => {
    const read = readMetrics(countsText('a_total', 'help', { badUpgrades: 2, none: 'x' }))
    const samples = [{ labels: { what: 'bad_upgrades' }, value: 2 }]
    expect(read).toEqual([{ name: 'a_total', help: 'help', kind: 'counter', samples }])
  })
})

test('a whole page of a hub and a mailbox is read, each metric once, with help and a kind', async () => {
  const metrics = createMetrics()
  const door = { accepted: 1, wrongOrigin: 0 } as StreamServerCounters
  const figures = { sessions: 1, streams: 2, members: 3, relayedPairs: 2, diskOk: true, door }
  const kept = { rooms: 4, bytes: 5 }
  const own = create(0, 1, new Uint8Array(32))
  metrics.add(() => {
    const { limits, refused } = own.budgets
    const ceilings = ceilingsOf(limits)
    return figuresText({ ...figures, kept, ceilings, hub: own.counters, refused })
  })
  metrics.add(() => countsText('holdfast_requests_refused_total', 'Requests refused', { host: 1 }))
  const queue = {
    waiting: 1,
    bytes: 2,
    posted: 3,
    acked: 2,
    heard: 1,
    connected: true,
    fault: null,
  }
  const { counters } = mailbox.create([])
  const known = { id: 'a"b\\', key: '', counters, dead: 0, later: 0 }
  metrics.add(() => {
    const queues = HOSTILE.map((peer) => ({ ...queue, peer }))
    return metricsOf({ ...known, queues: queues as never })
  })
  const families = readMetrics(await metrics.text())
  expect(families.length).toBeGreaterThan(30)
  const unsaid = families.filter(({ help, kind }) => !help || kind === null)
  expect(unsaid).toEqual([])
  const of = (name: string): unknown => families.find((family) => family.name === name)?.samples
  expect(of('holdfast_kept_rooms')).toEqual([{ labels: {}, value: 4 }])
  expect(of('holdfast_kept_bytes')).toEqual([{ labels: {}, value: 5 }])
  const streams = { labels: { limit: 'hub.streams' }, value: own.budgets.limits.hub.streams }
  expect(of('holdfast_ceiling')).toContainEqual(streams)
  const [waiting] = families.filter(({ name }) => name === 'holdfast_mailbox_waiting')
  expect(waiting?.samples.map(({ labels }) => labels['peer'])).toEqual(HOSTILE)
})
