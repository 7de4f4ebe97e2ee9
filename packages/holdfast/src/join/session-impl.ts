/** The implementation of a session: one member, and the APIs of the kinds that the game uses. */

import type { ActionsApi, ActionType } from '../actions/actions.ts'
import type {
  CallOptions,
  CallsApi,
  CallTarget,
  NoteTarget,
  Procedure,
  ProcedureType,
} from '../calls/calls.ts'
import type { CustomApi } from '../custom/define-part.ts'
import type { PartType } from '../custom/types.ts'
import type { Listing } from '../kind/listing.ts'
import { type ActionOutcome, type CallOutcome, unfit } from '../kind/outcomes.ts'
import type { Collection, ObjectHandle } from '../objects/handles.ts'
import type { ObjectRegistry } from '../objects/registry.ts'
import type { ObjectType } from '../objects/types.ts'
import type { PieceHandle } from '../pieces/handles.ts'
import type { PieceRegistry } from '../pieces/registry.ts'
import type { PieceType } from '../pieces/types.ts'
import type { SlotsHandle, SlotsType, SlotsApi } from '../slots/slots.ts'
import type { Fields, StateOf } from '../wire/fields/schema.ts'
import { parse } from '../faults/conditions.ts'
import { badValue, type ErrorCode, HoldfastError, type Millis, type PeerId } from '../machine.ts'
import * as link from '../link/link.ts'
import * as member from '../member/member.ts'
import { isByRelay } from '../paths/paths.ts'
import type { MemberEvent, Runtime } from '../member/state.ts'
import type { Reports } from '../api/reports.ts'
import type { MemberLoop, MemberLoopOptions } from '../runtime/member-loop.ts'
import type { ModerationRequest, Recovered, View } from '../session/messages.ts'
import { serves } from '../session/state.ts'
import { shown } from '../wire/fields/fields.ts'
import { type Definitions, givenKind, kindOf } from '../kind/definitions.ts'
import { ASYNC_DISPOSE, type Stop, stopping, type Listen, type Listeners } from '../api/emitter.ts'
import * as moderation from './moderation.ts'
import type { Ballot, Banned, ConductOutcome, PlayerTarget } from './moderation.ts'
import { refusedBy } from './ice.ts'
import { type LaidAside, notKept } from './keep-room.ts'
import { type InviteOptions, type InviteOutcome, Invites } from './invites.ts'
import { InitialLoad } from './progress.ts'
import type {
  HubReach,
  RolledBack,
  Safety,
  SessionEvents,
  Status,
  SessionFigures,
} from './events.ts'
import { hostOf, PendingOperations, type Shared } from './host.ts'
import type { Definition, KindApi, Kind, Opened, MemberInfo, TableView } from '../kind/kind.ts'
import { type PathInfo, pathsOf } from './path-infos.ts'
import { Roster } from './roster.ts'
import { Exports } from './saved-file.ts'
import type { Session, SessionDebug } from './session.ts'
import {
  Simulation,
  type SimulationHost,
  type SimulateOptions,
  type SimulationStep,
} from './simulation.ts'
import { formatToken } from './token.ts'
import type { Viewer } from '../kind/viewer.ts'
import { standing } from '../session/persistence.ts'
import { patience } from '../session/server.ts'

// Longest wait of `leave` until the others know, or until the hub has the room and its end.
const LEAVE_MS: Millis = 3_000

/** A session with the internals that `join`, page drivers and proofs need. */
export interface InternalSession extends Session {
  readonly member: MemberLoop['member'] | null
  onEvent(event: MemberEvent): void
  /** Hands over, because the system is about to suspend this process. */
  freeze(): void
}

/** The APIs of kinds, by their words. Only types: a kind is loaded with its definitions. */
interface Apis {
  object: ObjectRegistry
  piece: PieceRegistry
  action: ActionsApi
  procedure: CallsApi
  'world of slots': SlotsApi
  part: CustomApi
}

type Word = keyof Apis

/** The stream to the hub, and its store. */
interface HubState {
  isUp: boolean
  isQuiet: boolean
  storeAnswers: boolean
}

// Error sentences for an argument that is not a definition of the right kind.
const OBJECTS = 'a type of objects is made by object()'
const LISTED = 'a type of objects or pieces is made by object() or piece()'
const ACTIONS = 'act takes an action, as action() makes it'
const PROCEDURES = 'a procedure is made by procedure()'
const PARTS = 'a part of its own is made by slots() or definePart()'

export class SessionImpl implements InternalSession {
  readonly #events: Listeners<SessionEvents>
  readonly #reports: Reports
  readonly #operations = new PendingOperations(() => this.#memberLoop)
  readonly #invites = new Invites()
  readonly #exports = new Exports()
  readonly #simulations = new Set<Simulation>()
  readonly #given: Definitions['kinds']
  readonly #kinds = new Map<Kind, Opened>()
  readonly #apis = new Map<number, KindApi>()
  readonly #roster = new Roster()
  // The disconnection of this member: since when, as the same player, and its lost operations.
  #absence = { since: 0, same: true, lost: 0 }
  #memberLoop: MemberLoop | null = null
  #isLeaving = false
  #goodbye: Promise<void> | null = null
  // Session time as last read.
  #now: Millis = 0
  #status: Status = 'live'
  #safety: Safety = 'alone'
  #laidAside: LaidAside | null = null
  #rolledBack: RolledBack | null = null
  // The hub has just admitted this member.
  #hub: HubReach = 'up'
  readonly #hubState: HubState = { isUp: true, isQuiet: false, storeAnswers: true }
  readonly debug: SessionDebug = {
    figures: () => figuresOf(this.#memberLoop, this.#roster.view, this.#roster.inc),
    ages: () => this.#viewer.figures(),
    warp: (factor) => this.#viewer.warp(factor),
    condition: (text) => {
      this.#checkOpen('condition')
      this.#memberLoop!.condition(text === null ? null : parse(text))
    },
    crash: () => {
      this.#memberLoop?.crash()
      this.#ended('this process was killed')
    },
  }
  readonly initialLoad = new InitialLoad(() => this.#apiOf('object'))
  #reason = ''
  #code: ErrorCode | null = null
  #token = ''

  constructor(
    { kinds }: Definitions,
    events: Listeners<SessionEvents>,
    reports: Reports,
    options: object,
  ) {
    this.#events = events
    this.#reports = reports
    this.#given = kinds
    const shared: Shared = {
      reports,
      options: options as Shared['options'],
      companions: [],
      roster: this.#roster,
      memberLoop: () => this.#memberLoop,
      isOver: () => this.#isOver,
      operations: this.#operations,
      emit: (event, value) => {
        this.#emit(event as keyof SessionEvents, value as never)
        return this.#events.hasListeners(event as keyof SessionEvents)
      },
    }
    for (const [kind, definitions] of kinds) {
      const opened = kind.open(definitions, hostOf(shared, kind.channel))
      this.#kinds.set(kind, opened)
      this.#apis.set(kind.channel, opened.api)
    }
  }

  get parts(): MemberLoopOptions['parts'] {
    return [...this.#kinds.values()].map(({ part, state }) => ({ part, state }))
  }

  get complete(): boolean {
    return this.initialLoad.complete
  }

  bind(memberLoop: MemberLoop): void {
    this.#memberLoop = memberLoop
    for (const api of this.#apis.values()) api.begin?.((count) => memberLoop.loop.random(count))
  }

  get member(): MemberLoop['member'] | null {
    return this.#memberLoop?.member ?? null
  }

  get status(): Status {
    return this.#status
  }

  get reason(): string {
    return this.#reason
  }

  get code(): ErrorCode | null {
    return this.#code
  }

  get laidAside(): LaidAside | null {
    return this.#laidAside
  }

  get rolledBack(): RolledBack | null {
    return this.#rolledBack
  }

  get hub(): HubReach {
    return this.#hub
  }

  get safety(): Safety {
    return this.#safety
  }

  get me(): MemberInfo {
    return this.#roster.me
  }

  get members(): readonly MemberInfo[] {
    return this.#roster.members
  }

  paths(): PathInfo[] {
    return this.#memberLoop ? pathsOf(this.#memberLoop.member, this.members) : []
  }

  get primary(): MemberInfo | null {
    return this.#roster.find(this.#roster.view.primary)
  }

  get backup(): MemberInfo | null {
    return this.#roster.find(this.#roster.view.backup)
  }

  get token(): string {
    const token = this.#memberLoop?.token
    if (token) this.#token = formatToken(token)
    return this.#token
  }

  now(): number {
    this.#now = (this.#memberLoop ? this.#memberLoop.sessionTime() : this.#now) || 0
    return this.#now
  }

  get #viewer(): Viewer {
    const objects = this.#apiOf('object')
    if (objects) return objects.viewer
    throw new HoldfastError('not-found', 'nothing moves here: join was given no type of objects')
  }

  on<Name extends keyof SessionEvents>(
    name: Name,
    listener: (value: SessionEvents[Name]) => void,
    options?: Listen,
  ): Stop {
    return this.#events.on(name, listener, options)
  }

  create<F extends Fields>(type: ObjectType<F>, state: Partial<StateOf<F>> = {}): ObjectHandle<F> {
    this.#checkOpen('create')
    this.#roster.checkPlays('create')
    return this.#api(type, OBJECTS, 'object').create(type, state)
  }

  all<F extends Fields>(type: PieceType<F>): Listing<PieceHandle<F>>
  all<F extends Fields>(type: ObjectType<F>): Collection<F>
  all<F extends Fields>(
    type: ObjectType<F> | PieceType<F>,
  ): Listing<PieceHandle<F>> | Collection<F> {
    if (isOf(type, 'piece')) return this.#api(type, LISTED, 'piece').all(type)
    return this.#api(type, LISTED, 'object').all(type)
  }

  async act<Args, Answer>(
    type: ActionType<Args, Answer>,
    args?: Args,
  ): Promise<ActionOutcome<Answer>> {
    this.#checkOpen('act')
    this.#roster.checkPlays('act')
    return this.#api(type, ACTIONS, 'action').act(type, args as Args)
  }

  get table(): TableView {
    const decisions = this.#apiOf('action')
    if (decisions) return decisions.table
    throw new HoldfastError('not-found', 'there is no table: join was given no type of actions')
  }

  async call<Args, Answer>(
    target: CallTarget,
    type: ProcedureType<Args, Answer>,
    args?: Args,
    options: CallOptions = {},
  ): Promise<CallOutcome<Answer>> {
    return this.#api(type, PROCEDURES, 'procedure').call(type, target, args as Args, options)
  }

  note<Args>(target: NoteTarget, type: ProcedureType<Args>, args?: Args): void {
    this.#api(type, PROCEDURES, 'procedure').note(type, target, args as Args)
  }

  answer<Args, Answer>(type: ProcedureType<Args, Answer>, handler: Procedure<Args, Answer>): Stop {
    this.#checkOpen('answer')
    return this.#api(type, PROCEDURES, 'procedure').answer(type, handler)
  }

  part<World, Act>(type: SlotsType<World, Act>): SlotsHandle<World, Act>
  part<Api>(type: PartType<string, Api>): Api
  part(type: SlotsType | PartType): unknown {
    if (isOf(type, 'part')) return this.#api(type, PARTS, 'part').part(type)
    return this.#api(type, PARTS, 'world of slots').part(type as SlotsType)
  }

  /** The API of a definition whose kind has that word. */
  #api<W extends Word>(type: Definition, made: string, word: W): Apis[W] {
    const kind = kindOf(type)
    if (kind?.word !== word) throw badValue(`${made}: ${shown(type)}`)
    const opened = this.#kinds.get(kind) ?? this.#kinds.get(givenKind(this.#given, type))!
    return opened.api as KindApi as Apis[W]
  }

  /** The API of the kind with that word, if `join` was given a definition of it. */
  #apiOf<W extends Word>(word: W): Apis[W] | undefined {
    const found = [...this.#kinds].find(([kind]) => kind.word === word)
    return found?.[1].api as KindApi as Apis[W] | undefined
  }

  async kick(target: PlayerTarget, why = ''): Promise<ConductOutcome> {
    return this.#expel(target, why, false)
  }

  async ban(target: PlayerTarget, why = ''): Promise<ConductOutcome> {
    return this.#expel(target, why, true)
  }

  async pardon(target: PlayerTarget): Promise<ConductOutcome> {
    return this.#moderate({ kind: 'pardon', player: moderation.playerOf(target) })
  }

  async vote(target: PlayerTarget, stands = true): Promise<ConductOutcome> {
    return this.#moderate({ kind: 'vote', player: moderation.playerOf(target), stands })
  }

  simulate(hz: number, step: (step: SimulationStep) => void, options: SimulateOptions = {}): Stop {
    const simulation = new Simulation(this.#simulating, hz, step, options)
    this.#checkOpen('simulate')
    this.#simulations.add(simulation)
    simulation.look()
    return stopping(() => {
      this.#simulations.delete(simulation)
      simulation.stop()
    })
  }

  get #simulating(): SimulationHost {
    return {
      memberLoop: () => (this.#isOver ? null : this.#memberLoop),
      role: () => {
        const isOurs = this.#status === 'live' && this.#roster.view.primary === this.#roster.inc
        if (!isOurs) return 'follows'
        return this.#memberLoop && serves(this.#memberLoop.member.session) ? 'serves' : 'hands'
      },
      report: this.#reports.report,
    }
  }

  async export(): Promise<Uint8Array> {
    this.#checkOpen('export')
    return this.#exports.make(this.#memberLoop)
  }

  async invite(options: InviteOptions = {}): Promise<InviteOutcome> {
    this.#checkOpen('invite')
    return this.#invites.make(() => this.#memberLoop, options)
  }

  get mayExpel(): boolean {
    return moderation.mayExpelIn(this.#roster, this.member?.session.terms ?? '')
  }

  get banned(): readonly Banned[] {
    return moderation.bannedIn(this.#roster)
  }

  get ballots(): readonly Ballot[] {
    return moderation.ballotsIn(this.#roster)
  }

  async #expel(target: PlayerTarget, why: string, ban: boolean): Promise<ConductOutcome> {
    this.#checkOpen(ban ? 'ban' : 'kick')
    const player = moderation.playerOf(target)
    try {
      return await this.#moderate({ kind: 'expel', player, ban, why: moderation.checkReason(why) })
    } catch (error) {
      return unfit(error)
    }
  }

  #moderate(request: ModerationRequest): Promise<ConductOutcome> {
    this.#checkOpen(request.kind)
    this.#roster.checkPlays(request.kind)
    return moderation.requestModeration(this.#operations, request)
  }

  handOver(): boolean {
    this.#checkOpen('handOver')
    return this.#use((now, run) => member.handOver(run, now, false)) ?? false
  }

  freeze(): void {
    this.#use((now, run) => member.handOver(run, now, true))
  }

  async leave(): Promise<void> {
    this.#isLeaving = true
    this.#goodbye ??= this.#sayGoodbye()
    return this.#goodbye
  }

  async #sayGoodbye(): Promise<void> {
    if (!this.#memberLoop) return
    // Sends changes made just before.
    this.#use((now, run) => member.touched(run, now))
    this.#use((now, run) => member.leave(run, now))
    await this.#memberLoop?.settled(LEAVE_MS)
    this.end('left')
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.leave()
  }

  end(why: string): void {
    this.#memberLoop?.stop()
    this.#ended(why)
  }

  #ended(why: string): void {
    this.#token = this.token
    this.#memberLoop = null
    this.#lose('left', why)
  }

  onEvent(event: MemberEvent): void {
    switch (event.kind) {
      case 'caught-up':
        return void (this.initialLoad.caughtUp = true)
      case 'joined':
        return this.#onJoined(event.inc, event.player, event.lost)
      case 'recovered':
        return this.#onRecovered(event)
      case 'rolledBack':
        this.#rolledBack = { entries: event.entries, imported: event.imported }
        return this.#emit('rolledBack', this.#rolledBack)
      case 'view':
        return this.#onView(event.view, event.before)
      case 'done':
        return this.#operations.onOutcome(event.seq, event.outcome)
      case 'unknown':
        return this.#operations.forget(event.seqs, 'the session no longer knows this member')
      case 'away':
        return this.#onAway(event.members)
      case 'lost':
        return this.#setStatus(event.lost ? 'reconnecting' : 'live')
      case 'failed':
        return this.#fail(event.code, event.why)
      case 'threw':
        return this.#reports.report(event.error, `holdfast, at ${event.where},`, this)
      case 'part':
        return this.#apis.get(event.channel)?.onEvent?.(event.event as never)
      case 'invited':
        return this.#invites.answered(event.request, event.why)
      case 'kept':
        if (event.why !== '') this.#reports.report(notKept(event.why), 'keepRoom', this)
        return this.#updateSafety()
      case 'ice':
        return this.#reports.report(refusedBy(event), 'webrtc', this)
      case 'file':
        return this.#exports.came(event, this.#memberLoop)
      case 'aside':
        return void (this.#laidAside = { room: event.as || null, why: event.why })
      case 'quiet':
        return this.#setHub({ isQuiet: event.isQuiet })
      case 'store':
        return this.#setHub({ storeAnswers: event.answers })
      case 'hub':
        return this.#onHub(event.up)
      case 'role':
      case 'slow':
      case 'leased':
        if (event.kind === 'role') for (const one of this.#simulations) one.look()
        return this.#updateSafety()
      default:
        return
    }
  }

  #onJoined(inc: PeerId, player: number, lost: number): void {
    this.#absence.same &&= [0, player].includes(this.#roster.player)
    this.#absence.lost += lost
    // Another session numbers its members differently.
    Object.assign(this.#roster, { inc, player, away: new Set() })
  }

  #onRecovered({ epoch, witness, gone, silent }: Recovered): void {
    this.#emit('recovered', { epoch, witness: this.#roster.find(witness), gone, silent })
  }

  #onAway(members: ReadonlySet<PeerId>): void {
    this.#roster.away = members
    for (const api of this.#apis.values()) api.reachabilityChanged?.()
  }

  #onView(view: View, before: View | null): void {
    const { came, left, changed } = this.#roster.viewed(view, before)
    for (const api of this.#apis.values()) api.viewed?.()
    this.#setStatus('live')
    for (const info of came) this.#emit('join', info)
    for (const info of left) this.#emit('leave', info)
    if (changed) this.#emit('members', this.members)
    if (before && !sameRows(before.banned, view.banned)) this.#emit('banned', this.banned)
    if (before && !sameRows(before.votes, view.votes)) this.#emit('ballots', this.ballots)
    const primary = this.primary
    if (primary && before?.primary !== view.primary) this.#emit('primary', primary)
    if (before?.backup !== view.backup) this.#emit('backup', this.backup)
    this.#updateSafety()
    for (const simulation of this.#simulations) simulation.look()
  }

  /** Runs after all events of one call were delivered. */
  readonly onSettled = (): void => {
    for (const api of this.#apis.values()) api.settled?.()
    if (this.initialLoad.look()) this.#emit('complete', undefined)
  }

  #updateSafety(): void {
    const state = this.#memberLoop?.member
    if (!state) return
    const safety = safetyOf(state.session, this.#roster.view, this.#status)
    if (safety === this.#safety) return
    this.#safety = safety
    this.#emit('safety', safety)
  }

  #onHub(up: boolean): void {
    if (up) this.#invites.attached()
    else this.#invites.lose('the hub went away')
    this.#setHub({ isUp: up, isQuiet: false })
    this.#updateSafety()
  }

  #setHub(news: Partial<HubState>): void {
    const { isUp, isQuiet, storeAnswers } = Object.assign(this.#hubState, news)
    const isDown = !isUp || isQuiet
    const hub = isDown ? 'down' : storeAnswers ? 'up' : 'waiting'
    if (hub === this.#hub || this.#status === 'lost') return
    this.#hub = hub
    this.#emit('hub', hub)
  }

  #setStatus(status: Status): void {
    if (status === this.#status || this.#status === 'lost') return
    const before = this.#status
    this.#status = status
    if (status === 'reconnecting') this.#absence.since = this.#memberLoop?.outOfTouchSince() ?? 0
    this.#emit('status', status)
    this.#updateSafety()
    for (const simulation of this.#simulations) simulation.look()
    if (before === 'reconnecting' && status === 'live') this.#heal()
  }

  #heal(): void {
    if (!this.#memberLoop) return
    const { loop, member: own } = this.#memberLoop
    const { since, same, lost } = this.#absence
    this.#absence = { since: 0, same: true, lost: 0 }
    const resent = own.session.client.pending.length
    this.#emit('healed', { awayMs: loop.now() - since, same, resent, lost })
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
    this.#operations.end(why)
    this.#invites.end(why)
    this.#exports.end(why)
    for (const api of this.#apis.values()) api.end?.(code, why)
  }

  get #isOver(): boolean {
    return this.#status === 'lost' || this.#memberLoop === null || this.#isLeaving
  }

  #checkOpen(verb: string): void {
    if (this.#isOver) throw new HoldfastError('left', `cannot ${verb}: the session was left`)
  }

  #use<Result>(verb: (now: Millis, run: Runtime) => Result): Result | undefined {
    return this.#memberLoop?.do(verb)
  }

  #emit<Name extends keyof SessionEvents>(name: Name, value: SessionEvents[Name]): void {
    this.#events.emit(name, value)
  }
}

// Each view has its own rows, which are never changed in place.
function sameRows(before: readonly object[], now: readonly object[]): boolean {
  return before.length === now.length && JSON.stringify(before) === JSON.stringify(now)
}

function isOf<W extends Word>(type: unknown, word: W): type is { kind: Kind<W> } & Definition {
  return kindOf(type)?.word === word
}

/** The current figures. @param memberLoop  null after the session was left */
export function figuresOf(memberLoop: MemberLoop | null, view: View, inc: PeerId): SessionFigures {
  const member = memberLoop?.member ?? null
  const own = view.primary === inc
  const peer = member?.peers.get(view.primary)
  return {
    rttMs: own ? 0 : peer?.link ? link.current(peer.link).rtt.smoothed : null,
    path: own || !peer?.link ? 'none' : isByRelay(peer.paths) ? 'relay' : 'direct',
    epoch: view.epoch,
    role: member?.session.server.role ?? 'idle',
    returns: member?.counters.returns ?? 0,
    bytesPerSecond: memberLoop?.bytesPerSecond ?? { in: 0, out: 0 },
    hub: member?.hub === 'attached',
    threw: member?.counters.threw ?? 0,
    pushedBack: member?.session.pushedBack ?? 0,
    suspectMs: member ? patience(member.session) : null,
  }
}

/** How safe acknowledged changes are, as a member with this view knows. */
export function safetyOf(
  session: MemberLoop['member']['session'],
  view: View,
  status: Status,
): Safety {
  const { server } = session
  const isSeen = view.backup !== 0
  const waits = serves(session)
    ? !session.server.lead.leased || server.role === 'dropping' || isBackupBeyondHub(session)
    : isSeen && status !== 'live'
  if (waits) return 'waiting'
  const kept = isSeen ? null : standing(session)
  if (kept) return kept
  // Nothing counts as backed up before the view has a backup.
  if (!isSeen || (serves(session) && server.role !== 'backedup')) return 'alone'
  return 'lead' in server && server.lead.slow ? 'slow' : 'backed-up'
}

// Its acks came through the hub, which is away: changes wait at once, long before the lease ends.
function isBackupBeyondHub({ server, hub, detectors }: MemberLoop['member']['session']): boolean {
  if (server.role !== 'backedup' || hub.up) return false
  return detectors.get(server.backup)?.relayed ?? false
}
