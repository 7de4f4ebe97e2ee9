/** Types of pieces as a game defines them, and the kind that a session opens for them. */

import * as pieces from './protocol/pieces.ts'
import type { Part } from '../kind/protocol/part.ts'
import { migrationOf } from '../api/migrations.ts'
import { checkName, checkOptions, checkWord, fieldsOf } from '../api/options.ts'
import type { Report } from '../api/reports.ts'
import { checkSize, type Fields, type Schema } from '../wire/fields/schema.ts'
import type { Definition, Kind } from '../kind/kind.ts'
import { checkRules, decisionOf, type PieceOptions, type PieceType, secretsOf } from './types.ts'
import { tableOf } from './table.ts'
import { PieceRegistry } from './registry.ts'

export type { Grip, LostHold, PieceCall, PieceEvents, PieceHandle } from './handles.ts'
export type { PiecePatch } from './handles.ts'
export { reject, secret } from './types.ts'
export type { Face, PieceOptions, PieceType, Rejection, Secret, Sees } from './types.ts'
export type { GameTable, TablePiece, Timed } from './table.ts'

const piecesKind: Kind<'piece'> = {
  word: 'piece',
  channel: pieces.PIECES_CHANNEL,
  most: pieces.PIECE_TYPES_MAX,
  text: textOf,
  keptText: textOf,
  hides: (definition) => {
    return Object.values((definition as PieceType).schema.fields).some((field) => 'sees' in field)
  },
  open: (definitions, host) => {
    const types = definitions as readonly PieceType[]
    const state = pieces.create()
    const rules = types.map(({ rulesFor }) => rulesFor(host.reports.report))
    host.companions.push(tableOf(state, types, rules))
    const part = pieces.piecesPart(rules) as Part<never>
    return { part, state, api: new PieceRegistry(types, rules, state, host) }
  },
}

function textOf(definition: Definition): string {
  const { name, schema } = definition as PieceType
  return `${name} ${schema.text} piece`
}

/**
 * A type of pieces: things that several players may grab at once, such as cards. Changes show at
 * once; the primary decides who was first, and a player who was late learns who was. Only actions
 * create pieces.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function piece<F extends Fields>(
  name: string,
  fields: F,
  options: PieceOptions<NoInfer<F>> = {},
): PieceType<F> {
  const given = options as unknown as PieceOptions<Fields>
  checkName(name)
  checkOptions(name, given, ['hold', 'rules', 'was', 'migrate'])
  const { hold = 'free' } = given
  const schema = fieldsOf(name, fields)
  checkWord(`${name}: hold`, hold, ['must', 'free'])
  checkRules(name, given.rules)
  const whole = schema as unknown as Schema<Fields>
  checkSize(`${name}: a piece`, whole, pieces.PIECE_BYTES_MAX)
  const rulesFor = (report: Report): pieces.PieceRules => ({
    name,
    schema: whole,
    mustHold: hold === 'must',
    kept: migrationOf(name, given),
    ...secretsOf(name, whole, report),
    ...decisionOf(name, whole, given, report),
  })
  return { kind: piecesKind, name, schema, rules: rulesFor(() => {}), rulesFor }
}
