import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

const NAMES = [
  ...['process_cpu_user_seconds_total', 'process_cpu_system_seconds_total'],
  ...['process_cpu_seconds_total', 'process_start_time_seconds', 'process_resident_memory_bytes'],
  ...['nodejs_active_resources', 'nodejs_external_memory_bytes'],
  ...['nodejs_heap_size_total_bytes', 'nodejs_heap_size_used_bytes'],
  ...['nodejs_heap_space_size_total_bytes', 'nodejs_heap_space_size_used_bytes'],
  ...['min', 'max', 'mean', 'p50', 'p90', 'p99'].map((of) => `nodejs_eventloop_lag_${of}_seconds`),
]

test('the process is shown under the names that dashboards know, in lines that Prometheus reads', async () => {
  const metrics = createMetrics()
  const lines = (await metrics.text()).split('\n')
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'))
  for (const name of NAMES) {
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^# TYPE ${name} `)))
    expect(samples).toContainEqual(expect.stringMatching(new RegExp(`^${name}[ {]`)))
  }
  // A name, labels in quotes, and a number that is one.
  const line = /^[a-z_0-9]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? \d+(\.\d+)?(e[+-]\d+)?$/
  expect(samples.filter((sample) => !line.test(sample))).toEqual([])
})

test('a delay that was told once is not told again', async () => {
  const metrics = createMetrics()
  await metrics.text()
  const at = 'nodejs_eventloop_lag_max_seconds'
  expect(await metrics.text()).toContain(`${at} 0\n`)
})
