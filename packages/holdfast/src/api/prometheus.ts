/** Figures in the text format of Prometheus: one metric, its kind, its samples by label. */

/** Labels distinguish the samples of one metric. */
export type Labels = Readonly<Record<string, string>>

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
  const lines = samples.map(({ labels, value }) => {
    return `${name}${labelsText(labels)} ${numberText(value)}\n`
  })
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${kind}\n${lines.join('')}`
}

/** A metric with one value, which may fall. */
export function gaugeText(name: string, help: string, value: number): string {
  return metricText(name, 'gauge', help, [{ value }])
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
  return `"${escaped(text).replaceAll('"', '\\"')}"`
}

// Escapes what a line of help may not contain; labels also escape quotes.
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

// Prometheus spells infinity differently.
function numberText(value: number): string {
  return `${value}`.replace(/^(-?)Infinity$/, (_all, sign: string) => `${sign || '+'}Inf`)
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
