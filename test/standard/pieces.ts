/**
 * Section 13 of the document, for the reader that knows nothing else: generations, levels, rows,
 * bodies of updates. All verbs throw Malformed.
 */

import { limit, readType, type Standard } from './document.ts'
import { readMasked } from './fields.ts'
import {
  blob,
  type Cursor,
  integer,
  Malformed,
  PROSE,
  type Read,
  readValue,
  rest,
  utf8,
  type Value,
  varint,
} from './values.ts'

/** What an operation on part 7 asks for, of a piece of that type. */
export function readPieceBody(standard: Standard, type: number, bytes: Uint8Array): Read {
  const cursor = { bytes, at: 0 }
  const head = integer(cursor, 1)
  if (head === 2) {
    return { kind: 'free', ...(named(standard, 'PieceFree', cursor, true) as Read) }
  }
  if (head % 8 !== 1) throw new Malformed(`a body of kind ${head % 8}`)
  const said = named(standard, 'PieceUpdate', cursor) as Read
  const hold = ['keep', 'grab', 'release', 'wrest'][Math.floor(head / 8) % 4]!
  const update: Read = { kind: 'update', ...said, hold, loose: bit(head, 5) }
  if (bit(head, 6)) update['fields'] = readMasked(schemaOf(standard, type), cursor).fields
  if (bit(head, 7)) update['z'] = utf8(blob(cursor, limit(standard, 'LEVEL_MAX')))
  done(cursor)
  return update
}

/** The piece that a body is about; 0 if it is of none. */
export function pieceOf(bytes: Uint8Array): number {
  return bytes[0] === 2 ? 0 : varint({ bytes, at: 2 })
}

function named(standard: Standard, name: string, cursor: Cursor, whole = false): Value {
  const value = readValue(standard, readType(standard, name), cursor)
  if (whole) done(cursor)
  return value
}

function done(cursor: Cursor): void {
  const left = rest(cursor).length
  if (left > 0) throw new Malformed(`${left} bytes too many`)
}

function bit(flags: number, place: number): boolean {
  return Math.floor(flags / 2 ** place) % 2 === 1
}

function schemaOf({ pieceTypes }: Standard, type: number): string {
  const schema = pieceTypes[type]
  if (schema === undefined) throw new Malformed(`pieces have no type ${type}`)
  return schema
}

/** The fields of a schema text, and which of them are secret. */
export function secretsOf(schema: string): boolean[] {
  return schema.split(', ').map((field) => field.includes(': secret '))
}

/** A generation as a number: it rises. */
export function generation(value: Value): number {
  const { epoch, number } = value as { epoch: number; number: number }
  return epoch * 2 ** 32 + number
}

function within(value: Value, least: number, most: number): void {
  if ((value as number) < least || (value as number) > most) {
    throw new Malformed(`${String(value as number)} is not from ${least} to ${most}`)
  }
}

PROSE.set('Generation', (standard, _cursor, { epoch, number }) => {
  within(epoch!, 0, limit(standard, 'EPOCH_MAX'))
  within(number!, 0, limit(standard, 'GENERATION_MAX'))
})

PROSE.set('PieceUpdate', (standard, _cursor, { seq }) => {
  within(seq!, 1, limit(standard, 'PIECE_SEQ_MAX'))
})

PROSE.set('PieceFree', (_standard, _cursor, { players }) => {
  const all = players as number[]
  if (all.length === 0) throw new Malformed('nobody is freed')
  for (const [at, player] of all.entries()) {
    if (player <= (all[at - 1] ?? 0)) throw new Malformed('players that do not rise')
  }
})

PROSE.set('PieceRow', (standard, cursor, row) => {
  const flags = row['flags'] as number
  const gen = generation(row['gen']!)
  const schema = schemaOf(standard, row['type'] as number)
  within(row['id']!, 1, limit(standard, 'PIECE_ID_MAX'))
  within(flags, 0, 31)
  if (bit(flags, 0)) {
    if (row['by'] === 0) throw new Malformed('a chain of nobody')
    row['back'] = given(cursor)
    row['byBefore'] = varint(cursor)
    within(row['back'], 1, gen)
  }
  if (bit(flags, 1)) row['heldBy'] = given(cursor)
  if (bit(flags, 2)) row['releasedBy'] = given(cursor)
  if (bit(flags, 4)) row['refused'] = refusals(standard, cursor, gen)
  row['z'] = level(utf8(blob(cursor, limit(standard, 'LEVEL_MAX'))))
  row['zBack'] = varint(cursor)
  within(row['zBack'], 0, gen)
  if (bit(flags, 3)) row['hidden'] = given(cursor)
  const hidden = (row['hidden'] ?? 0) as number
  const secret = secretsOf(schema)
  within(hidden, 0, 2 ** secret.length - 1)
  const known = secret.map((_, at) => !bit(hidden, at))
  if (known.some((one, at) => !one && !secret[at])) throw new Malformed('hidden, and no secret')
  if (!known.includes(true)) return
  const { mask, fields } = readMasked(schema, cursor)
  if (mask !== 2 ** secret.length - 1 - hidden) throw new Malformed('not all that is not hidden')
  row['fields'] = fields
})

function refusals(standard: Standard, cursor: Cursor, gen: number): Read[] {
  const count = given(cursor)
  within(count, 1, limit(standard, 'REFUSED_MAX'))
  const all: Read[] = []
  for (let newest = gen; all.length < count;) {
    const one = named(standard, 'Refusal', cursor) as Read
    if (one['by'] === 0 || one['later'] === 0) throw new Malformed('nobody was refused')
    if (all.some(({ by }) => by === one['by'])) throw new Malformed('refused twice')
    newest += one['later'] as number
    within(Math.floor(newest / 2 ** 32), 0, limit(standard, 'EPOCH_MAX'))
    all.push(one)
  }
  return all
}

/** The newest generation in a row: its own, or that of the newest refusal. */
export function newestIn({ gen, refused }: Read): number {
  const later = ((refused ?? []) as Read[]).map((one) => one['later'] as number)
  return later.reduce((sum, one) => sum + one, generation(gen!))
}

function given(cursor: Cursor): number {
  const value = varint(cursor)
  if (value === 0) throw new Malformed('nothing where a flag says that there is something')
  return value
}

function level(text: string): string {
  const [, head, digits] = /^([A-Za-z])([0-9A-Za-z]*)$/.exec(text) ?? []
  const letters = 'ZYXWVUTSRQPONMLKJIHGFEDCBA'
  const count = 1 + Math.max(letters.indexOf(head!), letters.toLowerCase().indexOf(head!))
  const other = 1 + 'abcdefghijklmnopqrstuvwxyz'.indexOf(head!)
  const whole = head === undefined ? Infinity : other > 0 ? other : count
  if (digits === undefined || digits.length < whole) throw new Malformed(`${text} is no level`)
  const fraction = digits.slice(whole)
  if (fraction.endsWith('0')) throw new Malformed(`${text} ends in 0`)
  if (head === 'A' && /^0+$/.test(digits)) throw new Malformed(`${text} has nothing below it`)
  return text
}

PROSE.set('PieceEntry', (standard, cursor, entry) => {
  const why = entry['why'] as string
  if (why === 'gone') {
    entry['id'] = given(cursor)
    return within(entry['id'], 1, limit(standard, 'PIECE_ID_MAX'))
  }
  if (why !== 'table') {
    entry['seq'] = given(cursor)
    within(entry['seq'], 1, limit(standard, 'PIECE_SEQ_MAX'))
  }
  if (why === 'inapplicable') entry['reason'] = utf8(blob(cursor, limit(standard, 'REASON_MAX')))
  entry['row'] = named(standard, 'PieceRow', cursor)
})

PROSE.set('Pieces news', (_standard, _cursor, { entries }) => {
  const all = entries as Read[]
  if (all.length === 0) throw new Malformed('news of nothing')
  once(all.map((entry) => ((entry['row'] as Read | undefined) ?? entry)['id']!))
})

PROSE.set('Pieces table', (_standard, _cursor, table) => {
  within(table['flags']!, 0, 3)
  rowsFit(table)
})

function rowsFit({ newest, rows }: Read): void {
  once((rows as Read[]).map(({ id }) => id!))
  for (const row of rows as Read[]) within(newestIn(row), 0, generation(newest!))
}

function once(ids: readonly Value[]): void {
  if (new Set(ids).size < ids.length) throw new Malformed('a piece twice')
}

PROSE.set('PieceChange gone', (standard, _cursor, { id }) => {
  within(id!, 1, limit(standard, 'PIECE_ID_MAX'))
})

PROSE.set('PieceChange told', (_standard, _cursor, copy) => rowsFit(copy))

PROSE.set('PieceChange snapshot', (standard, _cursor, copy) => {
  rowsFit(copy)
  const ids = (copy['rows'] as Read[]).map(({ id }) => id as number)
  within(copy['nextId']!, Math.max(0, ...ids) + 1, limit(standard, 'PIECE_ID_MAX') + 1)
})

PROSE.set('Fork', (_standard, _cursor, { after, until }) => {
  const end = generation(until!)
  if (end !== 0) within(end, generation(after!) + 1, Infinity)
})
