/**
 * The streams of one address in one room: a room has places for its players, and one address takes
 * no more than a share of them (SE-13). A stream is in the room that it found last, or speaks in.
 */

import * as budgets from './budgets.ts'
import type { Exceeded } from './budgets.ts'
import type { Call, Connection } from './state.ts'

/** A stream goes into a room. @returns the limit that it met */
export function sit({ hub, from }: Call, session: string): Exceeded | null {
  if (from.seat === session) return null
  const { seats } = from.account
  const taken = seats.get(session) ?? 0
  if (taken >= hub.budgets.limits.address.seats) {
    return budgets.refuse(hub.budgets, 'address', 'seats')
  }
  rise(from)
  from.seat = session
  seats.set(session, taken + 1)
  return null
}

/** It goes out of it. */
export function rise(from: Connection): void {
  const { seat, account } = from
  if (seat === '') return
  const left = account.seats.get(seat)! - 1
  if (left > 0) account.seats.set(seat, left)
  else account.seats.delete(seat)
  from.seat = ''
}
