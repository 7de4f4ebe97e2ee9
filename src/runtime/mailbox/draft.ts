/** A turn of a mailbox before it is durable: all that it would change, and whom that concerns. */

import type { MailEvent, MailOut } from '../../mailbox/mailbox.ts'
import type { MailChange } from '../../ports.ts'

/** What a turn has to tell once it is durable. */
export type TurnEvent =
  | MailEvent
  | { kind: 'threw'; peer: string; n: number; why: string }
  | { kind: 'expired' | 'dropped'; peer: string; n: number }
  | { kind: 'slow'; peer: string; n: number; ms: number }

/** All that a turn would change; thrown away, it has changed nothing. */
export interface Draft {
  readonly changes: MailChange[]
  readonly events: TurnEvent[]
  /** The sink of verbs that change numbers. What leaves, leaves when they are durable. */
  readonly out: MailOut
  /** Dead letters that it takes out, as `peer n`. */
  readonly buried: Set<string>
  readonly promises: { keep: () => void; break: (error: Error) => void }[]
  handled: number
}

/** An empty one. */
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

/** Peers to or from whom letters are through with a turn. */
export function movedIn(changes: readonly MailChange[]): Set<string> {
  const peers = new Set<string>()
  for (const change of changes) {
    if (change.kind === 'acked' || change.kind === 'heard') peers.add(change.peer)
  }
  return peers
}
