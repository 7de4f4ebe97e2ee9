/**
 * The doors of the package by the names under which others import them, as files of the source:
 * what tests and pages of this repository load instead of what was built to dist.
 */

import { join } from 'node:path'

/** The file of each door, from the root. */
export const ENTRY_POINTS = {
  browser: 'packages/holdfast/src/browser.ts',
  node: 'packages/holdfast/src/node.ts',
  worker: 'packages/holdfast/src/worker.ts',
  hub: 'packages/hub/src/index.ts',
  sim: 'packages/sim/src/index.ts',
  react: 'packages/react/src/index.ts',
  vite: 'packages/vite/src/index.ts',
  yjs: 'packages/yjs/src/index.ts',
  part: 'packages/holdfast/src/part.ts',
  mailbox: 'packages/mailbox/src/index.ts',
  'mailbox-browser': 'packages/mailbox/src/browser.ts',
} as const

/** Doors that lead to one file, whose name they have. */
const PLAIN = ['browser', 'node', 'worker', 'hub', 'sim', 'react', 'vite', 'yjs', 'part'] as const
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
export function entryPointsAsSource(root: string, place: 'node' | 'browser'): Alias[] {
  const plain = PLAIN.map((door) => alias(`holdfast/${door}`, door))
  const forked = Object.entries(FORKED).map(([name, doors]) => alias(name, doors[place]))
  return [...plain, ...forked]

  function alias(name: string, door: keyof typeof ENTRY_POINTS): Alias {
    return { find: new RegExp(`^${name}$`), replacement: join(root, ENTRY_POINTS[door]) }
  }
}
