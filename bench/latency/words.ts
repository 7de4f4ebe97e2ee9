/** What the bench and its processes say to each other. */

import type { AgeFigures, Stage } from '../../packages/holdfast/src/node.ts'

/** How members reach each other. */
export type Way = 'direct' | 'relayed'
/** Serves; acts; watches. */
export type Role = 'primary' | 'owner' | 'viewer'

/** An action's number and an instant on the clock of the machine, in ms. */
export type Instant = readonly [n: number, at: number]

/** From the bench to a member. */
export type Asked = 'begin' | 'end'

/** When the viewer had what, by one carrier. */
export interface Seen {
  came: Instant[]
  shown: Instant[]
}

/** From a member to the bench. */
export type Said =
  | { kind: 'joined' }
  | { kind: 'acted'; path: string; instants: Instant[] }
  | {
      kind: 'saw'
      path: string
      held: Seen
      bare: Seen
      ages: Record<Stage, Pick<AgeFigures, Figure>>
    }
type Figure = 'count' | 'mean' | 'p99'
