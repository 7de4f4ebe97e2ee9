/**
 * Figures of an open mailbox, in a file beside its store, for a program that cannot open the store
 * too. They are not part of the durable data: not synced, and removed when the mailbox is closed.
 */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** Replaces the figures. A disk without room for them is no reason to stop. */
export function writeFigures(store: string, text: string): void {
  try {
    writeFileSync(`${store}-figures-new`, text)
    renameSync(`${store}-figures-new`, pathOf(store))
  } catch {
    // Then there are no figures, or older ones.
  }
}

/** Removes the figures. */
export function removeFigures(store: string): void {
  rmSync(pathOf(store), { force: true })
}

/** The figures that were written last; null for none. */
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
