/**
 * The doors of the package by the names under which others import them, as files of the source:
 * what tests and pages of this repository load instead of what was built to dist.
 */

import { join } from 'node:path'

/** Doors that lead to one file, whose name they have. */
const PLAIN = ['browser', 'node', 'hub', 'sim', 'part']
/** Doors that lead to a file for Node and to one for pages. */
const FORKED = {
  holdfast: { node: 'node', browser: 'browser' },
  'holdfast/mailbox': { node: 'mailbox', browser: 'mailbox-browser' },
} as const

/** A name that Vite takes for a file. */
export interface Alias {
  find: RegExp
  replacement: string
}

/** As Vite and Vitest take it. @param place  which of two files a door leads to there */
export function doorsAsSource(root: string, place: 'node' | 'browser'): Alias[] {
  const plain = PLAIN.map((file) => alias(`holdfast/${file}`, file))
  const forked = Object.entries(FORKED).map(([name, files]) => alias(name, files[place]))
  return [...plain, ...forked]

  function alias(name: string, file: string): Alias {
    return { find: new RegExp(`^${name}$`), replacement: join(root, 'src', `${file}.ts`) }
  }
}
