/** The fields of pieces, quantised. */

import { initialState, type Quantised, quantise } from '../../wire/schema.ts'
import type { PieceRules, Row } from './state.ts'

const initial = new WeakMap<PieceRules, Quantised>()

/** The fields with which a piece of that type starts; a new array. */
export function initialFields(rules: PieceRules): Quantised {
  let fields = initial.get(rules)
  if (!fields) initial.set(rules, (fields = quantise(rules.schema, initialState(rules.schema))))
  return fields.slice()
}

/** Sets the masked fields; hidden ones among them are known from then on. */
export function take(rules: PieceRules, row: Row, from: Quantised, mask: number): void {
  const { columns } = rules.schema
  for (let i = 0; i < columns.length; i++) {
    if ((mask & (1 << i)) === 0) continue
    const { at, end } = columns[i]!
    for (let place = at; place < end; place++) row.fields[place] = from[place]!
  }
  row.hidden = (row.hidden & ~mask) >>> 0
}
