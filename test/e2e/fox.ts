/** Tabs of Firefox, by WebDriver BiDi, which it speaks by itself. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import WebSocket from 'ws'
import { comesTo, killBrowser } from './tabs.ts'

const FIREFOX = process.env['FIREFOX'] ?? '/usr/bin/firefox-esr'

interface Answer {
  id: number | null
  type: 'success' | 'error' | 'event'
  result?: Record<string, never>
}

/** One browser whose tabs are opened and asked. */
export class Fox {
  readonly #child: ChildProcess
  readonly #socket: WebSocket
  readonly #folder: string
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #count = 0

  private constructor(child: ChildProcess, socket: WebSocket, folder: string) {
    this.#child = child
    this.#socket = socket
    this.#folder = folder
    socket.on('message', (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as Answer
      if (answer.id !== null) this.#waiting.get(answer.id)?.(answer)
    })
  }

  /** @throws Error that says how to get Firefox, where there is none */
  static async start(): Promise<Fox> {
    if (!existsSync(FIREFOX)) {
      throw new Error(`${FIREFOX} is missing: apt-get install firefox-esr, or set FIREFOX`)
    }
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-fox-'))
    const own = ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0']
    const child = spawn(FIREFOX, [...own, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own, so that all of its processes can be ended.
      detached: true,
    })
    const url = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const found = /ws:\/\/\S+(?=\s)/.exec(text)
        if (found) resolve(found[0])
      })
      child.once('exit', (code) => reject(new Error(`Firefox ended with ${code}: ${text}`)))
    })
    const socket = new WebSocket(`${url}/session`)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const fox = new Fox(child, socket, folder)
    await fox.#tell('session.new', { capabilities: {} })
    return fox
  }

  /** Opens a tab. @returns its name for the other verbs */
  async open(url: string): Promise<string> {
    const { context } = await this.#tell('browsingContext.create', { type: 'tab' })
    const tab = context as unknown as string
    await this.#tell('browsingContext.navigate', { context: tab, url, wait: 'none' })
    return tab
  }

  /** The value of an expression in a tab; undefined while a page is loaded. */
  async ask(tab: string, expression: string): Promise<unknown> {
    const answer = await this.#send('script.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression})))()`,
      target: { context: tab },
      awaitPromise: true,
    })
    const { value } = (answer.result?.['result'] ?? {}) as { value?: string }
    return value === undefined ? undefined : (JSON.parse(value) as unknown)
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

  async reload(tab: string): Promise<void> {
    await this.#tell('browsingContext.reload', { context: tab, wait: 'none' })
  }

  /** Closes a tab, as a user does. */
  async close(tab: string): Promise<void> {
    await this.#tell('browsingContext.close', { context: tab })
  }

  /** SIGKILL of all its processes. */
  async end(): Promise<void> {
    this.#socket.close()
    await killBrowser(this.#child, this.#folder)
  }

  /** @throws Error with what Firefox says */
  async #tell(method: string, params: object): Promise<Record<string, never>> {
    const answer = await this.#send(method, params)
    if (answer.type === 'error') throw new Error(`${method}: ${JSON.stringify(answer)}`)
    return answer.result!
  }

  #send(method: string, params: object): Promise<Answer> {
    const id = ++this.#count
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }
}
