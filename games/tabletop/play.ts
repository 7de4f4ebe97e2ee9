/**
 * One window's part at the table: what it holds and has selected, its hand of cards, what it says
 * and remembers. It draws nothing; `changed` tells who does.
 */

import type { ActionOutcome, ActionType, PieceHandle, PieceOutcome, Session, Vec2 } from 'holdfast'
import { Player } from '../player.ts'
import { type Drag, Drags, type Drop, sentence } from './drags.ts'
import { Ghosts } from './ghosts.ts'
import { type CardHandle, isLawful, momentOf, type Thing, thingsOf } from './kinds.ts'
import { Lane } from './lane.ts'
import { Log } from './log.ts'
import type { Promotion } from './rules/chess.ts'
import { DECK, DISCARD, isAt } from './rules/places.ts'
import * as eights from './rules/eights.ts'
import { rankOf } from './rules/faces.ts'
import { COUNT_MAX } from './rules/pieces.ts'
import { isOn, roundOf } from './rules/round.ts'
import { gameOf, seatsOf } from './rules/seats.ts'
import { type Claim, keptName, shortName } from './rules/kept.ts'
import { ACTS } from './rules/things.ts'
import { Toasts } from './toasts.ts'
import { Tray } from './tray.ts'
import { isPromoted, isTurnOf, middleOf, squareBelow, waysFrom } from './turns.ts'
import { type Moved, Undo } from './undo.ts'

/** Steps of a turn by hand, in radians. */
export const TURN: number = Math.PI / 4
/** Kinds of chessmen (rules/pieces.ts). */
const PAWN = 1
const QUEEN = 5

/** See the head of this file. */
export class Play extends Player {
  watching: boolean
  readonly drags: Drags
  readonly toasts: Toasts
  readonly log: Log
  readonly tray = new Tray()
  readonly ghosts: Ghosts
  readonly undo: Undo
  readonly lane = new Lane()
  readonly selected = new Set<number>()
  /** The thing that keys are about; 0 for none. */
  focus = 0
  /** The thing under the mouse; 0 for none. */
  pointed = 0
  /** Whether keys are used here, so that the focus is shown. */
  keyed = false
  /** The sheet that is open over the table, and the piece it is about; null for none. */
  sheet: { readonly kind: 'large' | 'split' | 'box'; readonly id: number } | null = null
  /** A pawn that waits for what it becomes on that square. */
  promoting: { readonly man: number; readonly to: number } | null = null
  /** An eight that waits for its suit to be named: its piece. */
  naming = 0
  #things: readonly Thing[] = []
  #byId = new Map<number, Thing>()
  #isOld = true
  /** Pieces that an action under way moves. */
  readonly #acting = new Set<number>()
  #staying = false

  constructor(session: Session, watching: boolean, changed: () => void) {
    super(session, changed)
    this.watching = watching
    this.toasts = new Toasts(changed)
    this.ghosts = new Ghosts(session, watching)
    const me = (): number => session.me.player
    this.undo = new Undo(this.lane, me)
    this.drags = new Drags({
      lane: this.lane,
      me,
      say: (text, player) => this.toasts.say(text, player),
      nameOf: (player) => this.called(player),
      play: (drag, drop) => this.#play(drag, drop),
      moved: (steps) => this.undo.moved(steps),
    })
    this.log = new Log(session, this.things, (player) => this.called(player))
    session.on('pieces', () => this.#hear())
    session.table.on('changed', () => this.#hear())
  }

  #hear(): void {
    this.#isOld = true
    this.changed()
  }

  /** All that lies on the table, the lowest first. */
  get things(): readonly Thing[] {
    if (this.#isOld) this.#take()
    return this.#things
  }

  find(id: number): Thing | null {
    return this.things.length > 0 ? (this.#byId.get(id) ?? null) : null
  }

  #take(): void {
    this.#isOld = false
    this.#things = thingsOf(this.session)
    this.#byId = new Map(this.#things.map((thing) => [thing.id, thing]))
    for (const id of this.selected) if (!this.#byId.has(id)) this.selected.delete(id)
    if (!this.#byId.has(this.focus)) this.focus = 0
    if (!this.#byId.has(this.naming)) this.naming = 0
    if (!this.#byId.has(this.promoting?.man ?? 0)) this.promoting = null
    if (this.sheet && this.sheet.id !== 0 && !this.#byId.has(this.sheet.id)) this.sheet = null
    this.tray.take(this.handOf(this.session.me.player))
  }

  /** Comes to the table, from watching. */
  comeIn(): void {
    this.watching = false
    this.ghosts.appear()
    this.changed()
  }

  /** Shows all where we point, unless we did a moment ago or only watch. */
  point(at: Vec2 | null): void {
    if (at && !this.watching) this.ghosts.ping(at, performance.now())
    this.changed()
  }

  /** Sorts our hand of cards. */
  sortHand(): void {
    this.tray.sort()
    this.changed()
  }

  /** Does not play the eight, or move the pawn, about which we are asked. */
  keep(): void {
    this.naming = 0
    this.promoting = null
    this.changed()
  }

  /** Players who have a seat or cards, and are not here. */
  get absent(): number[] {
    const cards = this.#things.map((thing) => {
      return thing.kind === 'card' ? thing.handle.state.hand : 0
    })
    const all = new Set([...seatsOf(this.session.table), ...cards])
    return [...all]
      .filter((player) => player !== 0 && !this.isPresent(player))
      .toSorted((one, other) => one - other)
  }

  /** A player who is away and has our name, while we have nothing here; null for nobody. */
  get formerSelf(): number | null {
    const { me } = this.session
    if (this.watching || this.#hasAnything(me.player)) return null
    const name = shortName(me.name)
    return this.absent.find((player) => keptName(this.session.table, player) === name) ?? null
  }

  /** Whether we are asked for our consent to a claim. */
  isAsked({ by, agreed }: Claim): boolean {
    const { player } = this.session.me
    const isNew = player !== by && !agreed.includes(player)
    return isNew && !this.watching && this.#hasAnything(player)
  }

  #hasAnything(player: number): boolean {
    return seatsOf(this.session.table).includes(player) || this.handOf(player).length > 0
  }

  // Who has something here is kept while they are away, and says once by what name.
  #stay(): void {
    const { me, status } = this.session
    const wanted = this.#hasAnything(me.player) ? shortName(me.name) : null
    if (status !== 'live' || this.#staying || keptName(this.session.table, me.player) === wanted)
      return
    this.#staying = true
    const done = (): void => void (this.#staying = false)
    this.session.act(ACTS.stay, { name: me.name }).then(done, done)
  }

  /** Reads what no event tells. */
  look(): void {
    this.#stay()
    this.story.look()
    this.log.look(this.things)
    this.#letGo()
  }

  // What our hand held before the page was loaded anew is let go.
  #letGo(): void {
    const { status, me } = this.session
    if (!this.lane.isIdle) return
    for (const { id, handle } of this.things) {
      if (status !== 'live' || handle.heldBy !== me.player || handle.pending) continue
      if (!this.drags.held.has(id) && !this.#acting.has(id)) {
        void this.#ask(() => pieceOf(handle).release())
      }
    }
  }

  /** A player's name, also when they have gone. */
  called(player: number): string {
    return this.nameOf(player) ?? keptName(this.session.table, player) ?? `player ${player}`
  }

  /** The cards in that player's hand. */
  handOf(player: number): CardHandle[] {
    return this.#things.flatMap((thing) => {
      return thing.kind === 'card' && thing.handle.state.hand === player ? [thing.handle] : []
    })
  }

  /** Whether somebody else holds cards. */
  get hasFans(): boolean {
    const me = this.watching ? 0 : this.session.me.player
    return this.things.some(({ kind, handle }) => {
      return kind === 'card' && handle.state.hand !== 0 && handle.state.hand !== me
    })
  }

  /** Whether a seat's player is here. */
  isPresent(player: number): boolean {
    return this.session.members.some((member) => member.player === player)
  }

  /** What keys and menus act on: what is selected, or the one that has the focus. */
  get chosen(): Thing[] {
    const ids = this.selected.size > 0 ? this.selected : [this.focus]
    return this.things.filter(({ id }) => [...ids].includes(id))
  }

  /** Whether we see the board from the side of black alone. */
  get sitsAtBlack(): boolean {
    const [black, white] = seatsOf(this.session.table)
    const me = this.session.me.player
    return black === me && white !== me
  }

  /** Whether it is our turn in the game that is played. */
  get isMyTurn(): boolean {
    return isTurnOf(this.session, this.session.me.player)
  }

  /** Does what the server decides; a refusal is said. @returns whether it was done */
  async act<Args, Answer>(action: ActionType<Args, Answer>, args: Args): Promise<boolean> {
    return (await this.#decide(action, args))?.ok ?? false
  }

  /** The same. @returns what the server answered; null if it was not done */
  async ask<Args, Answer>(action: ActionType<Args, Answer>, args: Args): Promise<Answer | null> {
    const outcome = await this.#decide(action, args)
    return outcome?.ok ? outcome.value : null
  }

  async #decide<Args, Answer>(
    action: ActionType<Args, Answer>,
    args: Args,
  ): Promise<ActionOutcome<Answer> | null> {
    if (this.watching) return null
    try {
      const outcome = await this.session.act(action, args)
      if (!outcome.ok) this.toasts.say(sentence(outcome.reason))
      return outcome
    } catch (error) {
      this.toasts.say(error instanceof Error ? error.message : String(error))
      return null
    }
  }

  /** Opens a sheet about a piece, or closes the one that is open. */
  show(sheet: Play['sheet']): void {
    this.sheet = sheet
    this.changed()
  }

  /** Shows a card large, if we see its face, or no more. */
  enlarge(thing: Thing | null): void {
    if (this.sheet || thing?.kind !== 'card') return this.show(null)
    if (thing.handle.state.face !== null) this.show({ kind: 'large', id: thing.id })
    else this.toasts.say('You do not see the face of that card.')
  }

  /** Turns over: cards and men. */
  flip(things: readonly Thing[]): void {
    this.#change(things, (thing) => {
      if (thing.kind === 'card') return { up: !thing.handle.state.up }
      if (thing.kind !== 'man') return null
      const { kind, king } = thing.handle.state
      if (kind === 0) return { king: !king }
      return kind === PAWN ? { kind: QUEEN } : null
    })
  }

  /** Makes other chessmen of these. */
  become(things: readonly Thing[], kind: number): void {
    this.#change(things, (thing) => {
      return thing.kind === 'man' && thing.handle.state.kind !== 0 ? { kind } : null
    })
  }

  /** Turns by a step. @param way  1 or -1 */
  turn(things: readonly Thing[], way: number): void {
    this.#change(things, (thing) => {
      if (thing.kind === 'man' || thing.kind === 'token') return null
      const turned = thing.handle.state.turn + way * TURN
      return { turn: Math.atan2(Math.sin(turned), Math.cos(turned)) }
    })
  }

  /** Raises counters by so much, or lowers them. @returns whether there are any */
  count(things: readonly Thing[], by: number): boolean {
    const counters = things.filter((thing) => thing.kind === 'token' && thing.handle.state.counter)
    this.#change(counters, ({ kind, handle }) => {
      const value = (kind === 'token' ? handle.state.value : 0) + by
      if (value >= 0 && value <= COUNT_MAX) return { value }
      this.toasts.say(`A counter goes from 0 to ${COUNT_MAX}.`)
      return null
    })
    return counters.length > 0
  }

  /** Puts tokens, counters and dice back into the box. */
  putBack(things: readonly Thing[]): void {
    const ids = things.flatMap(({ kind, id }) => (kind === 'token' || kind === 'die' ? [id] : []))
    if (ids.length > 0) void this.act(ACTS.putBack, { ids })
  }

  raise(things: readonly Thing[]): void {
    this.#level(things, (handle) => handle.raise())
  }

  lower(things: readonly Thing[]): void {
    this.#level(things.toReversed(), (handle) => handle.lower())
  }

  #level(things: readonly Thing[], run: (handle: PieceHandle) => Promise<PieceOutcome>): void {
    if (this.watching) return
    const steps = things.map((thing): Moved => {
      const handle = pieceOf(thing.handle)
      const level = between(handle, this.session.all(handle.type))
      const outcome = this.#ask(() => run(handle))
      return { thing, before: momentOf(thing), outcome, level }
    })
    if (steps.length > 0) this.undo.moved(steps)
  }

  /** Takes cards into our hand, off a pile as well, or puts them somewhere. */
  put(things: readonly Thing[], where: { hand: number } | { at: readonly [number, number] }): void {
    const steps = things.flatMap((thing) => {
      if (thing.kind !== 'card' || this.watching) return []
      const before = momentOf(thing)
      const handle = pieceOf(thing.handle)
      const patch = 'hand' in where ? { ...where, up: false } : { ...where, hand: 0, up: true }
      void this.#ask(() => handle.grab({ loose: handle.pending, raise: true }))
      return [{ thing, before, outcome: this.#ask(() => handle.release(patch as never)) }]
    })
    if (steps.length > 0) this.undo.moved(steps)
  }

  /** Takes our last move back. */
  async takeBack(): Promise<void> {
    try {
      const fault = await this.undo.back((player) => this.called(player))
      if (fault) this.toasts.say(fault.text, fault.player)
    } catch (error) {
      this.toasts.say(error instanceof Error ? error.message : String(error))
    }
  }

  /** Rolls a die, or all. */
  roll(die: number | null): Promise<boolean> {
    return this.act(ACTS.roll, { die })
  }

  /** Plays a card of ours; an eight asks for a suit first. */
  playCard(card: CardHandle, suit: number | null = null): void {
    if (suit === null && rankOf(card.state.face ?? 0) === 8) {
      if (this.isMyTurn) this.naming = card.id
      else this.toasts.say('It is not your turn.')
      return this.changed()
    }
    this.naming = 0
    this.#acting.add(card.id)
    void this.act(ACTS.playCard, { card: card.id, suit: suit ?? 0 }).then(() => {
      this.#acting.delete(card.id)
      this.#letGo()
    })
    this.changed()
  }

  /** Whether a card of our hand may be played now. */
  fits({ state }: CardHandle): boolean {
    const round = roundOf(this.session.table)
    const top = this.things.findLast(({ kind, handle }) => {
      return kind === 'card' && handle.state.up && !isAt(handle.state.at, DECK)
    })
    if (!round || !this.isMyTurn || top?.kind !== 'card' || state.face === null) return false
    return eights.fits(state.face, top.handle.state.face ?? 0, round.suit)
  }

  /** The squares to which a man may go now. */
  waysOf(square: number): number[] {
    return this.isMyTurn && square !== 0 ? waysFrom(this.session, square) : []
  }

  // What the rules of a game move goes through them.
  #play({ thing, at }: Drag, { hand }: Drop): boolean {
    if (!isLawful(thing) || thing.kind === 'die' || thing.kind === 'token') return false
    if (thing.kind === 'card') {
      if (hand !== 0) return false
      if (!isOn(this.session.table)) return false
      if (rankOf(thing.handle.state.face ?? 0) === 8) {
        this.playCard(thing.handle)
        return false
      }
      void this.#ask(() => thing.handle.update({ at: DISCARD }))
      this.playCard(thing.handle)
      return true
    }
    const to = squareBelow(this.session, at)
    const { square } = thing.handle.state
    if (to === 0 || to === square) return false
    if (this.isMyTurn && isPromoted(this.session, square, to)) {
      this.hop(thing.id, to)
      return false
    }
    void this.#ask(() => thing.handle.update({ at: middleOf(this.session, to) }))
    this.hop(thing.id, to)
    return true
  }

  /** Moves a man of the game; if that may not be, it goes back to its square. */
  hop(man: number, to: number, promotion: Promotion | '' = ''): void {
    const thing = this.find(man)
    const square = thing?.kind === 'man' ? thing.handle.state.square : 0
    const asks = promotion === '' && this.isMyTurn && isPromoted(this.session, square, to)
    this.promoting = asks ? { man, to } : null
    this.changed()
    if (asks) return
    this.#acting.add(man)
    const isChess = gameOf(this.session.table) === 'chess'
    const moved = isChess
      ? this.act(ACTS.moveChessman, { man, to, promotion })
      : this.act(ACTS.hop, { man, to })
    void moved.then(() => {
      this.#acting.delete(man)
      this.#letGo()
    })
  }

  #change(things: readonly Thing[], patchOf: (thing: Thing) => object | null): void {
    if (this.watching) return
    const steps = things.flatMap((thing) => {
      const patch = patchOf(thing)
      if (!patch) return []
      const before = momentOf(thing)
      const outcome = this.#ask(() => pieceOf(thing.handle).update(patch as never))
      return [{ thing, before, outcome }]
    })
    if (steps.length > 0) this.undo.moved(steps)
  }

  async #ask(run: () => Promise<PieceOutcome>): Promise<boolean> {
    if (this.watching) return false
    try {
      const outcome = await this.lane.run(run)
      if (outcome.ok) return true
      this.toasts.say(sentence(outcome.reason), outcome.by?.player)
    } catch (error) {
      this.toasts.say(error instanceof Error ? error.message : String(error))
    }
    return false
  }
}

function pieceOf(handle: Thing['handle']): PieceHandle {
  return handle as unknown as PieceHandle
}

/** Brings a piece back between those that it lies between now. */
function between(handle: PieceHandle, all: readonly PieceHandle[]): () => Promise<PieceOutcome> {
  const place = all.indexOf(handle)
  const [low, high] = [all[place - 1] ?? null, all[place + 1] ?? null]
  return () => handle.level(low?.alive ? low : null, high?.alive ? high : null)
}
