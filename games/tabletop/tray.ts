/** One's own hand, along the lower edge of the window: which card lies where in it. */

import type { Vec2 } from 'holdfast'
import type { Frame } from './view/camera.ts'
import type { CardHandle } from './kinds.ts'
import { isJoker, rankOf, suitOf } from './rules/faces.ts'
import { CARD } from './rules/places.ts'

/** Space beside the outermost cards, in pixels. */
const MARGIN = 18
/** Space for the words above the cards, in pixels. */
const WORDS = 28
/** Windows that are narrower have smaller cards in the hand, in pixels. */
const NARROW = 620

/** How a hand is laid out. */
export interface Layout {
  /** Height of the tray, in pixels. */
  readonly height: number
  /** Pixels for a unit of the table. */
  readonly scale: number
}

/** How it is laid out in a window of that width. */
export function layoutFor(width: number): Layout {
  const scale = width < NARROW ? 0.62 : 0.84
  return { scale, height: WORDS + CARD[1] * scale + 10 }
}

/** See the head of this file. */
export class Tray {
  #order: string[] = []
  #cards: readonly CardHandle[] = []

  /** Takes in which cards are there. */
  take(cards: readonly CardHandle[]): void {
    const ids = cards.map(({ id }) => id)
    const known = this.#order.filter((id) => ids.includes(id))
    this.#order = [...known, ...ids.filter((id) => !known.includes(id))]
    const byId = new Map(cards.map((card) => [card.id, card]))
    this.#cards = this.#order.map((id) => byId.get(id)!)
  }

  /** The cards from the left. */
  get cards(): readonly CardHandle[] {
    return this.#cards
  }

  /** Puts a card where it would lie at that place from the left edge, in pixels. */
  put(id: string, x: number, frame: Frame): void {
    const others = this.#order.filter((each) => each !== id)
    const before = others.filter((_, place) => slot(place, others.length, frame)[0] < x).length
    this.#order = [...others.slice(0, before), id, ...others.slice(before)]
  }

  /** Sorts it by suits and ranks. */
  sort(): void {
    const face = (card: CardHandle): number => card.state.face ?? 0
    const key = (card: CardHandle): number =>
      (isJoker(face(card)) ? 400 : 0) + [0, 1, 3, 2][suitOf(face(card))]! * 100 + rankOf(face(card))
    this.#cards = this.#cards.toSorted((a, b) => key(a) - key(b))
    this.#order = this.#cards.map(({ id }) => id)
  }

  /** The middle of a card in the window, in pixels; null if it is not in the hand. */
  slotOf(id: string, frame: Frame): Vec2 | null {
    const place = this.#order.indexOf(id)
    return place < 0 ? null : slot(place, this.#order.length, frame)
  }
}

function slot(place: number, count: number, frame: Frame): Vec2 {
  const { height, scale } = layoutFor(frame.width)
  const width = CARD[0] * scale
  const room = frame.width - 2 * MARGIN - width
  const step = count < 2 ? 0 : Math.min(width * 0.72, room / (count - 1))
  const left = (frame.width - step * (count - 1)) / 2
  return [left + place * step, frame.height - height + WORDS + (CARD[1] * scale) / 2]
}
