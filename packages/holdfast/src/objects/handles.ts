/** The handle of an object: its state, its owner, and the methods that change both. */

import * as motion from '../motion/motion.ts'
import * as objects from './protocol/objects.ts'
import { badValue, HoldfastError, type Millis, type PeerId, within } from '../machine.ts'
import type { Replica, Version } from './protocol/objects.ts'
import {
  differing,
  type Fields,
  type Quantised,
  quantiseInto,
  shown,
  type StateOf,
  updated,
  valueOf,
} from '../wire/fields/schema.ts'
import { type Emitter, type Listen, Listeners, type Stop } from '../api/emitter.ts'
import { type Course, isPredicted, rowOf, viewOf } from './motion.ts'
import { checkOpen, DONE, type GiveOutcome, refusal, type TakeOutcome } from '../kind/outcomes.ts'
import type { Listing } from '../kind/listing.ts'
import type { Host, MemberInfo } from '../kind/kind.ts'
import type { ObjectType, Patch } from './types.ts'
import type { Viewer } from '../kind/viewer.ts'

/** The events of an object, and what each passes to its listeners. */
export interface ObjectEvents {
  /** Its state or its owner changed; once for all changes that arrived together. */
  changed: void
  /** We own it now. */
  granted: { readonly from: MemberInfo | null }
  /** We no longer own it; changes of ours that nobody had received are lost. */
  lost: { readonly to: MemberInfo | null }
  /** A request of ours was refused; the promise has the same code. */
  denied: { readonly code: string; readonly by: MemberInfo | null }
  /** It was destroyed, or is hidden from us; `full`: the session had no room for it. */
  gone: { readonly reason: 'ended' | 'full' }
}

const EVENTS = ['changed', 'granted', 'lost', 'denied', 'gone'] as const

/** One object, live. The same object is the same handle for as long as it lives. */
export interface ObjectHandle<F extends Fields = Fields> extends Emitter<ObjectEvents> {
  /** Unique in the session and never reused; a new owner does not change it. */
  readonly id: string
  /** The definition of its type. */
  readonly type: ObjectType<F>
  /** The newest state that is known here. It is immutable; each change makes a new one. */
  readonly state: Readonly<StateOf<F>>
  /** Whether we own it, and may change it. */
  readonly mine: boolean
  /** False once it was destroyed or hidden from us, and never true again. */
  readonly alive: boolean
  /** Null for the moment in which nobody owns it. */
  readonly owner: MemberInfo | null
  /**
   * Its owner is away and may come back: their process ended, or the hub has not reached it for
   * 0.5 s. Once they are out of `members`, the server keeps the object for them. `changed` reports
   * when this becomes true or false.
   */
  readonly away: boolean
  /** Rises with each change of owner: by (epoch, count). */
  readonly version: Version
  /**
   * The state to draw now: its places are extrapolated to session time and smoothed. Own objects,
   * and objects of a type without motion, are drawn as their state.
   *
   * @param into  an object that an earlier call returned, to be filled again. Use the returned
   *   object: if `into` is a state, it is not written to
   */
  view(into?: Readonly<StateOf<F>>): Readonly<StateOf<F>>
  /**
   * Changes some fields.
   *
   * @throws HoldfastError `not-owner`, `not-found` once it ended, `left`, or `bad-value` that names
   *   the field
   */
  set(patch: Patch<F>): void
  /** Destroys it. @throws HoldfastError `not-owner`, `not-found` once it ended, `left` */
  destroy(): void
  /**
   * Asks to own it. The promise always resolves, whatever fails meanwhile: within a round trip to
   * the server; within 10 s more if its owner is asked; after 30 s in any case. A grant holds for
   * that moment: `lost` may follow.
   *
   * @throws HoldfastError code `left`
   */
  take(): Promise<TakeOutcome>
  /**
   * Gives it to a member in its present state; it may not be changed until that is decided.
   *
   * @throws HoldfastError `not-owner`, `not-found` once it ended, `left`
   */
  give(to: MemberInfo): Promise<GiveOutcome>
}

export interface HandleOwner {
  readonly viewer: Viewer
  readonly host: Host
  readonly state: objects.Objects
  /** Runs an operation on the objects; undefined once the session was left. */
  run<Result>(verb: (ctx: objects.Context) => Result): Result | undefined
  /** The fields of one of ours were changed. @returns whether the change is sent now */
  set(replica: Replica, mask: number, madeAt: Millis, waits: boolean): boolean
  ask(handle: Handle<Fields>, what: 'take' | 'give', to: PeerId): Promise<TakeOutcome & GiveOutcome>
  /** The user changed one of ours. */
  changed(handle: Handle<Fields>): void
}

export class Handle<F extends Fields> implements ObjectHandle<F> {
  readonly type: ObjectType<F>
  alive = true
  /** Not for users: the session had no room for it. */
  refused = false
  #state: StateOf<F>
  // Fields that changed since `#state` was made.
  #stale = 0
  #replica: Replica
  readonly #holder: HandleOwner
  readonly #host: Host
  #motion: motion.Motion | null
  // While we reconnect: the fields of an object of ours, until it is given back to us.
  #kept: Quantised | null = null
  // Destroyed meanwhile.
  #doomed = false
  #wasAway = false
  // The newest sample has ages, and was not shown yet.
  #measured = false
  #events: Listeners<ObjectEvents> | null = null
  // A second `take` waits for the answer to the first.
  #taking: Promise<TakeOutcome> | null = null

  constructor(holder: HandleOwner, type: ObjectType<F>, replica: Replica) {
    this.#holder = holder
    this.#host = holder.host
    this.type = type
    this.#replica = replica
    this.#state = valueOf(type.schema, replica.fields)
    this.#motion = type.course && motionOf(type.course)
    this.#took(null)
  }

  get id(): string {
    return objects.idOf(this.#replica.key)
  }

  /** Not for users. */
  get replica(): Replica {
    return this.#replica
  }

  // Built on demand: callers that only set and view never need it.
  get state(): StateOf<F> {
    if (this.#stale !== 0) {
      const fields = this.#kept ?? this.#replica.fields
      this.#state = updated(this.type.schema, this.#state, fields, this.#stale)
      this.#stale = 0
    }
    return this.#state
  }

  get mine(): boolean {
    if (this.#host.over) return false
    if (this.#kept) return this.alive
    return this.alive && this.#replica.owner === this.#me && !this.#replica.giving
  }

  get owner(): MemberInfo | null {
    if (this.#host.over) return null
    return this.#host.find(this.#kept ? this.#me : this.#replica.owner)
  }

  get away(): boolean {
    if (!this.alive || this.#kept) return false
    const { owner, former } = this.#replica
    return former !== 0 || this.#holder.state.departed.has(owner) || this.#host.isAway(owner)
  }

  /** Not for users: whether `away` changed since the last call. */
  awayChanged(): boolean {
    const before = this.#wasAway
    this.#wasAway = this.away
    return before !== this.#wasAway
  }

  get version(): Version {
    return this.#replica.version
  }

  /** Not for users: a newer state arrived. @param ages  its age at each stage */
  onChange(mask: number, ages: readonly Millis[] | null): void {
    if (this.#kept) return
    this.#stale |= mask
    this.#took(ages)
  }

  /** Not for users: we are reconnecting, and it was ours. */
  keep(): void {
    this.#kept ??= [...this.#replica.fields]
  }

  /** Not for users: whether it waits to be given back. */
  get isKept(): boolean {
    return this.#kept !== null
  }

  /** Not for users: the replica that it shows from now on. */
  rebind(replica: Replica): void {
    this.#replica = replica
    this.onOwner(0)
  }

  // If we get the object back, our state counts; if another member owns it for good, theirs does.
  // Whoever opens a stored room also owns what it holds for absent players: their state counts.
  #release(): boolean {
    const { player } = this.#host
    const { owner, former } = this.#replica
    const isOurs = owner === this.#me
    if (!this.#kept || (!isOurs && former === player)) return false
    const isBack = isOurs && (former === 0 || former === player)
    const kept = this.#kept
    this.#kept = null
    const fields = this.#replica.fields
    const mask = differing(this.type.schema, fields, kept)
    if (isBack && this.#doomed) {
      this.#holder.run((ctx) => objects.destroy(ctx, this.#replica))
    } else if (isBack) {
      for (const [place, value] of kept.entries()) fields[place] = value
      this.#put(mask)
    } else this.#stale |= mask
    return true
  }

  /** Not for users: it has another owner. */
  onOwner(before: PeerId): void {
    const returns = this.#kept !== null
    if (returns && !this.#release()) return
    if (!returns) this.#changedHands(before)
    const { course } = this.type
    const mine = before === this.#me || this.#replica.owner === this.#me
    // An object of ours is not shown through its motion, so the motion starts over.
    if (course && mine) this.#motion = motionOf(course)
    if (mine) this.#took(null)
  }

  #changedHands(before: PeerId): void {
    const me = this.#me
    const { owner } = this.#replica
    if (owner === me && before !== me) this.emit('granted', { from: this.#host.find(before) })
    else if (before === me && owner !== me) this.emit('lost', { to: this.#host.find(owner) })
  }

  #took(ages: readonly Millis[] | null): void {
    const { course } = this.type
    if (!this.#motion || !course) return
    const { viewer } = this.#holder
    const { madeAt, fields } = this.#replica
    const { came } = this.#motion
    rowOf(course, 'position', fields, came.position)
    rowOf(course, 'velocity', fields, came.velocity)
    const now = this.#host.time()
    const factor = viewer.factor ?? course.warp
    motion.addSample(this.#motion, now, Number.isNaN(madeAt) ? now : madeAt, factor, course.snap)
    if (ages) viewer.received(madeAt, ages)
    if (ages) this.#measured = true
  }

  view(into?: Readonly<StateOf<F>>): Readonly<StateOf<F>> {
    const { course } = this.type
    if (!this.#motion || !course || this.mine) return this.state
    const { viewer } = this.#holder
    const now = this.#host.time()
    // While session time is not known nothing moves.
    if (Number.isNaN(now) && Number.isNaN(this.#motion.shownAt)) return this.state
    if (!Number.isNaN(now)) {
      // The sample arrived before session time was known, so its age is not known.
      if (Number.isNaN(this.#motion.trail.sampledAt)) this.#took(null)
      motion.look(this.#motion, now, viewer.factor ?? course.warp)
      if (this.#measured) viewer.shown(this.#motion.trail.sampledAt, now)
      this.#measured = false
    }
    return viewOf(course, this.#motion, this.state, into) as StateOf<F>
  }

  set(patch: Patch<F>): void {
    this.#check('set')
    const { type } = this
    checkPatch(type, patch)
    const mask = quantised(type, patch, this.#kept ?? this.#replica.fields)
    if (mask === 0) return
    this.#stale |= mask
    if (!this.#kept) this.#put(mask)
    this.#holder.changed(this as unknown as Handle<Fields>)
  }

  // Sends fields that already have their new values.
  #put(mask: number): void {
    if (mask === 0) return
    const { course } = this.type
    const now = this.#host.changing()
    const { fields } = this.#replica
    const waits =
      course && this.#motion ? isPredicted(course, this.#motion, fields, mask, now) : false
    const isSent = this.#holder.set(this.#replica, mask, now, waits)
    // The others extrapolate from this state.
    if (isSent && course?.within) this.#took(null)
    this.#host.touch()
  }

  destroy(): void {
    this.#check('destroy')
    if (this.#kept) this.#doomed = true
    else this.#holder.run((ctx) => objects.destroy(ctx, this.#replica))
    this.alive = false
    this.#host.touch()
  }

  async take(): Promise<TakeOutcome> {
    checkOpen(this.#host, `cannot take ${this.#name}`)
    if (!this.alive) return this.#refused('gone')
    // The server does not own an object that it keeps for an absent player until it takes it.
    if (this.mine && !this.away) return DONE
    if (this.#replica.giving) return this.#refused('held')
    if (this.type.rules.take === 'fixed') return this.#refused('fixed', this.owner)
    this.#taking ??= this.#holder
      .ask(this as unknown as Handle<Fields>, 'take', this.#me)
      .finally(() => (this.#taking = null))
    return this.#taking
  }

  async give(to: MemberInfo): Promise<GiveOutcome> {
    this.#check('give')
    if (typeof (to as MemberInfo | undefined)?.inc !== 'number') {
      throw badValue(`${this.#name} is given to a member: ${shown(to)}`)
    }
    if (to.inc === this.#me) return DONE
    // While we reconnect we cannot give it to anybody.
    if (this.#kept || !this.#host.find(to.inc)) return this.#refused('away', to)
    return this.#holder.ask(this as unknown as Handle<Fields>, 'give', to.inc)
  }

  #refused(code: objects.Refusal, by: MemberInfo | null = null): TakeOutcome & GiveOutcome {
    return refusal(this.#name, code, by)
  }

  on<Name extends keyof ObjectEvents>(
    name: Name,
    listener: (value: ObjectEvents[Name]) => void,
    options?: Listen,
  ): Stop {
    this.#events ??= new Listeners('an object', EVENTS, this.#host.reports)
    return this.#events.on(name, listener, options)
  }

  emit<Name extends keyof ObjectEvents>(name: Name, value: ObjectEvents[Name]): void {
    this.#events?.emit(name, value)
  }

  get #me(): PeerId {
    return this.#holder.state.me
  }

  get #name(): string {
    return `${this.type.name} ${this.id}`
  }

  #check(verb: string): void {
    // False once the session is over.
    if (this.mine) return
    const what = `cannot ${verb} ${this.#name}`
    checkOpen(this.#host, what)
    if (!this.alive) throw new HoldfastError('not-found', `${what}: it has ended`)
    throw new HoldfastError('not-owner', `${what}: it is not mine`)
  }
}

// With `within` the extrapolation is a straight line from the newest sample alone, so the owner
// computes the same as every member that received that sample.
function motionOf({ followed, reach, within }: Course): motion.Motion {
  return motion.create(followed, reach, within === 0)
}

/** Refuses names that are no fields of the type. @throws HoldfastError code `bad-value` */
export function checkPatch<F extends Fields>(
  { name: type, schema }: ObjectType<F>,
  patch: Patch<F>,
): void {
  if (typeof patch !== 'object' || patch === null) {
    throw badValue(`${type}: a change is an object of fields: ${shown(patch)}`)
  }
  for (const name in patch) {
    if (!schema.places.has(name)) throw badValue(`${type} has no field called "${name}"`)
  }
}

/** A change in quantised fields; its mask. @throws HoldfastError `bad-value` naming the field */
export function quantised<F extends Fields>(
  type: ObjectType<F>,
  patch: Patch<F>,
  into: Quantised,
): number {
  try {
    return quantiseInto(type.schema, patch, into)
  } catch (error) {
    throw within(type.name, error)
  }
}

/**
 * All objects of a type, oldest first: an immutable array. The same array is returned until an
 * object of the type is added, changes, gets another owner or is removed, so it may be compared by
 * identity, as React and Preact do.
 *
 *     for (const pot of session.all(Pot)) draw(pot.view())
 *     session.all(Pot).on('removed', (pot) => forget(pot.id))
 *     const { subscribe, snapshot } = session.all(Card)
 *     const cards = useSyncExternalStore(subscribe, snapshot, snapshot) // the third: on a server
 */
export type Collection<F extends Fields> = Listing<ObjectHandle<F>>
