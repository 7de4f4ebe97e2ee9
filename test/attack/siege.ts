/** A hub that is attacked while a room plays on, and what became of either. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { HubProcess } from '../conformance/hub-process.ts'
import type { Order } from './attacker.ts'
import { Band, type Fared, MIRROR, PLACE } from './band.ts'
import { figuresOf } from './figures.ts'
import type { Attack } from './attacks.ts'
import { blank, type Tally } from './stranger.ts'

/** So often the figures of the hub are read, and somebody comes into the room. */
const LOOK_MS = 250

/** Members that somebody wants to send elsewhere. */
const MIRRORS = 4

/** Of whoever is told that there is no seat. */
const FULL = 'the session is full'

/** What became of a hub and a room in one attack. */
export interface Outcome extends Fared {
  attack: Attack | 'quiet'
  addresses: number
  ms: number
  tally: Tally
  /** Most memory of the hub, in MB, and the longest delay of its loop, in ms. */
  memory: number
  lateMs: number
  /** What it refused meanwhile, by limit. */
  refused: Record<string, number>
  /** How often roles changed in the room. */
  epochs: number
  rooms: number
  streams: number
  /** How long seats were taken after an attack that fills them, in ms. */
  freeMs: number
}

/** A hub, and a room that plays in it. */
export class Siege {
  readonly #hub: HubProcess
  readonly #script: string
  readonly #band: Band
  readonly #children = new Set<ChildProcess>()
  #attacks = 0

  private constructor(hub: HubProcess, script: string, band: Band) {
    this.#hub = hub
    this.#script = script
    this.#band = band
  }

  /** @param script  the bundle of attacker.ts */
  static async begin(hub: HubProcess, script: string, members: number): Promise<Siege> {
    return new Siege(hub, script, await Band.meet(hub.url, members))
  }

  /** For so long nobody does anything, or somebody attacks. */
  async bear(attack: Attack | 'quiet', addresses: number, ms: number): Promise<Outcome> {
    const before = await this.#figures()
    const epoch = this.#band.epoch()
    this.#band.take()
    const worst = { memory: 0, lateMs: 0, rooms: 0, streams: 0 }
    const mirror = attack === 'reflecting' ? await Band.meet(this.#hub.url, MIRRORS, MIRROR) : null
    const until = performance.now() + ms
    const tally = this.#send(attack, addresses, ms)
    let attacks = true
    const isOver = (): void => void (attacks = false)
    tally.then(isOver, isOver)
    // On a busy machine the attacker's process takes its time to begin.
    for (let at = 0; attacks || performance.now() < until; at++) {
      await Promise.all([this.#band.newcomer(`new ${at}`), pause(LOOK_MS)])
      const now = await this.#figures()
      worst.memory = Math.max(worst.memory, now.get('process_resident_memory_bytes')! / 2 ** 20)
      worst.lateMs = Math.max(worst.lateMs, now.get('nodejs_eventloop_lag_max_seconds')! * 1_000)
      worst.rooms = Math.max(worst.rooms, now.get('holdfast_sessions')!)
      worst.streams = Math.max(worst.streams, now.get('holdfast_streams')!)
    }
    const { lost: out, ...fared } = this.#band.take()
    const refused = difference(before, await this.#figures())
    const epochs = this.#band.epoch() - epoch
    const said = { attack, addresses, ms, tally: await tally, ...worst, ...fared, refused, epochs }
    await mirror?.end()
    // Whoever reaches an open room may fill it: that is for a while, and no other way is shut.
    const fills = attack === 'haunting'
    const lost = fills ? out.filter((why) => !why.startsWith(FULL)) : out
    return { ...said, lost, freeMs: fills ? await this.#freed() : 0 }
  }

  /** How many rooms the hub has now. */
  async rooms(): Promise<number> {
    return (await this.#figures()).get('holdfast_sessions')!
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await this.#band.end()
    await this.#hub.kill('SIGKILL')
  }

  async #send(attack: Attack | 'quiet', addresses: number, ms: number): Promise<Tally> {
    if (attack === 'quiet') return blank()
    const child = fork(this.#script)
    this.#children.add(child)
    // Attackers elsewhere have processors of their own.
    setPriority(child.pid!, constants.priority.PRIORITY_LOW)
    const said = once(child, 'message')
    const order: Order = {
      attack,
      url: this.#hub.url,
      addresses,
      net: this.#attacks++,
      schema: this.#band.schema(),
      ms,
      game: PLACE.game,
      room: (attack === 'reflecting' ? MIRROR : PLACE).room,
    }
    child.send(order)
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the attacker ended with ${code} in ${attack}`)
    })
    const [tally] = (await Promise.race([said, ended])) as [Tally]
    ended.catch(() => {})
    this.#children.delete(child)
    return tally
  }

  // How long until somebody gets in again.
  async #freed(): Promise<number> {
    const begun = performance.now()
    while (true) {
      await this.#band.newcomer('after all')
      if (this.#band.take().joins.length > 0) return performance.now() - begun
      await pause(LOOK_MS)
    }
  }

  #figures(): Promise<Map<string, number>> {
    return figuresOf(this.#hub.url)
  }
}

function difference(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Record<string, number> {
  const found: Record<string, number> = {}
  for (const [name, value] of after) {
    const [, limit] = /^holdfast_refused_total\{limit="(.*)"\}$/.exec(name) ?? []
    const more = value - (before.get(name) ?? 0)
    if (limit !== undefined && more > 0) found[limit] = more
  }
  return found
}
