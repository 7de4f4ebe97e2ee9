/**
 * Pointing: a mark where somebody points, seen by all for a moment. Neither we nor others point
 * more often than PING_EVERY_MS, whatever their windows say.
 */

import type { Vec2 } from 'holdfast'

/** A mark is seen so long, in milliseconds. */
export const PING_MS = 1_800
/** One player points again after so long, in milliseconds. */
export const PING_EVERY_MS = 600

/** A mark. */
export interface Ping {
  readonly player: number
  readonly at: Vec2
  readonly since: number
}

/** See the head of this file. */
export class Pings {
  /** How often each had pointed when we last looked. */
  readonly #counts = new Map<number, number>()
  readonly #newest = new Map<number, Ping>()

  /** Shows a mark of a player, unless they pointed a moment ago. @returns whether it is shown */
  point(player: number, at: Vec2, now: number): boolean {
    const before = this.#newest.get(player)
    if (before && now - before.since < PING_EVERY_MS) return false
    this.#newest.set(player, { player, at, since: now })
    return true
  }

  /** Another says how often they have pointed by now; what they did before we came is no news. */
  hear(player: number, count: number, at: Vec2, now: number): void {
    const before = this.#counts.get(player)
    this.#counts.set(player, count)
    if (before !== undefined && before !== count) this.point(player, at, now)
  }

  /** The marks that are seen now. */
  shown(now: number): Ping[] {
    return [...this.#newest.values()].filter(({ since }) => now - since < PING_MS)
  }
}
