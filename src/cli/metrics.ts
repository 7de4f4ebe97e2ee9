/**
 * What Prometheus reads at `/metrics`. The rooms count in plain objects and know nothing of it;
 * here those objects are read whenever somebody asks.
 */

import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'

/** A registry of its own: two hubs in one process do not share it. */
export interface Metrics {
  /**
   * Shows the counters of a room as one metric with the label `what`.
   *
   * @param name  such as `holdfast_streams_total`
   * @param read  an object of which each numeric field only grows
   */
  count(name: string, help: string, read: () => object): void
  /** Shows a value that goes up and down. */
  gauge(name: string, help: string, read: () => number): void
  /** The content type of `text`. */
  readonly type: string
  /** All metrics, in Prometheus' text format. */
  text(): Promise<string>
}

/** A registry that shows the process itself: memory, processor, delay of the event loop. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // Strangers may read this, and those who look for a hole ask for versions first.
  registry.removeSingleMetric('nodejs_version_info')
  return {
    type: registry.contentType,
    text: () => registry.metrics(),
    count: (name, help, read) => {
      const counter = new Counter({ name, help, labelNames: ['what'], registers: [registry] })
      collectWith(counter, () => {
        counter.reset()
        for (const [what, value] of Object.entries(read())) {
          if (typeof value === 'number') counter.inc({ what: snakeCase(what) }, value)
        }
      })
    },
    gauge: (name, help, read) => {
      const gauge = new Gauge({ name, help, registers: [registry] })
      collectWith(gauge, () => gauge.set(read()))
    },
  }
}

/** The metric's own hook, called before it is shown. */
function collectWith(metric: object, collect: () => void): void {
  Object.assign(metric, { collect })
}

/** Prometheus' spelling: `badUpgrades` is `bad_upgrades`. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
