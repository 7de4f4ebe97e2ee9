/** What a member knows of the objects that a kept room has beyond its members, as plain data. */

import type { Said } from './types.ts'

/** What of an object was written last. */
export interface Written {
  readonly epoch: number
  readonly count: number
  readonly oseq: number
  readonly player: number
}

/** Objects in a room that is kept. */
export interface Kept {
  /** One of them changed since `changesOf`. */
  stirred: boolean
  /** What was written of each, by key. */
  written: Map<number, Written>
  /** What was found as the room was opened, until we lead it. */
  found: Said[]
}

/** Nothing was written, and nothing found. */
export function createKept(): Kept {
  return { stirred: false, written: new Map(), found: [] }
}
