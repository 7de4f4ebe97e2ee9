/**
 * Ends a run of vitest with what a reader, or a script, wants to know: every skipped test with
 * its reason, then one plain line `N passed, N failed`, with `, N skipped` where there are any.
 *
 * What is broken outside of any test counts as failed too: a file that does not load, a hook
 * that throws, an error nobody caught. Under `CI` a skipped test fails the run, because what
 * is skipped there is skipped everywhere.
 */

import type { Reporter } from 'vitest/node'

/** The counts of one run, and the skipped tests by title. */
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
    allTests(): Iterable<{ fullName: string; result(): { state: string; note?: string } }>
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
      if (result.state === 'passed') sum.passed++
      else if (result.state === 'skipped') {
        const title = `${module.relativeModuleId}: ${test.fullName}`
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

/** A reporter for vitest's list of them; to be named last. */
export function tally(): Reporter {
  return {
    onTestRunEnd(modules, strays) {
      const sum = count(modules, strays.length)
      for (const { title, reason } of sum.skipped) console.log(`skipped: ${title} (${reason})`)
      if (process.env['CI'] && sum.skipped.length > 0) {
        console.log('a skipped test fails the run where CI is set')
        process.exitCode = 1
      }
      // The very last thing of the process, after whatever others say on their way out.
      process.once('exit', () => console.log(line(sum)))
    },
  }
}
