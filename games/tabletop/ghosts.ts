/** Hands over the table: ours is told, those of the others are shown. */

import type { ObjectHandle, Session, StateOf, Vec2 } from 'holdfast'
import { Sole } from '../returned.ts'
import { type Ping, Pings } from './pings.ts'
import { TABLE } from './rules/places.ts'
import { Hand } from './rules/things.ts'

/** How often ours is told, in milliseconds. */
const TELL_MS = 66
/** Nobody's hand is faster, in units of the table a second. */
const SPEED_MAX = 3_000
/** A hand that does not stir for so long is not shown, in milliseconds. */
const REST_MS = 12_000

type HandHandle = ObjectHandle<typeof Hand.schema.fields>

/** Another's hand. */
export interface Ghost {
  readonly player: number
  readonly name: string
  readonly at: Vec2
}

/** See the head of this file. */
export class Ghosts {
  readonly #session: Session
  readonly #own: Sole<typeof Hand>
  readonly #views = new WeakMap<HandHandle, StateOf<typeof Hand.schema.fields>>()
  readonly #pings = new Pings()
  readonly #stirred = new Map<string, { at: Vec2; when: number }>()
  #at: Vec2 | null = null
  #toldAt = 0
  #toldPlace: Vec2 | null = null

  /** @param watching  has no hand */
  constructor(session: Session, watching: boolean) {
    this.#session = session
    this.#own = new Sole(session, Hand)
    if (!watching) this.appear()
  }

  /** We have a hand at the table from now on. */
  appear(): void {
    this.#own.make({ at: [0, 0], speed: [0, 0], there: false, ping: [0, 0], pings: 0 })
  }

  /** Our hand is there now; null for not over the table. */
  point(at: Vec2 | null): void {
    this.#at = at
  }

  /** Where our hand is; null for not over the table. */
  get at(): Vec2 | null {
    return this.#at
  }

  /** Shows all where we point. @returns false if we pointed a moment ago */
  ping(at: Vec2, now: number): boolean {
    const own = this.#own.handle
    if (!own || !this.#pings.point(this.#session.me.player, at, now)) return false
    own.set({ ping: [fit(at[0]), fit(at[1])], pings: (own.state.pings + 1) % 256 })
    return true
  }

  /** Where anybody points now. */
  pings(now: number): Ping[] {
    for (const { owner, mine, away, state } of this.#session.all(Hand)) {
      if (!mine && !away && owner) this.#pings.hear(owner.player, state.pings, state.ping, now)
    }
    return this.#pings.shown(now)
  }

  /** The players that have a hand here: all who do not only watch. */
  get players(): number[] {
    const hands = this.#session.all(Hand).filter(({ away }) => !away)
    return hands.flatMap(({ owner }) => (owner ? [owner.player] : []))
  }

  /** Tells where our hand is, if that is due. */
  tell(now: number): void {
    const due = now - this.#toldAt
    const own = this.#own.handle
    if (!own || due < TELL_MS || this.#session.status !== 'live') return
    const [from, at] = [this.#toldPlace, this.#at]
    const still = from !== null && at !== null && from[0] === at[0] && from[1] === at[1]
    if (from === at || (still && own.state.speed.every((each) => each === 0))) return
    const there = at !== null
    const speed: Vec2 =
      from && at && due < 300 ? [pace(at[0] - from[0], due), pace(at[1] - from[1], due)] : [0, 0]
    const place = at ?? from ?? [0, 0]
    own.set({ at: [fit(place[0]), fit(place[1])], speed, there })
    this.#toldAt = now
    this.#toldPlace = at
  }

  /** The hands of the others, where they are shown now. */
  shown(now: number): Ghost[] {
    return this.#session.all(Hand).flatMap((hand) => {
      const { owner, mine, away } = hand
      if (mine || away || !owner || !hand.state.there) return []
      const view = hand.view(this.#views.get(hand))
      this.#views.set(hand, view)
      const at: Vec2 = [view.at[0], view.at[1]]
      if (this.#isAtRest(hand, now)) return []
      return [{ player: owner.player, name: owner.name, at }]
    })
  }

  #isAtRest({ id, state }: HandHandle, now: number): boolean {
    const before = this.#stirred.get(id)
    const { at } = state
    if (before && before.at[0] === at[0] && before.at[1] === at[1]) {
      return now - before.when > REST_MS
    }
    this.#stirred.set(id, { at, when: now })
    return false
  }
}

function pace(way: number, ms: number): number {
  return Math.min(SPEED_MAX, Math.max(-SPEED_MAX, (way * 1000) / ms))
}

function fit(value: number): number {
  return Math.min(TABLE[0], Math.max(0, value))
}
