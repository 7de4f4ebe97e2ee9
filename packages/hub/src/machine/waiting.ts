/** Requests that wait for a write of a place; of each kind only the newest of a stream. */

import type { ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import { type Place, placeOf } from './register.ts'
import type { Call, Hub } from './state.ts'

/** Defers a request until the write is over. */
export function wait({ hub, connection }: Call, place: Place, message: ToHub): void {
  const key = placeOf(place)
  const others = (hub.waiting.get(key) ?? []).filter((other) => {
    return other.connection !== connection || other.message.kind !== message.kind
  })
  hub.waiting.set(key, [...others, { connection, message }])
}

/** Defers a request that was made before those that wait: a newer one of its kind replaces it. */
export function waitAgain(
  hub: Hub,
  place: string,
  { connection, message }: { connection: number; message: ToHub },
): void {
  const waiting = hub.waiting.get(place) ?? []
  const isNewer = waiting.some((other) => {
    return other.connection === connection && other.message.kind === message.kind
  })
  if (!isNewer) hub.waiting.set(place, [{ connection, message }, ...waiting])
}
