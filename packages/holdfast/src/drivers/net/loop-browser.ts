/**
 * The loop of a browser page: time and randomness.
 *
 * A browser fires a hidden page's timers once a second, later once a minute, but does not slow a
 * worker's timers, and delivers its messages at once. So one worker waits for all alarms: the page
 * sends it the wait, and it answers when that has passed. Only a nearer alarm sends again. A page
 * that is visible does not need it yet, and its start would delay a join: it starts a second later,
 * or when the page is hidden.
 *
 * The worker's source is a string in a Blob, so a bundler has nothing to do. The page's own timers
 * work until the worker has answered once, and where the page may not start it (a Content-Security-
 * Policy without `worker-src blob:`).
 */

import { assert, type Millis } from '../../machine.ts'
import type { Alarm, Loop } from '../../ports.ts'

/** Most random bytes that a browser returns at once. */
const RANDOM_PIECE = 65_536
/** The longest wait of one timer, in milliseconds. */
const WAIT_MAX = 2 ** 30
/** The worker of a visible page starts after this. */
const WORKER_AFTER_MS: Millis = 1_000

/** A wait of zero or less takes no timer, because nested timers take at least 4 ms. */
const WORKER_SOURCE = `
let timer
const tick = () => postMessage('tick')
onmessage = ({ data }) => {
  clearTimeout(timer)
  if (data > 0) timer = setTimeout(tick, data)
  else tick()
}
postMessage('ready')
`

/** Browsers reveal the reason only on their console. */
const NOT_STARTED =
  "the worker did not start; does the page's Content-Security-Policy have worker-src blob: ?"

export interface TickWorker {
  onmessage: ((event: { data: unknown }) => void) | null
  onerror: ((event: { message?: string }) => void) | null
  postMessage(delay: number): void
  terminate(): void
}

function startBlobWorker(source: string): TickWorker {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }))
  try {
    return new Worker(url, { name: 'holdfast-ticks' }) as TickWorker
  } finally {
    // The worker has loaded its source; the URL would keep the Blob for the page's life.
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
  }
}

/** Calls `run` when a worker is needed: at once without a document, or in one that is hidden. */
function whenNeeded(run: () => void): void {
  if (typeof document === 'undefined' || document.hidden) return run()
  const page = document
  const done = (): void => {
    clearTimeout(timer)
    page.removeEventListener('visibilitychange', done)
    run()
  }
  const timer = setTimeout(done, WORKER_AFTER_MS)
  page.addEventListener('visibilitychange', done)
}

export class BrowserLoop implements Loop {
  readonly #alarms = new Set<PageAlarm>()
  /** The instant requested of the ticker; Infinity for none. */
  #asked: Millis = Infinity
  #worker: TickWorker | null = null
  #ready = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #trouble: string | null = null
  #closed = false

  /** @param start  starts the worker; a test may pass its own */
  constructor(start: (source: string) => TickWorker = startBlobWorker) {
    whenNeeded(() => this.#start(start))
  }

  #start(start: (source: string) => TickWorker): void {
    if (this.#closed) return
    try {
      this.#worker = start(WORKER_SOURCE)
      this.#worker.onmessage = ({ data }) => (data === 'ready' ? this.#begin() : this.#tick())
      this.#worker.onerror = (event) => this.#fallBack(event.message ?? NOT_STARTED)
    } catch (error) {
      this.#fallBack(String(error))
    }
  }

  now(): Millis {
    return performance.now()
  }

  random(count: number): Uint8Array {
    const bytes = new Uint8Array(count)
    for (let at = 0; at < count; at += RANDOM_PIECE) {
      crypto.getRandomValues(bytes.subarray(at, at + RANDOM_PIECE))
    }
    return bytes
  }

  soon(run: () => void): void {
    queueMicrotask(run)
  }

  alarm(run: () => void): Alarm {
    return new PageAlarm(this, run)
  }

  ticks(): 'worker' | 'timers' {
    return this.#ready ? 'worker' : 'timers'
  }

  /** Why there is no worker; null if there is one. */
  trouble(): string | null {
    return this.#trouble
  }

  close(): void {
    this.#closed = true
    this.#alarms.clear()
    this.#worker?.terminate()
    this.#worker = null
    clearTimeout(this.#timer)
  }

  /** Adds an alarm that was set; it may be the nearest. */
  wake(alarm: PageAlarm): void {
    if (this.#closed) return
    this.#alarms.add(alarm)
    if (alarm.at < this.#asked) this.#ask(alarm.at)
  }

  /** Removes an alarm. The tick that it requested may come, and finds nothing. */
  rest(alarm: PageAlarm): void {
    this.#alarms.delete(alarm)
  }

  #ask(at: Millis): void {
    const wait = Math.min(Math.max(Math.ceil(at - performance.now()), 0), WAIT_MAX)
    this.#asked = at
    if (this.#ready) {
      this.#worker?.postMessage(wait)
    } else {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#tick(), wait)
    }
  }

  #begin(): void {
    if (this.#closed || this.#trouble !== null) return
    this.#ready = true
    clearTimeout(this.#timer)
    if (this.#asked !== Infinity) this.#ask(this.#asked)
  }

  #fallBack(why: string): void {
    this.#trouble = why
    this.#ready = false
    this.#worker?.terminate()
    this.#worker = null
    if (!this.#closed && this.#asked !== Infinity) this.#ask(this.#asked)
  }

  #tick(): void {
    if (this.#closed) return
    this.#asked = Infinity
    const now = performance.now()
    const due = [...this.#alarms].filter((alarm) => alarm.at <= now)
    // Alarms set meanwhile wait for the next tick; otherwise a faulty one would starve the page.
    for (const alarm of due.sort((a, b) => a.at - b.at)) {
      if (alarm.at <= now && this.#alarms.delete(alarm)) this.#run(alarm)
    }
    let nearest = Infinity
    for (const alarm of this.#alarms) nearest = Math.min(nearest, alarm.at)
    if (nearest < this.#asked) this.#ask(nearest)
  }

  #run(alarm: PageAlarm): void {
    try {
      alarm.run()
    } catch (error) {
      // One alarm's bug must not silence the others; it is reported like any uncaught error.
      reportError(error)
    }
  }
}

class PageAlarm implements Alarm {
  at: Millis = Infinity
  readonly run: () => void
  readonly #loop: BrowserLoop

  constructor(loop: BrowserLoop, run: () => void) {
    this.#loop = loop
    this.run = run
  }

  set(at: Millis): void {
    assert(!Number.isNaN(at), 'an alarm needs an instant')
    this.at = at
    if (at === Infinity) this.#loop.rest(this)
    else this.#loop.wake(this)
  }

  cancel(): void {
    this.at = Infinity
    this.#loop.rest(this)
  }
}
