/**
 * What publint and Are the Types Wrong say of a package that is ready to be published. Holdfast is
 * ESM only, so what only `require` and the resolution of Node 10 would meet does not count.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackage, Package } from '@arethetypeswrong/core'
import type { Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Ways to resolve an import that a package of ES modules alone does not serve. */
const OTHER_WAYS = ['node10', 'node16-cjs']

interface Manifest {
  name: string
  version: string
  exports?: Record<string, unknown>
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/**
 * What publint says, suggestions too.
 *
 * @param folder  of the package, with its `dist`
 */
export async function publintOf(folder: string): Promise<string[]> {
  const { messages, pkg } = await publint({ pkgDir: folder, pack: false, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`)
}

/** What Are the Types Wrong says by its ESM-only profile. @param folder  as for publint */
export async function attwOf(folder: string): Promise<string[]> {
  const { name, version } = manifestOf(folder)
  const files: Record<string, string> = {}
  const paths = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })
  for (const path of ['package.json', ...paths.map((inner) => join('dist', inner))]) {
    if (!/\.(?:d\.ts|js|json)$/.test(path)) continue
    files[`/node_modules/${name}/${path}`] = readFileSync(join(folder, path), 'utf8')
  }
  const result = await checkPackage(new Package(files, name, version))
  if (!result.types) return ['attw: the package has no types']
  return result.problems.filter(isOurs).map((problem) => `attw: ${JSON.stringify(problem)}`)
}

function isOurs(problem: Problem): boolean {
  return !('resolutionKind' in problem && OTHER_WAYS.includes(problem.resolutionKind))
}

/** The names by which others import a package, such as `holdfast/hub`. */
export function doorsOf(folder: string): string[] {
  const { name, exports = {} } = manifestOf(folder)
  return Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => name + path.slice(1))
}
