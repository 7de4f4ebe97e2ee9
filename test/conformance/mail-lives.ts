/** A process with a mailbox, as the test that started it sees it. */

import type { ChildProcess } from 'node:child_process'
import { Life } from './lives.ts'
import type { FromLife, ToLife } from './mail-life-messages.ts'

/** One process. */
export class MailLife extends Life<ToLife, FromLife> {
  /** Whether it was asked to join the session. */
  joins = false
  /** The number of the last payment to each that it said was durable. */
  readonly paid: Record<string, number> = {}
  /** Whether the session has a backup, as it last said. */
  safe = false

  constructor(child: ChildProcess) {
    super(child)
    child.on('message', ({ paid, safe }: FromLife) => {
      if (paid) this.paid[paid[0]] = paid[1]
      if (safe !== undefined) this.safe = safe
    })
  }

  /** Joins the session, if it has not. */
  enter(): void {
    if (!this.joins) this.send({ join: true })
    this.joins = true
  }
}
