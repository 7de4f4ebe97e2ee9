/**
 * One window's part in a match: its seat or its place among those who watch, its clock, what it
 * has to say, and the wish to kill a server. It draws nothing; `changed` tells who does.
 */

import type { Session } from 'holdfast'
import { Story } from '../story.ts'
import { Flights } from './flights.ts'
import { createMind, type Mind, think } from './rules/brain.ts'
import { IDLE, type Intent } from './rules/pot.ts'
import * as rows from './rules/standing.ts'
import { type Decisions, Kill } from './rules/things.ts'
import { Seat } from './seat.ts'

/** How long a wish to kill the server stands, in milliseconds. */
const KILL_MS = 3_000
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
export class Play {
  readonly session: Session
  readonly story: Story
  /** Null for who only watches. */
  seat: Seat | null = null
  killed = false
  /** What the player wants, asked at each step. */
  steer: () => Intent = () => IDLE
  /** How much a throw is helped to aim, in radians. */
  assist = 0
  readonly #decisions: Decisions
  readonly #changed: () => void
  readonly #watching: Flights
  #autopilot: Mind | null = null
  #feed: Topple[] = []
  #blows: number
  #late = 0
  #advancedAt = 0

  constructor(session: Session, decisions: Decisions, changed: () => void) {
    this.session = session
    this.#decisions = decisions
    this.#changed = changed
    this.#watching = new Flights(session)
    this.story = new Story(session, changed)
    session.on('objects', () => this.#obey())
    this.#blows = rows.hitsTotal(session)
    session.on('table', () => this.#hear())
  }

  /** The cubes in the air. */
  get flights(): Flights {
    return this.#watching
  }

  /** Whether this window serves. */
  get serves(): boolean {
    const { primary, me } = this.session
    return primary !== null && primary.inc === me.inc
  }

  /** Whether somebody would take over if the server were killed now. */
  get killable(): boolean {
    return this.session.status === 'live' && this.session.backup !== null
  }

  /** How everybody here stands, best first. */
  get standings(): rows.Standing[] {
    const { members } = this.session
    const players = members.map(({ player }) => player)
    return rows.standings(this.session, players, this.session.now())
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
    this.#changed()
  }

  /** Sits down with a pot of this glaze. */
  sit(glaze: number): void {
    if (this.seat || this.killed || this.session.status === 'lost') return
    this.seat = new Seat(this.session, this.#decisions, glaze, {
      threw: () => this.#changed(),
      // Most are close calls, of two who hit the same pot at once: they need no words.
      refused: () => this.#changed(),
    })
    this.#changed()
  }

  /** Gets up, to watch. */
  rise(): void {
    this.seat?.leave()
    this.seat = null
    this.#changed()
  }

  /** Goes on to this instant of a local clock. */
  advance(now: number): void {
    const { seat, session } = this
    if (!seat || this.killed) return
    if (session.status === 'lost') return
    seat.assist = this.#autopilot ? 0 : this.assist
    seat.intent = this.#autopilot ? think(this.#autopilot, seat.sight()) : this.steer()
    this.#late = seat.advance(now)
    this.#advancedAt = now
  }

  /** How long before this instant our pot made its last step, in milliseconds. */
  lateAt(now: number): number {
    return Math.min(50, this.#late + now - this.#advancedAt)
  }

  /** Kills whoever serves, on the spot: this window, or by a wish that it obeys. */
  kill(): void {
    const { primary } = this.session
    if (!primary || !this.killable) return
    if (this.serves) return this.#die()
    const wish = this.session.create(Kill, { target: primary.inc })
    setTimeout(() => wish.alive && this.session.status !== 'lost' && wish.destroy(), KILL_MS)
  }

  #hear(): void {
    const seenAt = performance.now()
    for (const blow of rows.blowsAfter(this.session, this.#blows)) {
      this.#blows = blow.number
      if (blow.tea === 0) this.#feed = [{ ...blow, seenAt }, ...this.#feed].slice(0, FEED_MAX)
    }
    this.#changed()
  }

  #obey(): void {
    if (!this.serves || this.killed) return
    const { inc } = this.session.me
    if (this.session.all(Kill).some(({ state }) => state.target === inc)) this.#die()
  }

  #die(): void {
    this.killed = true
    this.story.over = true
    this.session.crash()
    this.#changed()
  }
}
