/** A place in a session: the maze that all its members compute, and our rat in it. */

import { HoldfastError } from 'holdfast'
import type { Session, SlotsHandle } from 'holdfast'
import type { MazeClient } from './maze-client.ts'
import { type Act, type ActRecord, encode } from './rules/acts.ts'
import { beginning } from './rules/maze.ts'
import { labelOf, MAP, note } from './game.ts'
import { Maze } from './slots.ts'
import { nameOnLan, shownName } from './names.ts'
import { type Rat, ratOf, type World } from './rules/world.ts'

/** How long a birth may take until it is asked for again, in slots. */
const BIRTH_SLOTS = 15
/** Of so many who went the names are kept, for what is still told of them. */
export const GONE_MAX = 64

/** See the head of this file. */
export class Seat implements MazeClient {
  /** Whether we are to have a rat. */
  plays = true
  /** Where it is to be born; null for anywhere. */
  birthplace: Pick<Rat, 'at' | 'facing'> | null = null
  readonly #session: Session
  readonly #slots: SlotsHandle<World, ActRecord>
  readonly #names = new Map<number, string>()
  readonly #labels = new Map<number, string>()
  #bornIn = -Infinity

  constructor(session: Session) {
    this.#session = session
    this.#slots = session.part(Maze)
    session.on('members', () => this.#meet())
    this.#meet()
  }

  /** Our number: another after a return that came too late. */
  get me(): number {
    return this.#session.me.player
  }

  get state(): World {
    return this.#slots.state
  }

  get ahead(): World {
    return this.#slots.ahead
  }

  get slot(): number {
    return this.#slots.slot
  }

  get live(): boolean {
    return this.#session.status !== 'lost' && this.#slots.status === 'live'
  }

  act(act: Act): boolean {
    return this.actFor(this.me, act)
  }

  /** Another of our rats does that: a bridge has many. @returns whether it was told */
  actFor(rat: number, act: Act): boolean {
    try {
      this.#slots.act(encode({ rat, ...act }))
      return true
    } catch (error) {
      // Too much in one slot, or just out of touch: that key did nothing.
      if (!(error instanceof HoldfastError)) throw error
      return false
    }
  }

  nameOf(rat: number): string {
    const label = this.#session.table.get(labelOf(rat))
    return this.#names.get(rat) ?? (typeof label === 'string' ? shownName(label) : nameOnLan(rat))
  }

  /** The map has all on it: an option of the room. */
  get showsAll(): boolean {
    return this.#session.table.get(MAP) === 'all'
  }

  /** Says how a rat is called that is no player's own. Nothing happens if that is known. */
  label(rat: number, name: string): void {
    if (this.#labels.get(rat) === name) return
    this.#labels.set(rat, name)
    this.#note(labelOf(rat), name)
  }

  /** Makes it an option of the room that maps show all. */
  showAll(): void {
    this.#note(MAP, 'all')
  }

  // One that is refused or lost shows as a number, or as a map as it was.
  #note(key: string, text: string): void {
    void this.#session.act(note, { key, text }).catch(() => {})
  }

  /** Is born if need be. Call it now and then. */
  look(): void {
    if (!this.plays || !this.live || ratOf(this.ahead, this.me)) return
    if (this.slot - this.#bornIn < BIRTH_SLOTS) return
    this.#bornIn = this.slot
    this.act({ kind: 'born', ...(this.birthplace ?? beginning(Math.random())) })
  }

  // The last who went are last but for those who are here.
  #meet(): void {
    const { members } = this.#session
    for (const { player, name } of members) {
      this.#names.delete(player)
      this.#names.set(player, name)
    }
    for (const player of this.#names.keys()) {
      if (this.#names.size <= members.length + GONE_MAX) return
      this.#names.delete(player)
    }
  }
}
