/** A piece as a user holds it. */

import { HoldfastError } from '../machine.ts'
import type { LossReason, Op, Row } from './protocol/pieces.ts'
import { between, byLevel, GONE, HELD, lastFromOthers, setFields } from './protocol/pieces.ts'
import { differing, type Fields, type StateOf } from '../wire/fields/schema.ts'
import type { Stop } from '../api/emitter.ts'
import { type Emitter, type Listen, Listeners } from '../api/emitter.ts'
import { idOf, patched, type PieceType, stateOf } from './types.ts'
import type { Reports } from '../api/reports.ts'
import type { MemberInfo } from '../kind/kind.ts'
import { type PieceOutcome, type Refused, refused, unfit } from '../kind/outcomes.ts'

/** A hold of ours that ended, though we did not let go. */
export interface LostHold {
  /** Who took it; null if nobody did, or if they are gone. */
  readonly by: MemberInfo | null
  /**
   * `taken`: somebody wrested it, or an action took it. `away`: we were out of touch for so long
   * that the server let go of it, or a recovery lost our hold. `gone`: there is no such piece any
   * more.
   */
  readonly why: LossReason
}

/** What a verb of a piece takes besides. */
export interface PieceCall {
  /** Waits no longer; what was asked for goes on. */
  readonly signal?: AbortSignal
}

/** How to take hold of a piece. */
export interface Grip extends PieceCall {
  /** Though it may have changed meanwhile: who let go of it last may grasp it again at once. */
  readonly loose?: boolean
  /** Also out of another's hand. */
  readonly wrest?: boolean
  /** Above all others. */
  readonly raise?: boolean
}

/** What a piece tells, and what the listener gets. */
export interface PieceEvents {
  /** Somebody was first, and what was under way here is void: let go of it. */
  conflict: { readonly by: MemberInfo | null }
  /** An update of ours cannot be; the promise says so too. */
  refused: { readonly reason: string; readonly by: MemberInfo | null }
  /** We held it and do not any more: told at once, whether something was under way or not. */
  lost: LostHold
  /** It was told, or something was done to it here. */
  changed: void
  /** There is no such piece any more. */
  gone: void
}

/** A change of some fields. */
export type PiecePatch<F extends Fields> = {
  readonly [Name in keyof F]?: NonNullable<StateOf<F>[Name]>
}

/** A piece. What is done to it is shown at once, and the promise says what came of it. */
export interface PieceHandle<F extends Fields = Fields> extends Emitter<PieceEvents> {
  /** Unique in the session, for ever. Actions find the piece by it. */
  readonly id: string
  /** The definition that it was made by. */
  readonly type: PieceType<F>
  /** As shown here: what was told, with our own updates on top. A hidden field is null. */
  readonly state: Readonly<StateOf<F>>
  /** Who holds it; null for nobody, and until who left it in their hand has been freed of it. */
  readonly holder: MemberInfo | null
  /** Who changed it last; null for the game itself, and for somebody who has left. */
  readonly lastBy: MemberInfo | null
  /** Its level, a text that compares; `session.all` has the lowest first. */
  readonly z: string
  /** Updates of ours have no outcome yet. */
  readonly pending: boolean
  /** Whether there is such a piece; false for ever once it is gone. */
  readonly alive: boolean
  /**
   * Changes some fields. Shown at once; the outcome comes within a round trip to the primary.
   *
   * A value that does not fit its field is the outcome `unfit`. It rejects, as all verbs here do,
   * with a HoldfastError: `bad-value` for a name that is no field or a value of another kind,
   * `left` once the session was left; and with the reason of a signal that aborts.
   */
  update(patch: PiecePatch<F>, call?: PieceCall): Promise<PieceOutcome>
  /** Takes hold of it: nobody else changes it until we let go. */
  grab(grip?: Grip): Promise<PieceOutcome>
  /** Lets go of it, with a last change. */
  release(patch?: PiecePatch<F>, call?: PieceCall): Promise<PieceOutcome>
  /** Puts it above all others. */
  raise(call?: PieceCall): Promise<PieceOutcome>
  /** Puts it below all others. */
  lower(call?: PieceCall): Promise<PieceOutcome>
  /** Between two others; null stands for the table and for the eye. */
  level(
    low: PieceHandle<Fields> | null,
    high: PieceHandle<Fields> | null,
    call?: PieceCall,
  ): Promise<PieceOutcome>
}

/** What a handle needs of its session. */
export interface PieceHost {
  readonly reports: Reports
  /** As it is shown; null if there is none. */
  shown(id: number): Row | null
  /** Null for who is not here. */
  member(player: number): MemberInfo | null
  readonly player: number
  /** The session was left. */
  readonly left: boolean
  /** @throws HoldfastError `watching` in a member that only watches */
  checkPlays(verb: string): void
  /** How many updates of ours are under way, and whether one is loose. */
  pendingOf(id: number): { count: number; regrab: boolean }
  above(): string
  below(): string
  /** @throws HoldfastError */
  ask(id: number, op: Op, regrab: boolean): Promise<PieceOutcome>
  /** Something is shown that was not. */
  onTouched(handle: PieceHandle): void
}

const EVENTS = ['conflict', 'refused', 'lost', 'changed', 'gone'] as const

/** Why what was under way is void, though nobody was first. */
const AWAY = 'you were out of touch, and it was let go'

/** Nothing was asked for. */
const UNCHANGED: PieceOutcome = Object.freeze({ ok: true, value: { clamped: false } })

/** So many updates of one piece are under way; what is done meanwhile waits, the newest alone. */
const PENDING_MAX = 8

// What waits for others to be answered.
interface QueuedUpdate {
  op: Op
  /** It goes on from a loose grab: it is void if that was not honoured. */
  afterRegrab: boolean
  promise: Promise<PieceOutcome>
  readonly settle: (outcome: PieceOutcome | PromiseLike<PieceOutcome>) => void
}

/** See the head of this file. */
export class Piece implements PieceHandle<Fields> {
  readonly id: string
  readonly type: PieceType
  alive = true
  readonly #host: PieceHost
  // As the machine has it.
  readonly #number: number
  #events: Listeners<PieceEvents> | null = null
  #row: Row
  /** As it was told last. */
  #confirmed: Row
  #shown: Row | null = null
  #state: StateOf<Fields> | null = null
  #queue: QueuedUpdate[] = []
  // The generation that was told when the first of them began to wait.
  #since = 0

  constructor(host: PieceHost, type: PieceType, row: Row) {
    this.#host = host
    this.type = type
    this.id = idOf(row.id)
    this.#number = row.id
    this.#row = row
    this.#confirmed = row
  }

  /** Not for users: as it is shown. */
  get row(): Row {
    this.#shown ??= this.#withQueued(this.#host.shown(this.#number) ?? this.#row)
    this.#row = this.#shown
    return this.#shown
  }

  #withQueued(published: Row): Row {
    let row = published
    for (const { op } of this.#queue) {
      const fields = [...row.fields]
      setFields(this.type.schema, fields, op.fields, op.mask)
      const heldBy = op.hold === 'release' ? 0 : op.hold === 'keep' ? row.heldBy : this.#host.player
      row = { ...row, fields, z: op.z ?? row.z, heldBy }
    }
    return row
  }

  get state(): StateOf<Fields> {
    this.#state ??= Object.freeze(stateOf(this.type.schema, this.row)) as StateOf<Fields>
    return this.#state
  }

  get holder(): MemberInfo | null {
    return this.#member(this.row.heldBy)
  }

  get lastBy(): MemberInfo | null {
    return this.#member(this.row.by)
  }

  #member(player: number): MemberInfo | null {
    return player === 0 ? null : this.#host.member(player)
  }

  get z(): string {
    return this.row.z
  }

  get pending(): boolean {
    return this.#queue.length > 0 || this.#host.pendingOf(this.#number).count > 0
  }

  async update(patch: PiecePatch<Fields>, call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#change('keep', patch, call)
  }

  grab({ loose = false, wrest = false, raise = false, signal }: Grip = {}): Promise<PieceOutcome> {
    const z = raise ? this.#host.above() : null
    const op: Op = { hold: wrest ? 'wrest' : 'grab', mask: 0, fields: [], z }
    return this.#do(op, { signal }, loose && !wrest)
  }

  async release(patch: PiecePatch<Fields> = {}, call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#change('release', patch, call)
  }

  raise(call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#do({ hold: 'keep', mask: 0, fields: [], z: this.#host.above() }, call)
  }

  lower(call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#do({ hold: 'keep', mask: 0, fields: [], z: this.#host.below() }, call)
  }

  level(
    low: PieceHandle<Fields> | null,
    high: PieceHandle<Fields> | null,
    call: PieceCall = {},
  ): Promise<PieceOutcome> {
    const z = between(low?.z ?? null, high?.z ?? null)
    return this.#do({ hold: 'keep', mask: 0, fields: [], z }, call)
  }

  on<Name extends keyof PieceEvents>(
    name: Name,
    listener: (value: PieceEvents[Name]) => void,
    options?: Listen,
  ): Stop {
    this.#events ??= new Listeners('a piece', EVENTS, this.#host.reports)
    return this.#events.on(name, listener, options)
  }

  /** Not for users: it was told, or something was done to it. */
  onChanged(): void {
    this.#shown = null
    this.#state = null
    this.#discardIfBeaten()
    this.emit('changed', undefined)
  }

  /** Not for users. */
  emit<Name extends keyof PieceEvents>(name: Name, value: PieceEvents[Name]): void {
    this.#events?.emit(name, value)
  }

  async #change(
    hold: 'keep' | 'release',
    patch: PiecePatch<Fields>,
    call: PieceCall,
  ): Promise<PieceOutcome> {
    this.#check(call)
    try {
      return await this.#do({ hold, ...patched(this.type, patch), z: null }, call)
    } catch (error) {
      return unfit(error)
    }
  }

  #check({ signal }: PieceCall): void {
    signal?.throwIfAborted()
    if (this.#host.left) {
      const what = `${this.type.name} ${this.id}`
      throw new HoldfastError('left', `cannot change ${what}: the session was left`)
    }
    this.#host.checkPlays(`change ${this.type.name} ${this.id}`)
  }

  async #do(op: Op, call: PieceCall, regrab = false): Promise<PieceOutcome> {
    this.#check(call)
    const { signal } = call
    if (!this.alive) return this.refusedOutcome(GONE)
    if (op.hold === 'keep' && op.mask === 0 && op.z === null) return UNCHANGED
    // A loose grab alone may be honoured late, so what follows it waits for its answer (O51).
    const under = this.#host.pendingOf(this.#number)
    const waits = this.#queue.length > 0 || under.regrab || under.count >= PENDING_MAX
    const outcome = waits ? this.#wait(op, under.regrab) : this.#ask(op, regrab)
    return signal ? abortable(outcome, signal) : outcome
  }

  #ask(op: Op, regrab: boolean): Promise<PieceOutcome> {
    const outcome = this.#host.ask(this.#number, op, regrab)
    this.#touch()
    return outcome
  }

  #wait(op: Op, afterRegrab: boolean): Promise<PieceOutcome> {
    if (this.#queue.length === 0) this.#since = this.#host.shown(this.#number)?.gen ?? 0
    let later = this.#queue.at(-1)
    if (later?.op.hold === 'keep' && (op.hold === 'keep' || op.hold === 'release')) {
      later.op = merged(this.type, later.op, op)
    } else {
      let settle!: QueuedUpdate['settle']
      const promise = new Promise<PieceOutcome>((resolve) => (settle = resolve))
      later = { op, afterRegrab, promise, settle }
      this.#queue.push(later)
    }
    this.#touch()
    return later.promise
  }

  // What waits gives complete values: it would undo what somebody else did meanwhile.
  #discardIfBeaten(): void {
    const row = this.#queue.length > 0 ? this.#host.shown(this.#number) : null
    const others = row && lastFromOthers(row, this.#host.player)
    if (!others || others.gen <= this.#since || others.by === this.#host.player) return
    this.onConflict(others.by)
  }

  /**
   * Not for users: all that came was told. What waited goes as others are answered. Before that it
   * could go on from what is void, for news of it may still be on the way here.
   */
  pump(): void {
    while (this.#queue.length > 0) {
      const { count, regrab } = this.#host.pendingOf(this.#number)
      if (regrab || count >= PENDING_MAX) return
      const { op, afterRegrab, settle } = this.#queue.shift()!
      const row = this.#host.shown(this.#number)
      const isLost = !row || (afterRegrab && row.heldBy !== this.#host.player)
      if (isLost) settle(this.lateOutcome(row ? row.heldBy || row.by : 0))
      else settle(this.#ask(op, false))
    }
  }

  /** Not for users: what is said of an update that somebody was before; 0 for nobody. */
  lateOutcome(by: number): PieceOutcome {
    if (by !== 0) {
      const first = this.#member(by)
      return refused('late', `${first?.name ?? 'somebody who has left'} was first`, first)
    }
    // Nobody loses without a winner.
    return this.refusedOutcome(this.alive ? AWAY : GONE)
  }

  /** Not for users: the outcome of an update that was refused. @param heldBy  when it was */
  refusedOutcome(reason: string, heldBy = 0): Refused<'held' | 'refused' | 'gone'> {
    if (reason === GONE) return refused('gone', reason)
    if (reason !== HELD) return refused('refused', reason)
    const by = this.#member(heldBy)
    return refused('held', by ? `${by.name} holds it` : reason, by)
  }

  /** Not for users: somebody was first. What waits would have gone on from what is void. */
  onConflict(by: number): void {
    const outcome = this.lateOutcome(by)
    for (const { settle } of this.#queue.splice(0)) settle(outcome)
    if (by === 0) this.#emitRefused(AWAY)
    else this.emit('conflict', { by: this.#member(by) })
  }

  /** Not for users: an update cannot be. What waits went on from it. */
  onRefused(reason: string, heldBy: number): void {
    const outcome = this.refusedOutcome(reason, heldBy)
    for (const { settle } of this.#queue.splice(0)) settle(outcome)
    this.#emitRefused(reason, heldBy)
  }

  #emitRefused(said: string, heldBy = 0): void {
    const { reason, by } = this.refusedOutcome(said, heldBy)
    this.emit('refused', { reason, by: by ?? null })
  }

  /**
   * Not for users: so it was told.
   *
   * @returns whether anything of it is seen here
   */
  onPublished(row: Row): boolean {
    const before = this.#confirmed
    this.#confirmed = row
    this.#shown = null
    return !looksSame(this.type, before, row)
  }

  /** Not for users: we held it, and somebody took it; 0 for nobody. */
  onLost(by: number, why: LostHold['why']): void {
    this.emit('lost', { by: this.#member(by), why })
  }

  /** Not for users: it is gone. */
  onGone(): void {
    this.alive = false
    for (const { settle } of this.#queue.splice(0)) settle(this.lateOutcome(0))
    this.emit('gone', undefined)
  }

  #touch(): void {
    this.#shown = null
    this.#state = null
    this.#host.onTouched(this)
  }
}

/** Lowest first. */
export function lowestFirst(a: PieceHandle<Fields>, b: PieceHandle<Fields>): number {
  return byLevel((a as Piece).row, (b as Piece).row)
}

// A player who may not see a field sees no change of it.
function looksSame({ schema }: PieceType, one: Row, other: Row): boolean {
  const { heldBy, z, hidden } = one
  if (heldBy !== other.heldBy || z !== other.z || hidden !== other.hidden || hidden === 0) {
    return false
  }
  return (differing(schema, one.fields, other.fields) & ~hidden) === 0
}

// The later one wins, field by field.
function merged({ schema }: PieceType, before: Op, after: Op): Op {
  const fields = [...before.fields]
  setFields(schema, fields, after.fields, after.mask)
  const hold = after.hold === 'keep' ? before.hold : after.hold
  return { hold, mask: (before.mask | after.mask) >>> 0, fields, z: after.z ?? before.z }
}

function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', aborted, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}
