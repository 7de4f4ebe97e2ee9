/**
 * Figures of a mailbox that is open, in a file beside its store, for whoever cannot open that too.
 * They are no part of what is kept: not synced, and gone when the mailbox is closed.
 */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** Shows them in the place of those before. A disk without room for them is no reason to stop. */
export function writeFigures(store: string, text: string): void {
  try {
    writeFileSync(`${store}-figures-new`, text)
    renameSync(`${store}-figures-new`, pathOf(store))
  } catch {
    // Then there are none, or older ones.
  }
}

/** Takes them away. */
export function removeFigures(store: string): void {
  rmSync(pathOf(store), { force: true })
}

/** What was shown last; null for nothing. */
export function readFigures(store: string): string | null {
  try {
    return readFileSync(pathOf(resolve(store)), 'utf8')
  } catch {
    return null
  }
}

function pathOf(store: string): string {
  return `${store}-figures`
}
