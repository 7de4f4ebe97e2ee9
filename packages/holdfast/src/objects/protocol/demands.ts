/** Requests for objects, as each member that has part in one keeps it until it is decided. */

import type { Millis, PeerId } from '../../machine.ts'
import type { Said } from './types.ts'
import type { Version } from './stamp.ts'

/**
 * `take`: to own the object; `give`: to give it away; `yes`: to give it to the member that asked.
 */
export type What = 'take' | 'give' | 'yes'

/** A request of ours to the primary. */
export interface Request {
  key: number
  what: What
  to: PeerId
  /** The version that the request would replace. */
  from: Version
  /** For a `yes`: the number of the asking member's request. */
  answers: number
  /** When we asked, by our clock. */
  at: Millis
}

/** A request as the primary keeps it, until it is decided. */
export interface Asked {
  from: PeerId
  number: number
  key: number
  /** The object's version as the asking member knew it. */
  version: Version
  what: What
  to: PeerId
  /** For a `yes`: the number of the asking member's request. */
  answers: number
  /** The object's state, which a giver sends along; null for a `take`. */
  entry: Said | null
  /** When the request came. */
  at: Millis
  /** It was to be decided, and its player had asked for too much. */
  waits?: boolean
}

/** As primary: an owner that was asked on behalf of the member `by`. */
export interface Ask {
  by: PeerId
  request: number
  owner: PeerId
  at: Millis
}

/** As owner: a member asks for an object of ours. */
export interface Answering {
  by: PeerId
  request: number
  /** Our application's answer; null while there is none. */
  answer: 'yes' | 'no' | null
  /** Whether the answer was sent to the primary. */
  said: boolean
}

/** A grant that the grantee has not confirmed by sending the object's entry. */
export interface Grant {
  version: Version
  to: PeerId
  at: Millis
  /** The giver and its request; null for a `take`, or once the giver has been answered. */
  giver: { inc: PeerId; request: number } | null
}

/** Why a request is refused, in the order of the wire (docs/protocols/objects.md, Requests). */
export const REFUSALS = [
  ...(['gone', 'late', 'held', 'busy', 'fixed', 'denied', 'no-answer', 'away'] as const),
  'overloaded',
] as const

/** Why a request is refused. */
export type Refusal = (typeof REFUSALS)[number]

/** The outcome of a request. */
export type Answer = 'granted' | Refusal

/** Decisions about requests that tests replace by injected bugs. */
export interface RequestRules {
  /** Whether an ask goes again to a member that follows anew. */
  asksAgain(ask: Ask, follower: PeerId): boolean
  /** Whether an owner declines though the object is not its own at that moment. */
  declines(mine: boolean): boolean
  /** Whether the asking member is refused when the owner gave the object to that member. */
  endsByGive(ask: Ask, to: PeerId): boolean
  /** Whether a new primary decides nothing before all members have sent it what they own. */
  waitsForAll(): boolean
}
