/** What is told of a run: a line for each change, a table of the modules, what nobody noticed. */

import { moduleOf, MODULES } from './modules.ts'
import { shown } from './sites.ts'
import type { Trial } from './trial.ts'

/** Goals of a draw, in parts of what is not equivalent. */
export const ALL_MIN = 0.9
/** The same of each module. */
export const MODULE_MIN = 0.8
/** Most of a draw that may be equivalent. */
export const EQUIVALENT_MAX = 0.1

/** A change that was judged, or not, for it is equivalent. */
export type Result = Pick<Trial, 'change' | 'by' | 'seconds'> & {
  readonly outcome: Trial['outcome'] | 'equivalent'
}

const WORDS: Readonly<Record<Result['outcome'], string>> = {
  caught: 'caught',
  equivalent: 'equivalent',
  survived: 'SURVIVED',
  unreached: 'SURVIVED, no test comes there',
  thrown: 'SURVIVED but for an exception',
  count: 'SURVIVED but for a count or a mutant',
  time: 'SURVIVED but for a time limit',
}

/** One line. */
export function line(result: Result, at: number, of: number): string {
  const by = result.by === '' ? '' : ` by ${result.by}`
  const head = `[${at}/${of}] ${WORDS[result.outcome]}: ${shown(result.change)}`
  return `${head}${by} (${result.seconds.toFixed(1)} s)`
}

/** What lines of an earlier run say is caught, each as `shown` tells it. */
export function caughtIn(output: string): Set<string> {
  const lines = output.split('\n').map((text) => /^\[\d+\/\d+\] caught: (.*)/.exec(text)?.[1] ?? '')
  // What put it is followed by the test that noticed.
  return new Set(
    lines.map((text) =>
      text.replace(/ by (packages|proof|test|games|tools|an earlier run).*$/, ''),
    ),
  )
}

/** The modules: drawn, caught, survived, equivalent, and caught of those that are not. */
export function table(results: readonly Result[]): string[] {
  const rows = MODULES.map((module) => {
    return row(
      module,
      results.filter(({ change }) => moduleOf(change.file) === module),
    )
  }).filter((text) => text !== null)
  return [
    '| module | tried | caught | survived | equivalent | caught of those that are not |',
    '|---|---|---|---|---|---|',
    ...rows,
    row('all', results) ?? '| all | 0 | 0 | 0 | 0 | – |',
  ]
}

function row(module: string, results: readonly Result[]): string | null {
  if (results.length === 0) return null
  const { caught, equivalent } = counts(results)
  const survived = results.length - caught - equivalent
  const part = results.length > equivalent ? `${Math.round(rate(results) * 100)} %` : '–'
  return `| ${module} | ${results.length} | ${caught} | ${survived} | ${equivalent} | ${part} |`
}

function counts(results: readonly Result[]): { caught: number; equivalent: number } {
  const number = (wanted: Result['outcome']): number =>
    results.filter(({ outcome }) => outcome === wanted).length
  return { caught: number('caught'), equivalent: number('equivalent') }
}

/** The part that was caught of what is not equivalent; 1 where there is nothing. */
function rate(results: readonly Result[]): number {
  const { caught, equivalent } = counts(results)
  return results.length > equivalent ? caught / (results.length - equivalent) : 1
}

/** Goals that were missed, as sentences. */
export function missed(results: readonly Result[]): string[] {
  const found: string[] = []
  if (rate(results) < ALL_MIN) found.push(`all modules together: below ${ALL_MIN * 100} %`)
  for (const module of MODULES) {
    const own = results.filter(({ change }) => moduleOf(change.file) === module)
    if (rate(own) < MODULE_MIN) found.push(`${module}: below ${MODULE_MIN * 100} %`)
  }
  if (counts(results).equivalent > results.length * EQUIVALENT_MAX) {
    found.push('more than one in ten is said to be equivalent')
  }
  return found
}
