/** The modules whose code is changed: machines and the simulator, whose clocks are virtual. */

import { LAYERS, MACHINES_TOP, OUTSIDE, placeOf } from '../tidy/layers.ts'
import * as codebase from '../tidy/codebase.ts'
import { isTest, parse } from '../tidy/source.ts'
import type { Source } from '../tidy/source.ts'

/** Their names, from the ground. */
export const MODULES: readonly string[] = [
  ...LAYERS.slice(1, MACHINES_TOP + 1).flat(),
  'sim',
].filter((module) => !OUTSIDE.includes(module))

/** The module of a file; null if it is in none of these, or a test. */
export function moduleOf(path: string): string | null {
  const module = placeOf(path)?.module
  return module !== undefined && MODULES.includes(module) && !isTest(path) ? module : null
}

/** All files of the modules, parsed, in the order of their paths. */
export function sources(root: string): Source[] {
  return codebase
    .written(root)
    .filter((path) => moduleOf(path) !== null)
    .map((path) => parse(path, codebase.read(root, path)))
}

/** The tests that judge: units, models and fuzz in virtual time; paths from the root. */
export function tests(root: string): string[] {
  return codebase.written(root).filter((path) => {
    if (!/^(packages|proof|test)\/.*\.test\.ts$/.test(path)) return false
    return !NOT_HERE.some((pattern) => pattern.test(path))
  })
}

// What needs a real clock, a build or minutes, and what judges the text of the codebase.
const NOT_HERE = [
  /^test\/(e2e|conformance)\//,
  /^(packages\/holdfast\/src\/drivers|packages\/cli|proof\/cli)\//,
  /^test\/sim\/(seeds|many)\.test\.ts$/,
  /^proof\/models\/large\.test\.ts$/,
  /^test\/[a-z]+\.test\.ts$/,
]
