/**
 * Checks plain values against fields. Arguments and answers travel as JSON, so they may be anything
 * until their fields accept them; so may a caller's values.
 *
 * Accepted values are treated like a state's: numbers go to the nearest value of their field,
 * within its range. No value makes a function here throw.
 */

import { isMisfit, within } from '../../machine.ts'
import { quantiseKept } from './converting.ts'
import { type Field, type Quantised, shown } from './fields.ts'
import { type Fields, formerName, isRecord, quantiseInner, type StateOf } from './nested.ts'
import type { Column, Schema } from './schema.ts'

/** The accepted value; or the reason as a sentence, and whether it is a misfit. */
export type Fitted<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly why: string; readonly isMisfit: boolean }

/** Accepts an object with exactly these fields. @returns the values, frozen; or why not */
export function fit<F extends Fields>(type: Schema<F>, value: unknown): Fitted<StateOf<F>> {
  return tried(() => {
    const why = unlike(type, value)
    if (why !== '') return { ok: false, why, isMisfit: false }
    const given = value as Readonly<Record<string, unknown>>
    const made: Record<string, unknown> = {}
    for (const { name, field } of type.columns) {
      made[name] = taken(`field ${name}`, field, given[name])
    }
    return { ok: true, value: Object.freeze(made) as StateOf<F> }
  })
}

/**
 * Converts another build's values as stored states are: fields carry over by their present or
 * former name, new ones are initial, others dropped, and a number beyond our range is refused.
 */
export function fitGrown<F extends Fields>(type: Schema<F>, value: unknown): Fitted<StateOf<F>> {
  return tried(() => {
    if (!isRecord(value)) return { ok: false, why: noRecord(type, value), isMisfit: false }
    const made: Record<string, unknown> = {}
    for (const column of type.columns) made[column.name] = grown(column, value)
    return { ok: true, value: Object.freeze(made) as StateOf<F> }
  })
}

function grown(column: Column, value: Readonly<Record<string, unknown>>): unknown {
  const { name, field } = column
  const source = formerName(column, (one) => Object.hasOwn(value, one))
  if (source === undefined) return field.initial
  const from: Quantised = []
  try {
    quantiseKept(field, value[source], from, 0)
  } catch (error) {
    throw within(`field ${name}`, error)
  }
  return field.valueAt(from, 0)
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
function unlike(type: Schema<Fields>, value: unknown): string {
  if (!isRecord(value)) return noRecord(type, value)
  const { names, places } = type
  const all = names.join(', ')
  const odd = Object.keys(value).find((name) => !places.has(name))
  if (odd !== undefined) return `no field is called ${shown(odd)}, there is ${all}`
  const missing = names.find((name) => !Object.hasOwn(value, name))
  return missing === undefined ? '' : `field ${missing}: is missing`
}

function noRecord({ names }: Schema<Fields>, value: unknown): string {
  return `it must be an object of the fields ${names.join(', ')}: ${shown(value)}`
}

// A caller's getter or proxy may throw anything.
function tried<Value>(run: () => Fitted<Value>): Fitted<Value> {
  try {
    return run()
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be read'
    return { ok: false, why, isMisfit: isMisfit(error) }
  }
}
