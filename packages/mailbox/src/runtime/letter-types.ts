/** Types of letters: a name, and the fields that its letters have. */

import { badValue } from '../../../holdfast/src/machine.ts'
import { fit } from '../../../holdfast/src/wire/fields/fit.ts'
import type { Fields, Schema, StateOf } from '../../../holdfast/src/wire/fields/schema.ts'
import { checkName, checkOptions } from '../../../holdfast/src/api/options.ts'
import { signatureOf } from '../../../holdfast/src/api/arguments.ts'

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

/** What `letter` takes about other builds. */
export interface LetterTypeOptions {
  /** What the type was called in builds before: letters of that name are of this type now. */
  readonly was?: string
}

/**
 * A type of letters. Who posts one gives its fields; the mailbox that receives it, where it is
 * among the `types` of `openMailbox`, hands it to the handler of that type if it fits, and else
 * sets it aside with a sentence.
 *
 *     const Gift = letter('gift', { hat: text(40), count: u8 })
 *     await alice.to('bob').post(Gift, { hat: 'top', count: 2 })
 *     bob.on(Gift, (tx, from, { hat, count }) => tx.set(hat, count))
 *
 * A letter of a build with other fields is taken as a kept room is: by name or `was`, new fields
 * have their initial value, others fall away.
 *
 * Numbers outside their range are clamped where they are posted, as in a state. A letter is JSON,
 * so it has no fields of bytes; such letters go without a type.
 *
 * @param name  1 to 32 characters; a mailbox has one type of that name
 * @throws HoldfastError code `bad-value` for the name, for what is no field, for fields of bytes
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
