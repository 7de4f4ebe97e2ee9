/**
 * Limits on open streams (SE-9).
 *
 * Streams are bounded per address and per hub. To admit one more, an idle stream is closed: one
 * that speaks for no member and has requested nothing for a while, of the same address, or of the
 * address with most such streams if the hub is full. If there is none, the new stream is refused.
 * So an address that hoards streams makes room for others, and no member ever does.
 */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import * as budgets from './budgets.ts'
import type { Account, Exceeded } from './budgets.ts'
import * as refusals from './refusals.ts'
import { type Call, callOf, type Connection, type Hub, type Turn } from './state.ts'

/** A stream without a request for this long is idle. */
export const UNUSED_MS: Millis = 1_000

/** Makes room for a new stream, or closes it. */
export function admitStream(call: Call): void {
  const { hub, now, connection, from } = call
  const { account } = from
  account.streams.add(connection)
  const { limits } = hub.budgets
  hub.sweepAt = Math.min(hub.sweepAt, now + limits.stream.silence)
  const spent = budgets.spend(hub.budgets, now, { account }, 'opens', 1)
  if (spent) return refusals.close(call, spent, 'full')
  if (account.streams.size > limits.address.streams && !closeIdle(call, account, 'address')) {
    const met = budgets.refuse(hub.budgets, 'address', 'streams')
    return refusals.close(call, met, 'full')
  }
  if (hub.connections.size <= limits.hub.streams) return
  if (closeIdle(call, fullest(hub), 'hub')) return
  refusals.close(call, budgets.refuse(hub.budgets, 'hub', 'streams'), 'full')
}

/** Sets the member that a stream speaks for; 0 for none. */
export function setMember(
  { hub, now }: Turn,
  from: Connection,
  session: string,
  inc: PeerId,
): void {
  if (inc === 0 && from.inc !== 0) {
    from.lastMessageAt = now
    hub.sweepAt = Math.min(hub.sweepAt, now + hub.budgets.limits.stream.silence)
  }
  from.account.speaking += Number(inc !== 0) - Number(from.inc !== 0)
  from.session = session
  from.inc = inc
}

// The address with the most streams that speak for no member.
function fullest({ budgets: { accounts } }: Hub): Account | null {
  let found: Account | null = null
  let most = 0
  for (const account of accounts.values()) {
    const strangers = account.streams.size - account.speaking
    if (strangers > most) [found, most] = [account, strangers]
  }
  return found
}

function closeIdle(call: Call, account: Account | null, who: Exceeded['who']): boolean {
  const { hub, now } = call
  let idle: number | null = null
  let since = now - UNUSED_MS
  for (const connection of account?.streams ?? []) {
    const { inc, lastRequestAt: usedAt } = hub.connections.get(connection)!
    if (inc !== 0 || usedAt > since || (idle !== null && usedAt === since)) continue
    idle = connection
    since = usedAt
  }
  if (idle === null) return false
  refusals.close(callOf(call, idle)!, budgets.refuse(hub.budgets, who, 'idle'), 'full')
  return true
}

/** Closes streams of non-members that were silent for too long. */
export function sweep(turn: Turn): void {
  const { hub, now } = turn
  if (now < hub.sweepAt) return
  const { silence } = hub.budgets.limits.stream
  hub.sweepAt = Infinity
  for (const [connection, from] of [...hub.connections]) {
    if (from.inc !== 0) continue
    const until = from.lastMessageAt + silence
    if (until > now) {
      hub.sweepAt = Math.min(hub.sweepAt, until)
      continue
    }
    const met = budgets.refuse(hub.budgets, 'stream', 'silence')
    refusals.close({ ...turn, connection, from }, met, 'refused')
  }
}
