/** Figures in the text format of Prometheus: one metric, its kind, its samples by label. */

/** What tells the samples of one metric apart. */
export type Labels = Readonly<Record<string, string>>

/** One value of a metric. */
export interface Sample {
  labels?: Labels
  value: number
}

/** A metric with all its samples. @param kind  `counter`: it only grows */
export function metricText(
  name: string,
  kind: 'gauge' | 'counter',
  help: string,
  samples: readonly Sample[],
): string {
  const lines = samples.map(({ labels, value }) => `${name}${labelsText(labels)} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`
}

/** Counts that only grow, as one metric with the label `what`: `badUpgrades` is `bad_upgrades`. */
export function countsText(name: string, help: string, counts: object, labels?: Labels): string {
  const samples: Sample[] = []
  for (const [what, value] of Object.entries(counts)) {
    if (typeof value === 'number')
      samples.push({ labels: { ...labels, what: snakeCase(what) }, value })
  }
  return metricText(name, 'counter', help, samples)
}

function labelsText(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${quoted(value)}`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
  return `"${escaped}"`
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
