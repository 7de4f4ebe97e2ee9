/** What a user holds of an object: its state, and if it is theirs, the means to change it. */

import { HoldfastError, type Millis } from '../machine.ts'
import * as motion from '../motion/motion.ts'
import { changed, type Fields, type StateOf } from '../wire/schema.ts'
import { rowOf, viewOf } from './motion.ts'
import type { MemberInfo, ObjectType, Patch } from './types.ts'
import type { Viewer } from './viewer.ts'

/** One object, live. The same object is the same handle for as long as it lives. */
export interface ObjectHandle<F extends Fields = Fields> {
  /** Unique in the session; changes only if its owner came back with a new incarnation. */
  readonly id: string
  readonly type: ObjectType<F>
  /** The newest state that is known here. It never changes: a new one takes its place. */
  readonly state: StateOf<F>
  readonly mine: boolean
  readonly alive: boolean
  /** Null for the moment in which its owner is on the way back. */
  readonly owner: MemberInfo | null
  /**
   * What to draw now: the state with its places moved on to session time, and eased into what
   * came last. What is one's own, or of a type without motion, is drawn as its state.
   *
   * @param into  an object that an earlier call returned, to be used again; what is returned
   *   counts, for a state is never written to
   */
  view(into?: StateOf<F>): StateOf<F>
  /** Changes some fields. @throws HoldfastError `not-owner`, or `bad-value` naming the field */
  set(patch: Patch<F>): void
  /** Ends it. @throws HoldfastError code `not-owner` */
  destroy(): void
}

/** What a handle needs of its session. */
export interface HandleHost {
  changed(handle: Handle<Fields>, next: StateOf<Fields>): void
  destroyed(handle: Handle<Fields>): void
  ownerOf(handle: Handle<Fields>): MemberInfo | null
  readonly viewer: Viewer
}

/** See ObjectHandle. */
export class Handle<F extends Fields> implements ObjectHandle<F> {
  id: string
  readonly type: ObjectType<F>
  state: StateOf<F>
  readonly mine: boolean
  alive = true
  readonly #host: HandleHost
  readonly #motion: motion.Motion | null
  // What came is measured, and was not shown yet.
  #measured = false

  constructor(
    host: HandleHost,
    id: string,
    type: ObjectType<F>,
    state: StateOf<F>,
    mine: boolean,
    madeAt: Millis = NaN,
  ) {
    this.#host = host
    this.id = id
    this.type = type
    this.state = state
    this.mine = mine
    this.#motion = type.course && !mine ? motion.create(type.course.followed) : null
    this.told(state, madeAt, null)
  }

  /** Not for users: a newer state came, made at that session time, so old at each stage. */
  told(state: StateOf<F>, madeAt: Millis, ages: readonly Millis[] | null): void {
    this.state = state
    const { course } = this.type
    if (!this.#motion || !course) return
    const { viewer } = this.#host
    const { came } = this.#motion
    rowOf(course, 'position', state, came.position)
    rowOf(course, 'velocity', state, came.velocity)
    const now = viewer.now()
    const factor = viewer.factor ?? course.warp
    motion.take(this.#motion, now, Number.isNaN(madeAt) ? now : madeAt, factor, course.snap)
    if (ages) viewer.received(madeAt, ages)
    if (ages) this.#measured = true
  }

  view(into?: StateOf<F>): StateOf<F> {
    const { course } = this.type
    if (!this.#motion || !course) return this.state
    const { viewer } = this.#host
    const now = viewer.now()
    // Without the time nothing moves.
    if (Number.isNaN(now) && Number.isNaN(this.#motion.shownAt)) return this.state
    if (!Number.isNaN(now)) {
      // It came before the time was known: how old it was nobody can say.
      if (Number.isNaN(this.#motion.trail.sampledAt)) this.told(this.state, now, null)
      motion.look(this.#motion, now, viewer.factor ?? course.warp)
      if (this.#measured) viewer.shown(this.#motion.trail.sampledAt, now)
      this.#measured = false
    }
    return viewOf(course, this.#motion, this.state, into) as StateOf<F>
  }

  get owner(): MemberInfo | null {
    return this.#host.ownerOf(this as unknown as Handle<Fields>)
  }

  set(patch: Patch<F>): void {
    this.#check('set')
    for (const name of Object.keys(patch)) {
      if (name in this.type.schema.fields) continue
      throw new HoldfastError('bad-value', `${this.type.name} has no field called "${name}"`)
    }
    const next = changed<F>(this.state, patch)
    // It throws if the state cannot be told to others: then it is not ours either.
    this.#host.changed(this as unknown as Handle<Fields>, next)
    this.state = next
  }

  destroy(): void {
    this.#check('destroy')
    this.alive = false
    this.#host.destroyed(this as unknown as Handle<Fields>)
  }

  #check(verb: string): void {
    const what = `${this.type.name} ${this.id}`
    if (!this.mine) throw new HoldfastError('not-owner', `cannot ${verb} ${what}: it is not mine`)
    if (!this.alive) throw new HoldfastError('not-found', `cannot ${verb} ${what}: it is destroyed`)
  }
}
