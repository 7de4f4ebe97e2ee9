/**
 * Windows of one browser and their hub, in a network of their own in which a route leads out: there
 * they find addresses to share. Each window's stream to the hub is listened to.
 */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { bundlePage } from '../conformance/bundle.ts'
import { type Network, network } from '../conformance/network.ts'
import { ARGS, CHROMIUM, killed, said } from './harness.ts'

const PROGRAM = 'packages/holdfast/dist/cli/src/holdfast.js'
const URL = 'http://127.0.0.1:8700/'
/** The first byte of a message that the hub relays, and of a packet in it. */
const RELAY = 1
const PACKET = 0x10

export interface ApartWindow {
  page: Page
  /**
   * Packets and bytes that the hub relayed for it; challenges, which keep the relay as a spare, are
   * none.
   */
  relayed: { packets: number; bytes: number }
}

export class Apart {
  readonly #net: Network
  readonly #browser: Browser
  readonly #script: string
  readonly #folder: string
  #hub: ChildProcess | null = null

  private constructor(net: Network, browser: Browser, script: string) {
    this.#net = net
    this.#browser = browser
    this.#script = script
    this.#folder = mkdtempSync(join(tmpdir(), 'holdfast-apart-'))
  }

  /** @param script  what runs in each window, from the root of the repository */
  static async open(script: string): Promise<Apart> {
    const net = await network()
    const executablePath = net.program(CHROMIUM)
    const browser = await chromium.launch({ executablePath, headless: true, args: ARGS })
    const apart = new Apart(net, browser, await bundlePage(script))
    await apart.startHub()
    return apart
  }

  async startHub(): Promise<void> {
    const data = join(this.#folder, 'hub.db')
    const words = [PROGRAM, 'serve', '--port', '8700', '--data', data]
    this.#hub = this.#net.start(process.execPath, words)
    await said(this.#hub, 'Holdfast serves')
  }

  async killHub(): Promise<void> {
    await killed(this.#hub)
  }

  async window(): Promise<ApartWindow> {
    const page = await (await this.#browser.newContext({ bypassCSP: true })).newPage()
    const relayed = { packets: 0, bytes: 0 }
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => {
        // The number of the peer has one byte.
        if (typeof payload === 'string' || payload[0] !== RELAY) return
        if ((payload[2]! & 0xf0) !== PACKET) return
        relayed.packets += 1
        relayed.bytes += payload.length
      })
    })
    await page.goto(URL)
    await page.addScriptTag({ content: this.#script })
    return { page, relayed }
  }

  /** Windows reach one another no more, and the hub still. */
  async cut(): Promise<void> {
    await this.#nft('add table inet cut')
    await this.#nft('add chain inet cut in { type filter hook input priority 0; }')
    await this.#nft('add rule inet cut in meta l4proto udp drop')
  }

  async mend(): Promise<void> {
    await this.#nft('delete table inet cut')
  }

  async closeWindows(): Promise<void> {
    for (const context of this.#browser.contexts()) await context.close()
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.killHub()
    this.#net.close()
    rmSync(this.#folder, { recursive: true })
  }

  async #nft(rule: string): Promise<void> {
    const [code] = (await once(this.#net.start('nft', [rule]), 'exit')) as [number]
    if (code !== 0) throw new Error(`nft ${rule}: ${code}`)
  }
}
