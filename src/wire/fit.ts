/**
 * Checks plain values against fields: arguments and answers travel as JSON, and may be anything
 * until their fields have accepted them. The same holds for values that a caller gives.
 *
 * Accepted values are treated like those of a state: numbers go to the nearest value that their
 * field has, and into its range. No value makes a function here throw.
 */

import { type Field, type Quantised, shown } from './fields.ts'
import { type Fields, isRecord, quantiseInner, type StateOf } from './nested.ts'
import type { Schema } from './schema.ts'

/** The accepted value, or the reason as a sentence. */
export type Fitted<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly why: string }

/**
 * An object with all of these fields and no others.
 *
 * @returns the values, frozen; or a sentence that names the field: `field count: must be …`
 */
export function fit<F extends Fields>(type: Schema<F>, value: unknown): Fitted<StateOf<F>> {
  return tried(() => {
    const why = unlike(type, value)
    if (why !== '') return { ok: false, why }
    const given = value as Readonly<Record<string, unknown>>
    const made: Record<string, unknown> = {}
    for (const { name, field } of type.columns) {
      made[name] = taken(`field ${name}`, field, given[name])
    }
    return { ok: true, value: Object.freeze(made) as StateOf<F> }
  })
}

/** One value of one field. @param what  its name in the sentence: `its answer` */
export function fitField<Value>(what: string, field: Field<Value>, value: unknown): Fitted<Value> {
  return tried(() => ({ ok: true, value: taken(what, field, value) }))
}

function taken<Value>(what: string, field: Field<Value>, value: unknown): Value {
  const from: Quantised = []
  quantiseInner(what, field, value as Value, from, 0)
  return field.valueAt(from, 0)
}

// An inherited property is never the value of a field.
function unlike({ names, places }: Schema<Fields>, value: unknown): string {
  const all = names.join(', ')
  if (!isRecord(value)) return `it must be an object of the fields ${all}: ${shown(value)}`
  const odd = Object.keys(value).find((name) => !places.has(name))
  if (odd !== undefined) return `no field is called ${shown(odd)}, there is ${all}`
  const missing = names.find((name) => !Object.hasOwn(value, name))
  return missing === undefined ? '' : `field ${missing}: is missing`
}

// A getter or a proxy of a caller may throw anything.
function tried<Value>(run: () => Fitted<Value>): Fitted<Value> {
  try {
    return run()
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : 'it cannot be read' }
  }
}
