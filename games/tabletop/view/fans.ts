/** The hands of the others, as backs along the upper edge of the picture. */

import type { Vec2 } from 'holdfast'
import type { Play } from '../play.ts'
import { CARD } from '../rules/places.ts'
import type { Frame } from './camera.ts'

/** Of a card's own size, in pixels for a unit of the table. */
export const FAN_SCALE = 0.32
/** Height of the row of hands, in pixels. */
export const FANS_HEIGHT: number = CARD[1] * FAN_SCALE + 26
/** From card to card, and all of a hand at most, in pixels. */
const STEP = 13
const WIDE = 110

/** One of them. */
export interface Fan {
  readonly player: number
  /** The middle of the hand's lower edge. */
  readonly at: Vec2
  /** Each card with its middle. */
  readonly cards: ReadonlyMap<string, Vec2>
}

/** All hands but our own that hold a card. */
export function fansOf(play: Play, frame: Frame): Fan[] {
  const me = play.watching ? 0 : play.session.me.player
  const hands = new Map<number, string[]>()
  for (const { kind, id, handle } of play.things) {
    if (kind !== 'card' || handle.state.hand === 0 || handle.state.hand === me) continue
    hands.set(handle.state.hand, [...(hands.get(handle.state.hand) ?? []), id])
  }
  const y = frame.top - FANS_HEIGHT / 2 - 8
  return [...hands].map(([player, ids], place) => {
    const x = (frame.width * (place + 1)) / (hands.size + 1)
    const step = Math.min(STEP, WIDE / ids.length)
    const cards = ids.map((id, index): [string, Vec2] => {
      return [id, [x + (index - (ids.length - 1) / 2) * step, y]]
    })
    return { player, at: [x, y + (CARD[1] * FAN_SCALE) / 2], cards: new Map(cards) }
  })
}
