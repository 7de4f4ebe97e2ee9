/**
 * The doors of the package by the names under which others import them, as files of the source:
 * what tests and pages of this repository load instead of what was built to dist.
 */

import { join } from 'node:path'

const DOORS = {
  holdfast: { node: 'node', browser: 'browser' },
  'holdfast/browser': { node: 'browser', browser: 'browser' },
  'holdfast/node': { node: 'node', browser: 'node' },
  'holdfast/hub': { node: 'hub', browser: 'hub' },
  'holdfast/sim': { node: 'sim', browser: 'sim' },
  'holdfast/part': { node: 'part', browser: 'part' },
  'holdfast/mailbox': { node: 'mailbox', browser: 'mailbox-browser' },
} as const

/** A name that Vite takes for a file. */
export interface Alias {
  find: RegExp
  replacement: string
}

/** As Vite and Vitest take it. @param place  which of two files a door leads to there */
export function doorsAsSource(root: string, place: 'node' | 'browser'): Alias[] {
  return Object.entries(DOORS).map(([name, file]) => ({
    find: new RegExp(`^${name}$`),
    replacement: join(root, 'src', `${file[place]}.ts`),
  }))
}
