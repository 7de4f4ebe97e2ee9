/** Who handles which letters, and whether what came fits: of a letter anybody may be the sender. */

import { badValue, HoldfastError, type Millis } from '../../../holdfast/src/machine.ts'
import { fitGrown } from '../../../holdfast/src/wire/fields/fit.ts'
import { shown } from '../../../holdfast/src/wire/fields/schema.ts'
import { isThenable } from '../../../holdfast/src/api/reports.ts'
import type { LetterInfo } from './letters.ts'
import { isLetterType, type LetterDefinition, type LetterType } from './letter-types.ts'
import type { EffectHandler, LetterHandler } from './options.ts'
import type { Transaction } from './transaction.ts'
import { toValue, typeNameOf } from './values.ts'

/** Why a letter waits that nobody can handle yet. */
export const NO_HANDLER = 'there is no handler for letters'

/** A letter that no handler saw. */
export class Unhandled extends Error {
  /** It fits nothing that is declared here, and never will; else it waits for a handler. */
  readonly isUnfit: boolean

  constructor(isUnfit: boolean, why: string) {
    super(why)
    this.isUnfit = isUnfit
  }
}

/** A handler was not done when it returned: a mistake of the program, and of no letter. */
export class AsyncHandler extends Error {
  constructor(what: string) {
    super(
      `the handler of ${what} is async: it returned a promise, but its transaction ends when it ` +
        'returns. Make it synchronous, or use handleAsync for effects elsewhere',
    )
  }
}

/** A handler: one that is done within a turn, or one whose effect is elsewhere. */
export type Handling =
  | { readonly kind: 'turn'; readonly run: LetterHandler }
  | { readonly kind: 'effect'; readonly run: EffectHandler; readonly ms: Millis }

/** The handler of a letter, with its body as the handler takes it. */
export interface Found {
  readonly how: Handling
  readonly body: unknown
  /** For the sentence: `letters`, or their type. */
  readonly what: string
}

/** See the head of this file. */
export class Handlers {
  readonly #types = new Map<string, LetterType>()
  // By what they were called in builds before.
  readonly #before = new Map<string, LetterType>()
  // By the name of a type; null for letters that are of none.
  readonly #handlers = new Map<string | null, Handling>()

  /** @throws HoldfastError `bad-value` for what are no types of letters */
  constructor(types: unknown) {
    if (!Array.isArray(types)) throw badValue(`types is a list: ${shown(types)}`)
    for (const [i, type] of (types as unknown[]).entries()) {
      if (!isLetterType(type)) throw badValue(`types[${i}] is made by letter(): ${shown(type)}`)
      const { name, was } = type
      if (this.#types.has(name)) throw badValue(`two types of letters are called "${name}"`)
      this.#types.set(name, type)
      if (was === '') continue
      if (this.#before.has(was)) throw badValue(`two types of letters were called "${was}"`)
      this.#before.set(was, type)
    }
  }

  /** Whether there is any. */
  get some(): boolean {
    return this.#handlers.size > 0
  }

  /**
   * @param type  null for letters of none
   * @throws HoldfastError `bad-value` for a second handler, `not-found` for a type that is not here
   */
  add(type: LetterDefinition | null, handling: Handling): void {
    const what = named(type)
    if (type && this.#types.get(type.name) !== type) {
      throw new HoldfastError(
        'not-found',
        `${what} were not declared: give it in openMailbox({ types })`,
      )
    }
    const name = type?.name ?? null
    if (this.#handlers.has(name)) throw badValue(`${what} have a handler already`)
    this.#handlers.set(name, handling)
  }

  /** See `add`. */
  delete(type: LetterDefinition | null): void {
    this.#handlers.delete(type?.name ?? null)
  }

  /** Has a letter handled. @throws AsyncHandler, or what its handler throws */
  handle(tx: Transaction, from: string, { how, body, what }: Found, info: LetterInfo): void {
    const given: unknown = (how.run as LetterHandler)(tx, from, body, info)
    if (!isThenable(given)) return
    // Nobody waits for the promise, and its rejection must not be reported as uncaught.
    given.then(undefined, () => {})
    throw new AsyncHandler(what)
  }

  /** The handler of a letter, or why there is none. */
  find(bytes: Uint8Array): Found | Unhandled {
    const name = typeNameOf(bytes)
    const type = name === null ? null : (this.#types.get(name) ?? this.#before.get(name))
    if (type === undefined) {
      const has = [...this.#types.keys()].join(', ') || 'none'
      const why = `no type of letters is called ${shown(name)} here: there is ${has}`
      return new Unhandled(true, why)
    }
    let body = toValue(bytes)
    if (type) {
      // It may have waited for days, or come from a build that is older or newer than this one.
      const fitted = fitGrown(type.schema, body)
      if (!fitted.ok) return new Unhandled(true, `the letter "${type.name}": ${fitted.why}`)
      body = fitted.value
    }
    const how = this.#handlers.get(type?.name ?? null)
    return how ? { how, body, what: named(type) } : new Unhandled(false, NO_HANDLER)
  }
}

function named(type: LetterDefinition | null): string {
  return type === null ? 'letters' : `letters of the type "${type.name}"`
}
