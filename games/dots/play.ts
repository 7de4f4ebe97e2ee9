/**
 * One window's part in a session of Dots: its dot, its pins on the way, what it has to say.
 * It draws nothing; `changed` tells who does.
 */

import type { ActionOutcome, Session, Vec2 } from 'holdfast'
import { Player } from '../player.ts'
import { Sole } from '../returned.ts'
import * as rules from './rules.ts'

/** See the head of this file. */
export class Play extends Player {
  /** Without a handle for who only watches. */
  readonly #dot: Sole<typeof rules.Dot>
  /** Pins that were asked for and not yet acknowledged, by a number of our own. */
  readonly waiting = new Map<number, Vec2>()
  /** Our own pins that were acknowledged. */
  acknowledged = 0
  pins: readonly rules.Pin[] = []
  #asked = 0

  constructor(session: Session, watching: boolean, changed: () => void) {
    super(session, changed)
    this.pins = rules.pins(session.table)
    this.#dot = new Sole(session, rules.Dot)
    if (!watching) this.comeIn()
    session.table.on('changed', () => {
      this.pins = rules.pins(session.table)
      this.changed()
    })
  }

  /** Comes onto the field, from watching. */
  comeIn(): void {
    this.#dot.make({ pos: [20 + Math.random() * 60, 12 + Math.random() * 24] })
    this.changed()
  }

  /** Whether this window only looks on. */
  get watching(): boolean {
    return this.#dot.handle === null
  }

  /** Where our dot is; null for who only watches. */
  get place(): Vec2 | null {
    return this.#dot.handle?.state.pos ?? null
  }

  /** Moves our dot. */
  move(pos: Vec2): void {
    if (this.isHere) this.#dot.handle?.set({ pos })
  }

  /** Whether a member has a dot. */
  plays(player: number): boolean {
    const dots = this.session.all(rules.Dot)
    return dots.some(({ owner, away }) => !away && owner?.player === player)
  }

  /** Drops a pin where our dot is, or there. Settles when it is acknowledged for good. */
  async drop(at: Vec2 | null = this.place): Promise<ActionOutcome<rules.Dropped>> {
    if (this.watching || at === null)
      return { ok: false, code: 'refused', reason: 'Who watches drops no pins.' }
    const id = this.#asked++
    this.waiting.set(id, at)
    try {
      const outcome = await this.session.act(rules.drop, { at })
      if (outcome.ok) this.acknowledged++
      else this.story.note(`The pin was not dropped: ${outcome.reason}`, 'bad')
      return outcome
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.story.note(`The pin could not be dropped: ${reason}`, 'bad')
      return { ok: false, code: 'refused', reason }
    } finally {
      this.waiting.delete(id)
      this.changed()
    }
  }
}
