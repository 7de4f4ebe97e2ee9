/** Types of letters as an application names them. */

import { LETTER, type LetterType } from '../runtime/mailbox/letter-types.ts'
import { checkName } from '../runtime/options.ts'
import type { Fields, Schema } from '../wire/schema.ts'
import { signatureOf } from './arguments.ts'

/**
 * A type of letters. Who posts one gives its fields; the mailbox that receives it, where it is
 * among the `types` of `openMailbox`, hands it to the handler of that type if it fits, and else
 * sets it aside with a sentence.
 *
 *     const Gift = letter('gift', { hat: text(40), count: u8 })
 *     await alice.to('bob').post(Gift, { hat: 'top', count: 2 })
 *     bob.on(Gift, (tx, from, { hat, count }) => tx.set(hat, count))
 *
 * Numbers outside their range are clamped, as in a state. A letter is JSON, so it has no fields of
 * bytes; such letters go without a type.
 *
 * @param name  1 to 32 characters; a mailbox has one type of that name
 * @throws HoldfastError code `bad-value` for the name, for what is no field, for fields of bytes
 */
export function letter<F extends Fields>(name: string, fields: F): LetterType<F> {
  checkName(name)
  const { fields: schema } = signatureOf(`the letter "${name}"`, fields, {})
  return { kind: LETTER, name, schema: schema as unknown as Schema<F> }
}
