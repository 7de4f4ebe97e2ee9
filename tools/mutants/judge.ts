/**
 * Tries one change, in a process of its own: tests come on standard input, in the order in which
 * they are to run, and what came of them goes out, a line of JSON each. The process that started
 * it ends it when it has heard nothing for too long.
 */

import { readFileSync } from 'node:fs'
import { sources } from './modules.ts'
import { open, run, titleOf } from './runner.ts'
import { changed } from './sites.ts'
import type { Change } from './sites.ts'
import { worth } from './verdict.ts'
import type { Failure, Worth } from './verdict.ts'

/** What is asked of it. */
export interface Question {
  readonly change: Change
  /** One after the other; within one, tests by their file. */
  readonly batches: readonly (readonly [file: string, names: readonly string[]][])[]
  readonly testMs: number
}

/** What it says. */
export type Answer =
  | { readonly began: string }
  | { readonly file: string; readonly name: string; readonly worth: Worth | 'passed' }
  | { readonly done: true }

function say(answer: Answer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

async function main(): Promise<void> {
  const root = process.cwd()
  const { change, batches, testMs } = JSON.parse(readFileSync(0, 'utf8')) as Question
  const source = sources(root).find(({ path }) => path === change.file)!
  const text = changed(source, change)
  const vitest = await open({
    root,
    workers: 1,
    testMs,
    rewrite: (path) => (path === change.file ? text : null),
    reporter: {
      onTestModuleQueued: (module) => say({ began: module.relativeModuleId }),
      onTestModuleEnd(module) {
        for (const error of module.errors()) {
          say({ file: module.relativeModuleId, name: '', worth: worth('', error as Failure) })
        }
      },
      onTestCaseResult(test) {
        const { file, name } = titleOf(test)
        const result = test.result()
        if (result.state === 'passed') say({ file, name, worth: 'passed' })
        if (result.state !== 'failed') return
        const worths = result.errors.map((error) => worth(file, error as Failure))
        const first = worths.find((one) => one === 'assertion') ?? worths[0] ?? 'thrown'
        say({ file, name, worth: first })
      },
    },
  })
  for (const batch of batches) await run(vitest, new Map(batch))
  say({ done: true })
}

await main()
// Whatever the change left running.
process.exit(0)
