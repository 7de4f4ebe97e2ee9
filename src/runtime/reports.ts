/**
 * Errors of the game's own functions: listeners, rules, actions. What one throws costs that one
 * call and nothing else; here it is told to whoever writes the game, once for each function.
 */

import { badValue, HoldfastError } from '../machine.ts'

/** What a session tells of it. */
export interface Reported {
  readonly error: unknown
  /** Which function threw, such as `a listener of "members"`. */
  readonly where: string
}

/** Says that a function of the game threw. @param source  that function */
export type Report = (error: unknown, where: string, source: object) => void

/** Different errors of one function that are reported; the rest is counted. */
export const PER_FUNCTION_MAX = 8

/** Where reports go, and when. */
export interface ReportsHost {
  /** Calls when the code at hand has returned. */
  soon(run: () => void): void
  /** The listeners of the event `error`. @returns whether there was one */
  tell(reported: Reported): boolean
  /** As the place reports what nobody caught. */
  place(reported: Reported): void
}

/** See the head of this file. */
export class Reports {
  readonly #host: ReportsHost
  readonly #seen = new WeakMap<object, Set<string>>()
  readonly #waiting: Reported[] = []
  #count = 0

  constructor(host: ReportsHost) {
    this.#host = host
  }

  /** How often a function of the game threw. */
  get count(): number {
    return this.#count
  }

  /** A function of the game threw. It is told soon, for a verb may be under way. */
  readonly report: Report = (error, where, source) => {
    this.#count++
    const seen = this.#seen.get(source) ?? new Set()
    this.#seen.set(source, seen)
    const words = `${where}: ${String(error)}`
    if (seen.has(words) || seen.size >= PER_FUNCTION_MAX) return
    seen.add(words)
    if (this.#waiting.push({ error, where }) === 1) this.#host.soon(() => this.#flush())
  }

  /** What a function of the game gave: if it is a promise, what that rejects is reported. */
  follow(given: unknown, where: string, source: object): void {
    if (!isThenable(given)) return
    given.then(undefined, (error: unknown) => this.report(error, where, source))
  }

  #flush(): void {
    for (const reported of this.#waiting.splice(0)) {
      // Who listens to errors and throws is not told of that.
      const isTheirs = reported.where === ERROR_LISTENER
      if (isTheirs || !this.#host.tell(reported)) this.#host.place(reported)
    }
  }
}

const ERROR_LISTENER = 'a listener of "error"'

/** A rule that answers at once: where it throws or gives a promise, `instead` is its answer. */
export function ruled<Args extends unknown[], Result>(
  report: Report,
  where: string,
  run: (...args: Args) => Result,
  instead: Result,
): (...args: Args) => Result {
  return (...args) => {
    try {
      return atOnce(where, run(...args))
    } catch (error) {
      report(error, where, run)
      return instead
    }
  }
}

/** What a function gave, unless that is a promise. @throws HoldfastError code `bad-value` */
export function atOnce<Result>(where: string, given: Result): Result {
  if (!isThenable(given)) return given
  // What becomes of it nobody waits for; and nobody is to be told that nobody caught it.
  given.then(undefined, () => {})
  throw badValue(`${where} gave a promise: it answers at once`)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  const then = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return then && typeof (value as { then?: unknown }).then === 'function'
}

/** Whether that is a mistake in a function rather than its way of saying no. */
export function isMistake(error: unknown): boolean {
  const own = [HoldfastError, TypeError, ReferenceError, SyntaxError, EvalError, URIError]
  return !(error instanceof Error) || own.some((kind) => error instanceof kind)
}
