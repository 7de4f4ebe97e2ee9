/** The public handle of a piece. */

import {
  above,
  below,
  between,
  byLevel,
  GONE,
  HELD,
  lastFromOthers,
  setFields,
  type LossReason,
  type Op,
  type Pieces,
  type Row,
} from './protocol/pieces.ts'
import { differing, type Fields, type StateOf } from '../wire/fields/schema.ts'
import { type Stop, type Emitter, type Listen, Listeners } from '../api/emitter.ts'
import { idOf, patched, type PieceType, RULE_FAILED, stateOf } from './types.ts'
import type { Host, MemberInfo } from '../kind/kind.ts'
import { checkOpen, type PieceOutcome, type Refused, refused, unfit } from '../kind/outcomes.ts'

/** A hold of this player that ended without their letting go. */
export interface LostHold {
  /** The member who took it; null if nobody did, or if that member has left. */
  readonly by: MemberInfo | null
  /**
   * `taken`: a player took it by force, or an action took it. `away`: we were out of touch for so
   * long that the server released it, or a recovery lost our hold. `gone`: the piece was removed.
   */
  readonly why: LossReason
}

/** Options of every operation on a piece. */
export interface PieceCall {
  /** Aborts the waiting, not the operation. */
  readonly signal?: AbortSignal
}

/** Options of `grab`. */
export interface Grip extends PieceCall {
  /** Regrab: succeeds even if stale, if we released the piece last and nobody holds it. */
  readonly loose?: boolean
  /** Takes the piece even if another player holds it. */
  readonly wrest?: boolean
  /** Also raises the piece above all others. */
  readonly raise?: boolean
}

/** Events of a piece, with their values. */
export interface PieceEvents {
  /** Another player was first, and our pending updates are discarded: end the drag. */
  conflict: { readonly by: MemberInfo | null }
  /** An update of ours was refused; its promise reports the same. */
  refused: { readonly reason: string; readonly by: MemberInfo | null }
  /** Our hold ended without our release; emitted at once, with or without pending updates. */
  lost: LostHold
  /** Its published state or our pending updates changed. */
  changed: void
  /** The piece was removed. */
  gone: void
}

/** New values of some fields. */
export type PiecePatch<F extends Fields> = {
  readonly [Name in keyof F]?: NonNullable<StateOf<F>[Name]>
}

/** A piece. Operations show at once; their promises resolve to the outcome. */
export interface PieceHandle<F extends Fields = Fields> extends Emitter<PieceEvents> {
  /** Unique in the session, and never used again. Actions find the piece by it. */
  readonly id: string
  /** Its definition. */
  readonly type: PieceType<F>
  /** The published state with our pending updates on top. A hidden field is null. */
  readonly state: Readonly<StateOf<F>>
  /** The member who holds it; null for nobody, or for a player who has left. */
  readonly holder: MemberInfo | null
  /** The member who changed it last; null for the game itself, or for a player who has left. */
  readonly lastBy: MemberInfo | null
  /** Its level, a string that sorts; `session.all` has the lowest first. */
  readonly z: string
  /** Whether updates of ours have no outcome yet. */
  readonly pending: boolean
  /** False once the piece was removed. */
  readonly alive: boolean
  /**
   * Changes some fields. The change shows at once; the outcome takes a round trip to the primary.
   *
   * A value that does not fit its field resolves to `unfit`. Like all operations here, the promise
   * rejects with a HoldfastError: `bad-value` for an unknown field or a value of another kind,
   * `left` after the session was left. An aborted signal rejects it with the signal's reason.
   */
  update(patch: PiecePatch<F>, call?: PieceCall): Promise<PieceOutcome>
  /** Takes hold of the piece: nobody else can change it until we release it. */
  grab(grip?: Grip): Promise<PieceOutcome>
  /** Releases the piece, with a last change. */
  release(patch?: PiecePatch<F>, call?: PieceCall): Promise<PieceOutcome>
  /** Puts the piece above all others. */
  raise(call?: PieceCall): Promise<PieceOutcome>
  /** Puts the piece below all others. */
  lower(call?: PieceCall): Promise<PieceOutcome>
  /** Puts the piece between two others; a null `low` is the bottom, a null `high` the top. */
  level(
    low: PieceHandle<Fields> | null,
    high: PieceHandle<Fields> | null,
    call?: PieceCall,
  ): Promise<PieceOutcome>
}

/** The part of the registry that a handle uses. */
export interface PieceOwner {
  readonly host: Host
  readonly state: Pieces
  /** The piece as shown; null if it does not exist. */
  shown(id: number): Row | null
  /** All pieces as shown, queued updates included. */
  rows(): Iterable<Row>
  /** @throws HoldfastError */
  ask(id: number, op: Op, regrab: boolean): Promise<PieceOutcome>
  /** The shown state changed. */
  onTouched(handle: PieceHandle): void
}

const EVENTS = ['conflict', 'refused', 'lost', 'changed', 'gone'] as const

/** Why pending updates were discarded although nobody else was first. */
const AWAY = 'you were out of touch, and it was let go'

const UNCHANGED: PieceOutcome = Object.freeze({ ok: true, value: { clamped: false } })

/** Most pending updates of one piece; later ones are queued and merged. */
const PENDING_MAX = 8

// An update that waits for earlier outcomes.
interface QueuedUpdate {
  op: Op
  /** It follows a regrab: discarded if the regrab was not granted. */
  afterRegrab: boolean
  promise: Promise<PieceOutcome>
  readonly settle: (outcome: PieceOutcome | PromiseLike<PieceOutcome>) => void
}

export class Piece implements PieceHandle<Fields> {
  readonly id: string
  readonly type: PieceType
  alive = true
  readonly #owner: PieceOwner
  // The id in the protocol.
  readonly #number: number
  #events: Listeners<PieceEvents> | null = null
  #row: Row
  /** As published last. */
  #confirmed: Row
  #shown: Row | null = null
  #state: StateOf<Fields> | null = null
  #queue: QueuedUpdate[] = []
  // The published generation when the first queued update began to wait.
  #since = 0

  constructor(owner: PieceOwner, type: PieceType, row: Row) {
    this.#owner = owner
    this.type = type
    this.id = idOf(row.id)
    this.#number = row.id
    this.#row = row
    this.#confirmed = row
  }

  /** Internal: the piece as shown, queued updates included. */
  get row(): Row {
    this.#shown ??= this.#withQueued(this.#owner.shown(this.#number) ?? this.#row)
    this.#row = this.#shown
    return this.#shown
  }

  #withQueued(published: Row): Row {
    let row = published
    for (const { op } of this.#queue) {
      const fields = [...row.fields]
      setFields(this.type.schema, fields, op.fields, op.mask)
      const heldBy = op.hold === 'release' ? 0 : op.hold === 'keep' ? row.heldBy : this.#player
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
    return player === 0 ? null : this.#owner.host.findPlayer(player)
  }

  get #player(): number {
    return this.#owner.state.player
  }

  // How many of our updates are pending, and whether one of them is a regrab.
  #pending(): { count: number; regrab: boolean } {
    const pending = this.#owner.state.pending.get(this.#number) ?? []
    return { count: pending.length, regrab: pending.some(({ regrab }) => regrab) }
  }

  get z(): string {
    return this.row.z
  }

  get pending(): boolean {
    return this.#queue.length > 0 || this.#pending().count > 0
  }

  async update(patch: PiecePatch<Fields>, call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#change('keep', patch, call)
  }

  grab({ loose = false, wrest = false, raise = false, signal }: Grip = {}): Promise<PieceOutcome> {
    const z = raise ? above(this.#owner.rows()) : null
    const op: Op = { hold: wrest ? 'wrest' : 'grab', mask: 0, fields: [], z }
    return this.#do(op, { signal }, loose && !wrest)
  }

  async release(patch: PiecePatch<Fields> = {}, call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#change('release', patch, call)
  }

  raise(call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#do({ hold: 'keep', mask: 0, fields: [], z: above(this.#owner.rows()) }, call)
  }

  lower(call: PieceCall = {}): Promise<PieceOutcome> {
    return this.#do({ hold: 'keep', mask: 0, fields: [], z: below(this.#owner.rows()) }, call)
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
    this.#events ??= new Listeners('a piece', EVENTS, this.#owner.host.reports)
    return this.#events.on(name, listener, options)
  }

  /** Internal: the published state or our updates changed. */
  onChanged(): void {
    this.#shown = null
    this.#state = null
    this.#discardIfBeaten()
    this.emit('changed', undefined)
  }

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
    const change = `change ${this.type.name} ${this.id}`
    checkOpen(this.#owner.host, `cannot ${change}`)
    this.#owner.host.checkPlays(change)
  }

  async #do(op: Op, call: PieceCall, regrab = false): Promise<PieceOutcome> {
    this.#check(call)
    const { signal } = call
    if (!this.alive) return this.refusedOutcome(GONE)
    if (op.hold === 'keep' && op.mask === 0 && op.z === null) return UNCHANGED
    // Only a regrab may be granted although stale, so later updates wait for its outcome (O51).
    const under = this.#pending()
    const waits = this.#queue.length > 0 || under.regrab || under.count >= PENDING_MAX
    const outcome = waits ? this.#wait(op, under.regrab) : this.#ask(op, regrab)
    return signal ? abortable(outcome, signal) : outcome
  }

  #ask(op: Op, regrab: boolean): Promise<PieceOutcome> {
    const outcome = this.#owner.ask(this.#number, op, regrab)
    this.#touch()
    return outcome
  }

  #wait(op: Op, afterRegrab: boolean): Promise<PieceOutcome> {
    if (this.#queue.length === 0) this.#since = this.#owner.shown(this.#number)?.gen ?? 0
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

  // Queued updates give complete values, so they would undo another player's newer update.
  #discardIfBeaten(): void {
    const row = this.#queue.length > 0 ? this.#owner.shown(this.#number) : null
    const others = row && lastFromOthers(row, this.#player)
    if (!others || others.gen <= this.#since || others.by === this.#player) return
    this.onConflict(others.by)
  }

  /** Internal: sends queued updates, after the turn's events, as one may discard the queue. */
  pump(): void {
    while (this.#queue.length > 0) {
      const { count, regrab } = this.#pending()
      if (regrab || count >= PENDING_MAX) return
      const { op, afterRegrab, settle } = this.#queue.shift()!
      const row = this.#owner.shown(this.#number)
      const isLost = !row || (afterRegrab && row.heldBy !== this.#player)
      if (isLost) settle(this.lateOutcome(row ? row.heldBy || row.by : 0))
      else settle(this.#ask(op, false))
    }
  }

  /** Internal: the outcome of an update that another player preceded; 0 for nobody. */
  lateOutcome(by: number): PieceOutcome {
    if (by !== 0) {
      const first = this.#member(by)
      return refused('late', `${first?.name ?? 'somebody who has left'} was first`, first)
    }
    // Without a winner the update did not lose.
    return this.refusedOutcome(this.alive ? AWAY : GONE)
  }

  /** Internal: the outcome of a refused update. @param heldBy  the holder at that time */
  refusedOutcome(reason: string, heldBy = 0): Refused<'held' | 'refused' | 'failed' | 'gone'> {
    if (reason === GONE) return refused('gone', reason)
    if (reason.startsWith(RULE_FAILED)) return refused('failed', reason)
    if (reason !== HELD) return refused('refused', reason)
    const by = this.#member(heldBy)
    return refused('held', by ? `${by.name} holds it` : reason, by)
  }

  /** Internal: another player was first. Queued updates follow discarded ones, and fail too. */
  onConflict(by: number): void {
    const outcome = this.lateOutcome(by)
    for (const { settle } of this.#queue.splice(0)) settle(outcome)
    if (by === 0) this.#emitRefused(AWAY)
    else this.emit('conflict', { by: this.#member(by) })
  }

  /** Internal: an update was refused. Queued updates follow it, and fail too. */
  onRefused(reason: string, heldBy: number): void {
    const outcome = this.refusedOutcome(reason, heldBy)
    for (const { settle } of this.#queue.splice(0)) settle(outcome)
    this.#emitRefused(reason, heldBy)
  }

  #emitRefused(sentence: string, heldBy = 0): void {
    const { reason, by } = this.refusedOutcome(sentence, heldBy)
    this.emit('refused', { reason, by: by ?? null })
  }

  /** Internal: takes a newly published state. @returns whether this player sees a difference */
  onPublished(row: Row): boolean {
    const before = this.#confirmed
    this.#confirmed = row
    this.#shown = null
    return !looksSame(this.type, before, row)
  }

  /** Internal: our hold ended; `by` is 0 if nobody took the piece. */
  onLost(by: number, why: LostHold['why']): void {
    this.emit('lost', { by: this.#member(by), why })
  }

  onGone(): void {
    this.alive = false
    for (const { settle } of this.#queue.splice(0)) settle(this.lateOutcome(0))
    this.emit('gone', undefined)
  }

  #touch(): void {
    this.#shown = null
    this.#state = null
    this.#owner.onTouched(this)
  }
}

export function lowestFirst(a: PieceHandle<Fields>, b: PieceHandle<Fields>): number {
  return byLevel((a as Piece).row, (b as Piece).row)
}

// Changes of hidden fields are not seen.
function looksSame({ schema }: PieceType, one: Row, other: Row): boolean {
  const { heldBy, z, hidden } = one
  if (heldBy !== other.heldBy || z !== other.z || hidden !== other.hidden || hidden === 0) {
    return false
  }
  return (differing(schema, one.fields, other.fields) & ~hidden) === 0
}

// Merges two queued updates: the later wins, field by field.
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
