/**
 * Converts another build's state to ours: fields carry over by name, new ones get their initial
 * value, others are dropped. A value that our field cannot hold is refused.
 */

import { within } from '../../machine.ts'
import { type Field, shown } from './fields.ts'
import { formerName } from './nested.ts'
import { parseSchema } from './parsed.ts'
import type { Column, Fields, Quantised, Schema } from './schema.ts'

/** How another build's stored state becomes one of ours. */
export interface Migration {
  /** The type's name there; '' if it is the same. */
  readonly was: string
  /** Computes the fields that do not carry over unchanged; null for none. */
  readonly migrate:
    | ((
        from: Readonly<Record<string, string>>,
        state: Readonly<Record<string, unknown>>,
      ) => unknown)
    | null
}

export interface Ours {
  readonly name: string
  readonly schema: Schema<Fields>
  /** Mask of the fields that are secret. */
  readonly secret: number
  readonly kept: Migration | null
}

export interface Theirs {
  readonly name: string
  readonly schema: Schema<Fields>
  readonly secret: number
  /** Its fields as text, by name. */
  readonly texts: Readonly<Record<string, string>>
  /** The text after its fields. */
  readonly rest: string
}

/** A state, and the mask of its unknown fields. */
export interface Held {
  readonly fields: Quantised
  readonly hidden: number
}

/** Parses another build's types, one per line: name, fields, rest; null if one is malformed. */
export function typesOf(lines: string): Theirs[] | null {
  const all: Theirs[] = []
  for (const line of lines.split('\n').filter((one) => one !== '')) {
    const [, name, text, rest = ''] = /^(.*?) (\{ .*? \}) (.*)$/.exec(line) ?? []
    const parsed = text === undefined ? null : parseSchema(text)
    if (name === undefined || !parsed) return null
    const { schema, secrets } = parsed
    const secret = secrets.reduce((mask, field) => mask + 2 ** schema.places.get(field)!, 0)
    const texts = Object.fromEntries(schema.columns.map((one) => [one.name, one.field.text]))
    all.push({ name, schema, secret, texts, rest })
  }
  return all
}

/** The index of our type that theirs became. @throws Error with a sentence if there is none */
export function placeOf(types: readonly Ours[], { name: theirs }: Theirs): number {
  const named = types.findIndex(({ name }) => name === theirs)
  const place = named >= 0 ? named : types.findIndex(({ kept }) => kept?.was === theirs)
  if (place < 0) throw new Error(`type "${theirs}" is there and not here`)
  return place
}

/** Converts their state to ours. @throws Error or HoldfastError that names what does not fit */
export function converted(to: Ours, from: Theirs, held: Held): Held {
  if (to.schema.text === from.schema.text && to.secret === from.secret) return held
  const where = `type "${to.name}"`
  const state = valuesOf(from.schema, held)
  const made = to.kept?.migrate ? migrated(to, from, state) : {}
  const fields: Quantised = []
  let hidden = 0
  for (const [i, column] of to.schema.columns.entries()) {
    const source = sourceOf(column, from.schema)
    if (Object.hasOwn(made, column.name)) {
      put(where, column, made[column.name], fields)
    } else if (!source || isHidden(from.schema, source, held)) {
      column.field.quantise(column.field.initial, fields, column.at)
      if (source && (to.secret & (2 ** i)) !== 0) hidden += 2 ** i
    } else if (source.field.text === textOf(column)) {
      for (let at = 0; at < column.field.size; at++) {
        fields[column.at + at] = held.fields[source.at + at]!
      }
    } else put(where, column, state[source.name], fields)
  }
  return { fields, hidden }
}

function valuesOf(schema: Schema<Fields>, held: Held): Record<string, unknown> {
  const entries = schema.columns.map((column) => {
    const known = !isHidden(schema, column, held)
    return [column.name, known ? column.field.valueAt(held.fields, column.at) : null] as const
  })
  return Object.fromEntries(entries)
}

function isHidden(schema: Schema<Fields>, { name }: Column, { hidden }: Held): boolean {
  return (hidden & (2 ** schema.places.get(name)!)) !== 0
}

function migrated(to: Ours, from: Theirs, state: object): Record<string, unknown> {
  let made: unknown
  try {
    made = to.kept!.migrate!(from.texts, Object.freeze(state) as Record<string, unknown>)
  } catch (error) {
    throw new Error(`migrate of "${to.name}" threw: ${String(error)}`, { cause: error })
  }
  if (typeof made !== 'object' || made === null) {
    throw new Error(`migrate of "${to.name}" gives fields: ${shown(made)}`)
  }
  const odd = Object.keys(made).find((name) => !to.schema.places.has(name))
  if (odd === undefined) return made as Record<string, unknown>
  throw new Error(`migrate of "${to.name}" gives ${shown(odd)}, which is no field`)
}

function sourceOf(column: Column, { columns }: Schema<Fields>): Column | undefined {
  const source = formerName(column, (one) => columns.some(({ name }) => name === one))
  return columns.find(({ name }) => name === source)
}

// Secrecy does not affect a field's values.
function textOf({ field }: Column): string {
  return field.text.replace(/^secret /, '')
}

function put(where: string, { name, field, at }: Column, value: unknown, into: Quantised): void {
  try {
    quantiseKept(field, value, into, at)
  } catch (error) {
    throw within(`${where}, field "${name}"`, error)
  }
}

/** Quantises another build's value. @throws Error that says why it does not fit */
export function quantiseKept(
  field: Field<unknown>,
  value: unknown,
  into: Quantised,
  at: number,
): void {
  field.quantise(grown(field, value), into, at)
}

function grown(field: Field<unknown>, value: unknown): unknown {
  if (field.grown) return field.grown(value, grown)
  if (typeof value === 'number') checkHeld(field, value)
  return value
}

// An application's number beyond a range becomes its end; a stored number is never changed so.
function checkHeld(field: Field<unknown>, value: number): void {
  const held: Quantised = []
  field.quantise(value, held, 0)
  if (field.valueAt(held, 0) === value) return
  if (value < (field.min ?? value) || value > (field.max ?? value)) {
    throw new Error(`${value} is not from ${field.min} to ${field.max}`)
  }
  if (field.kind === 'integer' && Number.isInteger(value)) {
    throw new Error(`${value} does not fit ${field.text}`)
  }
}
