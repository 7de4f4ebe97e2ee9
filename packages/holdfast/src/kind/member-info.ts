/** What an application is told of a member. */

import type { PeerId } from '../machine.ts'

/** A member as an application sees it. */
export interface MemberInfo {
  /** The same for as long as the player takes part, over reconnections and failures. */
  readonly player: number
  /** The number of this incarnation. */
  readonly inc: PeerId
  /** What `join` was given; two may have the same. */
  readonly name: string
  /** Where it runs; `guest` for a member that never serves: see `serves` of `join`. */
  readonly kind: 'node' | 'browser' | 'guest'
  /** Whether it only watches: see `watch` of `join`. */
  readonly watches: boolean
}
