/**
 * Whether the hub's store answers, as streams hear of it.
 *
 * While it does not, nobody founds a room, opens a stored one or takes over; members who play go
 * on. A store fails if a write fails or takes STILL_MS. One that several hubs share fails as well
 * if it acknowledges no heartbeat for STILL_MS.
 */

import { fromHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import { encode } from '../../../holdfast/src/wire/layout.ts'
import { frameMessage } from '../../../holdfast/src/wire/relay.ts'
import { isCutOff, STILL_MS } from './heartbeat.ts'
import { type Call, type Hub, send, type Turn } from './state.ts'

/** Notes whether writes fail or take too long. */
export function noteFailure(turn: Turn, fails: boolean): void {
  turn.hub.store.fails = fails
  sweep(turn)
}

/** Tells all streams when the store stops answering, and when it answers again. */
export function sweep({ hub, now, out }: Turn): void {
  const { store, heartbeat } = hub
  // A hub that leaves is about to close its streams.
  if (heartbeat?.isLeaving) return
  const answers = !store.fails && !isCutOff(hub, now)
  if (answers === store.answers) return
  store.answers = answers
  const news = frameMessage(encode(fromHub, { kind: 'store', answers }))
  for (const [connection, { greeted, isPassed }] of hub.connections) {
    // A passed stream hears of the store of the hub that it came to.
    if (greeted && !isPassed) out.send(connection, news)
  }
}

/** Tells a stream that said hello if the store does not answer. */
export function greet({ hub: { store }, connection, from, out }: Call): void {
  if (!store.answers && !from.isPassed) send(connection, { kind: 'store', answers: false }, out)
}

export function deadline({ store, heartbeat }: Hub): Millis {
  const isOver = !heartbeat || heartbeat.isLeaving || !store.answers
  return isOver ? Infinity : heartbeat.ackedAt + STILL_MS
}
