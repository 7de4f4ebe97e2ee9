/** Types of letters: a name, and the fields that its letters have. */

import { badValue } from '../../../holdfast/src/machine.ts'
import { fit } from '../../../holdfast/src/wire/fit.ts'
import { type Fields, type Schema, shown, type StateOf } from '../../../holdfast/src/wire/schema.ts'

/** By which what `letter` makes is known: no body of a letter has it. */
export const LETTER: { readonly word: 'letter' } = Object.freeze({ word: 'letter' })

/** Any type of letters, whatever its fields. */
export interface LetterDefinition {
  /** By which it is known from the body of a letter. */
  readonly kind: typeof LETTER
  /** 1 to 32 characters, the same at both ends. */
  readonly name: string
}

/** A type of letters. */
export interface LetterType<F extends Fields = Fields> extends LetterDefinition {
  /** Its fields. */
  readonly schema: Schema<F>
  /** What it was called in builds before; '' for the same. */
  readonly was: string
}

/** Whether it was made by `letter`. */
export function isLetterType(given: unknown): given is LetterType {
  return typeof given === 'object' && given !== null && 'kind' in given && given.kind === LETTER
}

/** A body as its type has it. @throws HoldfastError `bad-value` that names the field */
export function givenBody({ name, schema }: LetterType, body: unknown): StateOf<Fields> {
  const fitted = fit(schema, body)
  if (fitted.ok) return fitted.value
  throw badValue(`the letter "${name}": ${fitted.why}`)
}

/** By name. @throws HoldfastError `bad-value` for what is no type, or a name used twice */
export function typesByName(given: unknown): ReadonlyMap<string, LetterType> {
  if (!Array.isArray(given)) throw badValue(`types is a list: ${shown(given)}`)
  const types = new Map<string, LetterType>()
  for (const [i, type] of (given as unknown[]).entries()) {
    if (!isLetterType(type)) throw badValue(`types[${i}] is made by letter(): ${shown(type)}`)
    if (types.has(type.name)) throw badValue(`two types of letters are called "${type.name}"`)
    types.set(type.name, type)
  }
  return types
}

/** By what they were called. @throws HoldfastError `bad-value` for two that were called the same */
export function typesBefore(types: readonly LetterType[]): ReadonlyMap<string, LetterType> {
  const before = new Map<string, LetterType>()
  for (const type of types) {
    if (type.was === '') continue
    if (before.has(type.was)) throw badValue(`two types of letters were called "${type.was}"`)
    before.set(type.was, type)
  }
  return before
}
