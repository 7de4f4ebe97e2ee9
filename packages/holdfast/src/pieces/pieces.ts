/** Types of pieces as a game defines them, and the kind that a session opens for them. */

import type { Part } from '../kind/protocol/part.ts'
import * as pieces from './protocol/pieces.ts'
import { checkName } from '../api/options.ts'
import type { Fields } from '../wire/fields/schema.ts'
import type { Definition, Host, Kind, Opened } from '../kind/kind.ts'
import { compilePiece, type PieceOptions, type PieceType } from './types.ts'
import { tableOf } from './table.ts'
import { PieceRegistry } from './registry.ts'

export type { Grip, LostHold, PieceCall, PieceEvents, PieceHandle } from './handles.ts'
export type { PiecePatch } from './handles.ts'
export { reject, secret } from './types.ts'
export type { Face, PieceOptions, PieceType, Rejection, Secret, Sees } from './types.ts'
export type { GameTable, TablePiece, Timed } from './table.ts'

export const piecesKind: Kind<'piece'> = {
  word: 'piece',
  channel: pieces.PIECES_CHANNEL,
  most: pieces.PIECE_TYPES_MAX,
  text: textOf,
  keptText: textOf,
  hides: (definition) => {
    return Object.values((definition as PieceType).schema.fields).some((field) => 'sees' in field)
  },
  open: (definitions, host) => open(definitions as readonly PieceType[], host),
}

function textOf(definition: Definition): string {
  const { name, schema } = definition as PieceType
  return `${name} ${schema.text} piece`
}

function open(types: readonly PieceType[], host: Host): Opened {
  const state = pieces.create()
  const rules = types.map(({ rulesFor }) => rulesFor(host.reports.report))
  host.companions.push(tableOf(state, types, rules))
  const part = pieces.piecesPart(rules) as Part<never>
  return { part, state, face: new PieceRegistry(types, rules, state, host) }
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
  checkName(name)
  return compilePiece(piecesKind, name, fields, options as PieceOptions<F>)
}
