/** A process with a mailbox, as the test that started it sees it. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { FromLife, ToLife } from './mail-life-messages.ts'

/** Something has gone wrong if nothing came for so long. */
const PATIENCE_MS = 120_000

/** One process. */
export class Life {
  readonly child: ChildProcess
  /** Whether it was asked to join the session. */
  joins = false
  /** The number of the last payment to each that it said was durable. */
  readonly paid: Record<string, number> = {}
  /** Whether the session has a backup, as it last said. */
  safe = false
  #isGone = false

  constructor(child: ChildProcess) {
    this.child = child
    child.setMaxListeners(0)
    child.once('exit', () => (this.#isGone = true))
    child.on('message', ({ paid, safe }: FromLife) => {
      if (paid) this.paid[paid[0]] = paid[1]
      if (safe !== undefined) this.safe = safe
    })
  }

  send(message: ToLife): void {
    // Who is dead hears nothing.
    this.child.send(message, () => {})
  }

  /** Joins the session, if it has not. */
  enter(): void {
    if (!this.joins) this.send({ join: true })
    this.joins = true
  }

  /** Its next message with that field. @throws Error if the process ends, or never says it */
  heard<Field extends keyof FromLife>(
    field: Field,
    isMeant: (value: FromLife[Field]) => boolean = () => true,
  ): Promise<FromLife> {
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
      const ended = (): void => fail(`a process ended by itself before "${field}"`)
      const patience = setTimeout(() => fail(`"${field}" did not come`), PATIENCE_MS)
      const listen = (message: FromLife): void => {
        if (!(field in message) || !isMeant(message[field])) return
        over()
        resolve(message)
      }
      child.on('message', listen)
      child.once('exit', ended)
    })
  }

  async kill(): Promise<void> {
    if (this.#isGone) return
    const gone = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await gone
  }
}
