/// <reference lib="esnext.disposable" preserve="true" />
/** Events: who listens to what, and that no listener disturbs another. */

import { badValue } from '../machine.ts'
import type { Reports } from './reports.ts'

/** The same function, but what it throws, and what its promise rejects, is reported. */
export function guarded<Args extends unknown[]>(
  reports: Reports,
  where: string,
  run: (...args: Args) => unknown,
): (...args: Args) => void {
  return (...args) => {
    try {
      reports.follow(run(...args), where, run)
    } catch (error) {
      reports.report(error, where, run)
    }
  }
}

// A platform that lacks the symbols of `using` and `await using` has those of its registry instead,
// so nothing fails there.
/** What ends a thing at once. */
const DISPOSE: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose)

/** What ends a thing in a while. */
export const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose)

/** Stops what was begun: called, or by `using`. Calling it again does nothing. */
export interface Stop extends Disposable {
  /** Stops it. */
  (): void
}

/** A function that stops something, for `using` as well. */
export function stopping(stop: () => void): Stop {
  return Object.assign(stop, { [DISPOSE]: stop })
}

/** What `on` takes besides. */
export interface Listen {
  /** Stops listening when it aborts. */
  readonly signal?: AbortSignal
  /** Stops after the first event. */
  readonly once?: boolean
}

/** Something that tells what happens. */
export interface Emitter<Events> {
  /**
   * Calls the listener at each such event. One that throws is reported, and the others hear.
   *
   * @returns stops it
   * @throws HoldfastError code `bad-value` for an event that there is not, or no function
   */
  on<Name extends keyof Events>(
    name: Name,
    listener: (value: Events[Name]) => void,
    options?: Listen,
  ): Stop
}

type Listener<Value> = (value: Value) => void

/** The events of one thing, by name. */
export class Listeners<Events> implements Emitter<Events> {
  readonly #what: string
  readonly #names: readonly (keyof Events)[]
  readonly #reports: Reports
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>()

  /** @param what  the thing, for errors: `a session` */
  constructor(what: string, names: readonly (keyof Events)[], reports: Reports) {
    this.#what = what
    this.#names = names
    this.#reports = reports
  }

  on<Name extends keyof Events>(
    name: Name,
    listener: Listener<Events[Name]>,
    { signal, once = false }: Listen = {},
  ): Stop {
    this.#check(name, listener)
    if (signal?.aborted) return stopping(() => {})
    const known = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, known)
    const stop = stopping(() => {
      known.delete(hear as Listener<never>)
      signal?.removeEventListener('abort', stop)
    })
    const heard = guarded(this.#reports, `a listener of "${String(name)}"`, listener)
    const hear: Listener<Events[Name]> = (value) => {
      if (once) stop()
      heard(value)
    }
    known.add(hear as Listener<never>)
    signal?.addEventListener('abort', stop)
    return stop
  }

  #check(name: keyof Events, listener: unknown): void {
    if (!this.#names.includes(name)) {
      const has = this.#names.map(String).join(', ')
      throw badValue(`${this.#what} has no event "${String(name)}"; it has ${has}`)
    }
    if (typeof listener === 'function') return
    throw badValue(`the listener of "${String(name)}" is a function: ${typeof listener}`)
  }

  /** Whether anybody listens to that. */
  hasListeners(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  /** Tells everybody who listened when it happened, and has not stopped since. */
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void {
    const known = this.#listeners.get(name)
    for (const hear of [...(known ?? [])]) {
      if (known!.has(hear)) (hear as Listener<Events[Name]>)(value)
    }
  }
}
