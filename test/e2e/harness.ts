/**
 * A hub, windows and Node members as real processes, each of which can be killed.
 *
 * A window is a browser process of its own, so that killing it is what closing a laptop's lid
 * or a crash is: no goodbye, no last word.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserServer, chromium, type Page } from 'playwright-core'
import { freePort } from '../conformance/free-port.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SHOTS = join(ROOT, 'test/e2e/shots')
export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
export const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A wait in vain ends so many milliseconds on, before its test does, to say what was seen last. */
export const PATIENCE_MS = 90_000

const PROGRAM = join(ROOT, 'packages/holdfast/dist/cli/src/holdfast.js')

/** `holdfast serve` in a process of its own, always at the same port and file. */
export class Hub {
  readonly port: number
  readonly url: string
  readonly folder: string
  /** Whether any member may kill the server. */
  readonly demo: boolean
  /** Options besides. */
  readonly words: readonly string[]
  #program = PROGRAM
  #child: ChildProcess | null = null

  private constructor(port: number, folder: string, demo: boolean, words: readonly string[] = []) {
    this.demo = demo
    this.words = words
    this.port = port
    this.url = `http://127.0.0.1:${port}`
    this.folder = folder
  }

  static async start(demo: boolean = false, words: readonly string[] = []): Promise<Hub> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-e2e-'))
    const hub = new Hub(await freePort(), folder, demo, words)
    await hub.start()
    return hub
  }

  /** One that stands alone: what was built, with the games, and no checkout around it. */
  static async installed(): Promise<Hub> {
    const hub = new Hub(await freePort(), mkdtempSync(join(tmpdir(), 'holdfast-e2e-')), false)
    const modules = join(hub.folder, 'node_modules')
    const own = join(modules, 'holdfast')
    cpSync(join(ROOT, 'packages/holdfast/dist'), join(own, 'dist'), { recursive: true })
    copyFileSync(join(ROOT, 'packages/holdfast/package.json'), join(own, 'package.json'))
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (name !== 'holdfast') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    }
    hub.#program = join(own, 'dist/cli/src/holdfast.js')
    await hub.start()
    return hub
  }

  async start(): Promise<void> {
    const data = join(this.folder, 'hub.db')
    const args = [this.#program, 'serve', '--port', String(this.port), '--data', data]
    if (this.demo && knowsDemo()) args.push('--demo')
    args.push(...this.words)
    this.#child = spawn(process.execPath, args, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await said(this.#child, 'Holdfast serves')
  }

  /** Sends it a signal, such as SIGSTOP. */
  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** SIGKILL: nothing is written or said any more. */
  async kill(): Promise<void> {
    await killed(this.#child)
    this.#child = null
  }

  /** SIGTERM: it ends when it has done what it must. */
  async close(): Promise<void> {
    await ended(this.#child, 'SIGTERM')
    this.#child = null
  }

  async end(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

let demos: boolean | null = null

/** Whether the command has the option; before, a window is told in the place of the hub. */
export function knowsDemo(): boolean {
  demos ??= spawnSync(process.execPath, [PROGRAM, 'serve', '--help']).stdout.includes('--demo')
  return demos
}

/** Tells a window that its hub is a demonstration. */
export async function sayDemo(page: Page): Promise<void> {
  await page.route('**/api/hub', (route) => route.fulfill({ json: { demo: true } }))
}

interface Told {
  told: number[][]
  holdfastKeyLog: (key: Uint8Array) => void
}

/** One window with one page. */
export class Window {
  readonly name: string
  readonly page: Page
  readonly #server: BrowserServer
  readonly #browser: Browser
  /** What the page complained about. */
  readonly complaints: string[] = []
  /** All that it sent over its sockets, and when, in milliseconds. */
  readonly sent: { at: number; bytes: Uint8Array }[] = []

  private constructor(name: string, server: BrowserServer, browser: Browser, page: Page) {
    this.name = name
    this.#server = server
    this.#browser = browser
    this.page = page
    page.on('pageerror', (error) => this.complaints.push(error.message))
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => {
        const bytes = new Uint8Array(Buffer.from(payload))
        this.sent.push({ at: performance.now(), bytes })
      })
    })
  }

  static async open(
    name: string,
    url: string,
    more: string[] = [],
    demo: boolean = false,
  ): Promise<Window> {
    const server = await chromium.launchServer({
      executablePath: CHROMIUM,
      headless: true,
      args: [...ARGS, ...more],
    })
    const browser = await chromium.connect(server.wsEndpoint())
    const context = await browser.newContext({ viewport: { width: 900, height: 620 } })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const opened = new Window(name, server, browser, page)
    if (demo && !knowsDemo()) await sayDemo(page)
    await page.addInitScript(() => {
      const own = globalThis as unknown as Told
      own.told = []
      own.holdfastKeyLog = (key) => void own.told.push([...key])
    })
    await page.goto(url)
    return opened
  }

  /** The keys under which the page sealed what it sent. */
  async keys(): Promise<Buffer[]> {
    const told = await this.page.evaluate(() => (globalThis as unknown as Told).told)
    return told.map((key) => Buffer.from(key))
  }

  /** What the page says of itself, as `data-…` of its body. */
  async data(): Promise<Record<string, string>> {
    return this.page.evaluate(
      () => Object.fromEntries(Object.entries(document.body.dataset)) as Record<string, string>,
    )
  }

  /** Waits until what the page says fits. */
  async until(what: Record<string, string | RegExp>, maxMs = PATIENCE_MS): Promise<void> {
    const wanted = Object.entries(what).map(([name, value]) =>
      typeof value === 'string' ? { name, text: value } : { name, pattern: value.source },
    )
    try {
      await this.page.waitForFunction(
        (each: { name: string; text?: string; pattern?: string }[]) =>
          each.every(({ name, text, pattern }) => {
            const said = document.body.dataset[name] ?? ''
            return pattern === undefined ? said === text : new RegExp(pattern).test(said)
          }),
        wanted,
        { timeout: maxMs, polling: 20 },
      )
    } catch {
      const said = JSON.stringify(await this.data())
      throw new Error(`${this.name} did not come to ${JSON.stringify(wanted)}; it says ${said}`)
    }
  }

  /** SIGSTOP of the processes that run its pages, for as long as that takes. */
  async stalled(meanwhile: () => Promise<unknown>): Promise<void> {
    const protocol = await this.#browser.newBrowserCDPSession()
    const { processInfo } = await protocol.send('SystemInfo.getProcessInfo')
    const pages = processInfo.filter(({ type }) => type === 'renderer')
    for (const { id } of pages) process.kill(id, 'SIGSTOP')
    try {
      await meanwhile()
    } finally {
      for (const { id } of pages) process.kill(id, 'SIGCONT')
    }
  }

  async shot(name: string): Promise<void> {
    keepShot(name, await this.page.screenshot())
  }

  /** SIGKILL of the whole browser: no goodbye. */
  async kill(): Promise<void> {
    await this.#server.kill()
  }

  async end(): Promise<void> {
    await this.#browser.close().catch(() => {})
    await this.#server.close().catch(() => {})
  }
}

/** Keeps a picture, to be looked at. */
export function keepShot(name: string, picture: Uint8Array): void {
  mkdirSync(SHOTS, { recursive: true })
  writeFileSync(join(SHOTS, `${name}.png`), picture)
}

/** A child's first line with such a text. */
export function said(child: ChildProcess, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let all = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      all += chunk.toString()
      const line = all.split('\n').find((each) => each.includes(text))
      if (line) resolve(line)
    })
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${all}`)))
  })
}

/** Kills a child of ours and waits until it is gone. */
export function killed(child: ChildProcess | null): Promise<void> {
  return ended(child, 'SIGKILL')
}

export async function ended(child: ChildProcess | null, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}
