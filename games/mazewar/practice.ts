/** A maze with bots and nobody else: no hub, no network, one process. */

import { createMind, type Mind, skillOf, think } from './rules/brain.ts'
import type { Act } from './rules/acts.ts'
import { beginning } from './rules/maze.ts'
import { type Deed, step } from './rules/step.ts'
import { EMPTY, type World } from './rules/world.ts'
import { type Chance, next } from '../chance.ts'
import { botNameOf } from './names.ts'
import { type MazeClient, SLOT_MS } from './maze-client.ts'

/** The player; bots come after. */
const ME = 1

/** See the head of this file. */
export class Practice implements MazeClient {
  readonly me = ME
  readonly live = true
  state: World = EMPTY
  ahead: World = EMPTY
  readonly #name: string
  readonly #chance: Chance
  readonly #minds = new Map<number, Mind>()
  #deeds: Deed[] = []
  #since: number

  /** @param bots  how many @param now  the time at which it begins, in milliseconds */
  constructor(options: { name: string; bots: number; seed: number; now: number }) {
    const { name, bots, seed, now } = options
    this.#name = name
    this.#chance = { state: seed }
    this.#since = now
    for (let index = 1; index <= bots; index++) {
      this.#minds.set(ME + index, createMind(seed + index * 7919, skillOf(index)))
    }
    for (const id of this.#minds.keys()) this.#bear(id)
    this.#bear(ME)
    this.#end()
  }

  get slot(): number {
    return this.state.slot + 1
  }

  act(act: Act): boolean {
    this.#deeds.push({ by: ME, act: { rat: ME, ...act } })
    this.#look()
    return true
  }

  nameOf(rat: number): string {
    return rat === ME ? this.#name : botNameOf(rat - ME)
  }

  /** Goes on to that time. What is far too late, as after a long sleep, is left out. */
  advance(now: number): void {
    if (now - this.#since > 20 * SLOT_MS) this.#since = now - SLOT_MS
    for (; now - this.#since >= SLOT_MS; this.#since += SLOT_MS) this.#end()
  }

  #bear(id: number): void {
    this.#deeds.push({ by: id, act: { rat: id, kind: 'born', ...beginning(next(this.#chance)) } })
  }

  #end(): void {
    for (const [id, mind] of this.#minds) {
      const act = think(mind, this.state, id)
      if (act) this.#deeds.push({ by: id, act: { rat: id, ...act } })
    }
    this.state = this.#step()
    this.#deeds = []
    this.#look()
  }

  #look(): void {
    this.ahead = this.#step()
  }

  // Chance is the slot's, so that it does not matter how often it is looked ahead.
  #step(): World {
    const chance: Chance = { state: this.#chance.state + this.slot * 65537 }
    const random = (): number => next(chance)
    return step(this.state, this.#deeds, { slot: this.slot, left: [], random })
  }
}
