/**
 * Who is at a document, and where: cursors, selections, names. The same interface as `Awareness` of
 * y-protocols, which editors take; but a state is there as long as its member, whom the session
 * knows, so there are no timeouts, and a tab in the background keeps its cursor.
 *
 * States are messages that nobody stores. A member sends its own again to newcomers, to all when
 * another serves, who may have lost some, and now and then, for a lost link. A message has the
 * client id and the number of the state, so an older one that took a slower path changes nothing.
 */

import type * as Y from 'yjs'
import { CUSTOM_SAID_MAX } from '../../holdfast/src/custom/protocol/custom.ts'
import type { MemberInfo } from '../../holdfast/src/kind/kind.ts'
import { HoldfastError, type PartHost, type Stop } from '../../holdfast/src/part.ts'
import { misfit, within } from '../../holdfast/src/machine.ts'
import { decode, encode, maybe, record, text, varint } from '../../holdfast/src/wire/layout.ts'

/** Most bytes of a state as JSON. */
export const STATE_MAX: number = CUSTOM_SAID_MAX - 64
/** Shortest time between two messages of a member, in ms. */
const PACE_MS = 40
/** A state that did not change is sent again after this. */
const RENEW_MS = 30_000

export const messageLayout = record({
  client: varint,
  clock: varint,
  state: maybe(text(STATE_MAX)),
})

/** What a member says of itself: editors use `user` and `cursor`. */
export interface AwarenessState {
  /** Any value that JSON has. */
  [field: string]: unknown
}

/** The client ids of an event whose states are new, changed or gone. */
export interface AwarenessChange {
  /** New ones. */
  readonly added: number[]
  /** Changed ones. */
  readonly updated: number[]
  /** Those that are gone. */
  readonly removed: number[]
}

type Change = keyof AwarenessChange
type Listener = (...args: never[]) => void

/** The states of all members at a document, as `Awareness` of y-protocols. */
export class Awareness {
  /** The document. */
  readonly doc: Y.Doc
  /** The states by client id; this member's too. */
  readonly states: Map<number, AwarenessState> = new Map()
  /** The number of each state, and when it came, in ms. */
  readonly meta: Map<number, { clock: number; lastUpdated: number }> = new Map()
  /** Of y-protocols; unused. */
  _checkInterval: unknown = 0
  /** Of y-protocols; unused. */
  _observers: Map<string, Set<Listener>> = new Map()
  readonly #host: Pick<PartHost<object>, 'after' | 'me' | 'members' | 'now' | 'primary' | 'send'>
  readonly #name: string
  // The client id of each incarnation.
  readonly #clients = new Map<number, number>()
  #known: ReadonlySet<number> = new Set()
  #primary = 0
  #client: number
  #clock = 0
  #isDirty = false
  #isPaced = false
  #renewal: Stop | null = null

  constructor(doc: Y.Doc, name: string, host: PartHost<object>) {
    this.doc = doc
    this.#client = doc.clientID
    this.#name = name
    this.#host = host
    this.#known = new Set(host.members.map(({ inc }) => inc))
    this.#primary = host.primary?.inc ?? 0
    this.setLocalState({})
    this.#renew()
  }

  /** This member's client id. */
  get clientID(): number {
    return this.doc.clientID
  }

  /** Moves this member's state to the client id of the document, which Yjs may change. */
  follow(): void {
    const before = this.#client
    this.#client = this.clientID
    const state = this.states.get(before)
    if (before === this.#client || !state) return
    this.#set(before, null, this.#clock + 1, 'local')
    this.meta.delete(before)
    this.setLocalState(state)
  }

  /** This member's state; null for none. */
  getLocalState(): AwarenessState | null {
    return this.states.get(this.clientID) ?? null
  }

  /**
   * Sets this member's state; null removes it.
   *
   * @throws HoldfastError `bad-value` for what is no JSON, and above 8 KB
   */
  setLocalState(state: AwarenessState | null): void {
    if (state !== null) this.#check(state)
    this.#clock++
    this.#isDirty = true
    this.#set(this.clientID, state, this.#clock, 'local')
    void Promise.resolve().then(() => this.#flush())
  }

  /** Sets one field of this member's state, if it has one. @throws as `setLocalState` */
  setLocalStateField(field: string, value: unknown): void {
    const state = this.getLocalState()
    if (state !== null) this.setLocalState({ ...state, [field]: value })
  }

  /** The states by client id. */
  getStates(): Map<number, AwarenessState> {
    return this.states
  }

  /** Calls the listener at `change` (states that differ), `update` (all) or `destroy`. */
  on(event: string, listener: Listener): void {
    const known = this._observers.get(event) ?? new Set()
    this._observers.set(event, known.add(listener))
  }

  /** The same for the next such event only. */
  once(event: string, listener: Listener): void {
    const once: Listener = (...args) => {
      this.off(event, once)
      listener(...args)
    }
    this.on(event, once)
  }

  /** Removes a listener. */
  off(event: string, listener: Listener): void {
    this._observers.get(event)?.delete(listener)
  }

  /** Calls the listeners of an event. */
  emit(event: string, args: unknown[]): void {
    for (const listener of [...(this._observers.get(event) ?? [])]) listener(...(args as never[]))
  }

  /** Removes all states; the listeners hear of it. */
  destroy(): void {
    this.emit('destroy', [this])
    this.setLocalState(null)
    this.clear()
    this._observers.clear()
  }

  /** Removes the states of others, once the session or the document has ended. */
  clear(): void {
    this.#renewal?.()
    for (const inc of [...this.#clients.keys()]) this.#forget(inc)
  }

  /** Takes a message of a member; what is malformed, late or of another client is ignored. */
  receive({ inc }: MemberInfo, message: Uint8Array): void {
    const given = decode(messageLayout, message)
    const state = given && parsed(given.state)
    if (!given || state === undefined) return
    const { client, clock } = given
    const isOthers = [...this.#clients].some(([one, of]) => of === client && one !== inc)
    if (isOthers || client === this.clientID) return
    const before = this.#clients.get(inc)
    // The last word of a document that it had before.
    if (before !== client && state === null) return
    if (before === client && clock <= this.meta.get(client)!.clock) return
    if (before !== undefined && before !== client) this.#forget(inc)
    this.#clients.set(inc, client)
    this.#set(client, state, clock, this)
  }

  /** Members came or left, or another serves. */
  viewed(): void {
    const { members, primary } = this.#host
    const now = new Set(members.map(({ inc }) => inc))
    for (const inc of [...this.#clients.keys()]) if (!now.has(inc)) this.#forget(inc)
    const newcomers = members.filter(({ inc }) => !this.#known.has(inc))
    const isMoved = primary !== null && primary.inc !== this.#primary
    this.#known = now
    this.#primary = primary?.inc ?? this.#primary
    if (this.getLocalState() === null) return
    if (isMoved) {
      this.#isDirty = true
      this.#flush()
    } else for (const member of newcomers) this.#send(member)
  }

  #forget(inc: number): void {
    const client = this.#clients.get(inc)!
    this.#clients.delete(inc)
    this.#set(client, null, (this.meta.get(client)?.clock ?? 0) + 1, this)
    this.meta.delete(client)
  }

  #set(client: number, state: AwarenessState | null, clock: number, origin: unknown): void {
    const before = this.states.get(client)
    this.meta.set(client, { clock, lastUpdated: this.#host.now() })
    if (state === null) this.states.delete(client)
    else this.states.set(client, state)
    if (!before && state === null) return
    const what: Change = state === null ? 'removed' : before ? 'updated' : 'added'
    const change: AwarenessChange = { added: [], updated: [], removed: [], [what]: [client] }
    // JSON tells apart what the editors see.
    const isSame = before && state && JSON.stringify(before) === JSON.stringify(state)
    if (!isSame) this.emit('change', [change, origin])
    this.emit('update', [change, origin])
  }

  #check(state: AwarenessState): void {
    const what = `the awareness of the document "${this.#name}"`
    let json: string
    try {
      // Editors put instances of classes into it, which JSON knows.
      json = JSON.stringify(state)
    } catch (error) {
      throw within(what, error)
    }
    const { length } = new TextEncoder().encode(json)
    if (length > STATE_MAX) throw misfit(`${what} has at most ${STATE_MAX} bytes: ${length}`)
  }

  #renew(): void {
    this.#renewal = this.#host.after(RENEW_MS, () => {
      this.#renew()
      if (this.getLocalState() === null) return
      this.#clock++
      this.#isDirty = true
      this.#flush()
    })
  }

  // One message each PACE_MS, with the newest state.
  #flush(): void {
    if (this.#isPaced || !this.#isDirty) return
    this.#isDirty = false
    this.#isPaced = true
    this.#host.after(PACE_MS, () => {
      this.#isPaced = false
      this.#flush()
    })
    if (!this.#send('all')) this.#isDirty = true
  }

  // False above the rate of messages: the next one has the newest state.
  #send(to: MemberInfo | 'all'): boolean {
    const own = this.getLocalState()
    const state = own && JSON.stringify(own)
    const message = encode(messageLayout, { client: this.clientID, clock: this.#clock, state })
    try {
      this.#host.send(to, message)
    } catch (error) {
      // A watcher sends nothing, and nobody after the end.
      if (!(error instanceof HoldfastError)) throw error
      return error.code !== 'overloaded'
    }
    return true
  }
}

// Undefined for what is no state.
function parsed(json: string | null): AwarenessState | null | undefined {
  if (json === null) return null
  try {
    const state = JSON.parse(json) as unknown
    const isState = typeof state === 'object' && state !== null && !Array.isArray(state)
    return isState ? (state as AwarenessState) : undefined
  } catch {
    return undefined
  }
}
