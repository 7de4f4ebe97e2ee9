/**
 * The arguments of actions and procedures, and their answers: what a game says they are, and how
 * that is held where they are given and where they come in.
 */

import { badValue, misfit } from '../machine.ts'
import { checkOptions, fieldsOf } from './options.ts'
import type { Field } from '../wire/fields/fields.ts'
import { fit, fitField, type Fitted } from '../wire/fields/fit.ts'
import type { Fields, Schema } from '../wire/fields/schema.ts'

/** What arguments and answers are. Where it is null they are any plain JSON, and unchecked. */
export interface Signature {
  readonly fields: Schema<Fields> | null
  readonly answer: Field<unknown> | null
}

/** What `action` and `procedure` take besides, where they take fields. */
export interface AnswerOptions<Answer> {
  /** What it answers. One that does not fit is a mistake of the function. */
  readonly answer?: Field<Answer>
}

/** No fields: arguments are any plain JSON, and so is the answer. */
export const ANY: Signature = Object.freeze({ fields: null, answer: null })

/**
 * Compiles fields and an answer.
 *
 * @param what  whose, for the sentence: `the action "deal"`
 * @throws HoldfastError code `bad-value` that names what is no field, or does not go as JSON
 */
export function signatureOf(what: string, fields: Fields, options: object): Signature {
  checkOptions(what, options, ['answer'])
  const compiled = fieldsOf(what, fields)
  for (const { name, field } of compiled.columns) checkJson(`${what}: field ${name}`, field)
  const { answer = null } = options as { answer?: Field<unknown> | null }
  // It is looked at as fields are, for what is none.
  if (answer !== null) checkJson(`${what}: its answer`, fieldsOf(what, { answer }).fields.answer)
  return { fields: compiled, answer }
}

function checkJson(what: string, field: Field<unknown>): void {
  if (field.copied === true) {
    throw badValue(`${what} takes no bytes: it travels as JSON, so give them as text`)
  }
  if ('sees' in field) throw badValue(`${what} is no secret: a secret is a field of a piece`)
}

/** What two builds must agree on: the name, the fields, the answer. */
export function signatureText(name: string, { fields, answer }: Signature): string {
  const said = fields ? `${name} ${fields.text}` : name
  return answer ? `${said} -> ${answer.text}` : said
}

/** Arguments as the fields have them, if they fit. */
export function fitArguments({ fields }: Signature, args: unknown): Fitted<unknown> {
  return fields ? fit(fields, args) : { ok: true, value: args }
}

/** An answer as its field has it, if it fits. */
export function fitAnswer({ answer }: Signature, value: unknown): Fitted<unknown> {
  return answer ? fitField('its answer', answer, value) : { ok: true, value }
}

/**
 * Arguments as they are given here.
 *
 * @param what  whose, for the sentence: `the action "deal"`
 * @throws HoldfastError code `bad-value` that names the field
 */
export function givenArguments(what: string, signature: Signature, args: unknown): unknown {
  return fitting(what, fitArguments(signature, args))
}

/** An answer as it is given here. @throws HoldfastError code `bad-value` */
export function givenAnswer(what: string, signature: Signature, value: unknown): unknown {
  return fitting(what, fitAnswer(signature, value))
}

function fitting(what: string, fitted: Fitted<unknown>): unknown {
  if (fitted.ok) return fitted.value
  const why = `${what}: ${fitted.why}`
  throw fitted.isMisfit ? misfit(why) : badValue(why)
}
