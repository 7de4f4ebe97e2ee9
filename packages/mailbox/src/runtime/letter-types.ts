/** Types of letters: a name and fields. */

import { badValue } from '../../../holdfast/src/machine.ts'
import { fit } from '../../../holdfast/src/wire/fields/fit.ts'
import type { Fields, Schema, StateOf } from '../../../holdfast/src/wire/fields/schema.ts'
import { checkName, checkOptions } from '../../../holdfast/src/api/options.ts'
import { signatureOf } from '../../../holdfast/src/api/arguments.ts'

/** Marks what `letter` returns; no letter body has it. */
export const LETTER: { readonly word: 'letter' } = Object.freeze({ word: 'letter' })

/** Any type of letters. */
export interface LetterDefinition {
  /** Tells a type apart from a letter body. */
  readonly kind: typeof LETTER
  /** 1 to 32 characters, the same on both sides. */
  readonly name: string
}

/** A type of letters. */
export interface LetterType<F extends Fields = Fields> extends LetterDefinition {
  /** Its fields. */
  readonly schema: Schema<F>
  /** Its name in earlier builds; '' for the same. */
  readonly was: string
}

export function isLetterType(given: unknown): given is LetterType {
  return typeof given === 'object' && given !== null && 'kind' in given && given.kind === LETTER
}

/** Fits a body to its type. @throws HoldfastError `bad-value` that names the field */
export function givenBody({ name, schema }: LetterType, body: unknown): StateOf<Fields> {
  const fitted = fit(schema, body)
  if (fitted.ok) return fitted.value
  throw badValue(`the letter "${name}": ${fitted.why}`)
}

/** The options of `letter`. */
export interface LetterTypeOptions {
  /** The type's name in earlier builds: letters of that name are of this type now. */
  readonly was?: string
}

/**
 * Declares a type of letters. The sender posts its fields; a receiver with the type among the
 * `types` of `openMailbox` passes a letter that fits to the type's handler, and makes any other a
 * dead letter with the reason.
 *
 *     const Gift = letter('gift', { hat: text(40), count: u8 })
 *     await alice.to('bob').post(Gift, { hat: 'top', count: 2 })
 *     bob.on(Gift, (tx, from, { hat, count }) => tx.set(hat, count))
 *
 * Letters from builds with other fields are converted as stored rooms are: matched by name or
 * `was`, new fields get their initial value, unknown fields are dropped.
 *
 * Out-of-range numbers are clamped when posted, as in state. Letters are JSON and have no byte
 * fields; post bytes without a type.
 *
 * @param name  1 to 32 characters, unique within a mailbox
 * @throws HoldfastError `bad-value` for the name, for a non-field, for fields of bytes
 */
export function letter<F extends Fields>(
  name: string,
  fields: F,
  options: LetterTypeOptions = {},
): LetterType<F> {
  checkName(name)
  checkOptions(`the letter "${name}"`, options, ['was'])
  const { was = '' } = options
  if (was !== '') checkName(was)
  const { fields: schema } = signatureOf(`the letter "${name}"`, fields, {})
  return { kind: LETTER, name, schema: schema as unknown as Schema<F>, was }
}
