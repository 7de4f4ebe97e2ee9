/** The parts of a member, as its session sees them. */

import type { PeerId } from '../machine.ts'
import type { PartState } from '../replication/durable.ts'
import type { Change, Member } from '../replication/layouts.ts'

/** The effects of an operation, as reported by the part on the primary. */
export interface Performed {
  outcome: Uint8Array
  refused?: boolean
  changes: Change[]
  /** Changes to be published to all members once they are safe. */
  news: Change[]
}

/** The parts of a member as its session needs them: their durable state, and their news. */
export interface Parts {
  /** Runs an operation on the primary's state of a part, which it does not change yet. */
  perform(part: number, body: Uint8Array, by: Member): Performed | null
  /** Makes one change of a part's durable state. */
  change(change: Change): void
  /** The durable state of all parts. */
  collect(): PartState[]
  /** The durable state of all parts that was published to us, in the form of `collect`. */
  published(): PartState[]
  /** Replaces the durable state of all parts; false if one is missing or rejects its own. */
  restore(parts: PartState[]): boolean
  /**
   * The same from what was kept, and then the changes behind it: parts that it lacks begin anew,
   * others are left out.
   */
  reopen(parts: readonly PartState[], changes: readonly Change[]): boolean
  /** All that a room keeps of what is in no log; and what of it changed since it was asked last. */
  loose(): PartState[]
  looseChanges(): Change[]
  /** Whether a part needs a player who is away, by its durable or its published state (S-5). */
  keeps(player: number): boolean
  /** The news of a part with only what a player may see; the same bytes if that is all of them. */
  show(part: number, news: Uint8Array, player: number): Uint8Array
  /** News of a part for ourselves, from the primary. */
  news(part: number, from: PeerId, bytes: Uint8Array): void
}
