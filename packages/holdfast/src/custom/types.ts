/** The types for authors of custom parts. */

import type { Asker } from './protocol/custom.ts'
import type { Emitter, Stop } from '../api/emitter.ts'
import type { ErrorCode } from '../machine.ts'
import type { Kind, MemberInfo } from '../kind/kind.ts'
import type { Outcome } from '../kind/outcomes.ts'

export type { Asker } from './protocol/custom.ts'

/** A definition of a part, for `types` of `join` and for `session.part`. */
export interface PartType<Name extends string = string, Face = unknown> {
  /** The kind of this part only. */
  readonly kind: Kind<'part'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: Name
  /** Carries the type of its face; never set. */
  readonly of?: { readonly face: Face }
}

/**
 * The outcome of an operation: its changes were made, exactly once; or
 *
 * - `unfit`: it has too many bytes, and was not sent
 * - `refused`: `perform` called `refuse`; nothing was changed
 * - `failed`: `perform` threw or returned an invalid value; nothing was changed
 * - `lost`: the outcome is unknown
 */
export type OperationOutcome = Outcome<Uint8Array, 'unfit' | 'refused' | 'failed' | 'lost'>

/** Events of a part for its face. */
export interface PartEvents {
  /** Changes were applied; emitted once for all that came together. */
  changed: void
  /** Members came or left, or another serves. */
  members: void
  /** The session was left or lost, and why: nothing is asked or sent any more. */
  end: { readonly code: ErrorCode; readonly reason: string }
}

/** An emitter for a face: its users call `on`, the face calls `emit`. */
export interface Teller<Events> extends Emitter<Events> {
  /** Calls all listeners. */
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void
}

/** The session as a face sees it. */
export interface PartHost<State> extends Emitter<PartEvents> {
  /** The published state. A new object after the member returned to a session. */
  readonly state: Readonly<State>
  /** This member; before the first view a member with player 0. */
  readonly me: MemberInfo
  /** The members here, oldest first. */
  readonly members: readonly MemberInfo[]
  /** The member that serves; null before the first view. */
  readonly primary: MemberInfo | null
  /** Session time in ms; NaN while it is not known. */
  now(): number
  /**
   * Calls a function once, that many ms from now, by the session's clock; not after the session
   * ended.
   *
   * @returns a function that cancels it
   */
  after(ms: number, run: () => void): Stop
  /**
   * Asks the primary to `perform` an operation of at most 16,320 bytes, exactly once, even if the
   * primary changes. The promise has no timeout.
   *
   * @throws HoldfastError `bad-value`, `left`, or `overloaded` with 64 of this member under way
   */
  ask(operation: Uint8Array): Promise<OperationOutcome>
  /**
   * Sends a message of at most 8 KB to a member, or to all others, for `receive`. Messages are in
   * order and not stored: a lost link loses those on their way.
   *
   * @throws HoldfastError `bad-value`, `not-found` if the member is not here, `overloaded` above
   *   about 200 short messages or 50 KB a second, `left`
   */
  send(to: MemberInfo | 'all', message: Uint8Array): void
  /** Creates an emitter for the face, with these events. */
  events<Events>(...names: (keyof Events & string)[]): Teller<Events>
}

/** The result of `perform`: the changes, and the answer to the caller. */
export interface Performance {
  /** At most 256, together at most 40 KB; `apply` makes them in order. */
  readonly changes?: readonly Uint8Array[]
  /** At most 16,320 bytes; empty by default. */
  readonly answer?: Uint8Array
}

/**
 * The argument of `definePart`. An exception costs only that one call, and goes to
 * `session.on('error')`. A part without durable state needs none of `perform`, `apply`, `snapshot`
 * and `restore`; a part with durable state needs all four. They must be deterministic, and the same
 * at all members.
 */
export interface PartPlan<Options, State, Face> {
  /** 64 to 255, unique among the parts of a game. */
  readonly channel: number
  /** Most definitions of this part in a game, 1 to 64. Default 1. Each has a state and a face. */
  readonly most?: number
  /** Everything besides the name that two builds must agree on, rules included. */
  text(options: Options): string
  /**
   * What a build must know to read the state of a stored room; `text` by default. With `most`, a
   * build that has more definitions than the stored room begins the others empty.
   */
  keptText?(options: Options): string
  /** The initial state of a room: an object. */
  create(options: Options): State
  /**
   * On the primary: the changes that an operation makes. It changes nothing itself; `refuse`
   * refuses the operation. The bytes are untrusted.
   */
  perform?(state: Readonly<State>, operation: Uint8Array, by: Asker, options: Options): Performance
  /** Applies one change of `perform`: at primary and backup, and at members once published. */
  apply?(state: State, change: Uint8Array, options: Options): void
  /** The whole state in at most 4 MB: for newcomers, a new backup, a recovery. */
  snapshot?(state: Readonly<State>): Uint8Array
  /** Creates a state from a snapshot; null refuses the bytes, which are untrusted. */
  restore?(bytes: Uint8Array, options: Options): State | null
  /** Created once in each session: the result of `session.part`. */
  face(host: PartHost<State>, options: Options): Face
  /**
   * Receives a message of `host.send`, which is untrusted. It may change the face; only `apply`
   * changes the state. Declare it after `face`, so that TypeScript infers the face's type.
   */
  receive?(face: Face, from: MemberInfo, message: Uint8Array): void
}

export type AnyPlan = PartPlan<unknown, object, unknown>
