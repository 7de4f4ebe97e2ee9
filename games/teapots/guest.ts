/**
 * Who this window was the last time: name and glaze, and whether its tab only watched.
 */

import { pickName } from '../news.ts'
import type { Guest } from './cards.tsx'
import { GLAZES } from './rules/glazes.ts'

const NAME = 'holdfast.name'
const GLAZE = 'holdfast.glaze'
const WATCHES = 'holdfast.watches'

/** The guest of the last time, or a new one. @param name  a name that was asked for, if any */
export function recallGuest(name: string | null): Guest {
  const glaze = Number(recall(GLAZE) ?? Math.floor(Math.random() * GLAZES.length))
  return {
    name: name || recall(NAME) || pickName(Math.random()),
    glaze: Number.isInteger(glaze) ? glaze : 0,
  }
}

/** Remembers who joined. */
export function rememberGuest({ name, glaze }: Guest): void {
  keep(NAME, name)
  keep(GLAZE, String(glaze))
}

/** Whether this tab only watched when it was left. */
export function recallWatching(): boolean {
  return recall(WATCHES, () => sessionStorage) === 'yes'
}

/** Remembers whether this tab only watches. */
export function rememberWatching(watches: boolean): void {
  keep(WATCHES, watches ? 'yes' : 'no', () => sessionStorage)
}

// Where nothing may be kept, asking for the store throws.
function recall(key: string, store = (): Storage => localStorage): string | null {
  try {
    return store().getItem(key)
  } catch {
    return null
  }
}

function keep(key: string, value: string, store = (): Storage => localStorage): void {
  try {
    store().setItem(key, value)
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}
