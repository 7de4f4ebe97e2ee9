/**
 * Which streams there is room for (SE-9).
 *
 * An address may have so many streams, and the hub. Where one more would be too many, a stream goes
 * that does nothing: one that speaks for no member and has asked for nothing for a while, of the
 * same address, or where the hub is full, of the address that has most of them. Where none is, the
 * new one is refused. So whoever hoards streams makes room for others, and no member ever does.
 */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import * as budgets from './budgets.ts'
import type { Account, Exceeded } from './budgets.ts'
import * as refusals from './refusals.ts'
import { type Call, callOf, type Connection, type Hub, type Turn } from './state.ts'

/** A stream does nothing when it has asked for nothing for so long. */
export const UNUSED_MS: Millis = 1_000

/** Makes room for a stream that has opened, or closes it. */
export function enter(call: Call): void {
  const { hub, now, connection, from } = call
  const { account } = from
  account.streams.add(connection)
  const { limits } = hub.budgets
  hub.sweepAt = Math.min(hub.sweepAt, now + limits.stream.silence)
  const spent = budgets.spend(hub.budgets, now, { account }, 'opens', 1)
  if (spent) return refusals.close(call, spent, 'full')
  if (account.streams.size > limits.address.streams && !giveWay(call, account, 'address')) {
    const met = budgets.refuse(hub.budgets, 'address', 'streams')
    return refusals.close(call, met, 'full')
  }
  if (hub.connections.size <= limits.hub.streams) return
  if (giveWay(call, fullest(hub), 'hub')) return
  refusals.close(call, budgets.refuse(hub.budgets, 'hub', 'streams'), 'full')
}

/** Whom a stream speaks for from now on; 0 for nobody. */
export function speaks({ hub, now }: Turn, from: Connection, session: string, inc: PeerId): void {
  if (inc === 0 && from.inc !== 0) {
    from.heardAt = now
    hub.sweepAt = Math.min(hub.sweepAt, now + hub.budgets.limits.stream.silence)
  }
  from.account.speaking += Number(inc !== 0) - Number(from.inc !== 0)
  from.session = session
  from.inc = inc
}

// The address with most streams that speak for no member.
function fullest({ budgets: { accounts } }: Hub): Account | null {
  let found: Account | null = null
  let most = 0
  for (const account of accounts.values()) {
    const strangers = account.streams.size - account.speaking
    if (strangers > most) [found, most] = [account, strangers]
  }
  return found
}

function giveWay(call: Call, account: Account | null, who: Exceeded['who']): boolean {
  const { hub, now } = call
  let idle: number | null = null
  let since = now - UNUSED_MS
  for (const connection of account?.streams ?? []) {
    const { inc, usedAt } = hub.connections.get(connection)!
    if (inc !== 0 || usedAt > since || (idle !== null && usedAt === since)) continue
    idle = connection
    since = usedAt
  }
  if (idle === null) return false
  refusals.close(callOf(call, idle)!, budgets.refuse(hub.budgets, who, 'idle'), 'full')
  return true
}

/** Closes streams of strangers that have said nothing for too long. */
export function sweep(turn: Turn): void {
  const { hub, now } = turn
  if (now < hub.sweepAt) return
  const { silence } = hub.budgets.limits.stream
  hub.sweepAt = Infinity
  for (const [connection, from] of [...hub.connections]) {
    if (from.inc !== 0) continue
    const until = from.heardAt + silence
    if (until > now) {
      hub.sweepAt = Math.min(hub.sweepAt, until)
      continue
    }
    const met = budgets.refuse(hub.budgets, 'stream', 'silence')
    refusals.close({ ...turn, connection, from }, met, 'refused')
  }
}

// Who may put a datagram behind those that wait in a member's stream (SE-16).
//
// A stream delivers everything in order, so a source that sends more than its target reads would
// have all others wait behind it, or dropped. So each source has a share of what may wait: as much
// as is free (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998). One alone may fill half
// of it, and the rest is for others; of n that flood each has one part of n + 1, and one is always
// free. A source of which nothing waits may always send a little.
//
// What waits is not held here: the stream reports how many bytes do, and as it is in order these
// are the newest that were sent.

/** Most relayed bytes that wait in a stream. */
export const RELAY_BACKLOG_MAX: number = 64 * 1024
/** Of a source of which nothing waits so many bytes may wait in any case: two datagrams. */
export const SHARE_MIN = 2_560

/** Datagrams that may wait in one stream. */
export interface Shares {
  /** What was sent, oldest first; `head` is where that begins which may still wait. */
  sent: { source: string; bytes: number }[]
  head: number
  /** The sum of those. */
  total: number
  /** By source. */
  held: Map<string, number>
}

/** Nothing waits. */
export function create(): Shares {
  return { sent: [], head: 0, total: 0, held: new Map() }
}

/**
 * Whether a datagram may be put into the stream; if so, it is counted.
 *
 * @param backlog  bytes that wait in the stream now
 */
export function admit(shares: Shares, backlog: number, source: string, bytes: number): boolean {
  settle(shares, backlog)
  const held = shares.held.get(source) ?? 0
  const free = RELAY_BACKLOG_MAX - backlog
  if (held + bytes > Math.max(SHARE_MIN, free)) return false
  // Those little shares have an end too, or many sources would make a heap of them.
  if (backlog > 2 * RELAY_BACKLOG_MAX) return false
  shares.sent.push({ source, bytes })
  shares.total += bytes
  shares.held.set(source, held + bytes)
  return true
}

// What does not wait any more was read, and counts for nobody.
function settle(shares: Shares, backlog: number): void {
  const { sent, held } = shares
  while (shares.total > backlog) {
    const { source, bytes } = sent[shares.head++]!
    shares.total -= bytes
    const left = held.get(source)! - bytes
    if (left > 0) held.set(source, left)
    else held.delete(source)
  }
  if (shares.head < 64 || shares.head * 2 < sent.length) return
  sent.splice(0, shares.head)
  shares.head = 0
}
