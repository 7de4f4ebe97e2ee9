/** What a user holds of an object: its state, and if it is theirs, the means to change it. */

import { HoldfastError } from '../machine.ts'
import type { Fields, StateOf } from '../wire/schema.ts'
import type { MemberInfo, ObjectType, Patch } from './types.ts'

/** One object, live. The same object is the same handle for as long as it lives. */
export interface ObjectHandle<F extends Fields = Fields> {
  /** Unique in the session; changes only if its owner came back with a new incarnation. */
  readonly id: string
  readonly type: ObjectType<F>
  /** The newest state that is known here. */
  readonly state: StateOf<F>
  readonly mine: boolean
  readonly alive: boolean
  /** Null for the moment in which its owner is on the way back. */
  readonly owner: MemberInfo | null
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
}

/** See ObjectHandle. */
export class Handle<F extends Fields> implements ObjectHandle<F> {
  id: string
  readonly type: ObjectType<F>
  state: StateOf<F>
  readonly mine: boolean
  alive = true
  readonly #host: HandleHost

  constructor(host: HandleHost, id: string, type: ObjectType<F>, state: StateOf<F>, mine: boolean) {
    this.#host = host
    this.id = id
    this.type = type
    this.state = state
    this.mine = mine
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
    const next = { ...this.state, ...patch }
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
