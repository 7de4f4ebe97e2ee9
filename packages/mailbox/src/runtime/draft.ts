/** The draft of a turn: its changes before they are durable, and the callers waiting for them. */

import { HoldfastError } from '../../../holdfast/src/machine.ts'
import type { DeadLetter, MailChange, MailStore } from '../../../holdfast/src/ports.ts'
import type { MailEvent, MailOut } from '../machine/mailbox.ts'
import type { TaskSchedule } from './task-schedule.ts'

/** An event of a turn, to be reported once the turn is durable. */
export type TurnEvent =
  | MailEvent
  | { kind: 'threw'; peer: string; n: number; why: string }
  | ({ kind: 'stopped' } & BlockedQueue)
  | { kind: 'unseen'; peer: string }
  | { kind: 'expired' | 'dropped'; peer: string; n: number }
  | { kind: 'slow'; peer: string; n: number; ms: number }

/** A letter that blocks its queue: its peer's later letters wait. */
export interface BlockedQueue {
  /** The peer whose letters wait. */
  peer: string
  /** The number of the failed letter, the first that waits. */
  n: number
  /** Why it is not handled, as a sentence. */
  why: string
  /** How often it was attempted. */
  tries: number
  /** Milliseconds until the next attempt; null if it waits for another handler. */
  ms: number | null
}

export function begin() {
  const changes: MailChange[] = []
  const events: TurnEvent[] = []
  /** Collects changes and events. Messages are sent only once the changes are durable. */
  const out: MailOut = {
    record: (change) => changes.push(change),
    send: () => {},
    emit: (event) => events.push(event),
  }
  return {
    changes,
    events,
    out,
    /** Dead letters that the turn removes, as `peer n`. */
    buried: new Set<string>(),
    promises: [] as { resolve: () => void; reject?: (error: Error) => void }[],
    handled: 0,
  }
}

/** All that a turn would change; dropping the draft changes nothing. */
export type Draft = ReturnType<typeof begin>

export function peersOf(changes: readonly MailChange[]): Set<string> {
  return new Set(changes.flatMap((change) => (change.kind === 'set' ? [] : change.peer)))
}

/** Peers with a letter, in either direction, that was processed in a turn. */
export function movedIn(changes: readonly MailChange[]): Set<string> {
  const isMove = ({ kind }: MailChange): boolean => kind === 'acked' || kind === 'heard'
  return peersOf(changes.filter(isMove))
}

export function removeDead({ buried, changes }: Draft, peer: string, n: number): void {
  buried.add(`${peer} ${n}`)
  changes.push({ kind: 'buried', peer, n })
}

/** Limits of dead letters. */
export interface DeadBounds {
  deadMax: number
  /** Null for no limit. */
  deadMs: number | null
}

/** Drops the oldest dead letters over the limit, so they cannot fill the disk. */
export function boundDead(
  draft: Draft,
  store: MailStore,
  { deadMax, deadMs }: DeadBounds,
  later: TaskSchedule,
  date: number | null,
): void {
  const { changes, buried } = draft
  const died = changes.filter((change) => change.kind === 'dead')
  if (died.length === 0) return
  if (deadMs !== null && date !== null) {
    for (const { peer, n } of died) later.add(date + deadMs, { kind: 'bury', peer, n })
  }
  const over = store.deadCount() + died.length - buried.size - deadMax
  if (over <= 0) return
  for (const { peer, n } of store.dead(0, over + buried.size).slice(0, over)) {
    dropDead(draft, store, peer, n)
  }
}

/** Drops a dead letter unless it was removed before. */
export function dropDead(draft: Draft, store: MailStore, peer: string, n: number): void {
  if (draft.buried.has(`${peer} ${n}`) || !store.deadOne(peer, n)) return
  removeDead(draft, peer, n)
  draft.events.push({ kind: 'dropped', peer, n })
}

/** Finds a dead letter not removed in this turn. @throws HoldfastError `not-found` */
export function findDead({ buried }: Draft, store: MailStore, peer: string, n: number): DeadLetter {
  const found = buried.has(`${peer} ${n}`) ? null : store.deadOne(peer, n)
  if (found) return found
  throw new HoldfastError('not-found', `letter ${n} of ${peer} is no dead letter`)
}
