/** The titles of tests as vitest makes them, without running any. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Listing } from './claims.ts'

const VITEST = 'node_modules/vitest/vitest.mjs'

/** A listing of the test files below `root`. @throws Error with vitest's words if it fails */
export function listingOf(root: string): Listing {
  return (paths) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-titles-'))
    try {
      return paths.length > 0 ? titlesOf(root, join(folder, 'titles.json'), paths) : new Map()
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}

function titlesOf(root: string, file: string, paths: readonly string[]): Map<string, string[]> {
  // A test that asks is itself run by vitest, and what that tells its workers is not for another.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|TINYPOOL)/.test(name)),
  )
  const words = [VITEST, 'list', '--no-isolate', `--json=${file}`, ...paths]
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the titles could not be listed: ${stderr}`)
  const tests = JSON.parse(readFileSync(file, 'utf8')) as { name: string; file: string }[]
  const found = new Map<string, string[]>(paths.map((path) => [path, []]))
  for (const test of tests) found.get(relative(root, test.file))?.push(test.name)
  return found
}
