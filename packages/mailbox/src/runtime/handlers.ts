/** Handlers by letter type, and the check that an untrusted letter fits its type. */

import { badValue, HoldfastError, type Millis } from '../../../holdfast/src/machine.ts'
import { fitGrown } from '../../../holdfast/src/wire/fields/fit.ts'
import { shown } from '../../../holdfast/src/wire/fields/schema.ts'
import { isThenable } from '../../../holdfast/src/api/reports.ts'
import type { LetterInfo } from './letters.ts'
import { isLetterType, type LetterDefinition, type LetterType } from './letter-types.ts'
import type { EffectHandler, LetterHandler } from './options.ts'
import type { Transaction } from './transaction.ts'
import { toValue, typeNameOf } from './values.ts'

/** Why a letter without a handler waits. */
export const NO_HANDLER = 'there is no handler for letters'

/** A letter that reached no handler. */
export class Unhandled extends Error {
  /** Whether it can never fit a declared type; otherwise it waits. */
  readonly isUnfit: boolean

  constructor(isUnfit: boolean, why: string) {
    super(why)
    this.isUnfit = isUnfit
  }
}

/** A handler returned a promise: a mistake of the program, not of the letter. */
export class AsyncHandler extends Error {
  constructor(what: string) {
    super(
      `the handler of ${what} is async: it returned a promise, but its transaction ends when it ` +
        'returns. Make it synchronous, or use handleAsync for effects elsewhere',
    )
  }
}

/** A handler: synchronous within a turn, or with an external effect. */
export type Handling =
  | { readonly kind: 'turn'; readonly run: LetterHandler }
  | { readonly kind: 'effect'; readonly run: EffectHandler; readonly ms: Millis }

/** The handler of a letter, with the body to pass it. */
export interface Found {
  readonly how: Handling
  readonly body: unknown
  /** For error sentences: `letters`, or their type. */
  readonly what: string
}

export class Handlers {
  readonly #types = new Map<string, LetterType>()
  // By their former names.
  readonly #before = new Map<string, LetterType>()
  // By type name; null for untyped letters.
  readonly #handlers = new Map<string | null, Handling>()

  /** @throws HoldfastError `bad-value` for anything but types of letters */
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

  get some(): boolean {
    return this.#handlers.size > 0
  }

  /**
   * @param type  null for untyped letters
   * @throws HoldfastError `bad-value` for a second handler, `not-found` for an undeclared type
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

  delete(type: LetterDefinition | null): void {
    this.#handlers.delete(type?.name ?? null)
  }

  handle(tx: Transaction, from: string, { how, body, what }: Found, info: LetterInfo): void {
    const given: unknown = (how.run as LetterHandler)(tx, from, body, info)
    if (!isThenable(given)) return
    // Nobody awaits the promise, so its rejection must not surface as uncaught.
    given.then(undefined, () => {})
    throw new AsyncHandler(what)
  }

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
      // It may have waited for days, or come from an older or newer build.
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
