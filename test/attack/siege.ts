/** A hub that is attacked while a room plays on, and what became of either. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { HubProcess } from '../conformance/hub-process.ts'
import type { Order } from './attacker.ts'
import { Band, type Fared, PLACE } from './band.ts'
import { figuresOf } from './figures.ts'
import type { Attack } from './attacks.ts'
import type { Tally } from './stranger.ts'

/** So often the figures of the hub are read, and somebody comes into the room. */
const LOOK_MS = 250

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
    const until = performance.now() + ms
    const tally = this.#send(attack, addresses, ms)
    for (let at = 0; performance.now() < until; at++) {
      await Promise.all([this.#band.newcomer(`new ${at}`), pause(LOOK_MS)])
      const now = await this.#figures()
      worst.memory = Math.max(worst.memory, now.get('process_resident_memory_bytes')! / 2 ** 20)
      worst.lateMs = Math.max(worst.lateMs, now.get('nodejs_eventloop_lag_max_seconds')! * 1_000)
      worst.rooms = Math.max(worst.rooms, now.get('holdfast_sessions')!)
      worst.streams = Math.max(worst.streams, now.get('holdfast_streams')!)
    }
    const fared = this.#band.take()
    const refused = difference(before, await this.#figures())
    const epochs = this.#band.epoch() - epoch
    return { attack, addresses, ms, tally: await tally, ...worst, ...fared, refused, epochs }
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
    if (attack === 'quiet') return { done: 0, befell: {} }
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
      ms,
      ...PLACE,
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
