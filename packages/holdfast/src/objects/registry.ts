/** The objects of a session for its user: handles, collections, and the promises of requests. */

import { type ErrorCode, HoldfastError, type Millis, type PeerId } from '../machine.ts'
import * as objects from './protocol/objects.ts'
import type { Answer, ObjectEvent } from './protocol/objects.ts'
import { type Fields, initialState, quantise, type StateOf } from '../wire/fields/schema.ts'
import { Collections } from '../kind/listing.ts'
import {
  checkPatch,
  type Collection,
  Handle,
  type HandleOwner,
  type ObjectHandle,
  quantised,
} from './handles.ts'
import { DONE, type GiveOutcome, refusal, refused, type TakeOutcome } from '../kind/outcomes.ts'
import { placeOf } from '../kind/definitions.ts'
import type { KindApi, Host } from '../kind/kind.ts'
import type { ObjectType } from './types.ts'
import { Viewer } from '../kind/viewer.ts'

type RequestOutcome = TakeOutcome & GiveOutcome

interface Waiting {
  readonly handle: Handle<Fields>
  readonly resolve: (outcome: RequestOutcome) => void
}

export class ObjectRegistry implements KindApi, HandleOwner {
  readonly #types: readonly ObjectType[]
  readonly types: objects.Types
  readonly state: objects.Objects
  readonly host: Host
  readonly #handles = new Map<number, Handle<Fields>>()
  readonly #collections: Collections<ObjectType<Fields>, ObjectHandle<Fields>>
  readonly #waiting = new Map<number, Waiting>()
  // Handles that changed since listeners were notified.
  readonly #changed = new Set<Handle<Fields>>()
  // Objects of ours in a lost session, to be created again here, where their ids may be taken.
  readonly #toRecreate = new Set<Handle<Fields>>()
  // The incarnation that we were at the last view, and its session.
  #me: PeerId = 0
  #session = ''
  // The replicas at the last view; a reset replaces this map.
  #replicas: objects.Objects['replicas']
  /** The smoothing of moving objects, and their latency by stage. */
  readonly viewer = new Viewer()
  /** How many objects our primary announced; null if it did not. */
  total: number | null = null
  // All objects of the primary that we may see are here.
  #hasAll = false

  constructor(
    types: readonly ObjectType[],
    rules: objects.Types,
    state: objects.Objects,
    host: Host,
  ) {
    this.#types = types
    this.types = rules
    this.state = state
    this.#replicas = state.replicas
    this.host = host
    this.#collections = new Collections(types, host.reports)
  }

  /** All objects that the primary has are here, and we own our player's. */
  get arrived(): boolean {
    return this.#hasAll && !this.#awaitsOwn()
  }

  // A player whose earlier incarnation is the primary has two members until that one has handed
  // its role over (S-5). We own its objects a moment later.
  #awaitsOwn(): boolean {
    const { me, here, departed, watching, replicas } = this.state
    const player = here.get(me)
    if (player === undefined || watching.has(me)) return false
    const wasUs = (inc: PeerId): boolean => {
      return inc !== me && (here.get(inc) ?? departed.get(inc)) === player
    }
    if ([...here.keys()].some(wasUs)) return true
    return [...replicas.values()].some((replica) => {
      const { owner, former } = replica
      return objects.isSeen(replica) && (former === player || wasUs(owner))
    })
  }

  run<Result>(operation: (ctx: objects.Context) => Result): Result | undefined {
    const { state, types } = this
    return this.host.do((now, out) =>
      operation({ objects: state, types, now, out: out as objects.Context['out'] }),
    )
  }

  set(replica: objects.Replica, mask: number, madeAt: Millis, waits: boolean): boolean {
    return objects.set(this.state, this.types, this.host.clock(), replica, mask, madeAt, waits)
  }

  changed(handle: Handle<Fields>): void {
    this.#touch(handle)
    this.host.notify()
  }

  /** A new object of ours. @throws HoldfastError `bad-value`, `not-found`, `full` */
  create<F extends Fields>(type: ObjectType<F>, state: Partial<StateOf<F>>): ObjectHandle<F> {
    const place = placeOf(this.#types, type as unknown as ObjectType)
    const known = this.state
    const lack = objects.lackOf(known, known.me)
    if (lack) throw this.#lacking(type.name, lack)
    const fields = quantise(type.schema, initialState(type.schema))
    checkPatch(type, state)
    quantised(type, state, fields)
    const now = this.host.changing()
    const replica = this.run((ctx) => objects.spawn(ctx, place, fields, now))
    this.host.touch()
    if (!this.#handles.has(replica!.key)) this.#came(replica!)
    return this.#handles.get(replica!.key) as unknown as ObjectHandle<F>
  }

  #lacking(type: string, lack: 'full' | 'quota'): HoldfastError {
    const { living, quota, me, here } = this.state
    const made = objects.madeBy(this.state, here.get(me) ?? 0)
    // A page that was reloaded does not know how many it created before; the primary does.
    const count = made < quota ? `more than the ${made} that are known here` : made
    const limit =
      lack === 'full'
        ? `a session has ${objects.OBJECTS_MAX} objects at most: ${living}`
        : `in this room a player makes ${quota} objects at most (objectsPerPlayer): ${count}`
    return new HoldfastError('full', `there is no room for ${type}: ${limit}`)
  }

  get loaded(): number {
    return this.#handles.size
  }

  /** All of a type. @throws HoldfastError code `not-found` */
  all<F extends Fields>(type: ObjectType<F>): Collection<F> {
    const place = placeOf(this.#types, type as unknown as ObjectType)
    const collection = this.#collections.of(this.#types[place]!)
    return collection.snapshot() as unknown as Collection<F>
  }

  onEvent(event: ObjectEvent): void {
    if (event.kind === 'object-answer') {
      return this.#answered(event.request, event.answer, event.by)
    }
    if (event.kind === 'objects-total') return void (this.total = event.total)
    if (event.kind === 'objects-known') return void (this.#hasAll = true)
    if (event.kind === 'objects-settled') return this.#onSettled()
    // A member that opens a stored room gets its objects before the event of the view.
    if (this.#replicas !== this.state.replicas) this.viewed()
    const replica = this.state.replicas.get(event.key)
    const handle = this.#handles.get(event.key)
    if (event.kind === 'object-asked') return this.#asked(handle, event)
    if (event.kind === 'object-refused') return this.#refused(handle, event.why)
    if (event.kind === 'object-went' || !replica) return this.#went(event.key)
    if (handle && handle.replica !== replica) handle.rebind(replica)
    if (!handle) return objects.isSeen(replica) ? this.#came(replica) : undefined
    if (event.kind === 'object-owner') {
      handle.onOwner(event.before)
      // `changed` follows anyway.
      handle.awayChanged()
    } else if (event.kind === 'object-changed') handle.onChange(event.mask, event.ages)
    this.#touch(handle)
  }

  // Another member created the last one at the same moment; the author of ours must learn that.
  #refused(handle: Handle<Fields> | undefined, lack: 'full' | 'quota'): void {
    if (!handle) return
    handle.refused = true
    this.host.reports.report(this.#lacking(handle.type.name, lack), 'create', handle.type)
  }

  #touch(handle: Handle<Fields>): void {
    this.#changed.add(handle)
    this.#collections.note(handle.type, handle, 'changed')
  }

  #came(replica: objects.Replica): void {
    const type = this.#types[replica.type]
    if (!type) return
    const handle = new Handle(this, type, replica)
    handle.awayChanged()
    this.#handles.set(replica.key, handle)
    this.#collections.note(type, handle, 'added')
  }

  #went(key: number): void {
    const handle = this.#handles.get(key)
    if (!handle) return
    this.#handles.delete(key)
    this.#ended(handle)
  }

  #ended(handle: Handle<Fields>): void {
    handle.alive = false
    this.#collections.note(handle.type, handle, 'removed')
    this.#changed.delete(handle)
    handle.emit('gone', { reason: handle.refused ? 'full' : 'ended' })
  }

  settled(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const handle of changed) handle.emit('changed', undefined)
    this.#collections.emit()
  }

  /** New view. In a new incarnation, our objects are to be given back; others will be sent. */
  viewed(): void {
    const before = this.#me
    const moved = this.#session !== this.host.session
    this.#me = this.state.me
    this.#session = this.host.session
    this.#replicas = this.state.replicas
    for (const [key, handle] of this.#handles) {
      if (this.state.replicas.get(key) === handle.replica) continue
      // An object that we only kept for an absent player was not ours.
      const { owner, former } = handle.replica
      if ((owner === before && former === 0) || handle.isKept) handle.keep()
      else this.#went(key)
      if (!moved || !handle.isKept) continue
      this.#handles.delete(key)
      this.#toRecreate.add(handle)
    }
    this.reachabilityChanged()
  }

  reachabilityChanged(): void {
    for (const handle of this.#handles.values()) if (handle.awayChanged()) this.#touch(handle)
  }

  // The primary has sent all that it has. Objects of ours that nobody kept are created again. Those
  // that were destroyed or hidden meanwhile caused no event here, as we had not received them.
  #onSettled(): void {
    for (const [key, handle] of this.#handles) {
      if (!handle.isKept) continue
      const replica = this.state.replicas.get(key)
      if (replica && !objects.isSeen(replica)) this.#went(key)
      if (replica) continue
      this.#handles.delete(key)
      this.#toRecreate.add(handle)
    }
    for (const handle of this.#toRecreate) {
      if (handle.type.rules.onOwnerLeave === 'keep') this.#ended(handle)
      else this.#recreate(handle)
    }
    this.#toRecreate.clear()
  }

  #recreate(handle: Handle<Fields>): void {
    const { type } = handle
    const now = this.host.changing()
    const fields = quantise(type.schema, handle.state)
    const place = placeOf(this.#types, type as unknown as ObjectType)
    const replica = this.run((ctx) => objects.spawn(ctx, place, fields, now))
    if (!replica) return
    this.#handles.set(replica.key, handle)
    handle.rebind(replica)
    this.host.touch()
  }

  ask(handle: Handle<Fields>, what: 'take' | 'give', to: PeerId): Promise<RequestOutcome> {
    return new Promise((resolve, reject) => {
      this.host.checkPlays(what)
      const { replica } = handle
      const asked = this.run((ctx) => {
        const { nextRequest } = ctx.objects
        // Set before the request: a primary answers itself at once.
        this.#waiting.set(nextRequest, { handle, resolve })
        return objects.request(ctx, replica, what, to)
      })
      if (asked === undefined)
        reject(new HoldfastError('left', `cannot ${what}: the session was left`))
      this.host.touch()
    })
  }

  #answered(request: number, answer: Answer, inc: PeerId): void {
    const waiting = this.#waiting.get(request)
    if (!waiting) return
    this.#waiting.delete(request)
    if (answer === 'granted') return waiting.resolve(DONE)
    const { handle } = waiting
    const by = this.host.find(inc)
    handle.emit('denied', { code: answer, by })
    waiting.resolve(refusal(`${handle.type.name} ${handle.id}`, answer, by))
  }

  // The first answer counts, even while the object is on its way to another member.
  #asked(handle: Handle<Fields> | undefined, asked: ObjectEvent & { kind: 'object-asked' }): void {
    const by = this.host.find(asked.by)
    if (!handle || !by) return
    const reply = (yes: boolean): void => {
      this.run((ctx) => objects.reply(ctx, asked.key, asked, yes))
      this.host.touch()
    }
    const asking = { object: handle, by, grant: () => reply(true), refuse: () => reply(false) }
    if (!this.host.emit('asked', asking)) reply(false)
  }

  /** The session is over: pending requests resolve as `lost`. */
  end(_code: ErrorCode, why: string): void {
    for (const { handle, resolve } of this.#waiting.values()) {
      const what = `${handle.type.name} ${handle.id}`
      resolve(refused('lost', `not known whose ${what} is: ${why}`) as RequestOutcome)
    }
    this.#waiting.clear()
  }
}
