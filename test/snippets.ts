/**
 * The snippets of the docs as files of their own, and the world in which they run: whole sessions
 * in virtual time, and a page of which nothing is there but its names.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { read, written } from '../tools/tidy/codebase.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** One block of code in a page. */
export interface Snippet {
  readonly path: string
  /** Which block of its page, from 0. */
  readonly index: number
  readonly language: 'ts' | 'tsx'
  readonly code: string
}

/** The blocks of TypeScript in a page; one in a list is indented. */
export function examplesOf(text: string): { language: 'ts' | 'tsx'; code: string }[] {
  return [...text.matchAll(/^( *)```(tsx?)\n(.*?)^ *```$/gms)].map((found) => {
    const [, indent = '', language, code = ''] = found
    const plain = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    return { language: language as 'ts' | 'tsx', code: plain }
  })
}

/** Pages for users; those for contributors show excerpts of the code, which has tests itself. */
const USERS =
  /^(README|docs\/((guide|recipes)\/.*|index|reference|deploy|operations|errors|security|faq))\.md$/

/** The snippets of all pages for users. */
export function snippets(): Snippet[] {
  return written(root)
    .filter((path) => USERS.test(path))
    .flatMap((path) => {
      return examplesOf(read(root, path)).map((one, index) => ({ path, index, ...one }))
    })
}

/** A component of Svelte or Vue in a page. */
export interface Component {
  readonly path: string
  readonly language: 'svelte' | 'vue'
  readonly code: string
  /** What stands in its `<script>`, which is TypeScript. */
  readonly script: string
}

/** The components in all pages for users. */
export function components(): Component[] {
  return written(root)
    .filter((path) => USERS.test(path))
    .flatMap((path) => {
      const blocks = read(root, path).matchAll(/^```(svelte|vue)\n(.*?)^```$/gms)
      return [...blocks].map(([, language, code = '']) => {
        const script = /<script[^>]*>\n(.*?)<\/script>/s.exec(code)?.[1] ?? ''
        return { path, language: language as 'svelte' | 'vue', code, script }
      })
    })
}

/** A name of a file for a snippet. */
export function nameOf({ path, index }: Pick<Snippet, 'path' | 'index'>): string {
  return `${path.replaceAll(/[^\w]/g, '-')}-${index}`
}

/** Writes snippets into a folder of build/. @returns the paths of the files */
export function writeSnippets(
  folder: string,
  all: readonly Snippet[],
  change: (snippet: Snippet) => string,
): string[] {
  const into = join(root, 'build', folder)
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  return all.map((snippet) => {
    const file = join(into, `${nameOf(snippet)}.${snippet.language}`)
    writeFileSync(file, `${change(snippet)}\nexport {}\n`)
    return file
  })
}
