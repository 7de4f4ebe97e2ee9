/** Windows of WebKitGTK, by WebDriver, on a display that nobody sees. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { freePort } from '../conformance/free-port.ts'
import { comesTo, comesTrue } from './tabs.ts'

const DRIVER = process.env['WEBKIT_DRIVER'] ?? '/usr/bin/WebKitWebDriver'
const XVFB = '/usr/bin/Xvfb'

/** One browser whose windows are opened and asked. */
export class WebKit {
  readonly #driver: ChildProcess
  readonly #screen: ChildProcess
  readonly #url: string
  #session = ''
  /** The window that every session begins with, until it is opened. */
  #first: string | null = null
  /** The driver looks at one window at a time: a verb begins where the one before has ended. */
  #last: Promise<unknown> = Promise.resolve()

  private constructor(driver: ChildProcess, screen: ChildProcess, url: string) {
    this.#driver = driver
    this.#screen = screen
    this.#url = url
  }

  /** @throws Error that says how to get WebKit, where there is none */
  static async start(): Promise<WebKit> {
    for (const [program, name] of [
      [DRIVER, 'webkit2gtk-driver, or set WEBKIT_DRIVER'],
      [XVFB, 'xvfb'],
    ] as const) {
      if (!existsSync(program)) throw new Error(`${program} is missing: apt-get install ${name}`)
    }
    const [screen, display] = await startScreen()
    const port = await freePort()
    const driver = spawn(DRIVER, [`--port=${port}`], {
      env: { ...process.env, DISPLAY: display, GDK_BACKEND: 'x11' },
      stdio: 'ignore',
      // A group of its own, so that all of its processes can be ended.
      detached: true,
    })
    const kit = new WebKit(driver, screen, `http://127.0.0.1:${port}`)
    const listens = (): Promise<boolean> =>
      fetch(`${kit.#url}/status`).then(
        ({ ok }) => ok,
        () => false,
      )
    await comesTrue(listens, () => `${DRIVER} does not listen at ${port}`)
    const asked = { capabilities: { alwaysMatch: { pageLoadStrategy: 'none' } } }
    const { sessionId } = (await kit.#send('POST', '/session', asked)) as { sessionId: string }
    kit.#session = `/session/${sessionId}`
    kit.#first = (await kit.#tell('GET', '/window')) as string
    return kit
  }

  /** Opens a window. @returns its name for the other verbs */
  async open(url: string): Promise<string> {
    const tab = this.#first ?? (await this.#opened())
    this.#first = null
    await this.#in(tab, 'POST', '/url', { url })
    return tab
  }

  async #opened(): Promise<string> {
    const made = this.#next(() => this.#tell('POST', '/window/new', { type: 'window' }))
    return ((await made) as { handle: string }).handle
  }

  /** The value of an expression in a window; undefined while a page is loaded. */
  async ask(tab: string, expression: string): Promise<unknown> {
    const script = `const [done] = arguments;
      (async () => ({ value: await (${expression}) }))().then(done, () => done({}))`
    try {
      const said = await this.#in(tab, 'POST', '/execute/async', { script, args: [] })
      return (said as { value?: unknown }).value
    } catch (error) {
      // The page left while it was asked.
      if ((error as Error).cause === 'no such frame') return undefined
      throw error
    }
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
    await this.#in(tab, 'POST', '/refresh')
  }

  /** Closes a window, as a user does. */
  async close(tab: string): Promise<void> {
    await this.#in(tab, 'DELETE', '/window')
  }

  /** SIGKILL of all its processes; the screen may tidy up. */
  async end(): Promise<void> {
    await ended(this.#driver, 'SIGKILL')
    await ended(this.#screen, 'SIGTERM')
  }

  /** A verb in one window. */
  #in(tab: string, method: string, path: string, body: object = {}): Promise<unknown> {
    return this.#next(async () => {
      await this.#tell('POST', '/window', { handle: tab })
      return this.#tell(method, path, body)
    })
  }

  #next(verb: () => Promise<unknown>): Promise<unknown> {
    const done = this.#last.then(verb)
    this.#last = done.catch(() => {})
    return done
  }

  #tell(method: string, path: string, body?: object): Promise<unknown> {
    return this.#send(method, this.#session + path, body)
  }

  /** @throws Error with what the driver says; its cause is the name of the error */
  async #send(method: string, path: string, body?: object): Promise<unknown> {
    const sent = method === 'POST' ? { body: JSON.stringify(body) } : {}
    const answer = await fetch(this.#url + path, { method, ...sent })
    const { value } = (await answer.json()) as { value: unknown }
    if (answer.ok) return value
    const { error } = value as { error: string }
    throw new Error(`${method} ${path}: ${JSON.stringify(value)}`, { cause: error })
  }
}

/** @returns the process, and the name of its display */
async function startScreen(): Promise<[ChildProcess, string]> {
  const args = ['-displayfd', '3', '-screen', '0', '1200x800x24', '-nolisten', 'tcp']
  const screen = spawn(XVFB, args, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const number = await new Promise<string>((resolve, reject) => {
    let text = ''
    screen.stdio[3]!.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.endsWith('\n')) resolve(text.trim())
    })
    screen.once('exit', (code) => reject(new Error(`${XVFB} ended with ${code}`)))
  })
  return [screen, `:${number}`]
}

async function ended(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-child.pid!, signal)
  await gone
}
