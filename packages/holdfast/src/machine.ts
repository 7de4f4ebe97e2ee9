/**
 * The types that all modules share. This file imports only the list of codes.
 *
 * A protocol module is named by a noun: one type of plain data and a handful of functions whose
 * parameters are always `(state, now, …, out)`. Time comes in as an argument, effects go out
 * through a sink, so the same code runs on real sockets, in the seeded simulator and under the
 * model checker. State is plain data (numbers, strings, arrays, objects, Map, Set, typed arrays):
 * it can be cloned, saved, sent and compared. Beside it a module has its rules, see `rulesOf`.
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
/** Members are numbered below this: objects are named by these numbers. */
export const INC_MAX: number = 2 ** 20
/** Longest name of a game, a room or a player, in bytes of UTF-8. */
export const NAME_MAX = 64

/** What a player may do in a session, as bits of one number. */
export const RIGHTS = {
  /** Take part; and serve, where not hosts alone may. */
  play: 1,
  /** See what players without secrets see, and change nothing. */
  watch: 2,
  /** Serve where hosts alone may. */
  host: 4,
} as const

/** Whether who has these rights may be primary or backup. @param hosts  of a room of hosts */
export function mayLead(rights: number, hosts: boolean): boolean {
  return (rights & (hosts ? RIGHTS.host : RIGHTS.play)) !== 0
}

/** Whether who has these rights takes part; else it only watches. */
export function mayPlay(rights: number): boolean {
  return (rights & RIGHTS.play) !== 0
}

/** Whether who has these rights was admitted as a host, by a ticket. */
export function isHost(rights: number): boolean {
  return (rights & RIGHTS.host) !== 0
}

/** The sink of one call. Effects leave after the call has returned: records first. */
export interface Out<Message, Delta, Event, To = PeerId> {
  /**
   * Sends reliably and in order to one peer. Valid only during the call: a receiver that keeps it
   * copies it.
   */
  send(to: To, message: Message): void
  /** Must be durable (at the backup, or in the store) before later effects of this call leave. */
  record(delta: Delta): void
  /**
   * Notifies the layer above: a direct call between modules, queued on its way to the application.
   */
  emit(event: Event): void
}

/** A member as parts see it; who has no rights named plays (RIGHTS). */
export interface PartMember {
  inc: PeerId
  player: number
  rights?: number
}

/** The view as parts see it. */
export interface PartView {
  /** The id of the session. */
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
  /** Members that are not here any more left for good; if false, they may come back. */
  left: boolean
  /** Players whose processes ended, as pages do, and since when, by our clock: each may be back. */
  ended?: ReadonlyMap<number, Millis>
}

/** The number that the terms of a session have under that name; undefined if they have none. */
export function termOf(terms: string, name: string): number | undefined {
  const found = terms.split(';').find((one) => one.startsWith(`${name}=`))
  const said = /^[0-9]{1,6}$/.exec(found?.slice(name.length + 1) ?? '')
  return said ? Number(said[0]) : undefined
}

/** Whether the terms of a session have that word under that name. */
export function termsSay(terms: string, name: string, word: string): boolean {
  return terms.split(';').includes(`${name}=${word}`)
}

/** The effects of an operation on the durable state of one part. */
export interface Effects {
  /** Changes of the durable state; `apply` makes them at primary and backup alike. */
  changes: Uint8Array[]
  /** The news for all members, sent once it is safe; null for none. */
  news: Uint8Array | null
}

/** The result of an operation on the primary. */
export interface Effected extends Effects {
  /** The outcome for the member that asked. */
  outcome: Uint8Array
  /** What was asked for was not done: that costs its player more than what was. */
  refused?: boolean
  /** Effects on other parts, in the same entry of the log. */
  also?: readonly (Effects & { part: number })[]
}

/** Changes that an operation of one part makes in another; none takes effect before `done`. */
export interface Draft {
  /** The interface through which a function makes the changes. */
  readonly face: object
  /** @throws Error with a sentence if the changes are too many */
  done(): Effects & { part: number }
  /**
   * Effects that remain even if the changes are dropped: random draws, which may be known already.
   */
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
  /**
   * As primary: what a member asks for is charged to its player. Absent where nobody counts.
   *
   * @returns false if that player asked for too much, and nothing was charged
   */
  charge?(from: PeerId, what: Charge): boolean
}

/**
 * What a player is charged for: an operation; one that was pushed back before, and is tried again;
 * and, behind either, that it was refused.
 */
export type Charge = 'operation' | 'again' | 'refusal'

/**
 * The interface of a part to the member that runs it. A part implements what it needs: newest-state
 * parts pull and read, durable parts perform, apply, snapshot and restore.
 */
export interface Part<State = never> {
  /** First byte of its reliable messages, and the channel of its frames: 4 to 255. */
  readonly channel: number
  /** A reliable message of a peer (or of ourselves). Hostile. */
  receive?(state: State, now: Millis, from: PeerId, bytes: Uint8Array, out: PartOut): void
  /** Whether that message of a member that only watches counts; without this, none does. */
  hearsWatcher?(bytes: Uint8Array): boolean
  /** Frames of members that only watch count too. */
  readsWatchers?: boolean
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
  /** Whether more waits to be written for that peer now. */
  waits?(state: State, now: Millis, to: PeerId): boolean
  /** Peers for whom updates have been waiting since the last call. */
  dirty?(state: State, now: Millis): Iterable<PeerId>
  /** At the end of each call into the member: sends what is due by now. */
  flush?(state: State, now: Millis, out: PartOut): void
  /** Does what is due. */
  wake?(state: State, now: Millis, out: PartOut): void
  /** When `wake` is due; Infinity if never. */
  deadline?(state: State): Millis
  view?(state: State, now: Millis, view: PartView, out: PartOut): void
  /** We are in another session: all state of the former one is dropped. */
  reset?(state: State, out: PartOut): void
  /**
   * At the beginning of each call into the member: session time minus our own clock; NaN while not
   * known.
   */
  clock?(state: State, offset: Millis): void
  /** A new link to a peer opened: nothing is known of what the peer has. */
  linked?(state: State, now: Millis, peer: PeerId): void
  /** The link to a peer is gone: messages on their way may have arrived or not. */
  unlinked?(state: State, now: Millis, peer: PeerId): void
  acked?(state: State, peer: PeerId, seq: number): void
  lost?(state: State, peer: PeerId, seq: number): void
  /** All reliable messages of the link up to that number have come (L3). */
  delivered?(state: State, peer: PeerId, upTo: number): void
  /** As primary: runs an operation and returns its effects; changes nothing itself. */
  perform?(state: State, now: Millis, body: Uint8Array, by: PeerId, player: number): Effected
  /** Whether the session remembers that player however long they are away. */
  keeps?(state: State, player: number): boolean
  /** Applies one change of the durable state. */
  apply?(state: State, change: Uint8Array): void
  snapshot?(state: State): Uint8Array
  /** The durable state as it was published to this member, in the form of `snapshot`. */
  published?(state: State): Uint8Array
  /** Replaces the durable state. Bytes of another build may be refused with false. */
  restore?(state: State, bytes: Uint8Array): boolean
  /**
   * What a kept room has of this part besides its durable state, for state that is in no log:
   * whether it changed since `changes`, all of it, and what changed since that was asked last. A
   * room that is opened finds the first `whole` and the `changes` behind it, in order.
   */
  stirred?(state: State): boolean
  whole?(state: State): Uint8Array
  changes?(state: State): Uint8Array[]
  find?(state: State, all: readonly Uint8Array[]): void
  /** The last word of the lines that say what is kept of it; else these name its channel. */
  readonly keptAs?: string
  /**
   * What another build kept of this part: its types as text, its state in the form of `snapshot`,
   * and the changes behind it. @returns it in our own form; or why that cannot be
   */
  reread?(types: string, bytes: Uint8Array, changes: readonly Uint8Array[]): Uint8Array | string
  /** As primary: messages that bring a member's view of this part up to date, in order. */
  welcome?(state: State): Uint8Array[]
  /**
   * As primary: the news or welcome with only what a player may see; the same bytes if that is all.
   */
  show?(state: State, news: Uint8Array, player: number): Uint8Array
}

/** Detects a bug of ours, never a fault of a peer. Stays on in production. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`holdfast bug: ${claim}`)
}

/** The one error type a user meets. */
export class HoldfastError extends Error {
  readonly code: ErrorCode
  /** Of `join`: after how long a room that is shut opens, in ms; not there if nobody said. */
  declare readonly retryAfterMs?: Millis

  constructor(code: ErrorCode, message: string, retryAfterMs: Millis | null = null) {
    super(message)
    this.name = 'HoldfastError'
    this.code = code
    if (retryAfterMs !== null) this.retryAfterMs = retryAfterMs
  }
}

/**
 * The error for wrong input of a user: that code, with a sentence that names what is wrong and why.
 */
export function badValue(message: string): HoldfastError {
  return new HoldfastError('bad-value', message)
}

const misfits = new WeakSet<HoldfastError>()

/**
 * The error for a value of the right kind that its field does not take, as people type them into
 * forms: too long, none of the words, no finite number. Where a request has an outcome, that is one
 * (`unfit`).
 */
export function misfit(message: string): HoldfastError {
  const error = badValue(message)
  misfits.add(error)
  return error
}

/** Whether an error is that of a value that does not fit. */
export function isMisfit(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && misfits.has(error)
}

/** The error for wrong input with the place of it in front; what is a misfit stays one. */
export function within(where: string, error: unknown): HoldfastError {
  const why = `${where}: ${error instanceof Error ? error.message : String(error)}`
  return isMisfit(error) ? misfit(why) : badValue(why)
}

const RULES: object = Object.freeze(Object.create(null) as object)

/**
 * The rules of a module: the decisions on which its guarantees rest, as a record of functions.
 * Tests pass injected bugs, to see that a claim breaks. A state holds its rules by reference:
 * copies share them, and two states never differ by them.
 */
export function rulesOf<Decisions extends object>(decisions: Decisions): Readonly<Decisions> {
  return Object.freeze(Object.assign(Object.create(RULES) as object, decisions)) as Decisions
}

/** Whether a value was made by `rulesOf`. */
export function isRules(value: object): boolean {
  return Object.getPrototypeOf(value) === RULES
}
