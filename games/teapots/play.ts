/**
 * One window's part in a match: its seat or its place among those who watch, its clock, and who
 * toppled whom. It draws nothing; `changed` tells who does.
 */

import type { Session } from 'holdfast'
import { Player } from '../player.ts'
import { Flights } from './flights.ts'
import { createMind, type Mind, think } from './rules/brain.ts'
import { IDLE, type Intent } from './rules/pot.ts'
import * as rows from './rules/standing.ts'
import type { Decisions } from './rules/things.ts'
import { Seat } from './seat.ts'
import { Sugar } from './sugar.ts'
import { lull } from './whose.ts'

/** How long it is told who toppled whom, in milliseconds, and how many at once. */
const FEED_MS = 5_000
const FEED_MAX = 4
/** How well a pot plays that is left to itself. */
const AUTOPILOT_SKILL = 0.75

/** Somebody toppled somebody, for a list of what just happened. */
export interface Topple extends rows.Blow {
  /** On the page's own clock, in milliseconds. */
  seenAt: number
}

/** See the head of this file. */
export class Play extends Player {
  readonly sugar: Sugar
  /** Null for who only watches. */
  seat: Seat | null = null
  /** What the player wants, asked at each step. */
  steer: () => Intent = () => IDLE
  /** How much a throw is helped to aim, in radians. */
  assist = 0
  readonly #decisions: Decisions
  readonly #watching: Flights
  #autopilot: Mind | null = null
  #feed: Topple[] = []
  #blows: number
  #late = 0
  #advancedAt = 0

  constructor(session: Session, decisions: Decisions, changed: () => void) {
    super(session, changed)
    this.#decisions = decisions
    this.#watching = new Flights(session)
    this.sugar = new Sugar(session)
    this.#blows = rows.hitsTotal(session.table)
    session.table.on('changed', () => this.#hear())
    session.on('objects', () => lull(session))
  }

  /** The cubes in the air. */
  get flights(): Flights {
    return this.#watching
  }

  /** How everybody here stands, best first. */
  get standings(): rows.Standing[] {
    const { members } = this.session
    const players = members.map(({ player }) => player)
    return rows.standings(this.session.table, players, this.session.now())
  }

  /** Who toppled whom a moment ago, newest first. */
  get feed(): readonly Topple[] {
    const now = performance.now()
    return this.#feed.filter(({ seenAt }) => now - seenAt < FEED_MS)
  }

  /** Whether our pot plays by itself. */
  get autopilot(): boolean {
    return this.#autopilot !== null
  }

  set autopilot(on: boolean) {
    this.#autopilot = on ? createMind(this.session.me.player, AUTOPILOT_SKILL) : null
    this.changed()
  }

  /** Sits down with a pot of this glaze. */
  sit(glaze: number): void {
    if (this.seat || !this.isHere) return
    this.seat = new Seat(this.session, this.#decisions, this.sugar, glaze, {
      threw: () => this.changed(),
      // Most are close calls, of two who hit the same pot at once: they need no words.
      refused: () => this.changed(),
    })
    this.changed()
  }

  /** Gets up, to watch. */
  rise(): void {
    this.seat?.leave()
    this.seat = null
    this.changed()
  }

  /** Goes on to this instant of a local clock. */
  advance(now: number): void {
    const { seat } = this
    if (!this.isHere) return
    if (seat) {
      seat.assist = this.#autopilot ? 0 : this.assist
      seat.intent = this.#autopilot ? think(this.#autopilot, seat.sight()) : this.steer()
    }
    this.#late = (seat ?? this.sugar).advance(now)
    this.#advancedAt = now
  }

  /** How long before this instant what is ours made its last step, in milliseconds. */
  lateAt(now: number): number {
    return Math.min(50, this.#late + now - this.#advancedAt)
  }

  #hear(): void {
    const seenAt = performance.now()
    for (const blow of rows.blowsAfter(this.session.table, this.#blows)) {
      this.#blows = blow.number
      if (blow.tea === 0) this.#feed = [{ ...blow, seenAt }, ...this.#feed].slice(0, FEED_MAX)
    }
    this.changed()
  }
}
