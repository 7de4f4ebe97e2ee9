/** Processes that are killed, as the test that started them sees them. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** Something has gone wrong if nothing came for so long. */
const PATIENCE_MS = 120_000

/** One process: what it is told, and what it tells, a field each. */
export class Life<To extends object, From extends object> {
  readonly child: ChildProcess
  #isGone = false

  constructor(child: ChildProcess) {
    this.child = child
    child.setMaxListeners(0)
    child.once('exit', () => (this.#isGone = true))
  }

  send(message: To): void {
    // Who is dead hears nothing.
    this.child.send(message, () => {})
  }

  /** Its next message with that field. @throws Error if the process ends, or never says it */
  heard<Field extends keyof From>(
    field: Field,
    isMeant: (value: From[Field]) => boolean = () => true,
  ): Promise<From> {
    const { child } = this
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(patience)
        child.off('message', listen)
        child.off('exit', ended)
      }
      const fail = (why: string): void => {
        over()
        reject(new Error(why))
      }
      const ended = (): void => fail(`a process ended by itself before "${String(field)}"`)
      const patience = setTimeout(() => fail(`"${String(field)}" did not come`), PATIENCE_MS)
      const listen = (message: From): void => {
        if (!(field in message) || !isMeant(message[field])) return
        over()
        resolve(message)
      }
      child.on('message', listen)
      child.once('exit', ended)
    })
  }

  /** Kills it, and waits until it is gone and all that it had said is heard. */
  async kill(): Promise<void> {
    if (this.#isGone) return
    const { child } = this
    const gone = [once(child, 'exit'), ...(child.connected ? [once(child, 'disconnect')] : [])]
    child.kill('SIGKILL')
    await Promise.all(gone)
  }
}

/** Processes that were started ahead: each says `loaded` when it waits for what it shall do. */
export class Spares<One extends Life<object, { loaded: true }>> {
  readonly #make: (child: ChildProcess) => One
  readonly #script: string
  readonly #count: number
  readonly #ready: Promise<One>[] = []
  readonly #all = new Set<One>()
  #isOver = false

  constructor(script: string, count: number, make: (child: ChildProcess) => One) {
    this.#script = script
    this.#count = count
    this.#make = make
  }

  /** @throws Error once it has ended */
  take(): Promise<One> {
    if (this.#isOver) throw new Error('no process is started any more')
    while (this.#ready.length <= this.#count) {
      const one = this.#start()
      // It may never be waited for.
      one.catch(() => {})
      this.#ready.push(one)
    }
    return this.#ready.shift()!
  }

  async #start(): Promise<One> {
    const life = this.#make(fork(this.#script, [], { execArgv: [] }))
    this.#all.add(life)
    life.child.once('exit', () => this.#all.delete(life))
    await life.heard('loaded')
    return life
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.allSettled(this.#ready)
    await Promise.all([...this.#all].map((life) => life.kill()))
  }
}
