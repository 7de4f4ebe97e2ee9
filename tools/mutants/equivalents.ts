/**
 * Changes that change nothing that anybody could see, each with the reason. Of what is drawn they
 * may be one in ten.
 */

import type { Change } from './sites.ts'

/** A change, and why no test could tell. */
export interface Equivalent extends Change {
  readonly why: string
}

export const EQUIVALENTS: readonly Equivalent[] = []
