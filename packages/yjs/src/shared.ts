/**
 * A document as its users have it: a Yjs document that follows the committed one, and whose edits
 * are sent.
 *
 * An edit shows at once. The edits of a turn are one operation, and those that are made while one
 * is under way are merged into the next, so a member has one under way, however fast it types. An
 * operation whose fate is unknown is made again: Yjs takes an update once, however often it comes.
 *
 * What is to be sent is otherwise what this document has and the committed one lacks. That holds
 * for a document that was edited before, for one that comes from another session, and after a
 * recovery from an older copy, when every member brings back what it still has.
 */

import * as Y from 'yjs'
import * as chunks from '../../holdfast/src/wire/chunks.ts'
import { encode } from '../../holdfast/src/wire/layout.ts'
import { badValue } from '../../holdfast/src/machine.ts'
import type { MemberInfo } from '../../holdfast/src/kind/kind.ts'
import {
  type Emitter,
  HoldfastError,
  type Listen,
  type PartHost,
  type Stop,
  type Teller,
} from '../../holdfast/src/part.ts'
import { Awareness } from './awareness.ts'
import { conflictOf } from './compare.ts'
import {
  type DocumentState,
  encoded,
  isTooLarge,
  type Limits,
  missing,
  missingWithout,
  operationLayout,
  PIECE_MAX,
} from './state.ts'

/** How a document stands. */
export type DocumentStatus =
  /** What was committed before this member came is on its way. */
  | 'loading'
  /** All edits of this member are committed. */
  | 'saved'
  /** Edits of this member wait for their acknowledgement. */
  | 'saving'
  /** The primary refused edits of this member, which others do not have: see `error`. */
  | 'refused'
  /** The session was left or lost: edits stay in this document. */
  | 'ended'

/** Events of a document. */
export interface DocumentEvents {
  /** It stands otherwise. */
  status: DocumentStatus
}

/** A document that all members edit. */
export interface SharedDocument extends Emitter<DocumentEvents> {
  /**
   * The Yjs document, for editors and their bindings; made at first use, unless `bind` gave one.
   * The end of the session leaves it as it is. After `doc.destroy()` there is a new one.
   */
  readonly doc: Y.Doc
  /** Cursors, selections and names, as `Awareness` of y-protocols. */
  readonly awareness: Awareness
  /** Whether everything that was committed before this member came is in `doc`. */
  readonly synced: boolean
  /** How it stands. */
  readonly status: DocumentStatus
  /**
   * Why edits are refused, or null: `full`, with the document, the limit and the size that it would
   * have; `watching`; `forbidden` for all else. They are tried again when something has changed.
   */
  readonly error: HoldfastError | null
  /** The size of the committed document as one update, and its limit. Computed at each change. */
  readonly size: { readonly bytes: number; readonly most: number }
  /**
   * Uses a document of the caller, such as one of an earlier session: each side gets what it lacks.
   *
   * @returns this
   * @throws HoldfastError `bad-value` once there is another, `left`
   */
  bind(doc: Y.Doc): SharedDocument
}

// A refusal that another member's update settles is over by then.
const AGAIN_MS = 500
// Then edits are tried again only when something has changed, and not more often.
const REFUSED_MS = 2_000
// While too many operations of this member are under way.
const CROWDED_MS = 100

type Sent = 'acknowledged' | 'lost' | 'ended' | HoldfastError

export class DocumentApi implements SharedDocument {
  readonly #host: PartHost<DocumentState>
  readonly #limits: Limits
  readonly #events: Teller<DocumentEvents>
  #doc: Y.Doc | null = null
  #awareness: Awareness | null = null
  // What came before there was an awareness, by incarnation.
  readonly #early = new Map<number, [from: MemberInfo, message: Uint8Array]>()
  #status: DocumentStatus = 'loading'
  #error: HoldfastError | null = null
  #synced = false
  // The committed document that is followed, and its updates that `doc` has not taken yet.
  #state: DocumentState | null = null
  #published: Uint8Array[] = []
  // Whose client ids were whose, before the server recovered an older copy.
  #owners: ReadonlyMap<number, number> = new Map()
  // Edits that were not sent; null while they are to be found by comparing.
  #edits: Uint8Array[] | null = null
  #isSending = false
  // Whether something changed since the last look at what is to be sent.
  #isWanted = false
  #refusals = 0
  #ended = false

  constructor(host: PartHost<DocumentState>, limits: Limits) {
    this.#host = host
    this.#limits = limits
    this.#events = host.events<DocumentEvents>('status')
    host.on('changed', () => this.#changed())
    host.on('members', () => this.#viewed())
    host.on('end', () => this.#end())
    this.#pump()
  }

  get doc(): Y.Doc {
    if (!this.#doc) this.#attach(new Y.Doc())
    return this.#doc!
  }

  get awareness(): Awareness {
    if (this.#awareness) return this.#awareness
    const awareness = new Awareness(this.doc, this.#limits.name, this.#host)
    this.#awareness = awareness
    for (const [from, message] of this.#early.values()) awareness.receive(from, message)
    this.#early.clear()
    awareness.viewed()
    return awareness
  }

  get synced(): boolean {
    return this.#synced
  }

  get status(): DocumentStatus {
    return this.#status
  }

  get error(): HoldfastError | null {
    return this.#error
  }

  get size(): { bytes: number; most: number } {
    return { bytes: encoded(this.#host.state).length, most: this.#limits.bytes }
  }

  on<Name extends keyof DocumentEvents>(
    name: Name,
    listener: (value: DocumentEvents[Name]) => void,
    options?: Listen,
  ): Stop {
    return this.#events.on(name, listener, options)
  }

  bind(doc: Y.Doc): this {
    const { name } = this.#limits
    if (!(doc instanceof Y.Doc)) throw badValue(`bind of the document "${name}" takes a Y.Doc`)
    if (this.#ended) throw new HoldfastError('left', `the document "${name}" ended`)
    if (this.#doc && this.#doc !== doc) {
      throw badValue(`the document "${name}" has another Y.Doc: bind it before doc is used`)
    }
    if (!this.#doc) this.#attach(doc)
    return this
  }

  #attach(doc: Y.Doc): void {
    this.#doc = doc
    doc.on('update', this.#onUpdate)
    doc.on('destroy', this.#onDestroy)
    // An empty one has nothing that the committed one lacks.
    if (doc.store.clients.size > 0) this.#edits = null
    this.#state = null
    this.#changed()
  }

  #detach(): void {
    this.#doc?.off('update', this.#onUpdate)
    this.#doc?.off('destroy', this.#onDestroy)
    if (this.#state) this.#state.onUpdate = null
    this.#state = null
    this.#published = []
    this.#awareness?.clear()
  }

  /** Takes a message of a member: those before somebody looks are kept, the newest of each. */
  receive(from: MemberInfo, message: Uint8Array): void {
    if (this.#awareness) return this.#awareness.receive(from, message)
    this.#early.set(from.inc, [from, message])
  }

  #viewed(): void {
    this.#awareness?.viewed()
    if (this.#status === 'refused') this.#pump()
    const here = new Set(this.#host.members.map(({ inc }) => inc))
    for (const inc of this.#early.keys()) if (!here.has(inc)) this.#early.delete(inc)
  }

  readonly #onDestroy = (): void => {
    this.#detach()
    this.#awareness?.setLocalState(null)
    this.#awareness = null
    this.#doc = null
    this.#edits = []
  }

  #end(): void {
    this.#ended = true
    this.#detach()
    this.#stands('ended')
  }

  // Takes what is committed into `doc`.
  #changed(): void {
    if (!this.#doc || this.#ended) return
    const { state } = this.#host
    if (state !== this.#state) {
      // Only what comes after it is compared.
      if (this.#state) {
        this.#edits = null
        this.#owners = this.#state.owners
      }
      this.#follow(state)
    }
    const updates = this.#published
    if (updates.length > 0) {
      this.#published = []
      const doc = this.#doc
      // One after the other: merged ones may say something else.
      doc.transact(() => updates.forEach((update) => Y.applyUpdate(doc, update, this)), this)
      this.#awareness?.follow()
    }
    if (this.#edits === null) this.#pump()
  }

  // The committed document is another one: of another session, or of a server that recovered it.
  #follow(state: DocumentState): void {
    if (this.#state) this.#state.onUpdate = null
    this.#state = state
    this.#state.onUpdate = (update, player) => this.#publish(update, player)
    this.#published = [encoded(this.#state)]
  }

  #publish(update: Uint8Array, player: number): void {
    this.#published.push(update)
    const isForged = player !== this.#host.me.player && this.#doc !== null
    // Another who writes as this document: perhaps not the same.
    if (isForged && Y.parseUpdateMeta(update).to.has(this.#doc!.clientID)) this.#edits = null
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (origin === this || this.#ended) return
    this.#awareness?.follow()
    this.#edits?.push(update)
    if (this.#status === 'saved') this.#stands('saving')
    this.#pump()
  }

  #pump(): void {
    this.#isWanted = true
    if (this.#isSending) return
    this.#isSending = true
    // After the running code, so that its edits go together.
    void Promise.resolve().then(async () => {
      let isMore = false
      while ((isMore || this.#isWanted) && !this.#ended) {
        this.#isWanted = false
        isMore = await this.#sendNext()
      }
      this.#isSending = false
    })
  }

  /** Sends what there is. @returns whether there may be more */
  async #sendNext(): Promise<boolean> {
    if (this.#edits === null) {
      // The answer comes after everything that was committed before it.
      const sent = await this.#send(new Uint8Array(0))
      if (sent !== 'acknowledged' && !isWatching(sent)) return this.#failed(sent)
      this.#synced = true
      const sentOwn = await this.#compare()
      if (sentOwn !== null) return sentOwn === 'acknowledged' || this.#failed(sentOwn)
    }
    const update = this.#edits?.length ? Y.mergeUpdates(this.#edits) : null
    if (!update) {
      this.#refusals = 0
      this.#error = null
      this.#stands('saved')
      return false
    }
    if (this.#status !== 'refused') this.#stands('saving')
    this.#edits = []
    const sent = await this.#send(update)
    return sent === 'acknowledged' || this.#failed(sent)
  }

  #conflict(client: number): HoldfastError {
    const why = `another player used its client ${client}: its edits need a new Y.Doc`
    return new HoldfastError(
      'forbidden',
      `the document "${this.#limits.name}" is not saved: ${why}`,
    )
  }

  /**
   * Finds the edits that `doc` has and the committed document lacks. Those of players who are here
   * are theirs to bring: their clients would be of the first who does, and they could not go on.
   *
   * @returns how sending the others went, or null for `#edits`
   */
  async #compare(): Promise<Sent | null> {
    const lacking = this.#lacking()
    if (lacking instanceof HoldfastError) return lacking
    this.#edits = lacking ? [lacking] : []
    const { state, members, me } = this.#host
    const isOthers = (client: number): boolean => {
      const owner = state.owners.get(client) ?? this.#owners.get(client)
      return owner !== me.player && members.some(({ player }) => player === owner)
    }
    if (!lacking || ![...Y.parseUpdateMeta(lacking).to.keys()].some(isOthers)) return null
    const own = missingWithout(state, this.#doc!, isOthers)
    this.#edits = null
    this.#stands(this.#status === 'refused' ? 'refused' : 'saving')
    if (own) return this.#send(own)
    await this.#pause(REFUSED_MS)
    const rest = this.#lacking()
    if (rest instanceof HoldfastError) return rest
    this.#edits = rest ? [rest] : []
    return null
  }

  #lacking(): Uint8Array | HoldfastError | null {
    if (!this.#doc) return null
    const client = conflictOf(this.#doc, this.#host.state.doc)
    return client === null ? missing(this.#host.state, this.#doc) : this.#conflict(client)
  }

  // What was on its way is found again by comparing.
  async #failed(why: Exclude<Sent, 'acknowledged'>): Promise<boolean> {
    this.#edits = null
    if (why === 'ended') return false
    if (why === 'lost') return true
    this.#refusals++
    if (this.#refusals === 1) return this.#pause(AGAIN_MS)
    this.#error = why
    this.#stands('refused')
    await this.#pause(REFUSED_MS)
    return false
  }

  #pause(ms: number): Promise<boolean> {
    return new Promise((resolve) => void this.#host.after(ms, () => resolve(true)))
  }

  async #send(update: Uint8Array): Promise<Sent> {
    for (const piece of chunks.cut(update, PIECE_MAX)) {
      const sent = await this.#ask(encode(operationLayout, piece))
      if (sent !== 'acknowledged') return sent
    }
    return 'acknowledged'
  }

  async #ask(operation: Uint8Array): Promise<Sent> {
    try {
      const outcome = await this.#host.ask(operation)
      if (outcome.ok) return 'acknowledged'
      if (outcome.code === 'lost') return 'lost'
      const { reason } = outcome
      return new HoldfastError(isTooLarge(this.#limits, reason) ? 'full' : 'forbidden', reason)
    } catch (error) {
      const failure = error as HoldfastError
      if (failure.code === 'left') return 'ended'
      if (failure.code !== 'overloaded') return failure
      await this.#pause(CROWDED_MS)
      return this.#ask(operation)
    }
  }

  #stands(status: DocumentStatus): void {
    if (this.#status === status || this.#status === 'ended') return
    this.#status = status
    this.#events.emit('status', status)
  }
}

// One who watches asks for nothing: what has come is all there is to know.
function isWatching(why: Sent): boolean {
  return why instanceof HoldfastError && why.code === 'watching'
}
