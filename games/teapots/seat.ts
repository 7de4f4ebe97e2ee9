/**
 * One player's seat at the tray, for a window and a bot alike: it moves its own pot in fixed
 * steps, throws its cubes, claims its hits, and asks to be filled when it has lain long enough.
 *
 * It decides nothing: where its pot is, it says; what hit whom, the server does.
 */

import type { Session } from 'holdfast'
import { sweep } from '../returned.ts'
import { type CubeHandle, Flights } from './flights.ts'
import { Pace } from './pace.ts'
import { SPOTS } from './rules/arena.ts'
import { assisted, type Danger, type Rival, type Sight } from './rules/brain.ts'
import * as flight from './rules/flight.ts'
import type { Claim } from './rules/match.ts'
import { distance, scale, TURN, wayOf } from './rules/plane.ts'
import { type Body, bodyAt, IDLE, type Intent, type Other, step } from './rules/pot.ts'
import { struck } from './rules/pot.ts'
import * as rows from './rules/standing.ts'
import { Cube, type Decisions, Pot } from './rules/things.ts'
import type { Sugar } from './sugar.ts'
import { type PotHandle, Views } from './views.ts'
import { playerOf } from './whose.ts'

/** How long to wait before asking again what was refused, in milliseconds. */
const ASK_MS = 400
/** How hard a cube pushes a pot, in units a second. */
const BLOW = 6.5
/** A flight is looked at in steps of so many milliseconds. */
const LOOK_MS = 8

/** A throw of our own that may still hit. */
interface Own {
  cube: CubeHandle
  thrown: flight.Throw
  way: flight.Flight
  /** Milliseconds of its flight that were looked at. */
  seen: number
}

/** What happens at a seat, for whoever shows it. */
export interface SeatEvents {
  /** A cube was thrown. */
  threw(): void
  /** The server said no to a claim. */
  refused(why: string): void
}

/** See the head of this file. */
export class Seat {
  readonly session: Session
  readonly flights: Flights
  readonly pot: PotHandle
  /** What the player wants; read at each step. */
  intent: Intent = IDLE
  body: Body
  /** How much a throw is helped to aim, in radians. */
  assist = 0
  /** Hits of ours that the server counted, and claims that it has not answered. */
  counted = 0
  claims = 0
  readonly #views = new Views()
  readonly #decisions: Decisions
  readonly #events: SeatEvents
  readonly #sugar: Sugar
  readonly #pace = new Pace()
  readonly #cubes: CubeHandle[]
  #own: Own[] = []
  #thrownAt = 0
  #askedAt = -Infinity
  #asking = false
  #poured = -1
  #blows: number
  #left = false
  readonly #deaf: () => void

  constructor(
    session: Session,
    decisions: Decisions,
    sugar: Sugar,
    glaze: number,
    events: SeatEvents = { threw: () => {}, refused: () => {} },
  ) {
    this.session = session
    this.flights = new Flights(session)
    this.#decisions = decisions
    this.#sugar = sugar
    this.#events = events
    this.#blows = rows.hitsTotal(session.table)
    const { player } = session.me
    const waited = session.all(Pot).find(isOurs)
    this.body = waited ? bodyOf(waited) : bodyAt(SPOTS[(player * 5) % SPOTS.length]!)
    this.pot = waited ?? session.create(Pot, onWire(this.body))
    this.pot.set({ glaze, player })
    this.#cubes = session.all(Cube).filter(isOurs).slice(0, flight.CUBES_MAX)
    while (this.#cubes.length < flight.CUBES_MAX) this.#cubes.push(session.create(Cube))
    // It goes on where it waited, if it was not put elsewhere since.
    if (waited) this.#poured = this.standing?.since ?? -1
    this.#deaf = session.table.on('changed', () => this.#feel())
  }

  /** How we stand; null until the server has filled our pot. */
  get standing(): rows.Standing | null {
    return rows.standing(this.session.table, this.session.me.player, this.session.now())
  }

  /** Whether our pot stands, filled. */
  get stands(): boolean {
    return (this.standing?.tea ?? 0) > 0
  }

  /** Cubes in the bowl. */
  get ready(): number {
    const now = this.session.now()
    return this.#cubes.filter((cube) => isBack(cube, now)).length
  }

  /**
   * Brings the seat to this instant of a local clock, in milliseconds: as many whole steps as fit.
   *
   * @returns how long ago the last step was, for who draws in between
   */
  advance(now: number): number {
    if (this.#left || this.session.status === 'lost') return 0
    const steps = this.#pace.due(now)
    if (steps > 0) this.#step(steps, now)
    return this.#pace.late(now)
  }

  #step(steps: number, now: number): void {
    const { stands } = this
    const others = this.#others()
    this.#sugar.look()
    for (let i = 0; i < steps; i++) {
      const glided = step(this.body, stands ? this.intent : IDLE, others)
      this.body = this.#sugar.step(glided, others)
    }
    this.pot.set(onWire(this.body))
    this.#sugar.tell()
    sweep(this.session, Pot, (id) => id === this.pot.id)
    sweep(this.session, Cube, (id) => this.#cubes.some((cube) => cube.id === id))
    if (stands && this.intent.fire) this.throw(this.#helped())
    this.#watch()
    this.#askForTea(now)
  }

  /** Throws a cube where the spout points, if one is ready. @returns whether one was thrown */
  throw(aim: number = this.body.aim): boolean {
    const now = this.session.now()
    const cube = this.#cubes.find((each) => isBack(each, now))
    if (this.#left || !cube || !this.stands || now - this.#thrownAt < flight.THROW_MS) return false
    const thrown = flight.rounded(now, this.body.pos, aim)
    const way = flight.trace(thrown)
    cube.set({ ...thrown, ends: Math.ceil(way.ms) })
    this.#thrownAt = thrown.at
    this.#own.push({ cube, thrown, way, seen: 0 })
    this.#events.threw()
    return true
  }

  /** What there is to see from here, for who plays. */
  sight(): Sight {
    const now = this.session.now()
    const { player } = this.session.me
    const dangers: Danger[] = this.flights
      .at(now)
      .filter((thrown) => thrown.player !== player)
      .map((thrown) => {
        const { pos, way, speed } = flight.placeAt(thrown.flight, now - thrown.at)
        return { id: thrown.id, pos, vel: scale(way, speed) }
      })
    return { now, me: this.body, cubes: this.ready, rivals: this.rivals(now), dangers }
  }

  /** The pots of others that stand, as they are seen here. */
  rivals(now: number = this.session.now()): Rival[] {
    const found: Rival[] = []
    for (const pot of this.session.all(Pot)) {
      if (pot === this.pot || pot.away) continue
      const row = rows.standing(this.session.table, playerOf(pot), now)
      if (!row || row.tea === 0) continue
      const { pos, vel } = this.#views.of(pot)
      found.push({ player: row.player, pos, vel, safe: now < row.since + rows.SAFE_MS })
    }
    return found
  }

  /** Gets up: the pot and its cubes are taken off the tray. */
  leave(): void {
    if (this.#left) return
    this.#left = true
    this.#deaf()
    if (this.session.status === 'lost') return
    this.pot.destroy()
    for (const cube of this.#cubes) cube.destroy()
  }

  #helped(): number {
    return this.assist === 0 ? this.body.aim : assisted(this.body, this.rivals(), this.assist)
  }

  #others(): Other[] {
    return this.session.all(Pot).flatMap((pot) => (pot === this.pot ? [] : this.#views.of(pot)))
  }

  // What we see is what we hit: our own cubes against the pots as they are drawn here.
  #watch(): void {
    const now = this.session.now()
    const rivals = this.#own.length > 0 ? this.rivals(now) : []
    this.#own = this.#own.filter((own) => {
      const until = Math.min(own.way.ms, now - own.thrown.at)
      while (own.seen < until) {
        own.seen = Math.min(until, own.seen + LOOK_MS)
        const { pos } = flight.placeAt(own.way, own.seen)
        const met = rivals.find((rival) => distance(rival.pos, pos) <= flight.HIT_RADIUS)
        if (met) {
          this.#met(own, met)
          return false
        }
      }
      return own.seen < own.way.ms
    })
  }

  #met({ cube, thrown, seen }: Own, { player, safe }: Rival): void {
    cube.set({ ends: Math.round(seen) })
    if (!safe) void this.#claim({ ...thrown, victim: player, after: seen })
  }

  async #claim(claim: Claim): Promise<void> {
    this.claims++
    try {
      const outcome = await this.session.act(this.#decisions.hit, claim)
      if (outcome.ok) this.counted++
      else this.#events.refused(outcome.reason)
    } catch {
      // The session is lost, and says so itself.
    } finally {
      this.claims--
    }
  }

  #askForTea(now: number): void {
    const row = this.standing
    const session = this.session.now()
    const mayAsk = !row || (row.tea === 0 && session - row.since >= rows.LIE_MS)
    // A window that came back finds its pot filled, and asks where to put it.
    const isNew = row !== null && row.tea > 0 && this.#poured < 0
    if (this.#asking || now - this.#askedAt < ASK_MS || !(mayAsk || isNew)) return
    this.#askedAt = now
    this.#asking = true
    void this.#pour()
  }

  async #pour(): Promise<void> {
    try {
      const outcome = await this.session.act(this.#decisions.pour)
      if (!outcome.ok) return
      const { since, spot } = outcome.value
      if (since !== this.#poured) this.body = bodyAt(SPOTS[spot % SPOTS.length]!)
      this.#poured = since
    } catch {
      // The session is lost, and says so itself.
    } finally {
      this.#asking = false
    }
  }

  #feel(): void {
    for (const blow of rows.blowsAfter(this.session.table, this.#blows)) {
      this.#blows = blow.number
      if (blow.victim !== this.session.me.player) continue
      this.body = struck(this.body, scale(wayOf(blow.aim), BLOW))
    }
  }
}

// Of a life before in another window, or of nobody who is away.
function isOurs({ mine, away }: Pick<PotHandle, 'mine' | 'away'>): boolean {
  return mine && !away
}

function bodyOf({ state: { pos, vel, aim, spin } }: PotHandle): Body {
  return { pos, vel, aim, spin }
}

function isBack(cube: CubeHandle, now: number): boolean {
  const { at, ends } = cube.state
  // A time ahead of us was said by another clock.
  return at === 0 || now >= at + ends || now < at - flight.FLIGHT_MS
}

function onWire({ pos, vel, aim, spin }: Body): Body {
  return { pos, vel, aim: ((aim % TURN) + TURN) % TURN, spin }
}
