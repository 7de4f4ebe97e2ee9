/** Servers of NATS of a test's own, on loopback. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JetStreamManager, jetstreamManager, type StreamState } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { freePort } from './free-port.ts'

/** What to say where it is missing; null where it is not. */
export function noNats(): string | null {
  const found = spawnSync('nats-server', ['--version']).status === 0
  return found ? null : 'NATS is not here: apt-get install --no-install-recommends nats-server'
}

/** A cluster, whose servers keep what they have over a kill. */
export class NatsCluster {
  /** Their URLs for clients. */
  readonly servers: readonly string[]
  readonly #folder: string
  readonly #children: (ChildProcess | null)[]

  private constructor(ports: readonly number[], routes: readonly number[], more: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'holdfast-nats-'))
    this.servers = ports.map((port) => `nats://127.0.0.1:${port}`)
    this.#children = ports.map(() => null)
    const others = routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')
    for (const [at, port] of ports.entries()) {
      const cluster = `cluster: { name: c, listen: "127.0.0.1:${routes[at]}", routes: [${others}] }`
      const lines = [
        ...['host: 127.0.0.1', `port: ${port}`, `server_name: n${at}`],
        `jetstream: { store_dir: "${join(this.#folder, String(at))}" }`,
        ...(ports.length > 1 ? [cluster] : []),
        more,
      ]
      writeFileSync(this.#fileOf(at), lines.join('\n'))
    }
  }

  /**
   * Starts so many servers.
   *
   * @param more  lines for each one's file
   */
  static async start(count: number, more = ''): Promise<NatsCluster> {
    const ports: number[] = []
    while (ports.length < 2 * count) {
      const port = await freePort()
      if (!ports.includes(port)) ports.push(port)
    }
    const cluster = new NatsCluster(ports.slice(0, count), ports.slice(count), more)
    for (let at = 0; at < count; at++) cluster.start(at)
    return cluster
  }

  #fileOf(at: number): string {
    return join(this.#folder, `${at}.conf`)
  }

  /** Asks the servers through a connection of its own. */
  async manage<Value>(ask: (manager: JetStreamManager) => Promise<Value>): Promise<Value> {
    const connection = await connect({ servers: this.servers.map((url) => new URL(url).host) })
    try {
      return await ask(await jetstreamManager(connection))
    } finally {
      await connection.close()
    }
  }

  /** The messages of a stream and their bytes. @param subject  counts those of such subjects */
  async state(stream: string, subject?: string): Promise<StreamState> {
    const filter = subject === undefined ? {} : { subjects_filter: subject }
    return (await this.manage(({ streams }) => streams.info(stream, filter))).state
  }

  /** Whether a stream has a leader, and all other servers have all of it. */
  async isWhole(stream: string): Promise<boolean> {
    try {
      const { cluster } = await this.manage(({ streams }) => streams.info(stream))
      const { leader, replicas = [] } = cluster ?? {}
      const others = replicas.filter(({ current, offline }) => current && !offline)
      return Boolean(leader) && others.length === this.servers.length - 1
    } catch {
      return false
    }
  }

  start(at: number): void {
    this.#children[at] = spawn('nats-server', ['-c', this.#fileOf(at)], { stdio: 'ignore' })
  }

  signal(at: number, signal: NodeJS.Signals): void {
    this.#children[at]?.kill(signal)
  }

  async kill(at: number): Promise<void> {
    const child = this.#children[at]
    this.#children[at] = null
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  async end(): Promise<void> {
    for (const at of this.#children.keys()) await this.kill(at)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
