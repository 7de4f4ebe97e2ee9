/** What a user holds of an object: its state, who owns it, and the means to change that. */

import { badValue, HoldfastError, type Millis, type PeerId, within } from '../machine.ts'
import * as motion from '../motion/motion.ts'
import * as objects from './protocol/objects.ts'
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
import { DONE, type GiveOutcome, refusal, type TakeOutcome } from '../kind/outcomes.ts'
import type { Listing } from '../kind/listing.ts'
import type { Host, MemberInfo } from '../kind/kind.ts'
import type { ObjectType, Patch } from './types.ts'
import type { Viewer } from '../kind/viewer.ts'

/** What an object tells, and what the listener gets. */
export interface ObjectEvents {
  /** Its state is another, or its owner is; once for all that came together. */
  changed: void
  /** It is ours now. */
  granted: { readonly from: MemberInfo | null }
  /** It is ours no more; what we wrote and nobody had seen is lost. */
  lost: { readonly to: MemberInfo | null }
  /** What we asked for was refused, for the reason that the promise says too. */
  denied: { readonly code: string; readonly by: MemberInfo | null }
  /** It has ended, or we may not see it any more; `full`: the session had no room for it. */
  gone: { readonly reason: 'ended' | 'full' }
}

const EVENTS = ['changed', 'granted', 'lost', 'denied', 'gone'] as const

/** One object, live. The same object is the same handle for as long as it lives. */
export interface ObjectHandle<F extends Fields = Fields> extends Emitter<ObjectEvents> {
  /** Unique in the session, for ever: it stays when the object changes hands. */
  readonly id: string
  /** The definition that it was made by. */
  readonly type: ObjectType<F>
  /** The newest state that is known here. It never changes: a new one takes its place. */
  readonly state: Readonly<StateOf<F>>
  /** Whether we own it, and may change it. */
  readonly mine: boolean
  /** False for ever once it ended, or may not be seen any more. */
  readonly alive: boolean
  /** Null for the moment in which it is with nobody. */
  readonly owner: MemberInfo | null
  /**
   * Its owner is away and may come back: their process ended or was killed, or the hub has not
   * reached it for 0.5 s. Once they are out of `members`, the server keeps it meanwhile. `changed`
   * tells when that is so, and when it is so no more.
   */
  readonly away: boolean
  /** Rises with each change of owner: by (epoch, count). */
  readonly version: Version
  /**
   * What to draw now: the state with its places moved on to session time, and eased into what
   * came last. What is one's own, or of a type without motion, is drawn as its state.
   *
   * @param into  an object that an earlier call returned, to be used again; what is returned
   *   counts, for a state is never written to
   */
  view(into?: Readonly<StateOf<F>>): Readonly<StateOf<F>>
  /**
   * Changes some fields.
   *
   * @throws HoldfastError `not-owner`, `not-found` once it ended, `left`, or `bad-value` that names
   *   the field
   */
  set(patch: Patch<F>): void
  /** Ends it. @throws HoldfastError `not-owner`, `not-found` once it ended, `left` */
  destroy(): void
  /**
   * Asks to own it. It always ends, whoever dies, gives, or is cut off meanwhile: within a round
   * trip to the server; where its owner is asked, within 10 s more; after 30 s in any case. Granted
   * is of that moment: it may be followed by `lost`.
   *
   * @throws HoldfastError code `left`
   */
  take(): Promise<TakeOutcome>
  /**
   * Gives it to a member with the state it has now; until that is decided it may not be changed.
   *
   * @throws HoldfastError `not-owner`, `not-found` once it ended, `left`
   */
  give(to: MemberInfo): Promise<GiveOutcome>
}

/** What a handle needs of the registry that has it. */
export interface HandleOwner {
  readonly viewer: Viewer
  readonly host: Host
  readonly state: objects.Objects
  /** Runs a verb of the objects; undefined when the session was left. */
  run<Result>(verb: (context: objects.Context) => Result): Result | undefined
  /** The fields of one of ours were changed. @returns whether that is said */
  set(replica: Replica, mask: number, madeAt: Millis, waits: boolean): boolean
  ask(handle: Handle<Fields>, what: 'take' | 'give', to: PeerId): Promise<TakeOutcome & GiveOutcome>
  /** The user changed one of ours. */
  changed(handle: Handle<Fields>): void
}

/** See ObjectHandle. */
export class Handle<F extends Fields> implements ObjectHandle<F> {
  readonly type: ObjectType<F>
  alive = true
  /** Not for users: the session had no room for it. */
  refused = false
  #state: StateOf<F>
  // Fields that changed since it was made.
  #stale = 0
  #replica: Replica
  readonly #holder: HandleOwner
  readonly #host: Host
  #motion: motion.Motion | null
  // Ours as it goes on while we are on the way back, until it is given to us again.
  #kept: Quantised | null = null
  // Destroyed meanwhile.
  #doomed = false
  #wasAway = false
  // What came is measured, and was not shown yet.
  #measured = false
  #events: Listeners<ObjectEvents> | null = null
  // Who asks twice waits for one answer.
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

  // Made when somebody looks: who only sets and views never does.
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

  /** Not for users: whether that is another answer than this gave last. */
  awayChanged(): boolean {
    const before = this.#wasAway
    this.#wasAway = this.away
    return before !== this.#wasAway
  }

  get version(): Version {
    return this.replica.version
  }

  /** Not for users: a newer state came, with these fields, so old at each stage. */
  onChange(mask: number, ages: readonly Millis[] | null): void {
    if (this.#kept) return
    this.#stale |= mask
    this.#took(ages)
  }

  /** Not for users: we are on the way back, and it was ours. */
  keep(): void {
    this.#kept ??= [...this.#replica.fields]
  }

  /** Not for users: whether it waits to be given back. */
  get isKept(): boolean {
    return this.#kept !== null
  }

  /** Not for users: what stands for it from now on. */
  rebind(replica: Replica): void {
    this.#replica = replica
    this.onOwner(0)
  }

  // Given back, it goes on as we have it; with somebody else for good, it goes on as they have it.
  #release(): boolean {
    const { player } = this.#host
    const me = this.#me
    const { owner, former } = this.#replica
    if (!this.#kept || (owner !== me && former === player)) return false
    const kept = this.#kept
    this.#kept = null
    const fields = this.#replica.fields
    const mask = differing(this.type.schema, fields, kept)
    if (owner === me && this.#doomed) {
      this.#holder.run((context) => objects.destroy(context, this.#replica))
    } else if (owner === me) {
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
    const mine = before === this.#me || this.replica.owner === this.#me
    // What we moved ourselves was not shown by its motion.
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
    this.#sample(this.#replica.fields)
    const now = this.#host.time()
    const { madeAt } = this.replica
    const factor = viewer.factor ?? course.warp
    motion.addSample(this.#motion, now, Number.isNaN(madeAt) ? now : madeAt, factor, course.snap)
    if (ages) viewer.received(madeAt, ages)
    if (ages) this.#measured = true
  }

  #sample(fields: Quantised): void {
    const { came } = this.#motion!
    rowOf(this.type.course!, 'position', fields, came.position)
    rowOf(this.type.course!, 'velocity', fields, came.velocity)
  }

  view(into?: Readonly<StateOf<F>>): Readonly<StateOf<F>> {
    const { course } = this.type
    if (!this.#motion || !course || this.mine) return this.state
    const { viewer } = this.#holder
    const now = this.#host.time()
    // Without the time nothing moves.
    if (Number.isNaN(now) && Number.isNaN(this.#motion.shownAt)) return this.state
    if (!Number.isNaN(now)) {
      // It came before the time was known: how old it was nobody can say.
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

  // The fields are as they are to be.
  #put(mask: number): void {
    if (mask === 0) return
    const { course } = this.type
    const now = this.#host.changing()
    const { fields } = this.#replica
    const waits =
      course && this.#motion ? isPredicted(course, this.#motion, fields, mask, now) : false
    const said = this.#holder.set(this.#replica, mask, now, waits)
    // From here the others go on.
    if (said && course?.within) this.#took(null)
    this.#host.touch()
  }

  destroy(): void {
    this.#check('destroy')
    if (this.#kept) this.#doomed = true
    else this.#holder.run((context) => objects.destroy(context, this.#replica))
    this.alive = false
    this.#host.touch()
  }

  async take(): Promise<TakeOutcome> {
    this.#checkLeft('take')
    if (!this.alive) return this.#refused('gone')
    // What the server keeps for somebody who is away is not its own before it takes it.
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
    // On the way back we cannot say to whom it goes.
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

  /** Not for users. */
  emit<Name extends keyof ObjectEvents>(name: Name, value: ObjectEvents[Name]): void {
    this.#events?.emit(name, value)
  }

  get #me(): PeerId {
    return this.#holder.state.me
  }

  get #name(): string {
    return `${this.type.name} ${this.id}`
  }

  #checkLeft(verb: string): void {
    if (!this.#host.over) return
    throw new HoldfastError('left', `cannot ${verb} ${this.#name}: the session was left`)
  }

  #check(verb: string): void {
    this.#checkLeft(verb)
    if (this.mine) return
    const what = `cannot ${verb} ${this.#name}`
    if (!this.alive) throw new HoldfastError('not-found', `${what}: it has ended`)
    throw new HoldfastError('not-owner', `${what}: it is not mine`)
  }
}

// What is reckoned goes straight on from the newest sample alone, so that it is the same for the
// owner and for all who got that sample, whatever else they got.
function motionOf({ followed, reach, within }: Course): motion.Motion {
  return motion.create(followed, reach, within === 0)
}

/** Refuses what names fields that there are not. @throws HoldfastError code `bad-value` */
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
 * All objects of a type that are here, oldest first, as they are now: an array that never changes.
 * The same one is returned until an object of the type comes, changes, changes hands or goes; so it
 * may be compared, as React and Preact do.
 *
 *     for (const pot of session.all(Pot)) draw(pot.view())
 *     session.all(Pot).on('removed', (pot) => forget(pot.id))
 *     const { subscribe, snapshot } = session.all(Card)
 *     const cards = useSyncExternalStore(subscribe, snapshot, snapshot) // the third: on a server
 */
export type Collection<F extends Fields> = Listing<ObjectHandle<F>>
