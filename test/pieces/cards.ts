/** What tests of a card table have in common: how its cards are handled, and shuffled. */

import { reject, type Rejection } from '../../packages/holdfast/src/pieces/types.ts'
import type { Hold } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'

/** The fields by which a card is handled. */
interface Handled {
  at?: readonly [number, number]
  hand?: number
}

/** What becomes of an update of a card: the table ends at 900, and who draws one has it in hand. */
export function handled<Patch extends Handled>(
  _card: unknown,
  patch: Patch,
  by: number,
  hold: Hold,
): Patch | Rejection {
  if (patch.at && patch.at[0] > 900) return { ...patch, at: [900, patch.at[1]] as const }
  if (patch.at && patch.at[1] > 900) return reject('off the table')
  if (patch.at && patch.at[1] === 666) throw new Error('a devil of a rule')
  // Who draws a card sees it when they let go of it.
  return hold === 'release' && patch.at?.[0] === 5 ? { ...patch, hand: by } : patch
}

/** A card in an action. */
interface Faced<Face> {
  readonly state: { readonly face: Face | null }
  set(patch: { face: Face }): void
}

/** Faces change places by the lots of the table. */
export function shuffled<Face>(
  cards: readonly Faced<Face>[],
  table: { draw(count: number): number },
): void {
  for (let left = cards.length - 1; left > 0; left--) {
    const other = table.draw(left + 1)
    const [face, there] = [cards[left]!.state.face!, cards[other]!.state.face!]
    cards[left]!.set({ face: there })
    cards[other]!.set({ face })
  }
}
