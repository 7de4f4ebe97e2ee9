/**
 * The contract between a session and a kind of definitions. A definition carries its kind, and the
 * kind brings its part of the protocol and the API for users, so unused kinds are not loaded.
 */

import type { ErrorCode, Millis, PeerId } from '../machine.ts'
import type { Draft, Part, PartOut } from './protocol/part.ts'
import type { Reports } from '../api/reports.ts'
import type { Value } from '../actions/protocol/actions.ts'
import type { Emitter } from '../api/emitter.ts'

/** The events of the table. */
export interface TableEvents {
  /** Keys whose values changed, were added or removed. */
  changed: readonly string[]
}

/** The committed table of actions. */
export interface TableView extends Emitter<TableEvents> {
  /** The value of a key; undefined if there is none. */
  get(key: string): Value | undefined
  /** Keys with that prefix, sorted. Default: all. */
  keys(prefix?: string): string[]
}

/** A member as an application sees it. */
export interface MemberInfo {
  /** The number of the player, the same over reconnections and failures. */
  readonly player: number
  /** The number of this incarnation. */
  readonly inc: PeerId
  /** The name that `join` was given; two members may have the same. */
  readonly name: string
  /** Where it runs; `guest` for a member that never serves: see `serves` of `join`. */
  readonly kind: 'node' | 'browser' | 'guest'
  /** Whether it only watches: see `watch` of `join`. */
  readonly watches: boolean
}

/** What `join` takes in `types`. */
export interface Definition {
  /** Its kind, which brings a part of a session. */
  readonly kind: Kind
  /** 1 to 32 characters; no two definitions of a game have the same. */
  readonly name: string
}

/** A kind of definitions. */
export interface Kind<Word extends string = string> {
  /** The word for one of them: `object`, `piece`, `action` … */
  readonly word: Word
  /** The channel of its part: 4 to 63 for ours, 64 to 255 for parts by others. It orders kinds. */
  readonly channel: number
  readonly most: number
  /** The options of `join` that belong to this kind. */
  readonly options?: readonly string[]
  /** The text on which two builds must agree about a definition. */
  text(definition: Definition): string
  /** The text by which a stored room's data is read; '' or missing if nothing is stored. */
  keptText?(definition: Definition): string
  /** Whether the operator of the hub must not read its stored data. */
  hides?(definition: Definition): boolean
  /** The options of `join` that a session's founder sets for all members, as `name=value`. */
  terms?(options: Readonly<Record<string, unknown>>): string
  /** Makes the part and its API for one session. */
  open(definitions: readonly Definition[], host: Host): Opened
}

export interface Opened {
  readonly part: Part<never>
  readonly state: unknown
  readonly api: KindApi
}

/** The interface between a part and its user. */
export interface KindApi {
  /** Called first. @param random  draws bytes that nobody can guess */
  begin?(random: (count: number) => Uint8Array): void
  onEvent?(event: never): void
  viewed?(): void
  /** The set of members that the hub cannot reach changed. */
  reachabilityChanged?(): void
  /** All events of one call were delivered. */
  settled?(): void
  end?(code: ErrorCode, why: string): void
}

/** The session as a kind's API sees it. */
export interface Host {
  readonly reports: Reports
  readonly options: Readonly<Record<string, unknown>>
  /** State that actions may change besides their table; each kind adds its own. */
  readonly companions: Companion[]
  readonly over: boolean
  /** The session’s id; empty before the first view and once it was left. */
  readonly session: string
  /** The number of our player; 0 before the first view. */
  readonly player: number
  readonly members: readonly MemberInfo[]
  readonly primary: MemberInfo | null
  find(inc: PeerId): MemberInfo | null
  /** Whether the hub cannot reach a member: its process ended, or its path is cut. */
  isAway(inc: PeerId): boolean
  findPlayer(player: number): MemberInfo | null
  /** Emits an event of the session. @returns whether it has any listener */
  emit(event: string, value: unknown): boolean
  /** @throws HoldfastError `watching` in a member that only watches */
  checkPlays(verb: string): void
  /** Our clock; NaN once the session was left. */
  clock(): Millis
  /** Session time; NaN while it is not known. */
  time(): Millis
  /** Session time of a change: all changes until the running code returns share one instant. */
  changing(): Millis
  /** Runs an operation on the part; its messages wait for `touch`. Undefined once we left. */
  do<Result>(verb: (now: Millis, out: PartOut) => Result): Result | undefined
  /** The same, and sends its messages. */
  doNow<Result>(verb: (now: Millis, out: PartOut) => Result): Result | undefined
  /** Something of ours changed: it is sent when the running code has returned. */
  touch(): void
  /** The same, and notifies listeners; of the first change in a turn, within this call. */
  notify(): void
  /** Asks the primary for an operation on the part. */
  ask(request: OperationRequest): void
}

export interface OperationRequest {
  /** Its body, made when it has its number. */
  body(): Uint8Array
  settle(outcome: Uint8Array): void
  /** Its outcome will never be known. @param why  a sentence */
  lost(why: string): void
  /** Called if the request could not be sent. */
  reject(error: Error): void
}

/** Opens the state of a part for one action of that player. */
export type Companion = (by: { inc: PeerId; player: number }) => Draft
