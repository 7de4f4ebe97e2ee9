/**
 * Looking round a corner without going there: from where one stands, if there is an opening at
 * that side; else from the next cell ahead. The rat stays where it is, and can be shot there.
 */

import { beyond, type Facing, isOpen, leftOf, rightOf } from './maze.ts'

/** To which side one looks. */
export type Side = 'left' | 'right'

/** From where, and where to. */
export interface Peek {
  readonly at: number
  readonly facing: Facing
}

/** What one sees round the next corner; null where there is none. */
export function peek(at: number, facing: Facing, side: Side): Peek | null {
  const aside = side === 'left' ? leftOf(facing) : rightOf(facing)
  if (isOpen(at, aside)) return { at, facing: aside }
  const next = beyond(at, facing)
  return next !== null && isOpen(next, aside) ? { at: next, facing: aside } : null
}
