/**
 * One window's part in a session of Dots: its dot, its pins on the way, what it has to say.
 * It draws nothing; `changed` tells who does.
 */

import type { ActionOutcome, ObjectHandle, Session, Vec2 } from 'holdfast'
import { Player } from '../player.ts'
import { sweep } from '../returned.ts'
import * as rules from './rules.ts'

/** See the head of this file. */
export class Play extends Player {
  readonly dot: ObjectHandle<typeof rules.Dot.schema.fields>
  /** Pins that were asked for and not yet acknowledged, by a number of our own. */
  readonly waiting = new Map<number, Vec2>()
  /** Our own pins that were acknowledged. */
  acknowledged = 0
  pins: readonly rules.Pin[] = []
  #asked = 0

  constructor(session: Session, changed: () => void) {
    super(session, changed)
    this.pins = rules.pins(session)
    this.dot = session.create(rules.Dot, {
      pos: [20 + Math.random() * 60, 12 + Math.random() * 24],
    })
    session.on('objects', () => sweep(session, rules.Dot, (id) => id === this.dot.id))
    session.on('table', () => {
      this.pins = rules.pins(session)
      this.changed()
    })
  }

  /** Moves our dot. */
  move(pos: Vec2): void {
    if (!this.isHere) return
    this.dot.set({ pos })
  }

  /** Drops a pin where our dot is, or there. Settles when it is acknowledged for good. */
  async drop(at: Vec2 = this.dot.state.pos): Promise<ActionOutcome<rules.Dropped>> {
    const id = this.#asked++
    this.waiting.set(id, at)
    try {
      const outcome = await this.session.act(rules.drop, { at })
      if (outcome.ok) this.acknowledged++
      else this.story.note(`The pin was refused: ${outcome.why}`, 'bad')
      return outcome
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.story.note(`The pin could not be dropped: ${why}`, 'bad')
      return { ok: false, why }
    } finally {
      this.waiting.delete(id)
      this.changed()
    }
  }
}
