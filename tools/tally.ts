/**
 * Ends a run of vitest with what a reader, or a script, wants to know: every skipped test with
 * its reason, the ten slowest files, what each project cost in wall and processor seconds, then one
 * plain line `N passed, N failed`, with `, N skipped` where there are any.
 *
 * What is broken outside of any test counts as failed too: a file that does not load, a hook
 * that throws, an error nobody caught. Under `CI` a skipped test fails the run, because what
 * is skipped there is skipped everywhere.
 */

import type { Reporter } from 'vitest/node'

/** The counts of one run, and the tests that were skipped, by title. */
export interface Tally {
  passed: number
  failed: number
  skipped: { title: string; reason: string }[]
}

/** What is asked of one test file of the run. */
export interface Module {
  readonly relativeModuleId: string
  errors(): readonly unknown[]
  readonly children: {
    allSuites(): Iterable<{ errors(): readonly unknown[] }>
    allTests(): Iterable<{
      fullName: string
      result(): { state: string; note?: string }
    }>
  }
}

/** Sums up a finished run. @param strays errors that belong to no test */
export function count(modules: readonly Module[], strays: number): Tally {
  const sum: Tally = { passed: 0, failed: strays, skipped: [] }
  for (const module of modules) {
    sum.failed += module.errors().length
    for (const suite of module.children.allSuites()) sum.failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const result = test.result()
      const title = `${module.relativeModuleId}: ${test.fullName}`
      if (result.state === 'passed') sum.passed++
      else if (result.state === 'skipped') {
        sum.skipped.push({ title, reason: result.note ?? 'no reason given' })
      } else sum.failed++
    }
  }
  return sum
}

/** The plain line. */
export function line(sum: Tally): string {
  const skipped = sum.skipped.length > 0 ? `, ${sum.skipped.length} skipped` : ''
  return `${sum.passed} passed, ${sum.failed} failed${skipped}`
}

/** What the files of one project cost. */
export interface Cost {
  /** From the start of its first file to the end of its last, in milliseconds of one clock. */
  from: number
  to: number
  /** In seconds, over all threads and processes; NaN where the system does not say. */
  processor: number
}

/** Adds what one file cost to its project. */
export function add(
  costs: Map<string, Cost>,
  project: string,
  { from, to, processor }: Cost,
): void {
  const cost = costs.get(project) ?? { from, to, processor: 0 }
  cost.from = Math.min(cost.from, from)
  cost.to = Math.max(cost.to, to)
  cost.processor += processor
  costs.set(project, cost)
}

/** One line for each project; projects of one group run beside each other. */
export function costLines(costs: ReadonlyMap<string, Cost>): string[] {
  return [...costs].map(([project, { from, to, processor }]) => {
    const seconds = Number.isNaN(processor) ? '?' : processor.toFixed(1)
    const wall = ((to - from) / 1000).toFixed(1)
    return `${project.padEnd(8)} ${wall.padStart(7)} s wall ${seconds.padStart(8)} s processor`
  })
}

const SLOWEST = 10

/** One line for each of the slowest files, the slowest first. @param files  and their ms */
export function slowest(files: ReadonlyMap<string, number>): string[] {
  const sorted = [...files].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST)
  return sorted.map(([file, ms]) => `slow ${(ms / 1000).toFixed(1).padStart(7)} s ${file}`)
}

/** A reporter for vitest's list of them; to be named last. */
export function tally(): Reporter {
  const started = new Map<string, number>()
  const costs = new Map<string, Cost>()
  const files = new Map<string, number>()
  return {
    onTestModuleStart(module) {
      started.set(module.id, performance.now())
    },
    onTestModuleEnd(module) {
      const to = performance.now()
      // What processor.ts told of the file; the types of vitest keep it to themselves.
      const { task } = module as unknown as { task: { meta: { processorSeconds?: number } } }
      const { processorSeconds = NaN } = task.meta
      const from = started.get(module.id) ?? to
      files.set(module.relativeModuleId, to - from)
      add(costs, module.project.name, { from, to, processor: processorSeconds })
    },
    onTestRunEnd(modules, strays) {
      const sum = count(modules, strays.length)
      for (const { title, reason } of sum.skipped) console.log(`skipped: ${title} (${reason})`)
      for (const text of [...slowest(files), ...costLines(costs)]) console.log(text)
      if (process.env['CI'] && sum.skipped.length > 0) {
        console.log('a skipped test fails the run where CI is set')
        process.exitCode = 1
      }
      // The very last thing of the process, after whatever others say on their way out.
      process.once('exit', () => console.log(line(sum)))
    },
  }
}
