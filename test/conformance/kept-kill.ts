/**
 * A player who is alone in a kept room, and the hub that keeps it, killed at random moments, again
 * and again: either, both at once, and while the room is opened. Whoever comes next, the same
 * player or another, opens the room, and finds what was acknowledged. New processes are started
 * ahead, so that little time goes by but the seconds for which a hub waits for who was killed.
 */

import { join } from 'node:path'
import { Ledger } from './kept-ledger.ts'
import type { FromLife, ToLife } from './kept-life-messages.ts'
import { Life, type Spares } from './lives.ts'
import { type Dice, dice } from './until.ts'
import { freePort } from './free-port.ts'
import { spin } from './spin.ts'

/** What is killed, and how often. */
export interface KillPlan {
  spares: Spares<KeptLife>
  folder: string
  kills: number
  seed: number
}

/** What a run of kills did, and which claims did not hold. */
export interface Killed {
  /** What did not hold, a sentence each. */
  wrong: string[]
  /** Processes that were killed, of these hubs, and of these while a room was opened. */
  kills: number
  hubs: number
  opening: number
  /** How often the room was opened, and of these by a new player. */
  opened: number
  strangers: number
  /** Operations that were acknowledged. */
  acks: number
}

/** Processes of one kind. */
export class KeptLife extends Life<ToLife, FromLife> {}

/** Operations that are acknowledged before somebody is killed, at most; and under way at most. */
const ACKS_MAX = 12
const AT_ONCE_MAX = 4
/** How likely each of these is at a kill. */
const CHANCES = { hub: 0.3, both: 0.4, opening: 0.03, stranger: 0.5 }
/** Within so many ms somebody is killed after what it is killed after; and both, of each other. */
const SOON_MS = 2

/** Kills, and compares. Ends with the first thing that does not hold. */
export async function killKept(plan: KillPlan): Promise<Killed> {
  const scene = new Scene(plan, await freePort())
  try {
    await scene.begin()
    while (scene.found.kills < plan.kills && scene.found.wrong.length === 0) await scene.step()
    await scene.again()
  } catch (error) {
    scene.found.wrong.push(String(error))
  } finally {
    await scene.end()
  }
  return scene.found
}

class Scene {
  readonly found: Killed = {
    ...{ wrong: [], kills: 0, hubs: 0, opening: 0, opened: 0, strangers: 0, acks: 0 },
  }
  readonly #plan: KillPlan
  readonly #port: number
  readonly #random: Dice
  readonly #ledger = new Ledger()
  #hub: KeptLife | null = null
  #player: KeptLife | null = null
  /** Of who played last. */
  #token: string | null = null

  constructor(plan: KillPlan, port: number) {
    this.#plan = plan
    this.#port = port
    this.#random = dice(plan.seed)
  }

  async begin(): Promise<void> {
    await this.#serve()
    await this.#enter()
  }

  /** Some operations, a kill or two, and all are there again. */
  async step(): Promise<void> {
    await this.#operate(1 + this.#random.below(ACKS_MAX))
    spin(this.#random.next() * SOON_MS)
    const choice = this.#random.next()
    const isBoth = choice < CHANCES.both
    if (isBoth || choice < CHANCES.both + CHANCES.hub) await this.#killHub(isBoth)
    else await this.#kill('player')
    await this.again()
  }

  /** Whoever was killed is there again, and the room is as it was acknowledged. */
  async again(): Promise<void> {
    if (!this.#hub) await this.#serve()
    if (!this.#player) await this.#enter()
    this.found.wrong = this.#ledger.wrong
    this.found.acks = this.#ledger.acks
  }

  async end(): Promise<void> {
    await Promise.all([this.#hub?.kill(), this.#player?.kill()])
  }

  // So many are acknowledged, and some more are under way.
  async #operate(acks: number): Promise<void> {
    const player = this.#player!
    const atOnce = 1 + this.#random.below(AT_ONCE_MAX)
    let left = acks
    const heard = player.heard('acked', () => --left <= 0)
    const count = acks + atOnce
    player.send({ act: this.#ledger.give(count), count, atOnce })
    await heard
  }

  async #serve(): Promise<void> {
    this.#hub = await this.#plan.spares.take()
    const serves = this.#hub.heard('serves')
    this.#hub.send({ serve: join(this.#plan.folder, 'hub.db'), port: this.#port })
    await serves
  }

  // The room is opened; now and then somebody is killed just then.
  async #enter(): Promise<void> {
    for (;;) {
      const player = await this.#plan.spares.take()
      this.#player = player
      this.#listen(player)
      const token = this.#chance('stranger') ? null : this.#token
      const opened = this.#hub!.heard('opened')
      opened.catch(() => {})
      const found = player.heard('found')
      player.send({ join: `http://127.0.0.1:${this.#port}`, token })
      if (this.#token !== null && this.#chance('opening')) {
        found.catch(() => {})
        await this.#killAsItOpens(opened)
        continue
      }
      const { found: room } = await found
      this.#ledger.found(room, token)
      this.found.opened++
      if (token === null) this.found.strangers++
      this.#token = room.token
      return
    }
  }

  async #killAsItOpens(opened: Promise<unknown>): Promise<void> {
    await opened
    spin(this.#random.next() * 2 * SOON_MS)
    const before = this.found.kills
    if (this.#chance('both')) await this.#killHub(true)
    else await this.#kill('player')
    this.found.opening += this.found.kills - before
    if (!this.#hub) await this.#serve()
  }

  #listen(player: KeptLife): void {
    player.child.on('message', ({ acked, moved, failed, refused, unkept }: FromLife) => {
      if (acked) this.#ledger.acked(acked)
      if (moved !== undefined) this.#ledger.moved(moved)
      const why = failed ?? refused ?? unkept
      if (why !== undefined && this.#player === player) this.#ledger.wrong.push(`goes on: ${why}`)
    })
  }

  // With its player, before or after it, or without.
  async #killHub(isBoth: boolean): Promise<void> {
    const isFirst = this.#random.next() < 0.5
    const kills = isFirst ? (['hub', 'player'] as const) : (['player', 'hub'] as const)
    const all: Promise<void>[] = []
    for (const one of isBoth ? kills : (['hub'] as const)) {
      if (all.length > 0) spin(this.#random.next() * SOON_MS)
      all.push(this.#kill(one))
    }
    await Promise.all(all)
    this.found.hubs++
  }

  async #kill(who: 'hub' | 'player'): Promise<void> {
    const life = who === 'hub' ? this.#hub! : this.#player!
    const killed = life.kill()
    this.found.kills++
    await killed
    // Of what it said before, all has come.
    if (who === 'hub') this.#hub = null
    else this.#player = null
  }

  #chance(what: keyof typeof CHANCES): boolean {
    return this.#random.next() < CHANCES[what]
  }
}
