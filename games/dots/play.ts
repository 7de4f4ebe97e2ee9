/**
 * One window's part in a session of Dots: its dot, its pins on the way, what it has to say.
 * It draws nothing; `changed` tells who does.
 */

import type { ActionOutcome, ObjectHandle, Session, Vec2 } from 'holdfast'
import { Story } from '../story.ts'
import * as rules from './rules.ts'

/** How long a wish to kill the server stands, in milliseconds. */
const KILL_MS = 3_000

/** See the head of this file. */
export class Play {
  readonly session: Session
  readonly story: Story
  readonly dot: ObjectHandle<typeof rules.Dot.schema.fields>
  /** Pins that were asked for and not yet acknowledged, by a number of our own. */
  readonly waiting = new Map<number, Vec2>()
  /** Our own pins that were acknowledged. */
  acknowledged = 0
  killed = false
  pins: readonly rules.Pin[] = []
  readonly #changed: () => void
  #asked = 0

  constructor(session: Session, changed: () => void) {
    this.session = session
    this.#changed = changed
    this.story = new Story(session, changed)
    this.pins = rules.pins(session)
    this.dot = session.create(rules.Dot, {
      pos: [20 + Math.random() * 60, 12 + Math.random() * 24],
    })
    this.#listen()
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

  /** Moves our dot. */
  move(pos: Vec2): void {
    if (this.killed || this.session.status === 'lost') return
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
      this.#changed()
    }
  }

  /** Kills whoever serves, on the spot: this window, or by a wish that it obeys. */
  kill(): void {
    const { primary } = this.session
    if (!primary || !this.killable) return
    if (this.serves) return this.#die()
    const wish = this.session.create(rules.Kill, { target: primary.inc })
    setTimeout(() => wish.alive && this.session.status !== 'lost' && wish.destroy(), KILL_MS)
  }

  #listen(): void {
    const { session } = this
    session.on('objects', () => this.#obey())
    session.on('table', () => {
      this.pins = rules.pins(session)
      this.#changed()
    })
  }

  #obey(): void {
    if (!this.serves || this.killed) return
    const { inc } = this.session.me
    if (this.session.all(rules.Kill).some(({ state }) => state.target === inc)) this.#die()
  }

  #die(): void {
    this.killed = true
    this.story.over = true
    this.session.crash()
    this.#changed()
  }
}
