/**
 * Who sat here the last time: name and glaze.
 */

import { pickName } from '../news.ts'
import type { Guest } from './cards.tsx'
import { GLAZES } from './rules/glazes.ts'

const NAME = 'holdfast.name'
const GLAZE = 'holdfast.glaze'

/** The guest of the last time, or a new one; what is asked for goes first. */
export function recallGuest(name: string | null, asked: string | undefined): Guest {
  const glaze = Number(asked ?? recall(GLAZE) ?? Math.floor(Math.random() * GLAZES.length))
  return {
    name: name || recall(NAME) || pickName(Math.random()),
    glaze: GLAZES[glaze] ? glaze : 0,
  }
}

/** Remembers who joined. */
export function rememberGuest({ name, glaze }: Guest): void {
  keep(NAME, name)
  keep(GLAZE, String(glaze))
}

function recall(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}
