/** C libraries of the tests that stand between a process and the system: LD_PRELOAD them. */

import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Why none can be built here; null if they can. */
export function noPreload(): string | null {
  return spawnSync('cc', ['--version']).status === 0 ? null : 'no C compiler here: install gcc'
}

/**
 * Builds one.
 *
 * @param name   of the source that stands here, such as `discard`
 * @param folder where the library is written
 * @returns its path
 */
export function preload(name: 'discard' | 'fail-sync', folder: string): string {
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url))
  const library = join(folder, `${name}.so`)
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-lpthread'])
  return library
}
