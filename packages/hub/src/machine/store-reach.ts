/**
 * Whether the hub's store answers, as streams hear of it.
 *
 * While it does not, nobody founds a room, joins or takes over; members who play go on. A file
 * fails if a write does. A store that several hubs share may be out of reach and say nothing: it
 * fails if it has acknowledged no heartbeat for STILL_MS, which members hear in that time, or if a
 * write takes as long.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import { isCutOff, STILL_MS } from './heartbeat.ts'
import { type Call, type Hub, send, type Turn } from './state.ts'

/** The store refuses writes or takes too long, or does no longer. */
export function noteFailure(turn: Turn, fails: boolean): void {
  turn.hub.store.fails = fails
  sweep(turn)
}

/** Tells all streams if the store has stopped answering, or does again. */
export function sweep({ hub, now, out }: Turn): void {
  const { store, heartbeat } = hub
  // Its streams are about to be closed.
  if (heartbeat?.isLeaving) return
  const answers = !store.fails && !isCutOff(hub, now)
  if (answers === store.answers) return
  store.answers = answers
  for (const [connection, { greeted, isPassed }] of hub.connections) {
    // The hub of a stream that is passed on here speaks for itself.
    if (greeted && !isPassed) send(connection, { kind: 'store', answers }, out)
  }
}

/** A stream said hello. */
export function greet({ hub: { store }, connection, from, out }: Call): void {
  if (!store.answers && !from.isPassed) send(connection, { kind: 'store', answers: false }, out)
}

export function deadline({ store, heartbeat }: Hub): Millis {
  const isOver = !heartbeat || heartbeat.isLeaving || !store.answers
  return isOver ? Infinity : heartbeat.ackedAt + STILL_MS
}
