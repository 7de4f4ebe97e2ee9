/**
 * What a window tells of its session: who came and went, who serves now, whether it is in touch.
 * The newest sentence that matters stands large for a while.
 */

import type { MemberInfo, Session, Status } from 'holdfast'
import * as news from './news.ts'
import { kinOf } from './token.ts'

/** Sentences that are kept. */
const NOTES_MAX = 6
/** How long a sentence stays large, in milliseconds. */
const BANNER_MS = 9_000
/** How long it is only said that the connection is lost, in milliseconds. */
const PATIENCE_MS = 2_500
/** News that come so soon after being back are of the time before, in milliseconds. */
const JUST_MS = 1_000

/** A sentence about the session. Those that matter are shown large for a while. */
export interface Note {
  id: number
  text: string
  kind: 'quiet' | 'good' | 'bad'
  at: number
}

// Ends that a card tells.
const ON_A_CARD = new Set<string | null>(['elsewhere', 'kicked', 'banned'])

/** See the head of this file. */
export class Story {
  notes: readonly Note[] = []
  /** Whether nothing more is to be told. */
  over = false
  readonly #session: Session
  readonly #changed: () => void
  #noted = 0
  #primary: MemberInfo | null
  #backup: MemberInfo | null
  #brokenAt = 0
  #healedAt = -Infinity
  #token: string
  #waits = false

  constructor(session: Session, changed: () => void) {
    this.#session = session
    this.#changed = changed
    this.#primary = session.primary
    this.#backup = session.backup
    this.#token = session.token
    this.#listen()
  }

  /** The sentence that stands large now. */
  get banner(): Note | null {
    const note = this.notes.find(({ kind }) => kind !== 'quiet')
    if (!note || this.over) return null
    const lasts = note.kind === 'bad' && this.#session.status !== 'live'
    return lasts || performance.now() - note.at < BANNER_MS ? note : null
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
    const { backup, me, status } = this.#session
    if (status === 'reconnecting') this.#wait()
    if (backup && backup.inc !== this.#backup?.inc && status === 'live') {
      const mine = backup.inc === me.inc
      this.note(`${mine ? 'You are' : `${backup.name} is`} the backup now.`, 'quiet')
    }
    this.#backup = backup
  }

  // Whoever is backup takes over within a second: after more than that it is gone too.
  #wait(): void {
    if (this.#waits || performance.now() - this.#brokenAt < PATIENCE_MS) return
    if (!this.#session.debug.figures().hub) return
    this.#waits = true
    this.note(news.waiting(this.#backup !== null), 'bad')
  }

  #listen(): void {
    const session = this.#session
    session.on('status', (status) => this.#stands(status))
    session.on('healed', (healing) => {
      const good = healing.same && healing.lost === 0
      this.#healedAt = performance.now()
      this.note(news.healing(healing, kinOf(this.#token, session.token)), good ? 'good' : 'bad')
      this.#token = session.token
    })
    session.on('recovered', (recovery) => this.note(news.recovery(recovery), 'bad'))
    session.on('primary', (member) => this.#succeeded(member))
    session.on('join', (member) => this.note(`${member.name} joined.`, 'quiet'))
    session.on('leave', (member) => {
      // Whoever served is spoken of when somebody else does.
      if (member.player !== this.#primary?.player) this.note(`${member.name} left.`, 'quiet')
    })
    session.on('members', () => this.#changed())
    session.on('safety', () => this.#changed())
    session.on('hub', () => this.#changed())
    session.on('backup', () => {
      this.look()
      this.#changed()
    })
  }

  #stands(status: Status): void {
    if (this.over) return
    this.#brokenAt = performance.now()
    this.#waits = false
    const { code, reason } = this.#session
    // A card says that, and nothing is lost.
    if (!ON_A_CARD.has(code)) this.note(news.connection(status, reason), 'bad')
    this.#changed()
  }

  #succeeded(now: MemberInfo): void {
    const before = this.#primary
    this.#primary = now
    if (before?.inc === now.inc) return
    const stays = this.#session.members.some(({ player }) => player === before?.player)
    const mine = now.inc === this.#session.me.inc
    // Who was not the backup may have gone on with less than everything.
    const certain = stays || now.inc === this.#backup?.inc
    // To who was away it matters more what became of them.
    const isOld = !mine && performance.now() - this.#healedAt < JUST_MS
    const text = news.succession(certain ? before : null, now, stays, mine)
    this.note(text, isOld ? 'quiet' : 'good')
  }
}
