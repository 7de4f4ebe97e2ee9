/**
 * Three processes with mailboxes in files, among whom money moves, killed and stopped at random
 * moments, again and again; afterwards their books are compared. a and c write to each other over
 * a session, whose keeper is killed too. New processes are started ahead, so that little time goes
 * by.
 */

import { join } from 'node:path'
import { type Id, IDS } from './mail-life-messages.ts'
import { Spares } from './lives.ts'
import { MailLife } from './mail-lives.ts'
import { audit, type Books, isThrough } from './money.ts'
import { type Dice, dice } from './until.ts'
import { freePort } from './free-port.ts'
import { spin } from './spin.ts'

/** What is killed, and how often. */
export interface KillPlan {
  /** The bundle of `mail-life.ts`. */
  script: string
  /** Of a `holdfast serve`. */
  hub: string
  folder: string
  kills: number
  seed: number
}

/** What was found. */
export interface Killed {
  /** What did not hold, a sentence each. */
  wrong: string[]
  kills: number
  /** Letters that took effect, and those of them that went over the session. */
  letters: number
  overSession: number
  /** How often a process stood still for a while. */
  stops: number
  /** Letters that the others handled meanwhile. */
  meanwhile: number
  /** How often a process died in the middle of a write, which was left out at opening. */
  torn: number
}

/** Processes that wait for their turn. */
const SPARES = 2
/** Letters that one handles before it is killed, at most. */
const LETTERS_MAX = 8
/** At every so manieth kill letters go over the session. */
const SESSION_EVERY = 20
/** How likely each of these is at a kill. */
const CHANCES = { stop: 0.15, two: 0.05, opening: 0.1, keeper: 0.3 }
/** How long a process stands still. */
const STOP_MS = { least: 100, most: 3_000 }

/** Kills, and compares. */
export async function killMailboxes(plan: KillPlan): Promise<Killed> {
  const spares = new Spares(plan.script, SPARES, (child) => new MailLife(child))
  const scene = new Scene(plan, spares, await freePort())
  try {
    await scene.begin()
    while (scene.found.kills < plan.kills) await scene.step()
    await scene.settle()
  } catch (error) {
    scene.found.wrong.push(String(error))
  } finally {
    scene.end()
    await spares.end()
  }
  return scene.found
}

class Scene {
  readonly found: Killed = {
    ...{ wrong: [], kills: 0, letters: 0, overSession: 0, stops: 0, meanwhile: 0, torn: 0 },
  }
  readonly #plan: KillPlan
  readonly #spares: Spares<MailLife>
  readonly #port: number
  readonly #random: Dice
  readonly #lives = new Map<Id, MailLife>()
  #keeper: MailLife | null = null
  /** By mailbox and peer: payments of which it was once said that they are durable. */
  readonly #known = new Map<string, number>()
  #stopped: Id | null = null
  #stop: NodeJS.Timeout | undefined

  constructor(plan: KillPlan, spares: Spares<MailLife>, port: number) {
    this.#plan = plan
    this.#spares = spares
    this.#port = port
    this.#random = dice(plan.seed)
  }

  async begin(): Promise<void> {
    await this.#keep()
    for (const id of IDS) await this.#live(id)
  }

  /** One kill, or two, and what goes before. */
  async step(): Promise<void> {
    const { found } = this
    if (this.#chance('stop') && !this.#stopped) await this.#halt(this.#pick())
    if (found.kills % SESSION_EVERY === 0 && !this.#stopped) await this.#useSession()
    const ids = new Set([this.#pick(), ...(this.#chance('two') ? [this.#pick()] : [])])
    const [first] = ids
    const handled = this.#took(
      first!,
      this.#stopped === first ? 0 : this.#random.below(LETTERS_MAX),
    )
    this.#pay(LETTERS_MAX)
    await handled
    spin(this.#random.next())
    await Promise.all([...ids].map((id) => this.#kill(id)))
    for (const id of ids) {
      if (this.#chance('opening')) await this.#killAsItOpens(id)
      await this.#live(id)
    }
  }

  /** All stand, all letters come, and the books are compared. */
  async settle(): Promise<void> {
    this.#goOn()
    for (const id of ['a', 'c'] as const) this.#lives.get(id)!.enter()
    let all: Books[]
    for (;;) {
      const more = Promise.race([...this.#lives.values()].map((life) => life.heard('acked')))
      // It may never be waited for.
      more.catch(() => {})
      all = await Promise.all(IDS.map((id) => this.#books(id)))
      // What is set aside never comes, nor what rests.
      if (isThrough(all) || all.some(({ faults, wrong }) => faults.length + wrong.length > 0)) break
      await more
    }
    const count = (books: Books, peer: Id): number => books.took[peer]?.length ?? 0
    const { found } = this
    for (const books of all) {
      found.wrong.push(...books.faults)
      for (const peer of IDS) found.letters += count(books, peer)
    }
    found.wrong.push(...audit(all))
    found.overSession = count(all[0]!, 'c') + count(all[2]!, 'a')
  }

  end(): void {
    this.#goOn()
  }

  async #books(id: Id): Promise<Books> {
    const life = this.#lives.get(id)!
    const told = life.heard('books')
    life.send({ ask: true })
    return (await told).books
  }

  async #live(id: Id): Promise<void> {
    const life = await this.#spares.take()
    this.#lives.set(id, life)
    const opened = life.heard('open')
    this.#open(id, life)
    const { open, repaired } = await opened
    if (repaired !== null) this.found.torn++
    for (const [peer, has] of Object.entries(open)) {
      const had = this.#known.get(id + peer) ?? 0
      if (has < had)
        this.found.wrong.push(`${id} had paid ${peer} ${had} times, and opened with ${has}`)
      this.#known.set(id + peer, has)
    }
    // Nobody else is there to write to.
    if (this.#stopped === 'b' && id !== 'b') life.enter()
  }

  #open(begin: Id, life: MailLife): void {
    const { folder, hub } = this.#plan
    life.send({ begin, store: join(folder, `${begin}.db`), port: this.#port, hub })
  }

  async #killAsItOpens(id: Id): Promise<void> {
    const life = await this.#spares.take()
    this.#open(id, life)
    const while_ = this.#random.next() * 60
    await new Promise((resolve) => setTimeout(resolve, while_))
    await life.kill()
    this.found.kills++
  }

  async #kill(id: Id): Promise<void> {
    const life = this.#lives.get(id)!
    await life.kill()
    if (this.#stopped === id) this.#goOn()
    for (const [peer, n] of Object.entries(life.paid)) this.#known.set(id + peer, n)
    this.found.kills++
  }

  /** Waits until that process has handled so many letters. */
  async #took(id: Id, count: number): Promise<void> {
    let took = 0
    if (count > 0) await this.#lives.get(id)!.heard('took', () => ++took === count)
    if (this.#stopped) this.found.meanwhile += count
  }

  /** a and c write to each other; whoever serves their session may die in between. */
  async #useSession(): Promise<void> {
    await this.#exchange()
    // Were there no backup, the session would come again only after a quarter of a minute.
    if (!this.#chance('keeper') || !this.#keeper!.safe) return
    await this.#keeper!.kill()
    this.found.kills++
    await Promise.all([this.#keep(), this.#exchange()])
    if (!this.#keeper!.safe) await this.#keeper!.heard('safe', (isSafe) => isSafe)
  }

  async #exchange(): Promise<void> {
    const [a, c] = [this.#lives.get('a')!, this.#lives.get('c')!]
    const heard = [a.heard('took', (from) => from === 'c'), c.heard('took', (from) => from === 'a')]
    a.enter()
    c.enter()
    this.#pay(1)
    await Promise.all(heard)
  }

  /** So many payments of each to each; money moves only where something happens to it. */
  #pay(count: number): void {
    for (const life of this.#lives.values()) life.send({ pay: count })
  }

  async #keep(): Promise<void> {
    this.#keeper = await this.#spares.take()
    const joined = this.#keeper.heard('joined')
    this.#keeper.send({ keep: this.#plan.hub })
    await joined
  }

  /** That process stands still for a while; the others go on. */
  async #halt(id: Id): Promise<void> {
    if (id === 'b') await this.#exchange()
    this.#stopped = id
    this.found.stops++
    this.#lives.get(id)!.child.kill('SIGSTOP')
    const { least, most } = STOP_MS
    const ms = least + this.#random.below(most - least)
    this.#stop = setTimeout(() => this.#goOn(), ms)
  }

  #goOn(): void {
    clearTimeout(this.#stop)
    if (this.#stopped) this.#lives.get(this.#stopped)!.child.kill('SIGCONT')
    this.#stopped = null
  }

  #pick(): Id {
    return IDS[this.#random.below(IDS.length)]!
  }

  #chance(what: keyof typeof CHANCES): boolean {
    return this.#random.next() < CHANCES[what]
  }
}
