/** What there is of one type, as it comes and goes. */

import { guarded, type Emitter, Listeners } from '../api/emitter.ts'
import { checkFunction } from '../api/options.ts'
import type { Reports } from '../api/reports.ts'

/** What a listing tells: of each handle, before the listeners of `subscribe` hear. */
export interface ListingEvents<Item> {
  /** It came, or may be seen now. What was there before is not told. */
  added: Item
  /** It changed, or changed hands; once for all that came together. */
  changed: Item
  /** It went, or may not be seen any more. */
  removed: Item
}

/** Handles as they are now, and how to hear of more. */
export interface Listing<Item> extends ReadonlyArray<Item>, Emitter<ListingEvents<Item>> {
  /** What `session.all` returns by now. The same function for each type, and needs no `this`. */
  readonly snapshot: () => Listing<Item>
  /** Calls after each change, once for all that came together. @returns stops it */
  readonly subscribe: (listener: () => void) => () => void
}

/** The objects or the pieces of one type at a session. */
class HandleCollection<Item> {
  readonly #handles = new Set<Item>()
  readonly #order: ((a: Item, b: Item) => number) | null
  readonly #reports: Reports
  readonly #listeners = new Set<() => void>()
  readonly #events: Listeners<ListingEvents<Item>>
  // What is to be told, in order; a change of what came just now is no news.
  readonly #news = new Map<Item, (keyof ListingEvents<Item>)[]>()
  #snapshot: Listing<Item> | null = null

  /** @param order  of the snapshot; if null, as they came */
  constructor(reports: Reports, order: ((a: Item, b: Item) => number) | null) {
    this.#reports = reports
    this.#order = order
    this.#events = new Listeners('a list', ['added', 'changed', 'removed'], reports)
  }

  readonly snapshot = (): Listing<Item> => {
    if (this.#snapshot) return this.#snapshot
    const { snapshot, subscribe, on } = this
    // They are no items, and nobody wants to see them in a list.
    const ways = {
      snapshot: { value: snapshot },
      subscribe: { value: subscribe },
      on: { value: on },
    }
    const handles = [...this.#handles]
    if (this.#order) handles.sort(this.#order)
    const items = Object.defineProperties(handles, ways)
    this.#snapshot = Object.freeze(items) as unknown as Listing<Item>
    return this.#snapshot
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    checkFunction('what subscribe takes', listener)
    const hear = guarded(this.#reports, 'a listener of a list', listener)
    this.#listeners.add(hear)
    return () => void this.#listeners.delete(hear)
  }

  readonly on: Emitter<ListingEvents<Item>>['on'] = (name, listener, options) => {
    return this.#events.on(name, listener, options)
  }

  /** One came, changed, changed hands, or went. */
  note(handle: Item, name: keyof ListingEvents<Item>): void {
    if (name === 'added') this.#handles.add(handle)
    if (name === 'removed' && !this.#handles.delete(handle)) return
    this.#snapshot = null
    if (!this.#events.hasListeners(name)) return
    const news = this.#news.get(handle) ?? []
    this.#news.set(handle, news)
    if (name !== 'changed' || news.length === 0) news.push(name)
  }

  /** Tells the listeners. */
  emit(): void {
    const news = [...this.#news]
    this.#news.clear()
    for (const [handle, names] of news) {
      for (const name of names) this.#events.emit(name, handle)
    }
    for (const hear of [...this.#listeners]) if (this.#listeners.has(hear)) hear()
  }
}

/** All of a session's, type by type. Listeners hear once of all that came with one verb. */
export class Collections<Type, Item> {
  readonly #all: ReadonlyMap<Type, HandleCollection<Item>>
  // Since the last word to the listeners.
  readonly #touched = new Set<HandleCollection<Item>>()

  constructor(
    types: readonly Type[],
    reports: Reports,
    order: ((a: Item, b: Item) => number) | null = null,
  ) {
    this.#all = new Map(types.map((type) => [type, new HandleCollection(reports, order)]))
  }

  /** What there is of a type that the session has. */
  of(type: Type): HandleCollection<Item> {
    return this.#all.get(type)!
  }

  /** One of that type came. */
  add(type: Type, handle: Item): void {
    this.#note(type, handle, 'added')
  }

  /** One went. */
  delete(type: Type, handle: Item): void {
    this.#note(type, handle, 'removed')
  }

  /** One changed, or changed hands. */
  touch(type: Type, handle: Item): void {
    this.#note(type, handle, 'changed')
  }

  #note(type: Type, handle: Item, name: keyof ListingEvents<Item>): void {
    const collection = this.of(type)
    this.#touched.add(collection)
    collection.note(handle, name)
  }

  /** Tells the listeners. */
  emit(): void {
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const collection of touched) collection.emit()
  }
}
