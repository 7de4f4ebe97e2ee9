/** The files of the codebase that the rules check. */

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from './source.ts'
import type { Source } from './source.ts'

const TOPS = ['packages', 'proof', 'games', 'bench', 'tools', 'test', 'docs', '.ci']
const CODE = /\.(ts|tsx|js)$/
const TEXT = /\.(ts|tsx|js|json|md|html|css|txt)$|\/run$/
const MADE = /(^|\/)(node_modules|dist|build|shots|data|transcripts)(\/|$)|package-lock\.json$/

/** Paths of what people wrote, from the root of the repository. */
export function written(root: string): string[] {
  const found: string[] = []
  const visit = (path: string): void => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`
      if (MADE.test(inner)) continue
      if (entry.isDirectory()) {
        if (path !== '' || TOPS.includes(inner)) visit(inner)
      } else if (TEXT.test(inner)) found.push(inner)
    }
  }
  visit('')
  return found.toSorted()
}

/** The text of one file. */
export function read(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** All code of the codebase, parsed. */
export function sources(root: string): Source[] {
  return written(root)
    .filter((path) => CODE.test(path))
    .map((path) => parse(path, read(root, path)))
}
