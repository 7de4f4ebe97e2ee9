/**
 * Runs tests on code that is changed as it is loaded. No file is touched: what the codebase has on
 * disk stays what it is, whatever becomes of this process.
 */

import { join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { createVitest } from 'vitest/node'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { entryPointsAsSource } from '../entry-points.ts'

/** Gives the text of a file of the modules that is to be loaded; null for as it is. */
export type Rewrite = (path: string, text: string) => string | null

/** Settings of a run. */
export interface Settings {
  readonly root: string
  readonly rewrite: Rewrite
  readonly reporter: Reporter
  readonly workers: number
  /** Files that each worker loads before the tests of a file. */
  readonly setup?: readonly string[]
  /** The longest that one test may take, in milliseconds. */
  readonly testMs: number
}

/** Opens the runner; it runs nothing yet. */
export async function open(settings: Settings): Promise<Vitest> {
  return createVitest(
    'test',
    {
      config: false,
      root: settings.root,
      watch: false,
      include: ['{packages/*/src,proof,test}/**/*.test.ts'],
      pool: 'threads',
      isolate: false,
      maxWorkers: settings.workers,
      testTimeout: settings.testMs,
      hookTimeout: settings.testMs,
      reporters: [settings.reporter],
      setupFiles: [...(settings.setup ?? [])],
    },
    {
      plugins: [rewriting(settings)],
      resolve: { alias: entryPointsAsSource(settings.root, 'node') },
      oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    },
  )
}

function rewriting({ root, rewrite }: Settings): Plugin {
  return {
    name: 'holdfast-mutants',
    enforce: 'pre',
    transform(text, id) {
      const path = relative(root, id.split('?')[0]!)
      const code = path.startsWith('packages/') ? rewrite(path, text) : null
      return code === null ? null : { code, map: null }
    },
  }
}

/** A test file of the run, as a path from the root. */
export function pathOf(of: TestModule): string {
  return of.relativeModuleId
}

/** A test, in full: its file and what it is called with all that it stands in. */
export function titleOf(test: TestCase): { file: string; name: string } {
  return { file: pathOf(test.module), name: test.fullName }
}

/** Runs some tests of some files, or all of those where none are named. */
export async function run(
  vitest: Vitest,
  wanted: ReadonlyMap<string, readonly string[] | null>,
): Promise<void> {
  const project = vitest.getRootProject()
  const specifications = [...wanted].map(([file, names]) => {
    const path = join(vitest.config.root, file)
    if (!names) return project.createSpecification(path)
    const any = names.map(escaped).join('|')
    return project.createSpecification(path, { testNamePattern: new RegExp(`^(${any})$`) })
  })
  await vitest.runTestSpecifications(specifications, false)
}

// A name has ` > ` between what it stands in, where the runner's pattern sees a space.
function escaped(name: string): string {
  return name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll(' > ', '(?: > | )')
}
