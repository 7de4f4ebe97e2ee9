/**
 * Rooms that the operator has closed, in the store: they stay closed over restarts, and at all hubs
 * of a shared store.
 */

import { REASON_MAX } from '../../../holdfast/src/hub-protocol/messages.ts'
import { HoldfastError, type Millis, NAME_MAX } from '../../../holdfast/src/machine.ts'
import type { Store, StoredRecord } from '../../../holdfast/src/ports.ts'
import {
  decode,
  encode,
  record,
  text,
  type ValueOf,
  varint,
  word,
} from '../../../holdfast/src/wire/layout.ts'
import { type Place, placeOf } from '../machine/register.ts'

/** Keys of these records begin with this, and those of places with a digit. */
const PREFIX = 'closed '
/** How long after its end the news of a closed room may come. */
export const LATE_MS: Millis = 5_000

const layout = record({
  form: word(['closed']),
  game: text(NAME_MAX),
  room: text(NAME_MAX),
  why: text(REASON_MAX),
  /** By the wall clock. */
  until: varint,
})

export type ClosedRoom = Omit<ValueOf<typeof layout>, 'form'>

/** Whether a record with that key is one of these. */
export function isClosedKey(key: string): boolean {
  return key.startsWith(PREFIX)
}

/** Null for a record that no hub wrote. */
export function readClosed({ value }: StoredRecord): ClosedRoom | null {
  return decode(layout, value)
}

/**
 * Persists that a room is closed: the last hub that closes it decides for how long.
 *
 * @param failed  called if the store does not take the record
 */
export function writeClosed(
  store: Store,
  closed: ClosedRoom,
  failed: (error: HoldfastError) => void,
): void {
  const key = PREFIX + placeOf(closed)
  store.get(key, (found) => {
    if (found instanceof HoldfastError) return failed(found)
    const value = encode(layout, { form: 'closed', ...closed })
    store.cas({ key, rev: found?.rev ?? 0, value, blobs: [] }, (outcome) => {
      if (outcome instanceof HoldfastError) failed(outcome)
      else if (typeof outcome === 'string') writeClosed(store, closed, failed)
    })
  })
}

/** Removes the record of a room that is open again. */
export function removeClosed(store: Store, place: Place, { rev }: StoredRecord): void {
  store.cas({ key: PREFIX + placeOf(place), rev, value: null, blobs: [] }, () => {})
}
