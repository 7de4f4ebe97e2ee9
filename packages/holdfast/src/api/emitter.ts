/// <reference lib="esnext.disposable" preserve="true" />
/** Events and their listeners. An error in one listener does not affect the others. */

import { badValue } from '../machine.ts'
import type { Reports } from './reports.ts'

/** Wraps a function so that its errors and rejections are reported. */
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

// Platforms without these symbols get registered ones.
const DISPOSE: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose)

export const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose)

/** Stops something when called, or by `using`. A second call does nothing. */
export interface Stop extends Disposable {
  /** Stops it. */
  (): void
}

/** Makes a function disposable by `using`. */
export function stopping(stop: () => void): Stop {
  return Object.assign(stop, { [DISPOSE]: stop })
}

/** Options of `on`. */
export interface Listen {
  /** Stops listening when it aborts. */
  readonly signal?: AbortSignal
  /** Stops after the first event. */
  readonly once?: boolean
}

/** A source of events. */
export interface Emitter<Events> {
  /**
   * Calls the listener at each such event. An error in it is reported, and the others are called.
   *
   * @returns a function that removes the listener
   * @throws HoldfastError code `bad-value` for an unknown event, or a listener that is no function
   */
  on<Name extends keyof Events>(
    name: Name,
    listener: (value: Events[Name]) => void,
    options?: Listen,
  ): Stop
}

type Listener<Value> = (value: Value) => void

/** The listeners of one source, by event. */
export class Listeners<Events> implements Emitter<Events> {
  readonly #what: string
  readonly #names: readonly (keyof Events)[]
  readonly #reports: Reports
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>()

  /** @param what  the source, for errors: `a session` */
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
      known.delete(call as Listener<never>)
      signal?.removeEventListener('abort', stop)
    })
    const run = guarded(this.#reports, `a listener of "${String(name)}"`, listener)
    const call: Listener<Events[Name]> = (value) => {
      if (once) stop()
      run(value)
    }
    known.add(call as Listener<never>)
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

  hasListeners(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  /** Calls the listeners that were registered at the event and have not stopped since. */
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void {
    const known = this.#listeners.get(name)
    for (const call of [...(known ?? [])]) {
      if (known!.has(call)) (call as Listener<Events[Name]>)(value)
    }
  }
}
