/** One window's player, in every game: its session, what it tells, and how it kills the server. */

import type { Session } from 'holdfast'
import { Kill, obey, serves } from './kill.ts'
import { welcome } from './news.ts'
import { Story } from './story.ts'
import type { Way } from './tab.ts'

/** How long a wish to kill the server stands, in milliseconds. */
const KILL_MS = 3_000

/** See the head of this file. It draws nothing; `changed` tells who does. */
export class Player {
  readonly session: Session
  readonly story: Story
  killed = false
  readonly #names = new Map<number, string>()
  protected readonly changed: () => void

  constructor(session: Session, changed: () => void) {
    this.session = session
    this.changed = changed
    this.story = new Story(session, changed)
    obey(session, () => this.#die())
    session.on('members', () => this.#meet())
    this.#meet()
  }

  /** The name of a player, also of one who has gone; null for who was never met. */
  nameOf(player: number): string | null {
    return this.#names.get(player) ?? null
  }

  #meet(): void {
    for (const { player, name } of this.session.members) this.#names.set(player, name)
  }

  /** Whether this window serves. */
  get serves(): boolean {
    return serves(this.session)
  }

  /** Whether somebody would take over if the server were killed now. */
  get killable(): boolean {
    return this.session.status === 'live' && this.session.backup !== null
  }

  /** Whether it can still do anything here. */
  get isHere(): boolean {
    return !this.killed && this.session.status !== 'lost'
  }

  /** Says how the tab got in, where that is news. */
  welcome(way: Way): void {
    if (way === 'new') return
    const isSame = way === 'back'
    this.story.note(welcome(isSame), isSame ? 'good' : 'bad')
  }

  /** Kills whoever serves, on the spot: this window, or by a wish that it obeys. */
  kill(): void {
    const { primary } = this.session
    if (!primary || !this.killable) return
    if (this.serves) return this.#die()
    const wish = this.session.create(Kill, { target: primary.inc })
    setTimeout(() => wish.alive && this.session.status !== 'lost' && wish.destroy(), KILL_MS)
  }

  #die(): void {
    if (this.killed) return
    this.killed = true
    this.story.over = true
    this.session.crash()
    this.changed()
  }
}
