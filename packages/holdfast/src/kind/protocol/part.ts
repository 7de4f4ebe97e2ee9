/** The contract between a member and the machine of a kind, its part of the protocol. */

import type { Millis, PeerId } from '../../machine.ts'

/** A member as parts see it; one without `rights` plays (RIGHTS). */
export interface PartMember {
  inc: PeerId
  player: number
  rights?: number
}

/** The view as parts see it. */
export interface PartView {
  session: string
  me: PeerId
  primary: PeerId
  epoch: number
  /** Every member has a link to every other; if false, only to primary and backup (B8). */
  mesh: boolean
  /** Every member here, in no order. */
  members: readonly PartMember[]
  /** Options that the session's founder set for all: `name=value`, joined by `;`. */
  terms?: string
  /** Whether members that are gone left for good; if false, they may come back. */
  left: boolean
  /** Players whose processes announced their end, and when, by our clock; each may come back. */
  ended?: ReadonlyMap<number, Millis>
}

/** The effects of an operation on the durable state of one part. */
export interface Effects {
  /** Changes of the durable state; `apply` makes them at primary and backup alike. */
  changes: Uint8Array[]
  /** The news for all members, sent once it is safe; null for none. */
  news: Uint8Array | null
}

export interface Effected extends Effects {
  outcome: Uint8Array
  /** The operation was refused, which costs its player more than one that was done. */
  refused?: boolean
  /** Effects on other parts, in the same entry of the log. */
  also?: readonly (Effects & { part: number })[]
}

/** Changes that an operation of one part makes in another; none takes effect before `done`. */
export interface Draft {
  /** The interface through which a function makes the changes. */
  readonly api: object
  /** @throws Error with a sentence if the changes are too many */
  done(): Effects & { part: number }
  /** Effects that remain if the changes are dropped: random draws, which may be known already. */
  spent(): (Effects & { part: number }) | null
}

/** The sink of a part: bytes to one peer on the part's own channel, events to the application. */
export interface PartOut<Event = unknown> {
  /**
   * Reliable, ordered. @returns the message's number on the link, for `delivered`; 0 without a link
   */
  send(to: PeerId, message: Uint8Array): number
  emit(event: Event): void
  /** As primary: charges a member's player. @returns false if the player is over its limit */
  charge?(from: PeerId, what: Charge): boolean
}

/** An operation; one that was pushed back before; and, besides either, that it was refused. */
export type Charge = 'operation' | 'again' | 'refusal'

/** Newest state: a frame is written when its packet leaves, so it is never old. */
export interface Newest<State> {
  /** An unreliable frame of a peer. Hostile; the bytes are valid only during the call. */
  read?(state: State, now: Millis, from: PeerId, bytes: Uint8Array, out: PartOut): void
  /** Frames of watching members count too. */
  acceptsWatcherFrames?: boolean
  /** Appends one frame of at most `budget` bytes for packet `seq`. @returns false for none */
  write?(
    state: State,
    now: Millis,
    to: PeerId,
    seq: number,
    writer: { bytes: Uint8Array; length: number },
    budget: number,
  ): boolean
  /** Whether more waits to be written for that peer now. */
  waits?(state: State, now: Millis, to: PeerId): boolean
  /** Peers for whom updates have been waiting since the last call. */
  dirty?(state: State, now: Millis): Iterable<PeerId>
  acked?(state: State, peer: PeerId, seq: number): void
  lost?(state: State, peer: PeerId, seq: number): void
}

/** State that survives its server: what the log carries, at primary and backup alike. */
export interface Durable<State> {
  /** As primary: runs an operation and returns its effects; changes nothing itself. */
  perform?(state: State, now: Millis, body: Uint8Array, by: PeerId, player: number): Effected
  /** Whether the session remembers that player however long they are away. */
  keeps?(state: State, player: number): boolean
  apply?(state: State, change: Uint8Array): void
  snapshot?(state: State): Uint8Array
  /** The durable state as it was published to this member, in the form of `snapshot`. */
  published?(state: State): Uint8Array
  /** Replaces the durable state. Bytes of another build may be refused with false. */
  restore?(state: State, bytes: Uint8Array): boolean
  /** As primary: messages that bring a member's view of this part up to date, in order. */
  welcome?(state: State): Uint8Array[]
  /** As primary: the part of news or welcome that a player may see; the same bytes if all. */
  show?(state: State, news: Uint8Array, player: number): Uint8Array
}

/**
 * State that a room stores but no log carries. A room that is opened finds the last `whole` and the
 * `changes` after it, in order.
 */
export interface Persistent<State> {
  /** Whether it changed since `changes`. */
  hasChanges?(state: State): boolean
  whole?(state: State): Uint8Array
  /** The changes since the last call. */
  changes?(state: State): Uint8Array[]
  /** The room was opened: reads what it stored, in order. */
  find?(state: State, all: readonly Uint8Array[]): void
  /** The last word of the lines that describe its stored types; without it, its channel. */
  readonly keptAs?: string
  /**
   * Converts what another build stored: `whole` or a snapshot, then changes. @returns or why not
   */
  reread?(types: string, bytes: Uint8Array, changes: readonly Uint8Array[]): Uint8Array | string
}

/** The machine of a kind, as the member runs it; it has only the methods that it needs. */
export interface Part<State = never> extends Newest<State>, Durable<State>, Persistent<State> {
  /** First byte of its reliable messages, and the channel of its frames: 4 to 255. */
  readonly channel: number
  /** A reliable message of a peer (or of ourselves). Hostile. */
  receive?(state: State, now: Millis, from: PeerId, bytes: Uint8Array, out: PartOut): void
  /** Whether a message of a watching member counts; without this method, none does. */
  acceptsFromWatcher?(bytes: Uint8Array): boolean
  /** At the end of each call into the member: sends what is due by now. */
  flush?(state: State, now: Millis, out: PartOut): void
  wake?(state: State, now: Millis, out: PartOut): void
  /** When `wake` is due; Infinity if never. */
  deadline?(state: State): Millis
  view?(state: State, now: Millis, view: PartView, out: PartOut): void
  /** We are in another session: all state of the former one is dropped. */
  reset?(state: State, out: PartOut): void
  /** As each call into the member begins: session time minus our clock; NaN while not known. */
  clock?(state: State, offset: Millis): void
  /**
   * A new link to a peer opened: nothing is known of what the peer has. With `letIn` one of the two
   * joined on this link: it has nothing yet, and got the view of the other before anything else.
   */
  linked?(state: State, now: Millis, peer: PeerId, letIn?: boolean): void
  /** The link to a peer is gone: messages in flight may or may not have arrived. */
  unlinked?(state: State, now: Millis, peer: PeerId): void
  /** All reliable messages of the link up to that number have come (L3). */
  delivered?(state: State, peer: PeerId, upTo: number): void
}
