/**
 * A reader of Prometheus' text format (version 0.0.4), by its rules: a line is empty, a comment, or
 * a sample. All lines of one metric stand together, HELP and TYPE at most once and before its
 * samples; no two samples have the same name and labels; the last line ends with a line feed.
 */

/** One metric. */
export interface Family {
  name: string
  help: string | null
  kind: string | null
  samples: { labels: Record<string, string>; value: number }[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|(?=\}))/
const VALUE = /^(NaN|[+-]Inf|[+-]?\d+(\.\d+)?([eE][+-]?\d+)?)$/
const KINDS = ['counter', 'gauge', 'histogram', 'summary', 'untyped']

/** @throws Error that shows the line that breaks a rule */
export function readMetrics(text: string): Family[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end')
  const families: Family[] = []
  for (const line of text.split('\n').slice(0, -1)) {
    if (!readLine(families, line)) throw new Error(`it is no line of the format: ${line}`)
  }
  return families
}

function readLine(families: Family[], line: string): boolean {
  if (line === '') return true
  const [, what, name = '', rest = ''] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? []
  if (what === undefined) return line.startsWith('#') || readSample(families, line)
  if (NAME.exec(name)?.[0] !== name) return false
  const family = familyOf(families, name)
  if (!family || family.samples.length > 0) return false
  if (what === 'TYPE') {
    if (family.kind !== null || !KINDS.includes(rest)) return false
    family.kind = rest
    return true
  }
  if (family.help !== null || !/^(?:[^\\]|\\[\\n])*$/.test(rest)) return false
  family.help = unescaped(rest)
  return true
}

// The one that is being read, or a new one: none is gone back to.
function familyOf(families: Family[], name: string): Family | null {
  const last = families.at(-1)
  if (last?.name === name) return last
  if (families.some((family) => family.name === name)) return null
  const family: Family = { name, help: null, kind: null, samples: [] }
  families.push(family)
  return family
}

function readSample(families: Family[], line: string): boolean {
  const name = NAME.exec(line)?.[0] ?? ''
  const labels: Record<string, string> = {}
  let rest = line.slice(name.length)
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    for (let found; (found = LABEL.exec(rest)); rest = rest.slice(found[0].length)) {
      const [, label = '', value = ''] = found
      if (label in labels) return false
      labels[label] = unescaped(value)
    }
    if (!rest.startsWith('}')) return false
    rest = rest.slice(1)
  }
  const value = /^ (\S+)$/.exec(rest)?.[1] ?? ''
  const family = name === '' || !VALUE.test(value) ? null : familyOf(families, name)
  const key = keyOf(labels)
  const isDouble = family?.samples.some((one) => keyOf(one.labels) === key)
  if (!family || isDouble) return false
  family.samples.push({ labels, value: Number(value.replace('Inf', 'Infinity')) })
  return true
}

// Labels are the same in whatever order they stand.
function keyOf(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map((pair) => JSON.stringify(pair))
  return pairs.toSorted().join()
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_all, letter: string) => (letter === 'n' ? '\n' : letter))
}
