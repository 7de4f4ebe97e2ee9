/**
 * Tabs that really hide. Playwright tells every page that it is looked at, so this speaks the
 * browser's own debugging protocol, a few words of it.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Rolldown } from 'vite'
import WebSocket from 'ws'
import { ARGS, CHROMIUM, keepShot, PATIENCE_MS } from './harness.ts'

/** How often a page is asked whether it has come to what is waited for, in milliseconds. */
const POLL_MS = 50

interface Answer {
  id?: number
  result?: Record<string, never>
}

/** One browser whose tabs are opened, looked at and asked. */
export class Tabs {
  readonly #child: ChildProcess
  readonly #socket: WebSocket
  readonly #folder: string
  readonly #waiting = new Map<number, (result: Record<string, never>) => void>()
  readonly #sessions = new Map<string, string>()
  #count = 0

  private constructor(child: ChildProcess, socket: WebSocket, folder: string) {
    this.#child = child
    this.#socket = socket
    this.#folder = folder
    socket.on('message', (data: Buffer) => {
      const { id, result } = JSON.parse(data.toString()) as Answer
      if (id !== undefined) this.#waiting.get(id)?.(result ?? {})
    })
  }

  static async start(): Promise<Tabs> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-tabs-'))
    const own = [
      '--headless=new',
      '--window-size=1200,800',
      '--remote-debugging-port=0',
      `--user-data-dir=${folder}`,
    ]
    const child = spawn(CHROMIUM, [...ARGS, ...own, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own, so that all of its processes can be ended.
      detached: true,
    })
    const url = await new Promise<string>((resolve) => {
      let text = ''
      child.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const found = /ws:\/\/\S+(?=\s)/.exec(text)
        if (found) resolve(found[0])
      })
    })
    const socket = new WebSocket(url)
    await new Promise((resolve) => socket.once('open', resolve))
    return new Tabs(child, socket, folder)
  }

  /** Opens a tab in front. @returns its name for the other verbs */
  async open(url: string): Promise<string> {
    const { targetId } = await this.#send('Target.createTarget', { url })
    return targetId as unknown as string
  }

  /** Brings a tab to the front; the others are hidden. */
  async show(tab: string): Promise<void> {
    await this.#send('Target.activateTarget', { targetId: tab })
  }

  /** The value of an expression in a tab. */
  async ask(tab: string, expression: string): Promise<unknown> {
    const asked = { expression, returnByValue: true, awaitPromise: true }
    const answer = await this.#tell(tab, 'Runtime.evaluate', asked)
    return (answer['result'] as { value?: unknown } | undefined)?.value
  }

  /** What the page says of itself, as `data-…` of its body; nothing while it is loaded. */
  async data(tab: string): Promise<Record<string, string>> {
    const said = await this.ask(tab, '({ ...document.body?.dataset })')
    return (said ?? {}) as Record<string, string>
  }

  /** Waits until what the page says fits. */
  until(tab: string, what: Record<string, string | RegExp>): Promise<void> {
    return comesTo(() => this.data(tab), what)
  }

  /** Waits until a button or link with such a text is there, and presses it. */
  async press(tab: string, text: string): Promise<void> {
    const find = `[...document.querySelectorAll('button, a')].find((each) =>
      each.textContent.includes(${JSON.stringify(text)}) && !each.disabled)`
    await this.sees(tab, `!!${find}`)
    await this.ask(tab, `${find}.click()`)
  }

  /** Waits until an expression is true in the tab. */
  async sees(tab: string, expression: string): Promise<void> {
    const isSeen = async (): Promise<boolean> => (await this.ask(tab, expression)) === true
    await comesTrue(isSeen, async () => {
      const text = await this.ask(tab, 'document.body.innerText')
      return `no tab came to ${expression}; it shows ${shown(text)}`
    })
  }

  async reload(tab: string): Promise<void> {
    await this.#tell(tab, 'Page.reload', {})
  }

  /** Freezes a tab, as a browser does with one that nobody looks at. @returns when it is over */
  async freeze(tab: string, ms: number): Promise<void> {
    await this.lifecycle(tab, 'frozen')
    await new Promise((resolve) => setTimeout(resolve, ms))
    await this.lifecycle(tab, 'active')
  }

  async lifecycle(tab: string, state: 'frozen' | 'active'): Promise<void> {
    await this.#tell(tab, 'Page.setWebLifecycleState', { state })
  }

  /** Goes to another page, as by a link. */
  async go(tab: string, url: string): Promise<void> {
    await this.#tell(tab, 'Page.navigate', { url })
  }

  /** The browser's button: back by -1, forward by 1. */
  async turn(tab: string, by: -1 | 1): Promise<void> {
    const { currentIndex, entries } = await this.#tell(tab, 'Page.getNavigationHistory', {})
    const { id } = (entries as unknown as { id: number }[])[Number(currentIndex) + by]!
    await this.#tell(tab, 'Page.navigateToHistoryEntry', { entryId: id })
  }

  /** Another tab of the same page, with a copy of its `sessionStorage`. @returns its name */
  async duplicate(tab: string): Promise<string> {
    const before = await this.#targets()
    const expression = 'void window.open(location.href)'
    await this.#tell(tab, 'Runtime.evaluate', { expression, userGesture: true })
    let after: string[] = []
    const isThere = async (): Promise<boolean> => {
      after = await this.#targets()
      return after.length > before.length
    }
    await comesTrue(isThere, () => 'no tab came of window.open')
    return after.find((each) => !before.includes(each))!
  }

  async #targets(): Promise<string[]> {
    const { targetInfos } = await this.#send('Target.getTargets', {})
    const all = targetInfos as unknown as { targetId: string; type: string }[]
    return all.filter(({ type }) => type === 'page').map(({ targetId }) => targetId)
  }

  /** A picture of a tab, which is brought to the front for it. */
  async shot(tab: string, name: string): Promise<void> {
    await this.show(tab)
    await this.ask(tab, 'new Promise((done) => requestAnimationFrame(() => done()))')
    const { data } = await this.#tell(tab, 'Page.captureScreenshot', {})
    keepShot(name, Buffer.from(data as unknown as string, 'base64'))
  }

  /** Closes a tab, as a user does. */
  async close(tab: string): Promise<void> {
    await this.#send('Target.closeTarget', { targetId: tab })
  }

  async end(): Promise<void> {
    this.#socket.close()
    await killBrowser(this.#child, this.#folder)
  }

  async #tell(tab: string, method: string, params: object): Promise<Record<string, never>> {
    let session = this.#sessions.get(tab)
    if (session === undefined) {
      const { sessionId } = await this.#send('Target.attachToTarget', {
        targetId: tab,
        flatten: true,
      })
      session = sessionId as unknown as string
      this.#sessions.set(tab, session)
    }
    return this.#send(method, params, session)
  }

  #send(method: string, params: object, sessionId?: string): Promise<Record<string, never>> {
    const id = ++this.#count
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }))
    })
  }
}

/** SIGKILL of all processes of a browser; its profile goes with it. */
export async function killBrowser(browser: ChildProcess, folder: string): Promise<void> {
  const gone = new Promise((resolve) => browser.once('exit', resolve))
  process.kill(-browser.pid!, 'SIGKILL')
  await gone
  browser.stderr!.destroy()
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
}

/** Waits until what a page says of itself fits. */
export async function comesTo(
  data: () => Promise<Record<string, string>>,
  what: Record<string, string | RegExp>,
): Promise<void> {
  let said: Record<string, string> = {}
  const fits = async (): Promise<boolean> => {
    said = await data()
    return Object.entries(what).every(([name, value]) => {
      const text = said[name] ?? ''
      return typeof value === 'string' ? text === value : value.test(text)
    })
  }
  await comesTrue(fits, () => `no tab came to ${shown(what)}; it says ${shown(said)}`)
}

/** Waits until something is so. @param missing what is said of a wait in vain */
export async function comesTrue(
  isSo: () => Promise<boolean>,
  missing: () => string | Promise<string>,
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(await missing())
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function shown(what: unknown): string {
  return JSON.stringify(what, (_, value: unknown) => (value instanceof RegExp ? `${value}` : value))
}

const HTML = '<!doctype html><body><div id="page"></div><script src="page.js"></script></body>'

/** A page of the tests' own, built as an application builds its pages, in a folder for a hub. */
export interface OwnPages {
  folder: string
  end(): void
}

/** Builds a page from one file beside this one, as in development: React checks more there. */
export async function ownPages(
  file: string,
  alias: Record<string, string> = {},
): Promise<OwnPages> {
  const entry = fileURLToPath(new URL(file, import.meta.url))
  const { build } = await import('vite')
  const made = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias },
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { write: false, minify: false, lib: { entry, formats: ['iife'], name: 'page' } },
  })
  const [{ output }] = [made].flat() as [Rolldown.RolldownOutput]
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'))
  writeFileSync(join(folder, 'page.js'), output[0].code)
  writeFileSync(join(folder, 'index.html'), HTML)
  return { folder, end: () => rmSync(folder, { recursive: true, force: true }) }
}
