/**
 * Tabs that really hide. Playwright tells every page that it is looked at, so this speaks the
 * browser's own debugging protocol, a few words of it.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import WebSocket from 'ws'
import { ARGS, CHROMIUM } from './harness.ts'

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
    const own = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${folder}`]
    const child = spawn(CHROMIUM, [...ARGS, ...own, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own, so that all of its processes can be ended.
      detached: true,
    })
    const url = await new Promise<string>((resolve) => {
      let text = ''
      child.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const found = /ws:\/\/\S+/.exec(text)
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
    const attach = { targetId: tab, flatten: true }
    const { sessionId } = await this.#send('Target.attachToTarget', attach)
    const asked = { expression, returnByValue: true, awaitPromise: true }
    const answer = await this.#send('Runtime.evaluate', asked, sessionId as unknown as string)
    await this.#send('Target.detachFromTarget', { sessionId })
    return (answer['result'] as { value?: unknown } | undefined)?.value
  }

  async end(): Promise<void> {
    this.#socket.close()
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    process.kill(-this.#child.pid!, 'SIGKILL')
    await gone
    this.#child.stderr!.destroy()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20 })
  }

  #send(method: string, params: object, sessionId?: string): Promise<Record<string, never>> {
    const id = ++this.#count
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }))
    })
  }
}
