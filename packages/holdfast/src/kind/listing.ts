/** Collections: the live lists of all handles of one type. */

import { guarded, type Emitter, Listeners } from '../api/emitter.ts'
import { checkFunction } from '../api/options.ts'
import type { Reports } from '../api/reports.ts'

/** Events of a listing, one for each handle, before the listeners of `subscribe` are called. */
export interface ListingEvents<Item> {
  /** It was added, or is visible now. Handles that were there before cause no event. */
  added: Item
  /** Its state or owner changed; once for all changes that arrived together. */
  changed: Item
  /** It was removed, or is hidden now. */
  removed: Item
}

/** The handles of a type at one moment, and subscriptions to changes. */
export interface Listing<Item> extends ReadonlyArray<Item>, Emitter<ListingEvents<Item>> {
  /** Returns the current list, as `session.all` does. Stable for each type; needs no `this`. */
  readonly snapshot: () => Listing<Item>
  /** Calls the listener once after changes that arrived together. @returns stops it */
  readonly subscribe: (listener: () => void) => () => void
}

class HandleCollection<Item> {
  readonly #handles = new Set<Item>()
  readonly #order: ((a: Item, b: Item) => number) | null
  readonly #reports: Reports
  readonly #listeners = new Set<() => void>()
  readonly #events: Listeners<ListingEvents<Item>>
  // Events to emit, in order; a handle that was just added emits no `changed`.
  readonly #pending = new Map<Item, (keyof ListingEvents<Item>)[]>()
  #snapshot: Listing<Item> | null = null

  /** @param order  of the snapshot; null for the order in which they were added */
  constructor(reports: Reports, order: ((a: Item, b: Item) => number) | null) {
    this.#reports = reports
    this.#order = order
    this.#events = new Listeners('a list', ['added', 'changed', 'removed'], reports)
  }

  readonly snapshot = (): Listing<Item> => {
    if (this.#snapshot) return this.#snapshot
    const { snapshot, subscribe, on } = this
    // Not enumerable, so that they do not look like items.
    const methods = {
      snapshot: { value: snapshot },
      subscribe: { value: subscribe },
      on: { value: on },
    }
    const handles = [...this.#handles]
    if (this.#order) handles.sort(this.#order)
    const items = Object.defineProperties(handles, methods)
    this.#snapshot = Object.freeze(items) as unknown as Listing<Item>
    return this.#snapshot
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    checkFunction('what subscribe takes', listener)
    const call = guarded(this.#reports, 'a listener of a list', listener)
    this.#listeners.add(call)
    return () => void this.#listeners.delete(call)
  }

  readonly on: Emitter<ListingEvents<Item>>['on'] = (name, listener, options) => {
    return this.#events.on(name, listener, options)
  }

  note(handle: Item, name: keyof ListingEvents<Item>): void {
    if (name === 'added') this.#handles.add(handle)
    if (name === 'removed' && !this.#handles.delete(handle)) return
    this.#snapshot = null
    if (!this.#events.hasListeners(name)) return
    const events = this.#pending.get(handle) ?? []
    this.#pending.set(handle, events)
    if (name !== 'changed' || events.length === 0) events.push(name)
  }

  emit(): void {
    const pending = [...this.#pending]
    this.#pending.clear()
    for (const [handle, names] of pending) {
      for (const name of names) this.#events.emit(name, handle)
    }
    for (const call of [...this.#listeners]) if (this.#listeners.has(call)) call()
  }
}

/** All collections of a session. Listeners are called once for all changes of one call. */
export class Collections<Type, Item> {
  readonly #all: ReadonlyMap<Type, HandleCollection<Item>>
  // Collections that changed since listeners were called.
  readonly #touched = new Set<HandleCollection<Item>>()

  constructor(
    types: readonly Type[],
    reports: Reports,
    order: ((a: Item, b: Item) => number) | null = null,
  ) {
    this.#all = new Map(types.map((type) => [type, new HandleCollection(reports, order)]))
  }

  of(type: Type): HandleCollection<Item> {
    return this.#all.get(type)!
  }

  /** A handle was added or removed, or it changed or has another owner. */
  note(type: Type, handle: Item, name: keyof ListingEvents<Item>): void {
    const collection = this.of(type)
    this.#touched.add(collection)
    collection.note(handle, name)
  }

  emit(): void {
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const collection of touched) collection.emit()
  }
}
