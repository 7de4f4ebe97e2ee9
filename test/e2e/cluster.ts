/** A hub for each test of a file, with the windows and bots of that test: all end with it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach } from 'vitest'
import { Hub, killed, Window } from './harness.ts'

/** See the head of this file. */
export class Cluster {
  windows: Window[] = []
  bots: ChildProcess[] = []
  #hub: Hub | null = null

  /**
   * Call it once, at the head of a file.
   *
   * @param demo  any member may kill the server
   * @param words options of the hub besides
   */
  static forEachTest(demo: boolean = false, words: readonly string[] = []): Cluster {
    const cluster = new Cluster()
    beforeEach(async () => {
      cluster.#hub = await Hub.start(demo, words)
    })
    afterEach(() => cluster.end())
    return cluster
  }

  /** A hub for as long as one wants it. */
  static async begin(): Promise<Cluster> {
    const cluster = new Cluster()
    cluster.#hub = await Hub.start()
    return cluster
  }

  get hub(): Hub {
    return this.#hub!
  }

  /** What the pages complained about. */
  get complaints(): string[] {
    return this.windows.flatMap((window) => window.complaints)
  }

  /** Opens a window. @param path  of the page, from the hub's root */
  async open(name: string, path = '/', more: string[] = []): Promise<Window> {
    const { url, demo } = this.hub
    const window = await Window.open(name, `${url}${path}`, more, demo)
    this.windows.push(window)
    return window
  }

  /** A bot as a process. @param index from 1 */
  addBot(game: string, index: number, room: string): ChildProcess {
    const script = fileURLToPath(new URL('../../build/games/bots.js', import.meta.url))
    const given = ['--index', String(index), '--room', room, '--server', this.hub.url]
    if (this.hub.demo) given.push('--demo')
    const bot = spawn(process.execPath, [script, game, ...given], { stdio: 'ignore' })
    this.bots.push(bot)
    return bot
  }

  /** All of it ends. */
  async end(): Promise<void> {
    await Promise.all(this.windows.map((window) => window.end()))
    await Promise.all(this.bots.map(killed))
    this.windows = []
    this.bots = []
    await this.#hub?.end()
    this.#hub = null
  }
}
