/**
 * Who sat here the last time: name and glaze.
 */

import { firstName } from '../door.tsx'
import { recall, remember } from '../recall.ts'
import type { Guest } from './cards.tsx'
import { GLAZES } from './rules/glazes.ts'

/** The guest of the last time, or a new one; what is asked for goes first. */
export function recallGuest(name: string | null, asked: string | undefined): Guest {
  const glaze = Number(asked ?? recall('glaze') ?? Math.floor(Math.random() * GLAZES.length))
  return { name: firstName(name), glaze: GLAZES[glaze] ? glaze : 0 }
}

/** Remembers who joined. */
export function rememberGuest({ name, glaze }: Guest): void {
  remember('name', name)
  remember('glaze', String(glaze))
}
