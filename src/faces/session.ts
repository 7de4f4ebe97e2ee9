/**
 * A session as a user holds it.
 *
 *     const session = await join({ game: 'dots', types: [Dot] })
 *     const me = session.create(Dot, { pos: [50, 50], hue: 120 })
 *     session.on('primary', (member) => banner(`${member.name} is the server now`))
 *
 * Any machine in it may die. What was acknowledged stays; `status` and `safety` say how it stands.
 */

import type * as actions from '../actions/actions.ts'
import type { Value } from '../actions/actions.ts'
import { parse } from '../faults/conditions.ts'
import { type ErrorCode, HoldfastError, type Millis, type PeerId } from '../machine.ts'
import { partOut } from '../member/dispatch.ts'
import * as member from '../member/member.ts'
import type { MemberEvent, Runtime } from '../member/state.ts'
import type { AgeFigures, Stage } from '../motion/ages.ts'
import * as objects from '../objects/objects.ts'
import type * as pieces from '../pieces/pieces.ts'
import type { Rpc } from '../rpc/state.ts'
import type { View } from '../session/messages.ts'
import { type GameBox, type Slots, SLOTS_CHANNEL, type SlotsEvent } from '../slots/slots.ts'
import type { Fields, StateOf } from '../wire/schema.ts'
import { Absence } from './absence.ts'
import { Questions } from './questions.ts'
import { Caller } from './calls.ts'
import { Decisions } from './decisions.ts'
import type { Emitter, Listen } from './emitter.ts'
import type { ActionOutcome, Safety, SessionEvents, SessionFigures, Status } from './events.ts'
import { figuresOf, safetyOf } from './figures.ts'
import { Belongings } from './belongings.ts'
import type { Collection, Listing } from './collection.ts'
import type { ObjectHandle } from './handles.ts'
import type { PieceHandle } from './piece-handles.ts'
import type { PieceType } from './piece-types.ts'
import type { Reports } from '../runtime/reports.ts'
import { Roster } from './roster.ts'
import type { Runner } from '../runtime/member/runner.ts'
import { type SlotsHandle, type SlotsOptions, Worlds } from './slots.ts'
import { Tabletop } from './tabletop.ts'
import { formatToken } from './token.ts'
import type { MemberInfo } from './member-info.ts'
import type { ActionType, ObjectType, Types } from './types.ts'
import { Viewer } from './viewer.ts'

// Whoever leaves waits so long, for a hand-over and for the last word to be acked.
const LEAVE_MS: Millis = 1_500

/** The parts of a session's member and their states. */
export interface Parts {
  objects: objects.Objects
  actions: actions.Actions
  pieces: pieces.Pieces
  rpc: Rpc
  slots: Slots
  box: GameBox
}

/** See the head of this file. Made by `join` and `host`. */
export class Session extends Caller {
  readonly #parts: Parts
  readonly #events: Emitter<SessionEvents>
  readonly #questions = new Questions()
  readonly #belongings: Belongings
  readonly #decisions: Decisions
  readonly #tabletop: Tabletop
  readonly #worlds: Worlds
  readonly #rules: objects.Types
  readonly #viewer = new Viewer(
    () => this.#runner?.sessionTime() ?? NaN,
    () => this.#runner?.changeTime() ?? NaN,
  )
  #runner: Runner | null = null
  // Session time as it was asked for last.
  #now: Millis = 0
  readonly #roster = new Roster()
  #status: Status = 'live'
  #safety: Safety = 'alone'
  #reason = ''
  #code: ErrorCode | null = null
  #token = ''
  readonly #absence = new Absence()

  /** Not for users: call `join`. */
  constructor(types: Types, parts: Parts, events: Emitter<SessionEvents>, reports: Reports) {
    super(parts.rpc, types.procedures, reports)
    this.#parts = parts
    this.#events = events
    this.#rules = types.objects.map(({ rulesFor }) => rulesFor(reports.report))
    this.#decisions = new Decisions({
      types: types.actions,
      state: parts.actions,
      report: reports.report,
      ask: (question) => this.#questions.ask(this.#runner, question),
    })
    this.#tabletop = this.#lay(types.pieces, reports)
    this.#worlds = new Worlds(parts.slots, parts.box, () => this.#runner, reports)
    this.#belongings = this.#hold(types.objects, reports)
  }

  #hold(types: Types['objects'], reports: Reports): Belongings {
    const player = (): number => this.#roster.player
    const left = (): boolean => this.#runner === null
    const sessionId = (): string => this.#runner?.member.session.id ?? ''
    const state = this.#parts.objects
    return new Belongings({
      ...{ types, reports, state },
      viewer: this.#viewer,
      get player() {
        return player()
      },
      get left() {
        return left()
      },
      get session() {
        return sessionId()
      },
      find: (inc) => this.#roster.find(inc),
      turn: (verb) => this.#use((now, run) => verb(this.#turn(now, run))),
      set: (replica, mask, madeAt, waits) => {
        const now = this.#runner?.loop.now() ?? NaN
        return objects.set(state, this.#rules, now, replica, mask, madeAt, waits)
      },
      touch: () => this.#runner?.touch(),
      changed: () => this.#tell('objects', undefined),
      asked: (asking) => {
        this.#tell('asked', asking)
        return this.#events.hears('asked')
      },
    })
  }

  #lay(types: readonly PieceType[], reports: Reports): Tabletop {
    return new Tabletop({
      types,
      reports,
      state: this.#parts.pieces,
      findPlayer: (player) => this.#roster.findPlayer(player),
      ask: (question) => this.#questions.ask(this.#runner, question),
      touch: () => this.#runner?.touch(),
      changed: () => this.#tell('pieces', undefined),
      lost: (ids) => this.#tell('lostSecrets', ids),
    })
  }

  #turn(now: Millis, run: Runtime): objects.Turn {
    const types = this.#rules
    const out = partOut(run, objects.OBJECTS_CHANNEL)
    return { objects: this.#parts.objects, types, now, out }
  }

  /** Not for users: the member that this session is the face of. */
  bind(runner: Runner): void {
    this.#runner = runner
    this.bindCalls(runner)
  }

  /** Not for users: what the member knows, for proofs; null once the session was left. */
  get member(): Runner['member'] | null {
    return this.#runner?.member ?? null
  }

  /** Not for users: what is known of objects, for proofs. */
  get belongings(): objects.Objects {
    return this.#parts.objects
  }

  /** Ourselves. */
  get me(): MemberInfo {
    return this.#roster.me
  }

  /** Who is here, oldest first. A new array with each change, so it may be compared. */
  get members(): readonly MemberInfo[] {
    return this.#roster.members
  }

  /** Who serves; null before the first view. */
  get primary(): MemberInfo | null {
    return this.#roster.find(this.#roster.view.primary)
  }

  /** Who would take over; null while there is nobody. */
  get backup(): MemberInfo | null {
    return this.#roster.find(this.#roster.view.backup)
  }

  /** In touch, on the way back, or lost for good. */
  get status(): Status {
    return this.#status
  }

  /** Why the session was lost, as a sentence; empty while it is not. */
  get reason(): string {
    return this.#reason
  }

  /** The same as a code, such as `elsewhere`; null while it is not lost. */
  get code(): ErrorCode | null {
    return this.#code
  }

  /**
   * By which another process comes back as this player: `join({ token })`. It stays valid while
   * the player is here and for a minute after. Whoever has it is this player: keep it private.
   */
  get token(): string {
    return this.#token
  }

  /** How safe what is acknowledged is just now. */
  get safety(): Safety {
    return this.#safety
  }

  /** Session time in ms: never back within a session, 0 until it is known, still once we left. */
  now(): number {
    this.#now = (this.#runner ? this.#runner.sessionTime() : this.#now) || 0
    return this.#now
  }

  /** Figures for a display. */
  figures(): SessionFigures {
    return figuresOf(this.#runner, this.#roster.view, this.#roster.inc)
  }

  /**
   * How old data of types with motion is at each stage of its way to this member (T73): sent by its
   * owner, received and sent by the server, received and shown here. Made anew at each call.
   */
  ages(): Record<Stage, AgeFigures> {
    return this.#viewer.figures()
  }

  /** The warping factor of this viewer, 0 to below 1; null for each type’s. @throws `bad-value` */
  warp(factor: number | null): void {
    this.#viewer.warp(factor)
  }

  /**
   * Changes the weather on one's own links, as `condition` of `join` does; null for none. A delay
   * that jumps far looks like a death, and may change who serves.
   *
   * @throws HoldfastError `left`, or `bad-value` that names the word
   */
  condition(text: string | null): void {
    this.#checkOpen('condition')
    this.#runner!.condition(text === null ? null : parse(text))
  }

  /**
   * Calls the listener at each such event. One that throws disturbs nothing: see `error`.
   *
   * @returns stops it
   * @throws HoldfastError code `bad-value` for an event that there is not
   */
  on<Name extends keyof SessionEvents>(
    name: Name,
    listener: (value: SessionEvents[Name]) => void,
    options?: Listen,
  ): () => void {
    return this.#events.on(name, listener, options)
  }

  /**
   * A new object of ours.
   *
   * @param state  fields that are not given start at their type's initial value
   * @throws HoldfastError `left`, `bad-value` naming the field, `not-found` for an unknown type
   */
  create<F extends Fields>(type: ObjectType<F>, state: Partial<StateOf<F>> = {}): ObjectHandle<F> {
    this.#checkOpen('create')
    return this.#belongings.create(type, state)
  }

  /**
   * All objects of a type that are here, oldest first, or all pieces of one, lowest first.
   *
   * @throws HoldfastError code `not-found`
   */
  all<F extends Fields>(type: PieceType<F>): Listing<PieceHandle<F>>
  all<F extends Fields>(type: ObjectType<F>): Collection<F>
  all<F extends Fields>(
    type: ObjectType<F> | PieceType<F>,
  ): Collection<F> | Listing<PieceHandle<F>> {
    if ((type as { kind?: unknown } | undefined)?.kind !== 'piece') {
      return this.#belongings.all(type as ObjectType<F>)
    }
    const listing = this.#tabletop.all(type as unknown as PieceType)
    return listing as unknown as Listing<PieceHandle<F>>
  }

  /**
   * Runs an action on the primary, once. The promise waits as long as it must: over a change
   * of primary, an outage of the hub, a way back. It settles when the outcome is safe.
   *
   * @throws HoldfastError `overloaded` with 64 under way, `left` when the session is left first
   */
  act<Args, Answer>(type: ActionType<Args, Answer>, args: Args): Promise<ActionOutcome<Answer>> {
    this.#checkOpen('act')
    return this.#decisions.act(type, args)
  }

  /** A value of the table that actions write. */
  get(key: string): Value | undefined {
    return this.#decisions.get(key)
  }

  /** Keys of the table with such a beginning, sorted. */
  keys(prefix = ''): string[] {
    return this.#decisions.keys(prefix)
  }

  /**
   * Opens the world of slots: whoever is in the session and opens it too is in it. It comes with
   * one of the next slots, of somebody who has it, or from `start`. In a star the server must be
   * in it; in a mesh no server is needed.
   *
   * @throws HoldfastError `left`, or `bad-value` for an option out of range, and for a second world
   */
  slots<World, F extends Fields>(
    options: SlotsOptions<World, StateOf<F>> & { readonly act: F },
  ): SlotsHandle<World, StateOf<F>>
  slots<World, Act>(options: SlotsOptions<World, Act>): SlotsHandle<World, Act>
  slots<World, Act>(
    options: SlotsOptions<World, Act> & { readonly act?: Fields },
  ): SlotsHandle<World, Act> {
    this.#checkOpen('open a world of slots')
    const world = this.#worlds.open(
      options as unknown as SlotsOptions<unknown, unknown>,
      options.act,
    )
    return world as SlotsHandle<World, Act>
  }

  /**
   * As the server: gives that role to the backup; nothing stands still and nobody is removed. A
   * page does this by itself when it freezes, and whoever serves when it leaves.
   *
   * @returns false if we do not serve, or nobody could take it
   */
  handOver(): boolean {
    return this.#use((now, run) => member.handOver(run, now, false)) ?? false
  }

  /** Not for users: this process is about to be stopped for a while. */
  freeze(): void {
    this.#use((now, run) => member.handOver(run, now, true))
  }

  /** Leaves: hands over if we serve, tells the others, waits a moment for what is under way. */
  async leave(): Promise<void> {
    if (!this.#runner) return
    this.#use((now, run) => member.leave(run, now))
    await this.#runner?.settled(LEAVE_MS)
    this.end('left')
  }

  /** Leaves at once: what the others are told may not reach them. For a page that closes. */
  end(why: string): void {
    this.#runner?.stop()
    this.#ended(why)
  }

  /** Dies without a word, as a killed process does: to see what the others make of it. */
  crash(): void {
    this.#runner?.crash()
    this.#ended('this process was killed')
  }

  #ended(why: string): void {
    this.#runner = null
    this.#lose('left', why)
  }

  /** Not for users: something happened at the member. */
  told(event: MemberEvent): void {
    switch (event.kind) {
      case 'joined':
        return this.#joined(event.inc, event.player, event.lost)
      case 'recovered': {
        const { epoch, gone, silent } = event
        return this.#tell('recovered', {
          epoch,
          witness: this.#roster.find(event.witness),
          gone,
          silent,
        })
      }
      case 'view':
        return this.#viewed(event.view, event.before)
      case 'done':
        return this.#questions.told(event.seq, event.outcome)
      case 'unknown':
        for (const seq of event.seqs) this.#questions.forget(seq, 'the session forgot us')
        return
      case 'lost':
        return this.#setStatus(event.lost ? 'reconnecting' : 'live')
      case 'failed':
        return this.#fail(event.code, event.why)
      case 'part':
        if (this.callTold(event)) return
        if (event.channel === SLOTS_CHANNEL) return this.#worlds.told(event.event as SlotsEvent)
        return this.#partTold(event.event as objects.ObjectEvent)
      case 'role':
      case 'slow':
      case 'leased':
      case 'hub':
        return this.#updateSafety()
      default:
        return
    }
  }

  #joined(inc: PeerId, player: number, lost: number): void {
    this.#absence.returned([0, player].includes(this.#roster.player), lost)
    Object.assign(this.#roster, { inc, player })
    const resume = this.#runner?.member.resume
    if (resume) this.#token = formatToken(resume)
  }

  #viewed(view: View, before: View | null): void {
    const { came, left, changed } = this.#roster.viewed(view, before)
    this.#belongings.renewed()
    this.#setStatus('live')
    for (const info of came) this.#tell('join', info)
    for (const info of left) this.#tell('leave', info)
    if (changed) this.#tell('members', this.members)
    const primary = this.primary
    if (primary && before?.primary !== view.primary) this.#tell('primary', primary)
    if (before?.backup !== view.backup) this.#tell('backup', this.backup)
    this.#updateSafety()
  }

  #partTold(event: objects.ObjectEvent | actions.ActionEvent | pieces.PieceEvent): void {
    if (event.kind === 'table') this.#tell('table', event.keys)
    else if (event.kind === 'timers') this.#decisions.fire(event.ids)
    else if (event.kind.startsWith('piece')) this.#tabletop.told(event as pieces.PieceEvent)
    else this.#belongings.told(event as objects.ObjectEvent)
  }

  /** Not for users: all that one verb brought was told. */
  toldAll(): void {
    this.#belongings.settled()
    this.#tabletop.settled()
  }

  #updateSafety(): void {
    const state = this.#runner?.member
    if (!state) return
    const safety = safetyOf(state.session, this.#roster.view, this.#status)
    if (safety === this.#safety) return
    this.#safety = safety
    this.#tell('safety', safety)
  }

  #setStatus(status: Status): void {
    if (status === this.#status || this.#status === 'lost') return
    const before = this.#status
    this.#status = status
    if (status === 'reconnecting') this.#absence.begin(this.#runner?.outOfTouchSince() ?? 0)
    this.#tell('status', status)
    this.#updateSafety()
    if (before === 'reconnecting' && status === 'live') this.#heal()
  }

  #heal(): void {
    if (!this.#runner) return
    const { loop, member: own } = this.#runner
    this.#tell('healed', this.#absence.end(loop.now(), own.session.client.pending.length))
  }

  #fail(code: ErrorCode, why: string): void {
    this.#lose(code, why)
    this.end(why)
  }

  #lose(code: ErrorCode, why: string): void {
    if (this.#status === 'lost') return
    this.#reason = why
    this.#code = code
    this.#setStatus('lost')
    this.#questions.end(why)
    this.#belongings.end(code, why)
    this.endCalls(why)
  }

  #checkOpen(verb: string): void {
    if (!this.#runner) throw new HoldfastError('left', `cannot ${verb}: the session was left`)
  }

  #use<Result>(verb: (now: Millis, run: Runtime) => Result): Result | undefined {
    return this.#runner?.do(verb)
  }

  #tell<Name extends keyof SessionEvents>(name: Name, value: SessionEvents[Name]): void {
    this.#events.tell(name, value)
  }
}
