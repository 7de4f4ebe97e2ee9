/**
 * Pieces that another build kept, read by that build's types and made pieces of ours.
 *
 * A field that both have is taken over; one that is new has its initial value; one that is not here
 * any more falls away. What a field of ours cannot hold is refused, and so is a piece of a type
 * that is not here: then nothing is changed, and whoever has the right build finds all of it.
 */

import { HoldfastError } from '../machine.ts'
import type { Column, Fields, Quantised, Schema } from '../wire/schema.ts'
import { shown } from '../wire/fields.ts'
import { parseSchema } from '../wire/parsed.ts'
import * as changes from './changes.ts'
import { create } from './rules.ts'
import type { PieceRules, PieceTypes, Row } from './state.ts'

/** What there is of a type in the other build. */
interface Theirs extends PieceRules {
  /** Its fields as text, by name. */
  readonly texts: Readonly<Record<string, string>>
}

/**
 * The durable state of another build in ours.
 *
 * @param said  the types of that build, a line each
 * @param bytes  its state in the form of `snapshot`, and the changes behind it
 * @returns the same form by our types; or why that cannot be
 */
export function reread(
  types: PieceTypes,
  said: string,
  bytes: Uint8Array,
  behind: readonly Uint8Array[],
): Uint8Array | string {
  const theirs = typesOf(said)
  if (!theirs) return 'its types of pieces are in no form that this build reads'
  const pieces = create(new Uint8Array(0))
  if (!changes.restore(pieces, theirs, bytes)) return 'its pieces cannot be read by its types'
  for (const change of behind) changes.apply(pieces.kept, theirs, change)
  try {
    const rows = Array.from(pieces.kept.rows.values(), (row) => ours(types, theirs, row))
    pieces.kept.rows = new Map(rows.map((row) => [row.id, row]))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return changes.snapshot(pieces, types)
}

function typesOf(said: string): Theirs[] | null {
  const all: Theirs[] = []
  for (const line of said.split('\n').filter((one) => one !== '')) {
    const [, name, text] = /^(.*?) (\{ .* \}) piece$/.exec(line) ?? []
    const parsed = text === undefined ? null : parseSchema(text)
    if (name === undefined || !parsed) return null
    const { schema, secrets } = parsed
    const secret = secrets.reduce((mask, field) => mask + 2 ** schema.places.get(field)!, 0)
    const texts = Object.fromEntries(schema.columns.map((one) => [one.name, one.field.text]))
    const rules = { hides: () => secret, decide: null, mustHold: false, kept: null }
    all.push({ name, schema, secret, ...rules, texts })
  }
  return all
}

function ours(types: PieceTypes, theirs: readonly Theirs[], row: Row): Row {
  const from = theirs[row.type]!
  const named = types.findIndex(({ name }) => name === from.name)
  const type = named >= 0 ? named : types.findIndex(({ kept }) => kept?.was === from.name)
  if (type < 0) throw new Error(`type "${from.name}" is there and not here`)
  const to = types[type]!
  if (to.schema.text === from.schema.text && to.secret === from.secret) return { ...row, type }
  return { ...row, type, ...taken(to, from, row) }
}

function taken(to: PieceRules, from: Theirs, row: Row): Pick<Row, 'fields' | 'hidden'> {
  const where = `type "${to.name}"`
  const state = valuesOf(from.schema, row)
  const made = to.kept?.migrate ? migrated(to, from, state) : {}
  const fields: Quantised = []
  let hidden = 0
  for (const [i, column] of to.schema.columns.entries()) {
    const source = sourceOf(column, from.schema)
    if (Object.hasOwn(made, column.name)) {
      put(where, column, made[column.name], fields)
    } else if (!source || isHidden(from.schema, source, row)) {
      column.field.quantise(column.field.initial, fields, column.at)
      if (source && (to.secret & (2 ** i)) !== 0) hidden += 2 ** i
    } else if (source.field.text === textOf(column)) {
      for (let at = 0; at < column.field.size; at++) {
        fields[column.at + at] = row.fields[source.at + at]!
      }
    } else put(where, column, state[source.name], fields)
  }
  return { fields, hidden }
}

function valuesOf(schema: Schema<Fields>, row: Row): Record<string, unknown> {
  const entries = schema.columns.map((column) => {
    const known = !isHidden(schema, column, row)
    return [column.name, known ? column.field.valueAt(row.fields, column.at) : null] as const
  })
  return Object.fromEntries(entries)
}

function isHidden(schema: Schema<Fields>, { name }: Column, { hidden }: Row): boolean {
  return (hidden & (2 ** schema.places.get(name)!)) !== 0
}

function migrated(to: PieceRules, from: Theirs, state: object): Record<string, unknown> {
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

function sourceOf({ name, field }: Column, schema: Schema<Fields>): Column | undefined {
  const { was } = field as { was?: string }
  const find = (one: string): Column | undefined =>
    schema.columns.find((column) => column.name === one)
  return find(name) ?? (was === undefined ? undefined : find(was))
}

// Where it is secret or not is no matter of its values.
function textOf({ field }: Column): string {
  return field.text.replace(/^secret /, '')
}

// Numbers beyond a range become its end where a game sets them; what was kept is not changed so.
function put(where: string, { name, field, at }: Column, value: unknown, into: Quantised): void {
  const refused = (why: string): HoldfastError =>
    new HoldfastError('bad-value', `${where}, field "${name}": ${why}`)
  if (typeof value === 'number' && (value < (field.min ?? value) || value > (field.max ?? value))) {
    throw refused(`${value} is not from ${field.min} to ${field.max}`)
  }
  try {
    field.quantise(value, into, at)
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error))
  }
  const now = field.valueAt(into, at)
  if (typeof value === 'number' && Number.isInteger(value) && field.kind === 'integer') {
    if (now !== value) throw refused(`${value} does not fit ${field.text}`)
  }
}
