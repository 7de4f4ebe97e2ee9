/**
 * What Prometheus reads at `/metrics`: what the process is, by prom-client, and what the parts of
 * the program have counted, which write their own text (runtime/hub/hub-figures.ts).
 */

import { collectDefaultMetrics, Registry } from 'prom-client'

/** What is to be read. */
export interface Metrics {
  /** The content type of `text`. */
  readonly type: string
  /** All metrics, in Prometheus' text format. */
  text(): Promise<string>
  /** Adds what a part of the program has to tell, whenever somebody asks. */
  add(text: () => string): void
}

/** Shows the process itself: memory, processor, delay of the event loop. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const more: (() => string)[] = []
  collectDefaultMetrics({ register: registry })
  // Strangers may read this, and those who look for a hole ask for versions first.
  registry.removeSingleMetric('nodejs_version_info')
  return {
    type: registry.contentType,
    text: async () => more.map((text) => text()).join('') + (await registry.metrics()),
    add: (text) => void more.push(text),
  }
}
