/** All objects of one type, as they come and go. */

import type { Fields } from '../wire/schema.ts'
import { guarded } from './guarded.ts'
import type { ObjectHandle } from './handles.ts'
import { checkFunction } from '../runtime/options.ts'
import type { Reports } from '../runtime/reports.ts'

/**
 * All objects of a type that are here, oldest first, as they are now: an array that never changes.
 * The same one is returned until an object of the type comes, changes, changes hands or goes; so it
 * may be compared, as React and Preact do.
 *
 *     for (const pot of session.all(Pot)) draw(pot.view())
 *     const { subscribe, snapshot } = session.all(Card)
 *     const cards = useSyncExternalStore(subscribe, snapshot, snapshot) // the third: on a server
 */
export type Collection<F extends Fields> = Listing<ObjectHandle<F>>

/** Handles as they are now, and how to hear of more. */
export interface Listing<Item> extends ReadonlyArray<Item> {
  /** What `session.all` returns by now. The same function for each type, and needs no `this`. */
  readonly snapshot: () => Listing<Item>
  /** Calls after each change, once for all that came together. @returns stops it */
  readonly subscribe: (listener: () => void) => () => void
}

/** The objects or the pieces of one type at a session. */
class Gathering<Item> {
  readonly #handles = new Set<Item>()
  readonly #order: ((a: Item, b: Item) => number) | null
  readonly #reports: Reports
  readonly #listeners = new Set<() => void>()
  #snapshot: Listing<Item> | null = null

  /** @param order  of the snapshot; if null, as they came */
  constructor(reports: Reports, order: ((a: Item, b: Item) => number) | null) {
    this.#reports = reports
    this.#order = order
  }

  readonly snapshot = (): Listing<Item> => {
    if (this.#snapshot) return this.#snapshot
    const { snapshot, subscribe } = this
    // They are no items, and nobody wants to see them in a list.
    const ways = { snapshot: { value: snapshot }, subscribe: { value: subscribe } }
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

  /** One came. */
  add(handle: Item): void {
    this.#handles.add(handle)
    this.#snapshot = null
  }

  /** One went. */
  delete(handle: Item): void {
    this.#handles.delete(handle)
    this.#snapshot = null
  }

  /** One changed, or changed hands. */
  touch(): void {
    this.#snapshot = null
  }

  /** Says that something did. */
  tell(): void {
    for (const hear of [...this.#listeners]) if (this.#listeners.has(hear)) hear()
  }
}

/** All of a session's, type by type. Listeners hear once of all that came with one verb. */
export class Gatherings<Type, Item> {
  readonly #all: ReadonlyMap<Type, Gathering<Item>>
  // Since the last word to the listeners.
  readonly #touched = new Set<Gathering<Item>>()

  constructor(
    types: readonly Type[],
    reports: Reports,
    order: ((a: Item, b: Item) => number) | null = null,
  ) {
    this.#all = new Map(types.map((type) => [type, new Gathering(reports, order)]))
  }

  /** What there is of a type that the session has. */
  of(type: Type): Gathering<Item> {
    return this.#all.get(type)!
  }

  /** One of that type came, changed or went. */
  touch(type: Type): void {
    const gathering = this.of(type)
    gathering.touch()
    this.#touched.add(gathering)
  }

  /** Tells the listeners. @returns whether there was anything to tell */
  tell(): boolean {
    if (this.#touched.size === 0) return false
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const gathering of touched) gathering.tell()
    return true
  }
}
