/** The game of the bench: cards that anybody may move. */

import { action } from '../../packages/holdfast/src/actions/actions.ts'
import { piece } from '../../packages/holdfast/src/pieces/pieces.ts'
import { ranged, u32 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { PIECES } from './words.ts'

/** A card, and when its newest move was sent. */
export const Card = piece('card', {
  x: ranged(0, 1_000, 0.5),
  y: ranged(0, 1_000, 0.5),
  sent: u32,
})

/** Lays all of them. */
export const lay = action('lay', (table) => {
  for (let n = 0; n < PIECES; n++) table.create(Card)
})
