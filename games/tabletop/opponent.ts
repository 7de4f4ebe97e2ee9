/**
 * A bot at the table: it sits down where it is wanted, and plays draughts and Crazy Eights, by the
 * same actions as everybody, with what its own session shows it. At a free table it looks on.
 */

import type { ActionType, ObjectHandle, Session, Vec2 } from 'holdfast'
import { between, type Chance, next } from '../chance.ts'
import * as draughts from './rules/draughts.ts'
import * as draughtsBrain from './rules/draughts-brain.ts'
import { playerOf, positionOf } from './rules/duel.ts'
import * as eightsBrain from './rules/eights-brain.ts'
import { playerOf as turnOf } from './rules/eights.ts'
import { Card, Man } from './rules/pieces.ts'
import { DECK, DISCARD, isAt, squareAt } from './rules/places.ts'
import { claimsOf } from './rules/kept.ts'
import { isOn, roundOf } from './rules/round.ts'
import { endOf, type Game, gameOf, seatsOf } from './rules/seats.ts'
import { ACTS, Hand } from './rules/things.ts'

/** How long it thinks at least and at most, in milliseconds: nobody likes to be rushed. */
const THINKS: readonly [number, number] = [700, 1_700]
/** A person who has no seat yet may choose one first, for so long. */
const FIRST_MS = 4_000
/** And may do without one for so long, while somebody waits for an opponent. */
const POLITE_MS = 12_000
/** Bots among themselves begin anew after so long. */
const AGAIN_MS = 6_000

/** What begins the name of a bot on Node, too. */
export const BOT = 'Bot '

/** See the head of this file. */
export class Opponent {
  readonly #session: Session
  readonly #chance: Chance
  readonly #skill: number
  #hand: ObjectHandle<typeof Hand.schema.fields> | null = null
  /** What is asked for and not answered yet. */
  #acting = false
  /** What it waits with, and until when. */
  #waits = { what: '', until: 0 }
  #thoughts: { move: draughts.Move; worth: number }[] = []
  #offered = ''

  /** @param skill  from 0 to 1 */
  constructor(session: Session, seed: number, skill: number) {
    this.#session = session
    this.#chance = { state: seed }
    this.#skill = skill
  }

  /** What keeps it from playing, in a sentence; empty while it plays. */
  get idle(): string {
    const game = gameOf(this.#session.table)
    if (game === null) return 'The bot waits for a game: choose draughts or Crazy Eights.'
    if (game === 'free' || game === 'chess')
      return 'Bots play draughts and Crazy Eights; here they only look on.'
    const isFull = this.#seat < 0 && !seatsOf(this.#session.table).includes(0)
    return isFull ? 'There is no seat for one of the bots: it looks on.' : ''
  }

  /** Goes on. Call it often. @param now  on any clock, in milliseconds */
  step(now: number): void {
    if (this.#session.status !== 'live' || this.#acting) return
    const game = gameOf(this.#session.table)
    this.#show(this.#seat >= 0)
    if (game === null || game === 'free' || game === 'chess') return
    if (this.#seat < 0) return this.#sitDown(game, now)
    if (this.#agree()) return
    if (game === 'draughts') this.#playDraughts(now)
    else this.#playEights(now)
  }

  /** Gets up, and breaks off what could not go on without it. */
  async rise(): Promise<void> {
    const session = this.#session
    if (session.status !== 'live' || this.#seat < 0) return
    if (isOn(session.table) && roundOf(session.table)?.players.includes(session.me.player)) {
      await this.#act(ACTS.breakOff, null)
    }
    await this.#act(ACTS.rise, null)
  }

  get #seat(): number {
    return seatsOf(this.#session.table).indexOf(this.#session.me.player)
  }

  // A bot has nothing against who wants to play on for somebody who is away.
  #agree(): boolean {
    const { player } = this.#session.me
    const claim = claimsOf(this.#session.table).find(({ agreed }) => !agreed.includes(player))
    if (claim) void this.#act(ACTS.vote, { player: claim.player, yes: true })
    return claim !== undefined
  }

  // Whether so much time has passed since it began to wait with that.
  #isTime(what: string, now: number, ms: () => number): boolean {
    if (this.#waits.what !== what) this.#waits = { what, until: now + ms() }
    return now >= this.#waits.until
  }

  #thinks(): number {
    return between(this.#chance, ...THINKS)
  }

  #sitDown(game: Game, now: number): void {
    const seats = seatsOf(this.#session.table)
    const free = seats.flatMap((player, seat) => (player === 0 ? [seat] : []))
    if (free.length === 0 || isOn(this.#session.table)) return
    const people = this.#people()
    const waiting = people.filter((player) => !seats.includes(player)).length
    const isAwaited = people.length > waiting
    const patience = free.length > waiting ? (isAwaited || waiting === 0 ? 0 : FIRST_MS) : POLITE_MS
    const what = `sit ${game} ${seats.join()} ${waiting}`
    if (!this.#isTime(what, now, () => patience + this.#thinks())) return
    const seat = free[Math.floor(next(this.#chance) * free.length)]!
    void this.#act(ACTS.sit, { seat })
  }

  // Who plays here and is no bot: all with a hand over the table.
  #people(): number[] {
    return this.#session.all(Hand).flatMap(({ owner, away }) => {
      const isPerson = owner && !away && owner.kind !== 'guest' && !owner.name.startsWith(BOT)
      return isPerson ? [owner.player] : []
    })
  }

  get #isAmongBots(): boolean {
    const people = this.#people()
    return !seatsOf(this.#session.table).some((player) => people.includes(player))
  }

  #playDraughts(now: number): void {
    const session = this.#session
    const { player } = session.me
    if (endOf(session.table)) return this.#begin(ACTS.again, now)
    const position = positionOf(session.table)
    const side: draughts.Side = playerOf(session.table, 'b') === player ? 'b' : 'w'
    if (playerOf(session.table, draughts.other(side)) === 0) return
    this.#answer(position, side)
    if (position.turn !== side) return
    const what = `move ${draughts.encode(position)}`
    if (this.#waits.what !== what) this.#thoughts = []
    const isTime = this.#isTime(what, now, () => this.#thinks())
    if (!this.#think(position) || !isTime) return
    const { move } = this.#thoughts.reduce((best, one) => (one.worth > best.worth ? one : best))
    const man = session.all(Man).find(({ state }) => state.square === move.from && !state.aside)
    if (!man) return
    this.#point(squareAt(move.to))
    void this.#act(ACTS.hop, { man: man.id, to: move.to })
  }

  // One move each time, for a page has frames to draw. @returns whether it has thought of all
  #think(position: draughts.Position): boolean {
    const all = draughts.moves(position)
    const move = all[this.#thoughts.length]
    if (!move) return true
    const worth = draughtsBrain.weigh(position, move, this.#chance, this.#skill)
    this.#thoughts.push({ move, worth })
    return this.#thoughts.length === all.length
  }

  // A draw that is offered is taken, or not spoken of.
  #answer(position: draughts.Position, side: draughts.Side): void {
    const offered = String(this.#session.table.get('draw') ?? '')
    const key = offered === '' ? '' : `${offered} ${draughts.encode(position)}`
    if (key === this.#offered) return
    this.#offered = key
    if (offered !== draughts.other(side) || !draughtsBrain.agrees(position, side)) return
    void this.#act(ACTS.offer, null)
  }

  #playEights(now: number): void {
    const session = this.#session
    const round = roundOf(session.table)
    if (!round || !isOn(session.table)) return this.#begin(ACTS.dealRound, now)
    if (turnOf(round) !== session.me.player) return
    const view = this.#view(round)
    const what = `turn ${round.turn} ${round.drawn} ${view.hand.length} ${view.top}`
    if (!this.#isTime(what, now, () => this.#thinks())) return
    const deed = eightsBrain.choose(view)
    this.#point(deed.kind === 'draw' ? DECK : DISCARD)
    if (deed.kind === 'play') void this.#act(ACTS.playCard, { card: deed.card, suit: deed.suit })
    else void this.#act(deed.kind === 'draw' ? ACTS.takeCard : ACTS.pass, null)
  }

  #view(round: eightsBrain.View['round']): eightsBrain.View {
    const { me } = this.#session
    const cards = this.#session.all(Card).filter(({ state }) => !state.aside)
    const open = cards.filter(({ state }) => state.up && isAt(state.at, DISCARD))
    const held = (player: number): number =>
      cards.filter(({ state }) => state.hand === player).length
    const others = round.players.filter((player) => player !== me.player).map(held)
    return {
      round,
      hand: cards.flatMap(({ id, state: { hand, face } }) => {
        return hand === me.player && face !== null ? [{ id, face }] : []
      }),
      top: open.at(-1)?.state.face ?? 0,
      fewest: Math.min(...others),
      canDraw: cards.some(({ state }) => state.deck) || open.length > 1,
    }
  }

  // People say themselves when it goes on.
  #begin(action: ActionType<null, unknown>, now: number): void {
    const seats = seatsOf(this.#session.table)
    const isFirst = seats.find((player) => player !== 0) === this.#session.me.player
    const canBegin = seats.filter((player) => player !== 0).length > 1
    if (!isFirst || !canBegin || !this.#isAmongBots) return
    if (this.#isTime(`begin ${seats.join()}`, now, () => AGAIN_MS)) void this.#act(action, null)
  }

  // Its hand is over the table while it sits.
  #show(sits: boolean): void {
    if (sits === (this.#hand !== null)) return
    if (!sits) this.#hand?.destroy()
    this.#hand = sits ? this.#session.create(Hand, { at: DECK, speed: [0, 0], there: false }) : null
  }

  #point(at: Vec2): void {
    this.#hand?.set({ at, speed: [0, 0], there: true })
  }

  async #act<Args>(action: ActionType<Args, unknown>, args: Args): Promise<void> {
    this.#acting = true
    try {
      // Refused is what somebody else was quicker with: it looks again.
      await this.#session.act(action as ActionType<Args>, args)
    } catch {
      // The session is lost, and says so itself.
    } finally {
      this.#acting = false
      this.#waits = { what: '', until: 0 }
    }
  }
}
