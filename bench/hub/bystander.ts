/** A hub, and a room of two that plays through it whatever else the hub is made to do. */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Band } from '../../test/attack/band.ts'
import { figuresOf } from '../../test/attack/figures.ts'
import { type HubProcess, startHubIn } from '../../test/conformance/hub-process.ts'
import { defaults, rowsOf } from '../../packages/hub/src/machine/limits.ts'
import { SESSIONS_MAX } from '../../packages/hub/src/machine/register.ts'

const MEMBERS = 2
/** More than anybody here spends. */
const UNBOUND = 1_000_000_000

/** How the room fared meanwhile, and the hub. */
export interface Beside {
  /** Moves of the room that were acknowledged, each second. */
  moves: number
  /** Moves that had another outcome than the next sum, and changes of roles. */
  wrong: number
  epochs: number
  /** Longest time between two acknowledgements, in ms. */
  pauseMs: number
  /** Longest time between two turns of the hub's timer of 10 ms, in ms. */
  lateMs: number
  /** The hub's processor, in parts of one. */
  processor: number
}

/** See the head of this file. */
export class Bystander {
  readonly hub: HubProcess
  readonly #band: Band
  /** The longest delay of the hub's loop that it told since it was asked what was beside. */
  #lateMs = 0

  private constructor(hub: HubProcess, band: Band) {
    this.hub = hub
    this.#band = band
  }

  /** Starts a hub whose limits nobody meets, with its register in a folder of its own there. */
  static async meet(within: string): Promise<Bystander> {
    const folder = mkdtempSync(join(within, 'hub-'))
    const limits = join(folder, 'limits.json')
    writeFileSync(limits, JSON.stringify(unbound()))
    const hub = await startHubIn(folder, ['--limits', limits])
    try {
      return new Bystander(hub, await Band.meet(hub.url, MEMBERS))
    } catch (error) {
      await hub.kill('SIGKILL')
      throw error
    }
  }

  /** How the room fares while something is done. */
  async during<Value>(work: () => Promise<Value>): Promise<{ value: Value; beside: Beside }> {
    const before = await this.#figures()
    this.#lateMs = 0
    const epoch = this.#band.epoch()
    const start = performance.now()
    this.#band.take()
    const value = await work()
    const { acknowledged, wrong, pauseMs } = this.#band.take()
    const seconds = (performance.now() - start) / 1_000
    const after = await this.#figures()
    const spent = 'process_cpu_seconds_total'
    const beside = {
      ...{ moves: acknowledged / seconds, wrong, epochs: this.#band.epoch() - epoch, pauseMs },
      lateMs: this.#lateMs,
      processor: (after.get(spent)! - before.get(spent)!) / seconds,
    }
    return { value, beside }
  }

  /** The memory of the hub now, in bytes. */
  async memory(): Promise<number> {
    return (await this.#figures()).get('process_resident_memory_bytes')!
  }

  // The hub tells its longest delay since it was asked last.
  async #figures(): Promise<Map<string, number>> {
    const figures = await figuresOf(this.hub.url)
    const lateMs = figures.get('nodejs_eventloop_lag_max_seconds')! * 1_000
    this.#lateMs = Math.max(this.#lateMs, lateMs)
    return figures
  }

  async end(): Promise<void> {
    await this.#band.end()
    await this.hub.kill('SIGKILL')
  }
}

/** Limits that do not bite, as the file of `--limits` has them. */
export function unbound(): object {
  const limits: Record<string, Record<string, unknown>> = {}
  for (const { who, what, limit } of rowsOf(defaults())) {
    const own = (limits[who] ??= {})
    own[what] = typeof limit === 'number' ? UNBOUND : { max: UNBOUND, perSecond: UNBOUND }
  }
  limits['hub']!['rooms'] = SESSIONS_MAX
  return limits
}
