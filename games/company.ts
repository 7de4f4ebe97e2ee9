/**
 * Bots that play from this page, for whoever is alone: members of the session of their own, which
 * never serve, so that nothing hangs on a tab that has them. They go when they are sent away, when
 * their player goes, and one after the other when people want the seats.
 */

import { HoldfastError, type Session } from 'holdfast'
import type { Bot, Bots, BotOptions } from './bot.ts'
import { absence } from './news.ts'
import { beat } from './ticker.ts'

/** Seats that bots leave free for people. */
const SPARE = 1

/** Where bots are to play. */
export interface Ground extends Pick<BotOptions, 'room' | 'server'> {
  /** Most members of the room. */
  seats: number
  /** How many come at first. */
  some: number
  /** The bots of the game, which are loaded when they are wanted. */
  load(): Promise<Bots>
}

/** See the head of this file. It draws nothing; `changed` tells who does. */
export class Company {
  /** Why no bot came, or no more of them; empty if all is well. */
  trouble = ''
  readonly #session: Session
  readonly #ground: Ground
  readonly #changed: () => void
  #bots: readonly Bot[] = []
  #wanted = 0
  #giveUp: AbortController | null = null

  constructor(session: Session, ground: Ground, changed: () => void) {
    this.#session = session
    this.#ground = ground
    this.#changed = changed
    session.on('members', () => this.#makeRoom())
    session.on('status', (status) => status === 'lost' && void this.leave())
  }

  /** How many are here. */
  get count(): number {
    return this.#bots.length
  }

  /** Whether some are on their way. */
  get comes(): boolean {
    return this.#giveUp !== null
  }

  /** What keeps them from playing, in a sentence; empty while they play. */
  get idle(): string {
    return this.#bots.map((bot) => bot.idle()).find((why) => why !== '') ?? ''
  }

  /** Whether one more may come. */
  get hasRoom(): boolean {
    return this.#session.members.length + SPARE < this.#ground.seats
  }

  /** Has some come, or sends all away. */
  toggle(): void {
    if (this.#wanted === 0) this.#want(this.#ground.some)
    else void this.leave()
  }

  /** There are to be so many more, or fewer. */
  more(count: 1 | -1): void {
    this.#want(this.#wanted + count)
  }

  #want(count: number): void {
    this.#wanted = Math.max(0, count)
    this.trouble = ''
    this.#dismiss(this.#bots.slice(this.#wanted))
    if (this.#wanted === 0) this.#giveUp?.abort()
    else void this.#bring()
    this.#changed()
  }

  /** Sends all away. @returns when they have gone */
  async leave(): Promise<void> {
    const bots = this.#bots
    this.#want(0)
    await Promise.all(bots.map(({ over }) => over))
  }

  async #bring(): Promise<void> {
    if (this.#giveUp) return
    const giveUp = new AbortController()
    this.#giveUp = giveUp
    try {
      const bots = await this.#ground.load()
      while (this.count < this.#wanted && !giveUp.signal.aborted) {
        await this.#fetch(bots, this.#wanted - this.count, giveUp.signal)
      }
    } catch (error) {
      if (!giveUp.signal.aborted) {
        this.trouble = absence(error)
        this.#wanted = this.count
      }
    }
    this.#giveUp = null
    // Others may have been wanted while these were given up.
    if (this.count < this.#wanted) void this.#bring()
    this.#changed()
  }

  // So many at once, as far as there are seats.
  async #fetch(bots: Bots, count: number, signal: AbortSignal): Promise<void> {
    const seats = this.#ground.seats - SPARE - this.#session.members.length
    if (seats <= 0) throw new HoldfastError('full', 'bots leave a seat free for people')
    const coming = this.#freeIndexes(bots, Math.min(count, seats)).map(async (index) => {
      const { room, server } = this.#ground
      const bot = await bots.play({ index, room, server, serves: false, signal, beat })
      // It was sent away as it came in.
      if (this.count >= this.#wanted) return void bot.leave()
      this.#bots = [...this.#bots, bot]
      void bot.over.then(() => this.#forget(bot))
      this.#changed()
    })
    const failed = (await Promise.allSettled(coming)).find(({ status }) => status === 'rejected')
    if (failed) throw (failed as PromiseRejectedResult).reason
  }

  // No two of a room have one name, from whosever page they are.
  #freeIndexes(bots: Bots, count: number): number[] {
    const taken = new Set(this.#session.members.map(({ name }) => name))
    const free: number[] = []
    for (let index = 1; free.length < count; index++) {
      if (!taken.has(bots.nameOf(index))) free.push(index)
    }
    return free
  }

  #makeRoom(): void {
    const isFull = this.#session.members.length + SPARE > this.#ground.seats
    if (isFull && this.count > 0) this.#want(this.count - 1)
  }

  #dismiss(bots: readonly Bot[]): void {
    for (const bot of bots) void bot.leave()
    this.#bots = this.#bots.filter((bot) => !bots.includes(bot))
  }

  // Its session was lost, and not by us.
  #forget(bot: Bot): void {
    if (!this.#bots.includes(bot)) return
    this.#bots = this.#bots.filter((each) => each !== bot)
    this.#wanted = Math.min(this.#wanted, this.count)
    this.#changed()
  }
}
