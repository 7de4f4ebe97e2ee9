/** What authors of parts are given and give. */

import type { Asker } from './protocol/custom.ts'
import type { Emitter } from '../api/emitter.ts'
import type { Kind, MemberInfo } from '../kind/kind.ts'
import type { Outcome } from '../kind/outcomes.ts'

export type { Asker } from './protocol/custom.ts'

/** A definition of a part, for `types` of `join` and for `session.part`. */
export interface PartType<Name extends string = string, Face = unknown> {
  /** The kind of that part alone. */
  readonly kind: Kind<'part'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: Name
  /** The type of its face alone. */
  readonly of?: { readonly face: Face }
}

/**
 * What came of an operation: its changes are made, once; or
 *
 * - `unfit`: it has too many bytes, and was not asked for
 * - `refused`: `perform` said no, by `refuse`; nothing was changed
 * - `failed`: `perform` threw or gave what cannot be; nothing was changed
 * - `lost`: nobody can tell any more what came of it
 */
export type OperationOutcome = Outcome<Uint8Array, 'unfit' | 'refused' | 'failed' | 'lost'>

/** What a part tells its face. */
export interface PartEvents {
  /** Changes were applied; told once for all that came together. */
  changed: void
}

/** What a face has for listeners: `on` for whoever uses it, `tell` for itself. */
export interface Teller<Events> extends Emitter<Events> {
  /** Tells everybody who listens. */
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void
}

/** What a face gets of its session, and nothing more. */
export interface PartHost<State> extends Emitter<PartEvents> {
  /** What `apply` made of all that this member was told. Another object after a return. */
  readonly state: Readonly<State>
  /** Ourselves; before the first view nobody, with player 0. */
  readonly me: MemberInfo
  /** Who is here, oldest first. */
  readonly members: readonly MemberInfo[]
  /** Session time in ms; NaN while it is not known. */
  now(): number
  /**
   * Has the server `perform` an operation of at most 16,320 bytes: once, whoever serves by then.
   * The promise waits as long as it must.
   *
   * @throws HoldfastError `bad-value`, `left`, or `overloaded` with 64 of this member under way
   */
  ask(operation: Uint8Array): Promise<OperationOutcome>
  /**
   * A message of at most 8 KB to a member, or to all others, for `receive`. It is kept nowhere: it
   * is in order, and lost with a link on its way.
   *
   * @throws HoldfastError `bad-value`, `not-found` for who is not here, `overloaded` above some 200
   *   short messages or 50 KB a second, `left`
   */
  send(to: MemberInfo | 'all', message: Uint8Array): void
  /** What a face has for listeners: `on` for whoever uses it, `tell` for itself. */
  events<Events>(...names: (keyof Events & string)[]): Teller<Events>
}

/** What `perform` gives: what shall be changed, and what who asked is told. */
export interface Performance {
  /** At most 256, with 40 KB together; `apply` makes them in order. */
  readonly changes?: readonly Uint8Array[]
  /** At most 16,320 bytes; none if not given. */
  readonly answer?: Uint8Array
}

/**
 * What `definePart` takes. What throws costs that one call, and is told to `session.on('error')`.
 * A part that keeps nothing needs neither of `perform`, `apply`, `snapshot` and `restore`; one that
 * does needs them all. They are the same at all members, and take nothing from elsewhere.
 */
export interface PartPlan<Options, State, Face> {
  /** 64 to 255: no two parts of a game have the same. */
  readonly channel: number
  /** What two builds must agree on besides the name, rules included. */
  text(options: Options): string
  /** The state that a room begins with: an object. */
  create(options: Options): State
  /**
   * On the server: what an operation would change. It changes nothing itself; `refuse` says no.
   * The bytes may be anything that a member sent.
   */
  perform?(state: Readonly<State>, operation: Uint8Array, by: Asker, options: Options): Performance
  /** Makes one change that `perform` gave. At primary and backup, and where it is told. */
  apply?(state: State, change: Uint8Array, options: Options): void
  /** The whole state as at most 4 MB: for newcomers, a new backup, a recovery. */
  snapshot?(state: Readonly<State>): Uint8Array
  /** A new state, of such bytes; null refuses them. They may be anything. */
  restore?(bytes: Uint8Array, options: Options): State | null
  /** Made once in each session: what `session.part` gives. */
  face(host: PartHost<State>, options: Options): Face
  /**
   * A message of `host.send`; it may be anything. What comes of it belongs to the face: the state
   * is changed by `apply` alone. Stands behind `face` in the plan, so that its type is known.
   */
  receive?(face: Face, from: MemberInfo, message: Uint8Array): void
}

/** A plan of whatever options, state and face. */
export type AnyPlan = PartPlan<unknown, object, unknown>
