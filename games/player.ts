/** One window's player, in every game: its session, what it tells, and how it kills the server. */

import type { Session } from 'holdfast'
import { aboutHub } from './about.ts'
import { Company, type Ground } from './company.ts'
import { obey, serves, wish } from './kill.ts'
import { disobeyed, welcome } from './news.ts'
import { Story } from './story.ts'
import type { Way } from './token.ts'

/** See the head of this file. It draws nothing; `changed` tells who does. */
export class Player {
  readonly session: Session
  readonly story: Story
  killed = false
  /** The bots of this page; null until the page says where they play. */
  company: Company | null = null
  /** Whether this hub is a demonstration, in which the server may be killed. */
  demo = false
  readonly #names = new Map<number, string>()
  protected readonly changed: () => void

  constructor(session: Session, changed: () => void) {
    this.session = session
    this.changed = changed
    this.story = new Story(session, changed)
    void this.#demonstrate()
    session.on('members', () => this.#meet())
    this.#meet()
  }

  // Only then the button is there, and only then this window obeys.
  async #demonstrate(): Promise<void> {
    const { demo } = await aboutHub(new URL('../api/hub', location.href))
    if (!demo) return
    this.demo = true
    obey(this.session, () => this.#die())
    this.changed()
  }

  /** The name of a player, also of one who has gone; null for who was never met. */
  nameOf(player: number): string | null {
    return this.#names.get(player) ?? null
  }

  #meet(): void {
    for (const { player, name } of this.session.members) this.#names.set(player, name)
  }

  /** Bots may come into this room from this page. */
  invite(ground: Ground): void {
    this.company = new Company(this.session, ground, this.changed)
  }

  /** Takes leave, with all bots of this page. */
  async leave(): Promise<void> {
    await this.company?.leave()
    await this.session.leave()
  }

  /** Whether this window serves. */
  get serves(): boolean {
    return serves(this.session)
  }

  /** Whether somebody would take over if the server were killed now. */
  get killable(): boolean {
    return this.demo && this.session.status === 'live' && this.session.backup !== null
  }

  /** Whether it can still do anything here. */
  get isHere(): boolean {
    return !this.killed && this.session.status !== 'lost'
  }

  /** Says how the tab got in, where that is news. */
  welcome(way: Way): void {
    if (way !== 'new') this.story.note(welcome(way), way === 'back' ? 'good' : 'bad')
  }

  /** Kills whoever serves, on the spot: this window, or by a wish that it may obey. */
  kill(): void {
    const { primary } = this.session
    if (!primary || !this.killable) return
    if (this.serves) return this.#die()
    wish(this.session, () => this.story.note(disobeyed(primary), 'bad'))
  }

  #die(): void {
    if (this.killed) return
    this.killed = true
    this.story.over = true
    this.session.debug.crash()
    this.changed()
  }
}
