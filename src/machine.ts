/**
 * What every room shares. It imports nothing but the list of codes.
 *
 * A protocol room is a noun: one type of plain data and a handful of verbs whose parameters
 * are always `(state, now, …, out)`. Time comes in as an argument, effects go out through a
 * sink, so the same code runs on real sockets, in the seeded simulator and under the model
 * checker. State is plain data (numbers, strings, arrays, objects, Map, Set, typed arrays):
 * it can be cloned, saved, sent and compared. Beside it a room has its rules, see `rulesOf`.
 */

import type { ErrorCode } from './codes.ts'

export type { ErrorCode } from './codes.ts'

/** An instant or a span in milliseconds on the monotonic clock of one process. */
export type Millis = number

/**
 * A member of a session: the number of its incarnation, given at JOIN and never used again.
 * 0 stands for the hub.
 */
export type PeerId = number

/** Most members of one session. */
export const MEMBERS_MAX = 256
/** Longest name of a game, a room or a player, in bytes of UTF-8. */
export const NAME_MAX = 64

/** The sink of one verb. Effects leave after the verb has returned: records first. */
export interface Out<Message, Delta, Event, To = PeerId> {
  /** Reliable and ordered, to one peer. Valid only during the call: who keeps it copies it. */
  send(to: To, message: Message): void
  /** Must be durable (at the backup, or in the store) before later effects of this call leave. */
  record(delta: Delta): void
  /** Tells the layer above: a direct call between rooms, queued on its way to the application. */
  emit(event: Event): void
}

/** The view as parts see it. */
export interface PartView {
  /** The id of the session. */
  session: string
  me: PeerId
  primary: PeerId
  epoch: number
  /** Every member has a link to every other; else to primary and backup alone (B8). */
  mesh: boolean
  /** Every member here, in no order; hosts are on Node. */
  members: readonly { inc: PeerId; player: number; kind?: 'node' | 'browser' | 'guest' }[]
  /** What who founded the session settled for all: `name=value`, joined by `;`. */
  terms?: string
  /** Who is not here any more left for good; else they may come back. */
  left: boolean
}

/** What an operation does to the durable state of one part. */
export interface Effects {
  /** Changes of its durable state; `apply` makes them at primary and backup alike. */
  changes: Uint8Array[]
  /** What all members are told of it, once it is safe; null if nothing. */
  news: Uint8Array | null
}

/** What an operation did on the primary. */
export interface Effected extends Effects {
  /** For the member that asked. */
  outcome: Uint8Array
  /** What it does to other parts, in the same entry of the log. */
  also?: readonly (Effects & { part: number })[]
}

/** Changes that an operation of one part makes in another; nothing holds before `done`. */
export interface Draft {
  /** What the function that changes things works with. */
  readonly face: object
  /** @throws Error with a sentence if that is too much */
  done(): Effects & { part: number }
  /** What holds although nothing of it does: lots that were drawn, and may be told. */
  spent(): (Effects & { part: number }) | null
}

/** The sink of a part: bytes to one peer on the part's own channel, events to the application. */
export interface PartOut<Event = unknown> {
  /**
   * Reliable and ordered, to one peer; kept until the call has returned.
   *
   * @returns its number on the link, for `delivered`; 0 if there is no link and nothing was sent
   */
  send(to: PeerId, message: Uint8Array): number
  emit(event: Event): void
}

/**
 * What a protocol of floor 3 is to the member that runs it. A part implements what it needs:
 * newest-state parts pull and read, durable parts perform, apply, snapshot and restore.
 */
export interface Part<State = never> {
  /** First byte of its reliable messages, and the channel of its frames: 4 to 255. */
  readonly channel: number
  /** A reliable message of a peer (or of ourselves). Hostile. */
  receive?(state: State, now: Millis, from: PeerId, bytes: Uint8Array, out: PartOut): void
  /** An unreliable frame of a peer. Hostile; the bytes are valid only during the call. */
  read?(state: State, now: Millis, from: PeerId, bytes: Uint8Array, out: PartOut): void
  /** Appends one frame of at most `budget` bytes for packet `seq`. @returns false for none */
  write?(
    state: State,
    now: Millis,
    to: PeerId,
    seq: number,
    writer: { bytes: Uint8Array; length: number },
    budget: number,
  ): boolean
  /** Whether there is more to write for that peer by now. */
  waits?(state: State, now: Millis, to: PeerId): boolean
  /** Peers for whom there is something to write since the last call. */
  dirty?(state: State, now: Millis): Iterable<PeerId>
  /** At the end of each verb: sends what is owed by now. */
  flush?(state: State, now: Millis, out: PartOut): void
  /** Does what is due. */
  wake?(state: State, now: Millis, out: PartOut): void
  /** When `wake` is due; Infinity if never. */
  deadline?(state: State): Millis
  view?(state: State, now: Millis, view: PartView, out: PartOut): void
  /** We are in another session: nothing of the one before holds any more. */
  reset?(state: State, out: PartOut): void
  /** At the beginning of each verb: session time minus the own clock; NaN while not known. */
  clock?(state: State, offset: Millis): void
  /** A new link to a peer: nothing is known of what it has. */
  linked?(state: State, now: Millis, peer: PeerId): void
  /** The link to a peer is gone: what was on its way may have come or not. */
  unlinked?(state: State, now: Millis, peer: PeerId): void
  acked?(state: State, peer: PeerId, seq: number): void
  lost?(state: State, peer: PeerId, seq: number): void
  /** All reliable messages of the link up to that number have come (L3). */
  delivered?(state: State, peer: PeerId, upTo: number): void
  /** As primary: runs an operation and says what it would change; changes nothing itself. */
  perform?(state: State, now: Millis, body: Uint8Array, by: PeerId, player: number): Effected
  /** Whether the session remembers that player however long they are away. */
  keeps?(state: State, player: number): boolean
  /** Makes one change of the durable state. */
  apply?(state: State, change: Uint8Array): void
  snapshot?(state: State): Uint8Array
  /** What this member was told of the durable state, in the form of `snapshot`. */
  published?(state: State): Uint8Array
  /** Replaces the durable state. Bytes of another build may be refused with false. */
  restore?(state: State, bytes: Uint8Array): boolean
  /** As primary: messages that bring a member's view of this part up to date, in order. */
  welcome?(state: State): Uint8Array[]
  /** As primary: what a player may see of news or of a welcome; the same bytes if that is all. */
  show?(state: State, news: Uint8Array, player: number): Uint8Array
}

/** Marks a bug of ours, never a fault of a peer. Stays on in production. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`holdfast bug: ${claim}`)
}

/** The one error type a user meets. */
export class HoldfastError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.name = 'HoldfastError'
    this.code = code
  }
}

/** What a user gave is wrong: an error with that code, and a sentence that says what and why. */
export function badValue(message: string): HoldfastError {
  return new HoldfastError('bad-value', message)
}

const RULES: object = Object.freeze(Object.create(null) as object)

/**
 * The rules of a room: the decisions on which its claims rest, as a record of functions. Proofs
 * pass a twisted one, to see that a claim breaks. A state holds its rules by reference: copies
 * share them, and they tell no two states apart.
 */
export function rulesOf<Decisions extends object>(decisions: Decisions): Readonly<Decisions> {
  return Object.freeze(Object.assign(Object.create(RULES) as object, decisions)) as Decisions
}

/** Whether that is what `rulesOf` made. */
export function isRules(value: object): boolean {
  return Object.getPrototypeOf(value) === RULES
}
