/**
 * A session as a user holds it.
 *
 *     const session = await join({ game: 'dots', types: [Dot] })
 *     const me = session.create(Dot, { pos: [50, 50], hue: 120 })
 *     session.on('primary', (member) => banner(`${member.name} is the server now`))
 *
 * Any machine in it may die. What was acknowledged stays; `status` and `safety` say how it stands.
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

/** See the head of this file. Made by `join` and `host`. */
export interface Session extends Emitter<SessionEvents> {
  /** Ourselves. */
  readonly me: MemberInfo

  /** Who is here, oldest first. A new array with each change, so it may be compared. */
  readonly members: readonly MemberInfo[]

  /** Who serves; null before the first view. */
  readonly primary: MemberInfo | null

  /** Who would take over; null while there is nobody. */
  readonly backup: MemberInfo | null

  /** In touch, on the way back, or lost for good. */
  readonly status: Status

  /** Why the session was lost, as a sentence; empty while it is not. */
  readonly reason: string

  /** The same as a code, such as `elsewhere`; null while it is not lost. */
  readonly code: ErrorCode | null

  /**
   * By which another process comes back as this player: `join({ token })`. It stays valid while
   * the player is here and for a minute after. Whoever has it is this player: keep it private. It
   * has the key of the room in it, and what is known to be stored: keep it anew now and then.
   */
  readonly token: string

  /** What was kept of the room before, if `fresh` had it begin anew; else null. */
  readonly laidAside: LaidAside | null

  /**
   * What was on the disk of the hub and is in the room no more, as this member or its token knows;
   * else null. Somebody put an older copy of the room there, or the hub lies.
   */
  readonly rolledBack: RolledBack | null

  /** How safe what is acknowledged is just now. */
  readonly safety: Safety

  /**
   * Whether the hub answers this member: `down` at once where the stream to it closes, and within a
   * second where it is silent. A session goes on without its hub, but nobody new comes in, pages
   * have no path to others, and nothing is kept.
   */
  readonly hub: HubReach

  /**
   * Whether all that there was in the room before us has come. `join` waits 15 s for that; a slow
   * path brings the rest later, and then the event `complete` tells that it is here.
   */
  readonly complete: boolean

  /** Session time in ms: never back within a session, 0 until it is known, still once we left. */
  now(): number

  /** What a page shows to who develops it, and what it does to see what becomes of that. */
  readonly debug: SessionDebug

  /**
   * A new object of ours.
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
   * Runs an action on the primary, once. The promise waits as long as it must: over a change
   * of primary, an outage of the hub, a way back. It settles when the outcome is safe.
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
   * Has a member run a procedure, at most once, and waits for its answer. Prefer an object for
   * what others shall see, and `act` for what must happen: a call is lost with any link or machine
   * on its way, and nobody knows then whether it ran.
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
   * Has a member run a procedure, or `all` others, and does not wait for an answer: nobody says
   * whether it ran. An object that says the same costs less. It has no outcome, so a value that
   * does not fit throws too.
   *
   * @throws HoldfastError `not-found`, `overloaded`, `bad-value`, `left`
   */
  note<Args>(target: NoteTarget, type: ProcedureType<Args>, args: Args): void
  /** The same for one that takes no arguments. */
  note(target: NoteTarget, type: ProcedureType<undefined>): void

  /**
   * Says what this member does when a procedure is called here, in place of what it did before.
   *
   * @returns stops it: then nothing answers to it here
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
   * Puts a player out, who is shown why and may join again. The founder of the room may, and hosts;
   * see `expellers` of `join`. An answer that is no yes says who may.
   *
   * A reason of more than 200 bytes is `unfit`. It rejects with a HoldfastError: `bad-value`,
   * `left`, `overloaded`.
   */
  kick(target: PlayerTarget, why?: string): Promise<ConductOutcome>

  /**
   * Puts a player out for as long as the session lasts, also one who is away: at most 32. A player
   * is a key, and who comes with another key is another player: in a room that is open to all a
   * ban is a courtesy, and holds where players come in by tickets.
   */
  ban(target: PlayerTarget, why?: string): Promise<ConductOutcome>

  /** Lets a player come in again. */
  pardon(target: PlayerTarget): Promise<ConductOutcome>

  /**
   * In a room with `expellers: 'vote'`: wants a player to be banned, or (false) does not any more.
   * More than half of the others do it, and two at least.
   */
  vote(target: PlayerTarget, stands?: boolean): Promise<ConductOutcome>

  /**
   * In a room with `entry: 'invite'`: lets others in. What it gives is a text for `ticket` of their
   * `join`; put it into the fragment of a link, which browsers send to no server. It counts once
   * the hub has it on disk, and as long as the session lasts.
   *
   * Right behind `join`, and while the hub is away, it waits up to 5 s for the hub; then it is
   * `lost`. It rejects with a HoldfastError: `bad-value`, `left`.
   */
  invite(options?: InviteOptions): Promise<InviteOutcome>

  /**
   * Steps a world at a fixed rate, 1 to 250 times a second, on whoever serves: every member calls
   * this alike, and the step runs at one. When that one dies the next goes on, from what everybody
   * sees. A step that throws costs that step, and is told to `on('error')`.
   *
   * @returns ends it here
   * @throws HoldfastError `bad-value`, `left`
   */
  simulate(hz: number, step: (step: SimulationStep) => void, options?: SimulateOptions): Stop

  /**
   * The room as it stands, as bytes for a file: its players, table, timers and pieces. `from` of
   * `join` begins a room with them, at any hub. Who does not hold the whole room has it from the
   * server. Where something is secret the server alone can, the room needs a key (`keepRoom.key`),
   * and the file is sealed with it.
   *
   * It rejects with a HoldfastError: `left`, `not-ready`, `forbidden`, `full` for more than 4 MB,
   * `timeout` if no server answers for half a minute, `store` if what it sends is no room.
   */
  export(): Promise<Uint8Array>

  /** Whether `kick`, `ban` and `pardon` are ours to do: where `vote` is, they are hosts’ alone. */
  readonly mayExpel: boolean

  /** Who was banned. */
  readonly banned: readonly Banned[]

  /** The votes that go on. */
  readonly ballots: readonly Ballot[]

  /**
   * As the server: gives that role to the backup; nothing stands still and nobody is removed. A
   * page does this by itself when it freezes, and whoever serves when it leaves.
   *
   * @returns false if we do not serve, or nobody could take it
   * @throws HoldfastError `left`
   */
  handOver(): boolean

  /**
   * Leaves: hands over if we serve, and waits until the others know that we are gone, or as the
   * last until the hub has the room and its end; 3 s at most. From the call on every verb fails
   * with `left`, of handles too; what only reads goes on. Called again it waits for the same.
   */
  leave(): Promise<void>

  /** Leaves, at the end of a block of `await using`. */
  [Symbol.asyncDispose](): Promise<void>

  /** Leaves at once: what the others are told may not reach them. For a page that closes. */
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
   * Changes the weather on one's own links, as `condition` of `join` does; null for none. A delay
   * that jumps far looks like a death, and may change who serves.
   *
   * @throws HoldfastError `left`, or `bad-value` that names the word
   */
  condition(text: string | null): void

  /** Dies without a word, as a killed process does: to see what the others make of it. */
  crash(): void
}
