/** Declared arguments and answers of actions and procedures, and the checks of values. */

import { badValue, misfit } from '../machine.ts'
import { checkOptions, fieldsOf } from './options.ts'
import type { Field } from '../wire/fields/fields.ts'
import { fit, fitField, type Fitted } from '../wire/fields/fit.ts'
import type { Fields, Schema } from '../wire/fields/schema.ts'

/** Declared arguments and answer; null for any plain JSON, unchecked. */
export interface Signature {
  readonly fields: Schema<Fields> | null
  readonly answer: Field<unknown> | null
}

/** Further options of `action` and `procedure` with fields. */
export interface AnswerOptions<Answer> {
  /** The type of the answer. An answer that does not fit is a bug in the function. */
  readonly answer?: Field<Answer>
}

/** Nothing declared: arguments and answer are any plain JSON. */
export const ANY: Signature = Object.freeze({ fields: null, answer: null })

/** @throws HoldfastError `bad-value` naming an entry that is no field, or cannot be JSON */
export function signatureOf(what: string, fields: Fields, options: object): Signature {
  checkOptions(what, options, ['answer'])
  const compiled = fieldsOf(what, fields)
  for (const { name, field } of compiled.columns) checkJson(`${what}: field ${name}`, field)
  const { answer = null } = options as { answer?: Field<unknown> | null }
  // `fieldsOf` refuses an answer that is no field.
  if (answer !== null) checkJson(`${what}: its answer`, fieldsOf(what, { answer }).fields.answer)
  return { fields: compiled, answer }
}

function checkJson(what: string, field: Field<unknown>): void {
  if (field.copied === true) {
    throw badValue(`${what} takes no bytes: it travels as JSON, so give them as text`)
  }
  if ('sees' in field) throw badValue(`${what} is no secret: a secret is a field of a piece`)
}

/** The text that two builds must agree on: name, fields and answer. */
export function signatureText(name: string, { fields, answer }: Signature): string {
  const text = fields ? `${name} ${fields.text}` : name
  return answer ? `${text} -> ${answer.text}` : text
}

export function fitArguments({ fields }: Signature, args: unknown): Fitted<unknown> {
  return fields ? fit(fields, args) : { ok: true, value: args }
}

export function fitAnswer({ answer }: Signature, value: unknown): Fitted<unknown> {
  return answer ? fitField('its answer', answer, value) : { ok: true, value }
}

/** Fits arguments that the game passes on this member. @throws HoldfastError `bad-value` */
export function givenArguments(what: string, signature: Signature, args: unknown): unknown {
  return fitting(what, fitArguments(signature, args))
}

/** Fits an answer that the game returns on this member. @throws HoldfastError code `bad-value` */
export function givenAnswer(what: string, signature: Signature, value: unknown): unknown {
  return fitting(what, fitAnswer(signature, value))
}

function fitting(what: string, fitted: Fitted<unknown>): unknown {
  if (fitted.ok) return fitted.value
  const why = `${what}: ${fitted.why}`
  throw fitted.isMisfit ? misfit(why) : badValue(why)
}
