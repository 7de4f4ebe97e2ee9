/**
 * A session as the game sees it.
 *
 *     const session = await join({ game: 'dots', types: [Dot] })
 *     const me = session.create(Dot, { pos: [50, 50], hue: 120 })
 *     session.on('primary', (member) => banner(`${member.name} is the server now`))
 *
 * Any machine in it may die without losing acknowledged changes; see `status` and `safety`.
 */

import type { ErrorCode } from '../machine.ts'
import type { AgeFigures, Stage } from '../motion/ages.ts'
import type { Fields, StateOf } from '../wire/fields/schema.ts'
import type { ActionType } from '../actions/actions.ts'
import type { Ballot, Banned, ConductOutcome, PlayerTarget } from './moderation.ts'
import type {
  CallOptions,
  CallTarget,
  NoteTarget,
  Procedure,
  ProcedureType,
} from '../calls/calls.ts'
import type { Listing } from '../kind/listing.ts'
import type { Stop, Emitter } from '../api/emitter.ts'
import type {
  HubReach,
  RolledBack,
  Safety,
  SessionEvents,
  SessionFigures,
  Status,
} from './events.ts'
import type { Collection, ObjectHandle } from '../objects/handles.ts'
import type { InviteOptions, InviteOutcome } from './invites.ts'
import type { LaidAside } from './keep-room.ts'
import type { MemberInfo, TableView } from '../kind/kind.ts'
import type { PathInfo } from './path-infos.ts'
import type { ObjectType } from '../objects/types.ts'
import type { ActionOutcome, CallOutcome } from '../kind/outcomes.ts'
import type { PartType } from '../custom/types.ts'
import type { PieceHandle } from '../pieces/handles.ts'
import type { PieceType } from '../pieces/types.ts'
import type { SimulateOptions, SimulationStep } from './simulation.ts'
import type { SlotsHandle, SlotsType } from '../slots/slots.ts'

export type { SimulateOptions, SimulationStep } from './simulation.ts'

/** A session, from `join` or `host`. */
export interface Session extends Emitter<SessionEvents> {
  /** This member. */
  readonly me: MemberInfo

  /** The members, oldest first. Each change makes a new array, so arrays may be compared. */
  readonly members: readonly MemberInfo[]

  /** The primary; null before the first view. */
  readonly primary: MemberInfo | null

  /** The member that would take over; null if there is none. */
  readonly backup: MemberInfo | null

  /** Connected, reconnecting, or lost for good. */
  readonly status: Status

  /** Why the session was lost, as a sentence; empty while it is not. */
  readonly reason: string

  /** The same as a code, such as `elsewhere`; null while it is not lost. */
  readonly code: ErrorCode | null

  /**
   * Lets another process rejoin as this player: `join({ token })`. Valid for as long as the hub
   * keeps the room; in a room that it does not keep, for a minute after the player went. Anyone who
   * has it is this player: keep it private. It changes without an event: save it after `join`, and
   * again on `pagehide`. It contains the room's key and the newest point known to be stored; an
   * older one brings the same player back, but may miss a rollback.
   */
  readonly token: string

  /** The unreadable stored room that `fresh` replaced; null for none. */
  readonly laidAside: LaidAside | null

  /**
   * The stored changes that the room lost, as far as this member or its token knows; null for none.
   * Either the hub has an older copy of the room, or it lies.
   */
  readonly rolledBack: RolledBack | null

  /** How safe acknowledged changes are now. */
  readonly safety: Safety

  /**
   * Whether the hub answers: `down` at once when its stream closes, and within a second when it
   * falls silent. The session goes on without its hub, but no player can join, pages have no path
   * to others, and nothing is stored. `waiting`: the hub answers, its store does not, which members
   * hear after two to three seconds. Pages keep their paths, but nobody founds a room, opens a
   * stored one or takes over, and nothing is stored.
   */
  readonly hub: HubReach

  /**
   * Whether all state from before this member has arrived. `join` waits up to 15 s for it; on a
   * slow path the rest arrives later, and `complete` is emitted then.
   */
  readonly complete: boolean

  /** Session time in ms; it never goes back. 0 until known; stops when the session is left. */
  now(): number

  /**
   * The links of this member, in the order of `members`, and by which path their packets go:
   * directly, or through the hub and why. Computed at each call; empty after the session was left.
   */
  paths(): PathInfo[]

  /** Figures and fault injection for developers. */
  readonly debug: SessionDebug

  /**
   * Creates an object that this member owns.
   *
   * @param state  missing fields start at their type's initial value
   * @throws HoldfastError `left`, `bad-value` naming the field, `not-found` for an unknown type
   */
  create<F extends Fields>(type: ObjectType<F>, state?: Partial<StateOf<F>>): ObjectHandle<F>

  /**
   * All present objects of a type, oldest first, or all pieces of a type, lowest first.
   *
   * @throws HoldfastError code `not-found`
   */
  all<F extends Fields>(type: PieceType<F>): Listing<PieceHandle<F>>
  all<F extends Fields>(type: ObjectType<F>): Collection<F>

  /**
   * Runs an action once, on the primary. The promise settles when the outcome is safe; it waits
   * across a change of primary, a reconnection and an outage of the hub.
   *
   * A value that does not fit its field gives the outcome `unfit`. The promise rejects with a
   * HoldfastError: `bad-value` for arguments of another shape (a missing or unknown field, a value
   * of another kind), `overloaded` with 64 in flight, `not-found` for an action not given to
   * `join`, `left`.
   */
  act<Args, Answer>(type: ActionType<Args, Answer>, args: Args): Promise<ActionOutcome<Answer>>
  /** The same for an action without arguments. */
  act<Answer>(type: ActionType<undefined, Answer>): Promise<ActionOutcome<Answer>>

  /** The table that actions write. @throws HoldfastError `not-found` if `join` got no actions */
  readonly table: TableView

  /**
   * Runs a procedure on another member, at most once, and waits for its answer. Prefer an object
   * for state that others see, and `act` for what must happen: a call is lost with any link or
   * machine on its path, and then nobody knows whether it ran.
   *
   * A value over 8 KB, or one that does not fit its field, gives the outcome `unfit`. The promise
   * rejects with a HoldfastError, and nothing ran: `bad-value` for a target that is no member and
   * for arguments of another shape; `not-found` for a procedure not given to `join`; `overloaded`
   * with 64 in flight or over 200 a second; `left`.
   */
  call<Args, Answer>(
    target: CallTarget,
    type: ProcedureType<Args, Answer>,
    args: Args,
    options?: CallOptions,
  ): Promise<CallOutcome<Answer>>
  /** The same for a procedure without arguments. */
  call<Answer>(
    target: CallTarget,
    type: ProcedureType<undefined, Answer>,
  ): Promise<CallOutcome<Answer>>

  /**
   * Runs a procedure on a member or on `all` others without waiting; nothing shows whether it ran.
   * An object with the same content costs less. A note has no outcome, so a value that does not fit
   * throws too.
   *
   * @throws HoldfastError `not-found`, `overloaded`, `bad-value`, `left`
   */
  note<Args>(target: NoteTarget, type: ProcedureType<Args>, args: Args): void
  /** The same for a procedure without arguments. */
  note(target: NoteTarget, type: ProcedureType<undefined>): void

  /**
   * Sets the handler of a procedure on this member, replacing an earlier one.
   *
   * @returns a function that removes the handler
   * @throws HoldfastError `not-found` for a procedure not given to `join`; `left`
   */
  answer<Args, Answer>(type: ProcedureType<Args, Answer>, handler: Procedure<Args, Answer>): Stop

  /**
   * The API of a definition that is its own part: the world of `slots`, or what the author of a
   * part returns from `definePart` (`holdfast/part`).
   *
   * @throws HoldfastError `left`, `not-found` for a definition not given to `join`
   */
  part<World, Act>(type: SlotsType<World, Act>): SlotsHandle<World, Act>
  part<Api>(type: PartType<string, Api>): Api

  /**
   * Kicks a player, who sees the reason and may join again. The room's founder and hosts may kick;
   * see `expellers` of `join`. A refusal names who may.
   *
   * A reason over 200 bytes gives the outcome `unfit`. The promise rejects with a HoldfastError:
   * `bad-value`, `left`, `overloaded`.
   */
  kick(target: PlayerTarget, why?: string): Promise<ConductOutcome>

  /**
   * Bans a player, also an absent one, until the session ends; at most 32. A player is a key, so a
   * new key makes a new player: a ban is easily evaded in an open room, and holds where players
   * need tickets.
   */
  ban(target: PlayerTarget, why?: string): Promise<ConductOutcome>

  /** Lifts a ban. */
  pardon(target: PlayerTarget): Promise<ConductOutcome>

  /**
   * In a room with `expellers: 'vote'`: votes for banning a player, or (false) withdraws the vote.
   * A ban takes more than half of the others, and at least two.
   */
  vote(target: PlayerTarget, stands?: boolean): Promise<ConductOutcome>

  /**
   * In a room with `entry: 'invite'`: makes an invitation, a text for `ticket` of `join`. Put it
   * into the fragment of a link, which browsers send to no server. The invitation is on the hub's
   * disk when the promise resolves, and valid until the session ends.
   *
   * Right after `join`, and while the hub is unreachable, it waits up to 5 s for the hub; then the
   * outcome is `lost`. The promise rejects with a HoldfastError: `bad-value`, `left`.
   */
  invite(options?: InviteOptions): Promise<InviteOutcome>

  /**
   * Steps a simulation on the primary at a fixed rate, 1 to 250 times a second. Every member makes
   * the same call, and only the primary steps. When it dies, the next primary continues from the
   * state that all members see. A step that throws is skipped, and reported by `on('error')`.
   *
   * @returns a function that ends it on this member
   * @throws HoldfastError `bad-value`, `left`
   */
  simulate(hz: number, step: (step: SimulationStep) => void, options?: SimulateOptions): Stop

  /**
   * Exports the room as bytes for a file: its players, table, timers and pieces. `from` of `join`
   * starts a room with them, at any hub. A member without the whole room gets it from the primary.
   * In a room with secrets only the primary can export; the room then needs a key (`keepRoom.key`),
   * which seals the file.
   *
   * The promise rejects with a HoldfastError: `left`, `not-ready`, `forbidden`, `full` above 4 MB,
   * `timeout` if no primary answers for half a minute, `store` if the primary sends no valid room.
   */
  export(): Promise<Uint8Array>

  /** Whether this member may `kick`, `ban` and `pardon`; where players `vote`, only hosts may. */
  readonly mayExpel: boolean

  /** The banned players. */
  readonly banned: readonly Banned[]

  /** The votes in progress. */
  readonly ballots: readonly Ballot[]

  /**
   * On the primary: hands the role to the backup, without a pause. A page does this automatically
   * when it freezes, and a primary when it leaves.
   *
   * @returns false if this member is not primary, or there is no backup
   * @throws HoldfastError `left`
   */
  handOver(): boolean

  /**
   * Leaves; a primary hands over. Waits until the others know, or as the last member until the hub
   * has stored the room; 3 s at most. From the call on, every method that changes something fails
   * with `left`, also those of handles; reading goes on. A second call waits for the same.
   */
  leave(): Promise<void>

  /** Leaves at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>

  /** Leaves at once, for a page that closes; the goodbye may not reach the others. */
  end(why: string): void
}

/** See `debug` of a session. */
export interface SessionDebug {
  /** Figures for a display. */
  figures(): SessionFigures

  /**
   * How old data of types with motion is at each stage of its path to this member (T73): sent by
   * its owner, received and sent by the primary, received and shown here. Computed at each call.
   */
  ages(): Record<Stage, AgeFigures>

  /** Sets this viewer's warp factor, 0 to below 1; null for each type’s. @throws `bad-value` */
  warp(factor: number | null): void

  /**
   * Sets simulated network conditions on this member's links, as `condition` of `join` does; null
   * for none. A large jump of the delay looks like a crash, and may change the primary.
   *
   * @throws HoldfastError `left`, or `bad-value` naming the invalid word
   */
  condition(text: string | null): void

  /** Stops without a goodbye, like a killed process, to test how the others react. */
  crash(): void
}
