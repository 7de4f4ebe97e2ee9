/**
 * The draft of a turn before it is durable: all that the turn would change, and who waits for it.
 */

import type { MailEvent, MailOut } from '../machine/mailbox.ts'
import type { MailChange } from '../../../holdfast/src/ports.ts'

/** An event of a turn, to be reported once the turn is durable. */
export type TurnEvent =
  | MailEvent
  | { kind: 'threw'; peer: string; n: number; why: string }
  | ({ kind: 'stopped' } & Stopped)
  | { kind: 'unseen'; peer: string }
  | { kind: 'expired' | 'dropped'; peer: string; n: number }
  | { kind: 'slow'; peer: string; n: number; ms: number }

/** The line of a peer stands: letters behind this one wait. */
export interface Stopped {
  /** Whose letters wait. */
  peer: string
  /** The number of the first, which failed. */
  n: number
  /** Why this letter is not handled, a sentence. */
  why: string
  /** How often it was tried. */
  tries: number
  /** Milliseconds until it is tried again; null for not before it has another handler. */
  ms: number | null
}

/** All that a turn would change; if the draft is dropped, nothing has changed. */
export interface Draft {
  readonly changes: MailChange[]
  readonly events: TurnEvent[]
  /** The sink of functions that change numbers. Messages are sent when the numbers are durable. */
  readonly out: MailOut
  /** Dead letters that the turn takes out, as `peer n`. */
  readonly buried: Set<string>
  readonly promises: { keep: () => void; break: (error: Error) => void }[]
  handled: number
}

/** An empty draft. */
export function begin(): Draft {
  const changes: MailChange[] = []
  const events: TurnEvent[] = []
  const out: MailOut = {
    record: (change) => changes.push(change),
    send: () => {},
    emit: (event) => events.push(event),
  }
  return { changes, events, out, buried: new Set(), promises: [], handled: 0 }
}

/** Takes a dead letter out. */
export function bury({ buried, changes }: Draft, peer: string, n: number): void {
  buried.add(`${peer} ${n}`)
  changes.push({ kind: 'buried', peer, n })
}

/** Peers whose numbers a turn changes. */
export function peersOf(changes: readonly MailChange[]): Set<string> {
  const peers = new Set<string>()
  for (const change of changes) if (change.kind !== 'set') peers.add(change.peer)
  return peers
}

/** Peers whose letters, or letters to whom, were processed in a turn. */
export function movedIn(changes: readonly MailChange[]): Set<string> {
  const peers = new Set<string>()
  for (const change of changes) {
    if (change.kind === 'acked' || change.kind === 'heard') peers.add(change.peer)
  }
  return peers
}
