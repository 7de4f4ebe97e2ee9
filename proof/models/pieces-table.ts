/** What lies on the table of the pieces' model: cards with a number, and a face that is secret. */

import { reject, secret } from '../../packages/holdfast/src/pieces/types.ts'
import { piece } from '../../packages/holdfast/src/pieces/pieces.ts'
import {
  between,
  type Op,
  type Pieces,
  type PieceTypes,
  shown,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { above } from '../../packages/holdfast/src/pieces/protocol/levels.ts'
import { bool, u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'

/** What a hand may do to a card. */
export type Doing =
  /** Another number. */
  | 'move'
  /** A number that the rules do not take, and one of which they make another. */
  | 'refused'
  | 'clamped'
  | 'grab'
  | 'release'
  | 'wrest'
  /** A loose grab. */
  | 'loose'
  | 'raise'
  /** Into the gap between the table and the lowest. */
  | 'lower'
  /** From now on its face is open to all, or to who holds it alone. */
  | 'open'
  | 'shut'

/** The face of every card: a number that nothing else has. */
export const FACE = 77
const REFUSED = 250
const CLAMPED = 251

const Card = piece(
  'card',
  {
    mark: u8,
    open: bool,
    face: secret(u8, (card, who) => card['open'] === true || card.heldBy === who),
  },
  {
    rules: {
      update: (_card, patch) => {
        if (patch.mark === REFUSED) return reject('no such number')
        return patch.mark === CLAMPED ? { ...patch, mark: CLAMPED + 1 } : patch
      },
    },
  },
)

/** The only type. */
export const TYPES: PieceTypes = [Card.rules]
/** The fields of a card, as masks. */
export const MARK = 1
const OPEN = 2
/** Of the face. */
export const SECRET = 4

/** The fields of a card with this number. */
export function fieldsOf(mark: number, open: boolean, face: number): Op['fields'] {
  return [mark, open ? 1 : 0, face]
}

/** Whether the model's loose grab. */
export function isLoose(doing: Doing): boolean {
  return doing === 'loose'
}

/** What a hand asks for. @param mark  a number that nobody used before */
export function opOf(doing: Doing, state: Pieces, mark: number): Op {
  const none: Op = { hold: 'keep', mask: 0, fields: [], z: null }
  switch (doing) {
    case 'move':
      return { ...none, mask: MARK, fields: fieldsOf(mark, false, 0) }
    case 'refused':
      return { ...none, mask: MARK, fields: fieldsOf(REFUSED, false, 0) }
    case 'clamped':
      return { ...none, mask: MARK, fields: fieldsOf(CLAMPED, false, 0) }
    case 'open':
    case 'shut':
      return { ...none, mask: OPEN, fields: fieldsOf(0, doing === 'open', 0) }
    case 'grab':
    case 'release':
    case 'wrest':
      return { ...none, hold: doing }
    case 'loose':
      return { ...none, hold: 'grab' }
    case 'raise':
      return { ...none, z: above(rowsOf(state)) }
    case 'lower':
      return { ...none, z: between(null, lowest(state)) }
    default:
      return doing satisfies never
  }
}

function rowsOf(state: Pieces) {
  return [...state.published.keys()].map((id) => shown(state, TYPES, id)!)
}

function lowest(state: Pieces): string | null {
  const levels = rowsOf(state).map(({ z }) => z)
  return levels.length === 0 ? null : levels.reduce((one, other) => (one < other ? one : other))
}
