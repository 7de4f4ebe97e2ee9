/**
 * One window's part in a session of Dots: its dot, its pins on the way, what it has to say.
 * It draws nothing; `changed` tells who does.
 */

import type { ActionOutcome, MemberInfo, ObjectHandle, Session, Status, Vec2 } from 'holdfast'
import * as news from '../news.ts'
import * as rules from './rules.ts'

/** Sentences that are kept. */
const NOTES_MAX = 6
/** How long a wish to kill the server stands, in milliseconds. */
const KILL_MS = 3_000

/** A sentence about the session. Those that matter are shown large for a while. */
export interface Note {
  id: number
  text: string
  kind: 'quiet' | 'good' | 'bad'
  at: number
}

/** See the head of this file. */
export class Play {
  readonly session: Session
  readonly dot: ObjectHandle<typeof rules.Dot.schema.fields>
  /** Pins that were asked for and not yet acknowledged, by a number of our own. */
  readonly waiting = new Map<number, Vec2>()
  /** Our own pins that were acknowledged. */
  acknowledged = 0
  killed = false
  notes: readonly Note[] = []
  pins: readonly rules.Pin[] = []
  readonly #changed: () => void
  #asked = 0
  #noted = 0
  #primary: MemberInfo | null
  #backup: MemberInfo | null
  // Being let in is no coming back, whatever the session says of itself at first.
  #status: Status = 'live'

  constructor(session: Session, changed: () => void) {
    this.session = session
    this.#changed = changed
    this.#primary = session.primary
    this.#backup = session.backup
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
      else this.note(`The pin was refused: ${outcome.why}`, 'bad')
      return outcome
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.note(`The pin could not be dropped: ${why}`, 'bad')
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

  /** Says a sentence. */
  note(text: string, kind: Note['kind']): void {
    if (text === '') return
    const note = { id: this.#noted++, text, kind, at: performance.now() }
    this.notes = [note, ...this.notes].slice(0, NOTES_MAX)
    this.#changed()
  }

  /** Looks for what no event tells. */
  look(): void {
    const { backup } = this.session
    if (backup && backup.inc !== this.#backup?.inc && this.session.status === 'live') {
      const mine = backup.inc === this.session.me.inc
      this.note(`${mine ? 'You are' : `${backup.name} is`} the backup now.`, 'quiet')
    }
    this.#backup = backup
  }

  #listen(): void {
    const { session } = this
    session.on('status', (status) => this.#stands(status))
    session.on('primary', (member) => this.#succeeded(member))
    session.on('join', (member) => this.note(`${member.name} joined.`, 'quiet'))
    session.on('leave', (member) => {
      // Whoever served is spoken of when somebody else does.
      if (member.player !== this.#primary?.player) this.note(`${member.name} left.`, 'quiet')
    })
    session.on('members', () => this.#changed())
    session.on('safety', () => this.#changed())
    session.on('objects', () => this.#obey())
    session.on('table', () => {
      this.pins = rules.pins(session)
      this.#changed()
    })
  }

  #stands(status: Status): void {
    if (this.killed) return
    const text = news.connection(this.#status, status, this.session.reason)
    this.#status = status
    this.note(text, status === 'live' ? 'good' : 'bad')
    this.#changed()
  }

  #succeeded(now: MemberInfo): void {
    const before = this.#primary
    this.#primary = now
    if (before?.inc === now.inc) return
    const stays = this.session.members.some(({ player }) => player === before?.player)
    const mine = now.inc === this.session.me.inc
    this.note(news.succession(before, now, stays, mine), 'good')
  }

  #obey(): void {
    if (!this.serves || this.killed) return
    const { inc } = this.session.me
    if (this.session.all(rules.Kill).some(({ state }) => state.target === inc)) this.#die()
  }

  #die(): void {
    this.killed = true
    this.session.crash()
    this.#changed()
  }
}
