/** What members ask for, and what each who has part in it keeps of that until it is decided. */

import type { Millis, PeerId } from '../machine.ts'
import type { Said } from './types.ts'
import type { Version } from './version.ts'

/** What a request is for: to have it, to give it away, to give it to who asked. */
export type What = 'take' | 'give' | 'yes'

/** What we asked the primary for. */
export interface Request {
  key: number
  what: What
  to: PeerId
  /** The version that it would change. */
  from: Version
  /** Of a `yes`: the request of who asked. */
  answers: number
  /** By our clock. */
  at: Millis
}

/** A request as the primary has it, until it is decided. */
export interface Asked {
  from: PeerId
  number: number
  key: number
  /** What it was in when they asked. */
  version: Version
  what: What
  to: PeerId
  /** Of a `yes`: the request of who asked. */
  answers: number
  /** Its state, as who gives it sends it. */
  entry: Said | null
  /** When it came. */
  at: Millis
}

/** As primary: an owner was asked on behalf of a member. */
export interface Ask {
  by: PeerId
  request: number
  owner: PeerId
  at: Millis
}

/** As owner: somebody asks for ours. */
export interface Answering {
  by: PeerId
  request: number
  /** What our application said; null while it has not. */
  answer: 'yes' | 'no' | null
  /** The primary was told. */
  said: boolean
}

/** A grant that the grantee has not confirmed by telling of its object. */
export interface Grant {
  version: Version
  to: PeerId
  at: Millis
  /** Who gave it away, by which request; null if it was asked for, or was answered. */
  giver: { inc: PeerId; request: number } | null
}

/** Why a request is refused, in the order of the wire (docs/protocols/objects.md, Requests). */
export const REFUSALS = [
  ...(['gone', 'late', 'held', 'busy', 'fixed', 'denied', 'no-answer', 'away'] as const),
] as const

/** Why a request is refused. */
export type Refusal = (typeof REFUSALS)[number]

/** What came of a request. */
export type Answer = 'granted' | Refusal

/** Decisions about requests that proofs twist. */
export interface RequestRules {
  /** Whether an ask goes again to a member that follows anew. */
  asksAgain(ask: Ask, follower: PeerId): boolean
  /** Whether an owner says no though the object is not its own at that moment. */
  declines(mine: boolean): boolean
  /** Whether who asked hears that the object was given to that member. */
  endsByGive(ask: Ask, to: PeerId): boolean
  /** Whether a new primary decides nothing before all have told it what is theirs. */
  waitsForAll(): boolean
}
