/**
 * The Prometheus metrics at `/metrics`: figures of the process, and counters that other parts
 * format themselves (runtime/prometheus.ts).
 *
 * Names follow prom-client's defaults, which Node dashboards expect: some twenty figures need no
 * dependency.
 */

import { readdirSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { gaugeText, metricText, type Sample } from '../../../holdfast/src/api/prometheus.ts'

export interface Metrics {
  /** The content type of `text`. */
  readonly type: string
  text(): Promise<string>
  /** Adds metrics of another part; `text` is called on each request. */
  add(text: () => string): void
}

/** How often the lateness of the loop is sampled, in milliseconds. */
const LATE_EVERY_MS = 10
const NANOS = 1e9
const MICROS = 1e6

export function createMetrics(): Metrics {
  const more: (() => string)[] = []
  const late = monitorEventLoopDelay({ resolution: LATE_EVERY_MS })
  late.enable()
  return {
    type: 'text/plain; version=0.0.4; charset=utf-8',
    text: () => {
      const own = processText() + memoryText() + lateText(late)
      return Promise.resolve(more.map((text) => text()).join('') + own)
    },
    add: (text) => void more.push(text),
  }
}

function processText(): string {
  const { user, system } = process.cpuUsage()
  const cpu = (name: string, help: string, micros: number): string => {
    return metricText(name, 'counter', help, [{ value: micros / MICROS }])
  }
  const started = Math.round(Date.now() / 1_000 - process.uptime())
  const active = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) {
    active.set(type, (active.get(type) ?? 0) + 1)
  }
  const resources = [...active].map(([type, value]): Sample => ({ labels: { type }, value }))
  return [
    cpu('process_cpu_user_seconds_total', 'Processor time outside the system, in s.', user),
    cpu('process_cpu_system_seconds_total', 'Processor time in the system, in s.', system),
    cpu('process_cpu_seconds_total', 'Processor time, in s.', user + system),
    gaugeText('process_start_time_seconds', 'When the process began, in s since 1970.', started),
    openFilesText(),
    metricText('nodejs_active_resources', 'gauge', 'What keeps the loop alive.', resources),
  ].join('')
}

/** Open file descriptors; empty where the system does not reveal them. */
function openFilesText(): string {
  try {
    const open = readdirSync('/proc/self/fd').length
    return gaugeText('process_open_fds', 'Open files, sockets among them.', open)
  } catch {
    return ''
  }
}

function memoryText(): string {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
  const spaces = getHeapSpaceStatistics()
  const bySpace = (what: 'size_total' | 'size_used', bytes: (at: number) => number): string => {
    const samples = spaces.map(({ space_name }, at): Sample => {
      return { labels: { space: space_name.replace(/_space$/, '') }, value: bytes(at) }
    })
    return metricText(`nodejs_heap_space_${what}_bytes`, 'gauge', 'Heap, by space.', samples)
  }
  return [
    gaugeText('process_resident_memory_bytes', 'Memory that the process holds.', rss),
    gaugeText('nodejs_heap_size_total_bytes', 'Heap that is reserved.', heapTotal),
    gaugeText('nodejs_heap_size_used_bytes', 'Heap that is used.', heapUsed),
    gaugeText('nodejs_external_memory_bytes', 'Memory beside the heap.', external),
    bySpace('size_total', (at) => spaces[at]!.space_size),
    bySpace('size_used', (at) => spaces[at]!.space_used_size),
  ].join('')
}

/** The event-loop lag since the last request, in seconds. */
function lateText(late: IntervalHistogram): string {
  const of = (name: string, help: string, nanos: number): string => {
    // Without samples the minimum is beyond all numbers and the mean is NaN.
    const seconds = late.count === 0 ? 0 : nanos / NANOS
    return gaugeText(`nodejs_eventloop_lag_${name}_seconds`, help, seconds)
  }
  const text = [
    of('min', 'The least delay of the loop.', late.min),
    of('max', 'The largest delay of the loop.', late.max),
    of('mean', 'The mean delay of the loop.', late.mean),
    of('p50', 'Half of the delays were less.', late.percentile(50)),
    of('p90', 'Nine of ten delays were less.', late.percentile(90)),
    of('p99', 'All but one of a hundred delays were less.', late.percentile(99)),
  ].join('')
  late.reset()
  return text
}
