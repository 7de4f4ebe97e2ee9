/** What the turns of a mailbox run on. */

import type { MailMessage } from '../machine/messages.ts'
import type { Listed } from '../machine/mailbox.ts'
import type { Curves, Loop, MailStore, Watchdog } from '../../../holdfast/src/ports.ts'
import type { TurnEvent } from './draft.ts'
import type { Handlers } from './handlers.ts'

/** What turns run on, and whom they tell. */
export interface TurnsHost {
  loop: Loop
  store: MailStore
  /** Letters that are kept set aside, and for how long. */
  deadMax: number
  deadMs: number | null
  /** The wall clock; null for replicas, which say nothing of time. */
  date: (() => number) | null
  watchdog: Watchdog | null
  handlers: Handlers
  curves: Curves
  /** The only ids that may come, with their keys. */
  listed: Listed | null
  /** Whether that peer is dialled, or connected. */
  expects(peer: string): boolean
  send(peer: string, message: MailMessage): void
  told(event: TurnEvent): void
  /** Something became durable. */
  changed(): void
  /** Letters to or from a peer are through. */
  moved(peer: string): void
  /** What a peer sent is no message. */
  malformed(peer: string): void
  /** The store refused: connections are to be dropped. */
  refused(error: Error): void
}
