/** The hubs of the bench: one with a file, and two that share three servers of NATS. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NatsCluster } from '../../test/conformance/nats.ts'
import { type HubProcess, startHubIn } from '../../test/conformance/hub-process.ts'
import { unbound } from '../hub/bystander.ts'

export class Places {
  readonly cluster: NatsCluster
  readonly file: HubProcess
  readonly shared: [HubProcess, HubProcess]
  readonly #folder: string
  readonly #words: readonly string[]

  private constructor(
    cluster: NatsCluster,
    file: HubProcess,
    shared: [HubProcess, HubProcess],
    start: { folder: string; words: readonly string[] },
  ) {
    this.cluster = cluster
    this.file = file
    this.shared = shared
    this.#folder = start.folder
    this.#words = start.words
  }

  static async start(within: string): Promise<Places> {
    const folder = mkdtempSync(join(within, 'hubs-'))
    const limits = join(folder, 'limits.json')
    writeFileSync(limits, JSON.stringify(unbound()))
    const cluster = await NatsCluster.start(3)
    const words = ['--limits', limits]
    const file = await startHubIn(folder, words)
    const store = [...words, '--store', cluster.servers.join()]
    const shared = [await startHubIn(folder, store), await startHubIn(folder, store)] as const
    return new Places(cluster, file, [...shared], { folder, words: store })
  }

  /** Starts one more hub on NATS. */
  another(): Promise<HubProcess> {
    return startHubIn(this.#folder, this.#words)
  }

  /** Starts the second shared hub again, at its address. */
  async restart(): Promise<void> {
    const port = Number(new URL(this.shared[1].url).port)
    this.shared[1] = await startHubIn(this.#folder, this.#words, {}, port)
  }

  async end(): Promise<void> {
    for (const hub of [this.file, ...this.shared]) {
      if (hub.isRunning()) await hub.kill('SIGKILL')
    }
    await this.cluster.end()
  }
}

/** Processor time of a process so far, in ms. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
  // In clock ticks of a hundredth of a second: user, then system.
  return (Number(fields[11]) + Number(fields[12])) * 10
}
