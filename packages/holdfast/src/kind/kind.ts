/**
 * What a kind of definitions is to a session. A definition carries its kind, and the kind brings
 * the part of the protocol and the face that users hold of it: what nobody names is not loaded.
 */

import type { ErrorCode, Millis, PeerId } from '../machine.ts'
import type { Draft, Part, PartOut } from './protocol/part.ts'
import type { Reports } from '../api/reports.ts'
import type { Value } from '../actions/protocol/actions.ts'
import type { Emitter } from '../api/emitter.ts'

/** What the table tells. */
export interface TableEvents {
  /** Keys whose values are others, were added or went. */
  changed: readonly string[]
}

/** The table that actions write, as far as it is safe: what the backup has, too. */
export interface TableView extends Emitter<TableEvents> {
  /** The value of a key; undefined where there is none. */
  get(key: string): Value | undefined
  /** Keys with such a beginning, sorted. Default: all. */
  keys(prefix?: string): string[]
}

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

/** What `join` takes in `types`. */
export interface Definition {
  /** What made it, and the part of a session that it brings. */
  readonly kind: Kind
  /** 1 to 32 characters; no two definitions of a game have the same. */
  readonly name: string
}

/** A kind of definitions. */
export interface Kind<Word extends string = string> {
  /** What one of them is called: `object`, `piece`, `action` … */
  readonly word: Word
  /** Of its part: 4 to 63 for ours, 64 to 255 for parts by others. Kinds go in this order. */
  readonly channel: number
  /** Most definitions of this kind in a game. */
  readonly most: number
  /** Options of `join` that are for this kind. */
  readonly options?: readonly string[]
  /** What two builds must agree on about a definition. */
  text(definition: Definition): string
  /**
   * What must be known of a definition to read what a kept room has of it; '' if it has nothing.
   * Without this, no room has anything of the kind.
   */
  keptText?(definition: Definition): string
  /** Whether what is kept of it must not be read by whoever runs the hub. */
  hides?(definition: Definition): boolean
  /** Of the options of `join`: what whoever founds a session settles for all, `name=value`. */
  terms?(options: Readonly<Record<string, unknown>>): string
  /** Makes the part and its face for one session. */
  open(definitions: readonly Definition[], host: Host): Opened
}

/** The part of a kind, its state, and its face, in one session. */
export interface Opened {
  readonly part: Part<never>
  readonly state: unknown
  readonly face: Face
}

/** What stands between a part and its user. */
export interface Face {
  /** Before anything is done: draws bytes that nobody can guess. */
  begin?(random: (count: number) => Uint8Array): void
  /** The part told something. */
  onEvent?(event: never): void
  /** There is a new view. */
  viewed?(): void
  /** Others are out of the hub’s reach than before. */
  reachabilityChanged?(): void
  /** All that one verb brought was told. */
  settled?(): void
  /** Nothing more will come. */
  end?(code: ErrorCode, why: string): void
}

/** What a face gets of its session, and nothing more. */
export interface Host {
  readonly reports: Reports
  /** What `join` was given. */
  readonly options: Readonly<Record<string, unknown>>
  /** What the actions of the game may change besides their table. A kind adds what it has. */
  readonly companions: Companion[]
  /** The session is over, for whatever reason. */
  readonly over: boolean
  /** The session’s id; empty before the first view and once it was left. */
  readonly session: string
  /** The number of our player; 0 before the first view. */
  readonly player: number
  readonly members: readonly MemberInfo[]
  readonly primary: MemberInfo | null
  find(inc: PeerId): MemberInfo | null
  /** Whether a member is out of the hub’s reach: its process ended, or its path is cut. */
  isAway(inc: PeerId): boolean
  findPlayer(player: number): MemberInfo | null
  /** Tells the listeners of one of the session’s events. @returns whether there is any */
  emit(event: string, value: unknown): boolean
  /** @throws HoldfastError `watching` in a member that only watches */
  checkPlays(verb: string): void
  /** The own clock; NaN once the session was left. */
  clock(): Millis
  /** Session time; NaN while it is not known. */
  time(): Millis
  /** The same for what is changed: all changes until the code at hand returns share one instant. */
  changing(): Millis
  /** Runs a verb of the part, whose messages wait for `touch`. Undefined once we left. */
  do<Result>(verb: (now: Millis, out: PartOut) => Result): Result | undefined
  /** The same, and what it leaves to be sent is sent. */
  doNow<Result>(verb: (now: Millis, out: PartOut) => Result): Result | undefined
  /** Something of ours changed: it leaves when the code at hand has returned. */
  touch(): void
  /** The same, and listeners hear of it: of the first change of a turn within the call. */
  tell(): void
  /** Asks the primary for an operation on the part. */
  ask(request: OperationRequest): void
}

/** An operation on a part. */
export interface OperationRequest {
  /** Its body, made when it has its number. */
  body(): Uint8Array
  /** Its outcome is told. */
  settle(outcome: Uint8Array): void
  /** Nobody will tell what came of it: a sentence says why. */
  lost(why: string): void
  /** It was not asked, for it cannot be. */
  reject(error: Error): void
}

/** Opens the state of a part for one action of that player. */
export type Companion = (by: { inc: PeerId; player: number }) => Draft
