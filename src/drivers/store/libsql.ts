/**
 * SQLite, by the package libsql. It is loaded by the first store that is opened, not by a door:
 * it brings some twenty megabytes of a binary, and a page, a member or a hub without a file on
 * disk does without. So it is an optional peer of this package, installed by whoever needs it.
 */

import { createRequire } from 'node:module'
import type Database from 'libsql'
import { HoldfastError } from '../../machine.ts'

/** The versions that package.json names for it, with what `npm install` takes. */
export const LIBSQL = 'libsql@^0.5.29'

const require = createRequire(import.meta.url)

/**
 * The class of databases.
 *
 * @param load  what loads it, for a test of what is said where it is missing
 * @throws HoldfastError `store` where it is not installed, with how to install it
 */
export function libsql(load: () => unknown = () => require('libsql')): typeof Database {
  try {
    return load() as typeof Database
  } catch (error) {
    const cure = `npm install ${LIBSQL} (with npx: npx -p holdfast -p "${LIBSQL}" holdfast …)`
    throw new HoldfastError('store', `${whyNot(error)}; it is not installed with Holdfast: ${cure}`)
  }
}

function whyNot(error: unknown): string {
  const what = 'a store on disk needs the package libsql'
  const [first = ''] = error instanceof Error ? error.message.split('\n') : []
  // Installed without the binary of this system, npm has left out what was optional.
  return first.startsWith("Cannot find module 'libsql'") ? what : `${what}, which says: ${first}`
}
