/**
 * What this window's hand holds. A thing is grabbed at the server and moved here at once; whoever
 * was first keeps it, and then it is let go here, snaps back, and a sentence says who has it.
 */

import type { LostHold, PieceHandle, PieceOutcome, Refused, Vec2 } from 'holdfast'
import { called, type Moment, momentOf, placeOf, type Thing } from './kinds.ts'
import type { Lane } from './lane.ts'
import { landing, updateCard, updateMan } from './rules/pieces.ts'
import { clampPlace } from './rules/places.ts'
import type { Moved } from './undo.ts'

/** How often a drag is told, in milliseconds. */
const TELL_MS = 50
/** With more things in the hand it is told more seldom: so many more for each step. */
const SLOWER = 8

/** One thing in the hand. */
export interface Drag {
  readonly thing: Thing
  readonly before: Moment
  /** From the pointer to its middle. */
  readonly offset: Vec2
  at: Vec2
  toldAt: Vec2
  /** Listens no more to what becomes of the hold. */
  stop: () => void
  /** It was said who took it. */
  isSaid: boolean
}

/** Where a drag ends. */
export interface Drop {
  /** The player in whose hand it ends; 0 for the table. */
  readonly hand: number
  /** Whether a card that comes from the deck or a hand shows its face. */
  readonly open: boolean
}

/** What drags need of their table. */
export interface Host {
  readonly lane: Lane
  readonly me: () => number
  say(text: string, player?: number): void
  nameOf(player: number): string
  /** Plays a thing that a game's rules move; false if it only goes back. */
  play(drag: Drag, drop: Drop): boolean
  /** Something was put down. */
  moved(steps: readonly Moved[]): void
}

/** See the head of this file. */
export class Drags {
  readonly held = new Map<number, Drag>()
  readonly #host: Host
  #toldAt = 0
  /** Grabs that others won. */
  lost = 0

  constructor(host: Host) {
    this.#host = host
  }

  /**
   * Takes things into the hand.
   *
   * @param shownAt  where each is shown, in units of the table
   * @returns whether any was taken
   */
  pick(things: readonly Thing[], at: Vec2, shownAt: (thing: Thing) => Vec2): boolean {
    for (const thing of things) {
      if (this.held.has(thing.id) || !this.#isMovable(thing)) continue
      const [x, y] = shownAt(thing)
      const drag: Drag = {
        thing,
        before: momentOf(thing),
        offset: [x - at[0], y - at[1]],
        at: [x, y],
        toldAt: placeOf(thing),
        stop: () => {},
        isSaid: false,
      }
      this.held.set(thing.id, drag)
      const handle = handleOf(thing)
      // Taken or gone, also while the hand stands still: the drag is over at once.
      drag.stop = handle.on('lost', (lost) => this.#taken(drag, lost))
      // What we let go of a moment ago may be grasped again before the answer is here.
      const loose = handle.pending
      void this.#ask(drag, () => handle.grab({ loose, raise: true }))
    }
    return this.held.size > 0
  }

  // The server decides; what it would refuse anyway is said at once.
  #isMovable(thing: Thing): boolean {
    const me = this.#host.me()
    const { heldBy } = thing.handle
    if (heldBy !== 0 && heldBy !== me) {
      this.#host.say(`${this.#host.nameOf(heldBy)} has ${called(thing)}.`, heldBy)
      return false
    }
    if (thing.kind === 'die' || thing.kind === 'token') return true
    const ruled =
      thing.kind === 'card'
        ? updateCard(thing.handle.state, {}, me, 'grab')
        : updateMan(thing.handle.state, {}, me, 'grab')
    if (!('rejected' in ruled)) return true
    this.#host.say(ruled.rejected)
    return false
  }

  /** The pointer is there now. */
  move(at: Vec2): void {
    for (const drag of this.held.values()) {
      drag.at = [at[0] + drag.offset[0], at[1] + drag.offset[1]]
    }
  }

  /** Tells where things are, if that is due. */
  tell(now: number): void {
    const every = TELL_MS * Math.ceil(this.held.size / SLOWER)
    if (this.held.size === 0 || now - this.#toldAt < every) return
    this.#toldAt = now
    for (const drag of this.held.values()) {
      const [x, y] = clampPlace(drag.at)
      const isNews = Math.abs(x - drag.toldAt[0]) + Math.abs(y - drag.toldAt[1]) > 0.5
      if (!isNews || !this.#host.lane.isQuiet) continue
      drag.toldAt = [x, y]
      void this.#ask(drag, () => handleOf(drag.thing).update({ at: [x, y] }))
    }
  }

  /** Puts all of it down. */
  drop(drop: Drop): void {
    const steps: Moved[] = []
    for (const drag of [...this.held.values()]) {
      this.#end(drag)
      if (this.#host.play(drag, drop)) continue
      const patch = this.#patchOf(drag, drop)
      const outcome = this.#ask(drag, () => handleOf(drag.thing).release(patch as never))
      steps.push({ thing: drag.thing, before: drag.before, outcome })
    }
    if (steps.length > 0) this.#host.moved(steps)
  }

  /** Puts all of it back to where it was. */
  cancel(): void {
    for (const drag of [...this.held.values()]) {
      this.#end(drag)
      void this.#ask(drag, () => handleOf(drag.thing).release(drag.before as never))
    }
  }

  #patchOf({ thing, at }: Drag, { hand, open }: Drop): Moment {
    if (thing.kind !== 'card') return { at: clampPlace(at) }
    const { state } = thing.handle
    if (state.law) return { at: state.at }
    const up = state.deck || state.hand !== 0 ? open : state.up
    const { deck: _deck, seer: _seer, ...lies } = landing(state, { at, hand, up })
    return lies as Moment
  }

  async #ask(drag: Drag, run: () => Promise<PieceOutcome>): Promise<boolean> {
    try {
      const outcome = await this.#host.lane.run(run)
      if (outcome.ok) return true
      this.#lost(drag, outcome)
    } catch (error) {
      this.#host.say(error instanceof Error ? error.message : String(error))
      this.#end(drag)
    }
    return false
  }

  /** @returns false if it had ended */
  #end(drag: Drag): boolean {
    drag.stop()
    return this.held.get(drag.thing.id) === drag && this.held.delete(drag.thing.id)
  }

  #taken(drag: Drag, { by, why }: LostHold): void {
    if (!this.#end(drag)) return
    drag.isSaid = true
    const what = called(drag.thing)
    if (why === 'gone') return this.#host.say(`${upper(what)} is not on the table any more.`)
    if (why === 'away') return this.#host.say(`You were out of touch, and let go of ${what}.`)
    this.lost++
    if (!by) return this.#host.say(`${upper(what)} was taken out of your hand.`)
    this.#host.say(`${this.#host.nameOf(by.player)} took ${what} out of your hand.`, by.player)
  }

  #lost(drag: Drag, outcome: Refused): void {
    const { thing } = drag
    this.#end(drag)
    if (drag.isSaid) return
    const isTheirs = outcome.code === 'late' || outcome.code === 'held'
    if (!isTheirs) return this.#host.say(sentence(outcome.reason))
    this.lost++
    const player = outcome.by?.player ?? 0
    if (player === 0) return this.#host.say(`Somebody who has left had ${called(thing)} first.`)
    this.#host.say(`${this.#host.nameOf(player)} has ${called(thing)}.`, player)
  }
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function handleOf(thing: Thing): PieceHandle {
  return thing.handle as unknown as PieceHandle
}

/** A reason as a sentence. */
export function sentence(reason: string): string {
  const text = upper(reason)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
