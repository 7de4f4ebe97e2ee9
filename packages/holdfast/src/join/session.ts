/**
 * A session as a user holds it.
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

  /** The members, oldest first. A new array with each change, so it may be compared. */
  readonly members: readonly MemberInfo[]

  /** The server; null before the first view. */
  readonly primary: MemberInfo | null

  /** The member that would take over; null while there is none. */
  readonly backup: MemberInfo | null

  /** Connected, reconnecting, or lost for good. */
  readonly status: Status

  /** Why the session was lost, as a sentence; empty while it is not. */
  readonly reason: string

  /** The same as a code, such as `elsewhere`; null while it is not lost. */
  readonly code: ErrorCode | null

  /**
   * Lets another process rejoin as this player: `join({ token })`. It stays valid while the player
   * is here and for a minute after. Anyone who has it is this player: keep it private. It contains
   * the key of the room and the newest point known to be stored, so save it again now and then.
   */
  readonly token: string

  /** The unreadable stored room that `fresh` replaced; else null. */
  readonly laidAside: LaidAside | null

  /**
   * The stored changes that the room has lost, as far as this member or its token knows; else null.
   * The hub has an older copy of the room, or lies.
   */
  readonly rolledBack: RolledBack | null

  /** How safe acknowledged changes are now. */
  readonly safety: Safety

  /**
   * Whether the hub answers this member: `down` at once when the stream to it closes, and within a
   * second when it is silent. A session goes on without its hub, but no player can join, pages have
   * no path to others, and nothing is stored.
   */
  readonly hub: HubReach

  /**
   * Whether the state from before this member has arrived completely. `join` waits up to 15 s for
   * it; on a slow path the rest comes later, and then the event `complete`.
   */
  readonly complete: boolean

  /** Session time in ms: never goes back in a session; 0 until known; stops once it was left. */
  now(): number

  /** Figures and fault injection for developers. */
  readonly debug: SessionDebug

  /**
   * Creates an object that this member owns.
   *
   * @param state  fields that are not given start at their type's initial value
   * @throws HoldfastError `left`, `bad-value` naming the field, `not-found` for an unknown type
   */
  create<F extends Fields>(type: ObjectType<F>, state?: Partial<StateOf<F>>): ObjectHandle<F>

  /**
   * All objects of a type that are here, oldest first, or all pieces of one, lowest first.
   *
   * @throws HoldfastError code `not-found`
   */
  all<F extends Fields>(type: PieceType<F>): Listing<PieceHandle<F>>
  all<F extends Fields>(type: ObjectType<F>): Collection<F>

  /**
   * Runs an action on the primary, once. The promise waits as long as it must: across a change of
   * primary, an outage of the hub, a reconnection. It settles when the outcome is safe.
   *
   * A value that does not fit its field is the outcome `unfit`. It rejects with a HoldfastError:
   * `bad-value` for arguments of another shape (a field that is missing or unknown, a value of
   * another kind), `overloaded` with 64 under way, `not-found` for one that was not given to join,
   * `left`.
   */
  act<Args, Answer>(type: ActionType<Args, Answer>, args: Args): Promise<ActionOutcome<Answer>>
  /** The same for one that takes no arguments. */
  act<Answer>(type: ActionType<undefined, Answer>): Promise<ActionOutcome<Answer>>

  /**
   * The table that actions write: a member reads it. @throws HoldfastError `not-found` where `join`
   * was given no actions
   */
  readonly table: TableView

  /**
   * Runs a procedure on another member, at most once, and waits for its answer. Prefer an object
   * for state that others see, and `act` for what must happen: a call is lost with any link or
   * machine on its path, and then it is unknown whether it ran.
   *
   * A value that does not fit its field, or more than 8 KB, is the outcome `unfit`. It rejects with
   * a HoldfastError, and nothing ran: `bad-value` for who is no member and for arguments of another
   * shape; `not-found` for a procedure that was not given to join; `overloaded` with 64 under way
   * or over 200 a second; `left`.
   */
  call<Args, Answer>(
    target: CallTarget,
    type: ProcedureType<Args, Answer>,
    args: Args,
    options?: CallOptions,
  ): Promise<CallOutcome<Answer>>
  /** The same for one that takes no arguments. */
  call<Answer>(
    target: CallTarget,
    type: ProcedureType<undefined, Answer>,
  ): Promise<CallOutcome<Answer>>

  /**
   * Runs a procedure on a member or on `all` others without waiting: there is no sign whether it
   * ran. An object with the same content costs less. A note has no outcome, so a value that does
   * not fit throws too.
   *
   * @throws HoldfastError `not-found`, `overloaded`, `bad-value`, `left`
   */
  note<Args>(target: NoteTarget, type: ProcedureType<Args>, args: Args): void
  /** The same for one that takes no arguments. */
  note(target: NoteTarget, type: ProcedureType<undefined>): void

  /**
   * Sets the handler of a procedure on this member, and replaces an earlier one.
   *
   * @returns a function that removes the handler
   * @throws HoldfastError `not-found` for one that was not given to join; `left`
   */
  answer<Args, Answer>(type: ProcedureType<Args, Answer>, handler: Procedure<Args, Answer>): Stop

  /**
   * The face of a definition that is a part of its own: the world of `slots`, or what the author
   * of a part gives (`definePart` of `holdfast/part`).
   *
   * @throws HoldfastError `left`, `not-found` for one that was not given to join
   */
  part<World, Act>(type: SlotsType<World, Act>): SlotsHandle<World, Act>
  part<Face>(type: PartType<string, Face>): Face

  /**
   * Kicks a player, who sees the reason and may join again. The founder of the room and hosts may
   * kick; see `expellers` of `join`. A refusal says who may.
   *
   * A reason of more than 200 bytes is `unfit`. It rejects with a HoldfastError: `bad-value`,
   * `left`, `overloaded`.
   */
  kick(target: PlayerTarget, why?: string): Promise<ConductOutcome>

  /**
   * Bans a player, also one who is away, for as long as the session lasts; at most 32. A player is
   * a key, so with a new key one is a new player: in an open room a ban is easily evaded, and it
   * holds where players need tickets.
   */
  ban(target: PlayerTarget, why?: string): Promise<ConductOutcome>

  /** Lifts a ban. */
  pardon(target: PlayerTarget): Promise<ConductOutcome>

  /**
   * In a room with `expellers: 'vote'`: votes for banning a player, or (false) withdraws the vote.
   * It takes more than half of the others, and at least two.
   */
  vote(target: PlayerTarget, stands?: boolean): Promise<ConductOutcome>

  /**
   * In a room with `entry: 'invite'`: makes an invitation, a text for `ticket` of `join`. Put it
   * into the fragment of a link, which browsers send to no server. The invitation is on the hub's
   * disk when the promise resolves, and valid as long as the session lasts.
   *
   * Right after `join`, and while the hub is unreachable, it waits up to 5 s for the hub; then it
   * is `lost`. It rejects with a HoldfastError: `bad-value`, `left`.
   */
  invite(options?: InviteOptions): Promise<InviteOutcome>

  /**
   * Steps a simulation at a fixed rate, 1 to 250 times a second, on the server. Every member calls
   * this alike, and the step runs on one. When that one dies, the next server continues from the
   * state that all members see. A step that throws is skipped, and reported by `on('error')`.
   *
   * @returns a function that ends it here
   * @throws HoldfastError `bad-value`, `left`
   */
  simulate(hz: number, step: (step: SimulationStep) => void, options?: SimulateOptions): Stop

  /**
   * The current room as bytes for a file: its players, table, timers and pieces. `from` of `join`
   * begins a room with them, at any hub. A member without the whole room gets it from the server.
   * In a room with secrets only the server can export; the room then needs a key (`keepRoom.key`),
   * and the file is sealed with it.
   *
   * It rejects with a HoldfastError: `left`, `not-ready`, `forbidden`, `full` for more than 4 MB,
   * `timeout` if no server answers for half a minute, `store` if what it sends is no room.
   */
  export(): Promise<Uint8Array>

  /** Whether `kick`, `ban` and `pardon` are ours to do: where `vote` is, they are hosts’ alone. */
  readonly mayExpel: boolean

  /** The banned players. */
  readonly banned: readonly Banned[]

  /** The votes under way. */
  readonly ballots: readonly Ballot[]

  /**
   * As the server: hands the role to the backup, without a pause. A page does this automatically
   * when it freezes, and a server when it leaves.
   *
   * @returns false if this member does not serve, or there is no backup
   * @throws HoldfastError `left`
   */
  handOver(): boolean

  /**
   * Leaves: hands over as the server, and waits until the others know, or as the last member until
   * the hub has stored the room; 3 s at most. From the call on every method that changes something
   * fails with `left`, also those of handles; reading goes on. A second call waits for the same.
   */
  leave(): Promise<void>

  /** Leaves, at the end of a block of `await using`. */
  [Symbol.asyncDispose](): Promise<void>

  /** Leaves at once; the goodbye may not reach the others. For a page that closes. */
  end(why: string): void
}

/** See `debug` of a session. */
export interface SessionDebug {
  /** Figures for a display. */
  figures(): SessionFigures

  /**
   * How old data of types with motion is at each stage of its way to this member (T73): sent by its
   * owner, received and sent by the server, received and shown here. Made anew at each call.
   */
  ages(): Record<Stage, AgeFigures>

  /** The warping factor of this viewer, 0 to below 1; null for each type’s. @throws `bad-value` */
  warp(factor: number | null): void

  /**
   * Sets simulated network conditions on this member's links, as `condition` of `join` does; null
   * for none. A large jump of the delay looks like a death, and may change the server.
   *
   * @throws HoldfastError `left`, or `bad-value` that names the word
   */
  condition(text: string | null): void

  /** Stops without a goodbye, like a killed process, to test how the others react. */
  crash(): void
}
