/**
 * Errors of the game's own functions: listeners, rules, actions. An error costs only its call; it
 * is reported to the game's author, once for each function.
 */

import { badValue, HoldfastError } from '../machine.ts'

/** An error as a session reports it. */
export interface Reported {
  /** The thrown value. */
  readonly error: unknown
  /** Which function threw, such as `a listener of "members"`. */
  readonly where: string
}

/** Reports that a function of the game threw. @param source  that function */
export type Report = (error: unknown, where: string, source: object) => void

/** Most different errors of one function that are reported; further ones are only counted. */
export const PER_FUNCTION_MAX = 8

/** Where and when errors are reported. */
export interface ReportsHost {
  /** Calls `run` after the running code has returned. */
  soon(run: () => void): void
  /** Calls the listeners of the event `error`. @returns whether there was one */
  notify(reported: Reported): boolean
  /** Reports an error as the platform reports uncaught ones. */
  reportUncaught(reported: Reported): void
}

export class Reports {
  readonly #host: ReportsHost
  readonly #seen = new WeakMap<object, Set<string>>()
  readonly #waiting: Reported[] = []
  #count = 0

  constructor(host: ReportsHost) {
    this.#host = host
  }

  get count(): number {
    return this.#count
  }

  /** Reports later, because a call into the member may be running. */
  readonly report: Report = (error, where, source) => {
    this.#count++
    const seen = this.#seen.get(source) ?? new Set()
    this.#seen.set(source, seen)
    const words = `${where}: ${String(error)}`
    if (seen.has(words) || seen.size >= PER_FUNCTION_MAX) return
    seen.add(words)
    if (this.#waiting.push({ error, where }) === 1) this.#host.soon(() => this.#flush())
  }

  /** Reports the rejection of a function's result, if that is a promise. */
  follow(given: unknown, where: string, source: object): void {
    if (!isThenable(given)) return
    given.then(undefined, (error: unknown) => this.report(error, where, source))
  }

  #flush(): void {
    for (const reported of this.#waiting.splice(0)) {
      // A listener of `error` that throws does not receive its own error.
      const isTheirs = reported.where === ERROR_LISTENER
      if (isTheirs || !this.#host.notify(reported)) this.#host.reportUncaught(reported)
    }
  }
}

const ERROR_LISTENER = 'a listener of "error"'

/** Wraps a rule that must return at once; `instead` replaces an error or a promise. */
export function guardRule<Args extends unknown[], Result>(
  report: Report,
  where: string,
  run: (...args: Args) => Result,
  instead: Result,
): (...args: Args) => Result {
  return (...args) => {
    try {
      return requireSync(where, run(...args))
    } catch (error) {
      report(error, where, run)
      return instead
    }
  }
}

/** Returns a function's result, unless that is a promise. @throws HoldfastError code `bad-value` */
export function requireSync<Result>(where: string, given: Result): Result {
  if (!isThenable(given)) return given
  // Nobody awaits the promise, and its rejection must not be reported as uncaught.
  given.then(undefined, () => {})
  throw badValue(`${where} gave a promise: it answers at once`)
}

/** Whether a value is a promise, or anything else with a `then`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const then = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return then && typeof (value as { then?: unknown }).then === 'function'
}

/** Whether an error is a bug in a function rather than a deliberate refusal. */
export function isMistake(error: unknown): boolean {
  const own = [HoldfastError, TypeError, ReferenceError, SyntaxError, EvalError, URIError]
  return !(error instanceof Error) || own.some((kind) => error instanceof kind)
}
