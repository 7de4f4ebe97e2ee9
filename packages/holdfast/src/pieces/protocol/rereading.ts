/**
 * Pieces that another build kept, read by that build's types and made pieces of ours. If one does
 * not fit, nothing is changed, and whoever has the right build finds all of it.
 */

import { converted, placeOf, type Theirs, typesOf } from '../../wire/converting.ts'
import * as changes from './changes.ts'
import { create } from './rules.ts'
import type { PieceRules, PieceTypes, Row } from './state.ts'

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
  const rules = theirs.map((one): PieceRules => {
    return { ...one, hides: () => one.secret, decide: null, mustHold: false, kept: null }
  })
  const pieces = create(new Uint8Array(0))
  if (!changes.restore(pieces, rules, bytes)) return 'its pieces cannot be read by its types'
  for (const change of behind) changes.apply(pieces.kept, rules, change)
  try {
    const rows = Array.from(pieces.kept.rows.values(), (row) => ours(types, theirs, row))
    pieces.kept.rows = new Map(rows.map((row) => [row.id, row]))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return changes.snapshot(pieces, types)
}

function ours(types: PieceTypes, theirs: readonly Theirs[], row: Row): Row {
  const from = theirs[row.type]!
  const type = placeOf(types, from)
  return { ...row, type, ...converted(types[type]!, from, row) }
}
