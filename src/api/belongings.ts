/**
 * The objects of a session as its user sees them: handles and collections over the objects room,
 * and the promises of what was asked for.
 */

import { badValue, type ErrorCode, HoldfastError, type PeerId } from '../machine.ts'
import * as objects from '../objects/objects.ts'
import type { Answer, ObjectEvent } from '../objects/objects.ts'
import { type Fields, initialState, quantise, shown, type StateOf } from '../wire/schema.ts'
import { type Collection, Gatherings } from './collection.ts'
import type { Asking } from './events.ts'
import { checkPatch, Handle, type HandleHost, type ObjectHandle, quantised } from './handles.ts'
import type { Reports } from './reports.ts'
import type { ObjectType } from './types.ts'

/** What the objects need of their session. */
export interface Household extends Pick<
  HandleHost,
  'viewer' | 'player' | 'find' | 'turn' | 'set' | 'touch'
> {
  readonly types: readonly ObjectType<Fields>[]
  readonly reports: Reports
  readonly state: objects.Objects
  /** Its id. */
  readonly session: string
  /** Objects came, changed or went. */
  changed(): void
  /** Somebody asks for one of ours. @returns whether anybody listens */
  asked(asking: Asking): boolean
}

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** See the head of this file. */
export class Belongings {
  readonly #house: Household
  readonly #host: HandleHost
  readonly #handles = new Map<number, Handle<Fields>>()
  readonly #gatherings: Gatherings<ObjectType<Fields>, ObjectHandle<Fields>>
  readonly #waiting = new Map<number, Waiting>()
  // Ours in a session that is lost, to be made anew in this one, where its number may be another's.
  readonly #homeless = new Set<Handle<Fields>>()
  // The incarnation that we were at the last view, and its session.
  #me: PeerId = 0
  #session = ''

  constructor(house: Household) {
    this.#house = house
    this.#gatherings = new Gatherings(house.types, house.reports)
    this.#host = {
      viewer: house.viewer,
      get me() {
        return house.state.me
      },
      get player() {
        return house.player
      },
      find: (inc) => house.find(inc),
      turn: (verb) => house.turn(verb),
      set: (replica, mask, madeAt, waits) => house.set(replica, mask, madeAt, waits),
      touch: () => house.touch(),
      ask: (handle, what, to) => this.#ask(handle, what, to),
      changed: (handle) => this.#gatherings.touch(handle.type),
    }
  }

  /** A new object of ours. @throws HoldfastError `bad-value`, `not-found`, `full` */
  create<F extends Fields>(type: ObjectType<F>, state: Partial<StateOf<F>>): ObjectHandle<F> {
    const place = this.#placeOf(type)
    const { living } = this.#house.state
    if (living >= objects.OBJECTS_MAX) {
      const limit = `a session has ${objects.OBJECTS_MAX} objects at most: ${living}`
      throw new HoldfastError('full', `cannot create ${type.name}: ${limit}`)
    }
    const fields = quantise(type.schema, initialState(type.schema))
    checkPatch(type, state)
    quantised(type, state, fields)
    const now = this.#house.viewer.changing()
    const replica = this.#house.turn((turn) => objects.spawn(turn, place, fields, now))
    this.#house.touch()
    if (!this.#handles.has(replica!.key)) this.#came(replica!)
    return this.#handles.get(replica!.key) as unknown as ObjectHandle<F>
  }

  /** All of a type. @throws HoldfastError code `not-found` */
  all<F extends Fields>(type: ObjectType<F>): Collection<F> {
    this.#placeOf(type)
    const gathering = this.#gatherings.of(type as unknown as ObjectType<Fields>)
    return gathering.snapshot() as unknown as Collection<F>
  }

  /** Something happened to an object. */
  told(event: ObjectEvent): void {
    if (event.kind === 'object-answer') return this.#answered(event.request, event.answer)
    if (event.kind === 'objects-told') return
    if (event.kind === 'objects-settled') return this.#counted()
    const replica = this.#house.state.replicas.get(event.key)
    const handle = this.#handles.get(event.key)
    if (event.kind === 'object-asked') return this.#asked(handle, event.by)
    if (event.kind === 'object-went' || !replica) return this.#went(event.key)
    if (handle && handle.replica !== replica) handle.rebind(replica)
    if (!handle) return objects.isSeen(replica) ? this.#came(replica) : undefined
    if (event.kind === 'object-owner') handle.owned(event.before)
    else if (event.kind === 'object-changed') handle.told(event.mask, event.ages)
    this.#gatherings.touch(handle.type)
  }

  #came(replica: objects.Replica): void {
    const type = this.#house.types[replica.type]
    if (!type) return
    const handle = new Handle(this.#host, type, replica)
    this.#handles.set(replica.key, handle)
    this.#gatherings.of(type).add(handle)
    this.#gatherings.touch(type)
  }

  #went(key: number): void {
    const handle = this.#handles.get(key)
    if (!handle) return
    this.#handles.delete(key)
    this.#ended(handle)
  }

  #ended(handle: Handle<Fields>): void {
    handle.alive = false
    this.#gatherings.of(handle.type).delete(handle)
    this.#gatherings.touch(handle.type)
  }

  /** All events of a verb were told. */
  settled(): void {
    if (this.#gatherings.tell()) this.#house.changed()
  }

  /** We are a new incarnation: what was ours is to be given back, what was not will be told. */
  renewed(): void {
    const before = this.#me
    const moved = this.#session !== this.#house.session
    this.#me = this.#house.state.me
    this.#session = this.#house.session
    for (const [key, handle] of this.#handles) {
      if (this.#house.state.replicas.get(key) === handle.replica) continue
      // What we only kept for somebody who is away was not ours.
      const { owner, former } = handle.replica
      if ((owner === before && former === 0) || handle.isKept) handle.keep()
      else this.#went(key)
      if (!moved || !handle.isKept) continue
      this.#handles.delete(key)
      this.#homeless.add(handle)
    }
  }

  // All that the primary has was told. What was ours and nobody has kept we make anew.
  #counted(): void {
    for (const [key, handle] of this.#handles) {
      if (!handle.isKept || this.#house.state.replicas.has(key)) continue
      this.#handles.delete(key)
      this.#homeless.add(handle)
    }
    for (const handle of this.#homeless) {
      if (handle.type.rules.onOwnerLeave === 'keep') this.#ended(handle)
      else this.#remake(handle)
    }
    this.#homeless.clear()
  }

  #remake(handle: Handle<Fields>): void {
    const { type } = handle
    const now = this.#house.viewer.changing()
    const fields = quantise(type.schema, handle.state)
    const place = this.#placeOf(type)
    const replica = this.#house.turn((turn) => objects.spawn(turn, place, fields, now))
    if (!replica) return
    this.#handles.set(replica.key, handle)
    handle.rebind(replica)
    this.#house.touch()
  }

  #ask(handle: Handle<Fields>, what: 'take' | 'give', to: PeerId): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { replica } = handle
      const asked = this.#house.turn((turn) => {
        const { nextRequest } = turn.objects
        // Before it is asked: a primary answers itself at once.
        this.#waiting.set(nextRequest, { resolve, reject })
        return objects.request(turn, replica, what, to)
      })
      if (asked === undefined)
        reject(new HoldfastError('left', `cannot ${what}: the session was left`))
      this.#house.touch()
    })
  }

  #answered(request: number, answer: Answer): void {
    this.#waiting.get(request)?.resolve(answer)
    this.#waiting.delete(request)
  }

  #asked(handle: Handle<Fields> | undefined, inc: PeerId): void {
    const by = this.#house.find(inc)
    if (!handle || !by) return
    let open = true
    const reply = (yes: boolean): void => {
      if (!open) return
      open = false
      if (!handle.mine) return
      this.#house.turn((turn) => objects.reply(turn, handle.replica, inc, yes))
      this.#house.touch()
    }
    const asking = { object: handle, by, grant: () => reply(true), refuse: () => reply(false) }
    if (!this.#house.asked(asking)) reply(false)
  }

  /** Nothing more will come: what waits is told so. */
  end(code: ErrorCode, why: string): void {
    for (const one of this.#waiting.values()) one.reject(new HoldfastError(code, why))
    this.#waiting.clear()
  }

  #placeOf(type: ObjectType<Fields> | ObjectType<never>): number {
    if ((type as ObjectType<Fields> | undefined)?.kind !== 'object') {
      throw badValue(`a type of objects is made by object(): ${shown(type)}`)
    }
    const place = this.#house.types.indexOf(type as ObjectType<Fields>)
    if (place >= 0) return place
    throw new HoldfastError('not-found', `the type "${type.name}" was not given to join`)
  }
}
