/**
 * How long a session lasts whose members are all away (SE-8).
 *
 * A session that no member ever attended ends as soon as its founder's stream closes, and after
 * NEVER_MS in any case. Otherwise it lasts as long as it was attended, within ABSENT_MIN_MS and
 * ABSENT_MAX_MS: sessions opened to fill the hub end in seconds, and a played one survives a
 * network that is down for minutes. A session read from disk has RESTART_MS, for its members are
 * still on their way back.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import { SILENT_MS } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as budgets from './budgets.ts'
import type { Account } from './budgets.ts'
import * as register from './register.ts'
import type { SessionExpiry, Hub, Turn } from './state.ts'

/** Longest wait of a new session for its first member. */
export const NEVER_MS: Millis = 10_000
/** Shortest stay of a session whose members are all away, */
export const ABSENT_MIN_MS: Millis = 30_000
/** and the longest. */
export const ABSENT_MAX_MS: Millis = 600_000
/** How long sessions wait for their members after a start of the hub. */
export const RESTART_MS: Millis = 120_000
/** Shortest time between two sweeps. */
const SWEEP_MS: Millis = 1_000

/** The expiry of a session; one that was read from disk gets it here. */
export function expiryOf(hub: Hub, now: Millis, session: string): SessionExpiry {
  const known = hub.expiries.get(session)
  if (known) return known
  const read = { founder: '', attended: true, since: null, awayAt: now, total: RESTART_MS }
  const made = { serial: ++hub.serials, ...read, until: now + RESTART_MS }
  hub.expiries.set(session, made)
  return made
}

/** A session was added. */
export function track(hub: Hub, now: Millis, session: string, account: Account): void {
  account.rooms++
  const never = { attended: false, since: null, awayAt: now, total: 0, until: now + NEVER_MS }
  hub.expiries.set(session, { serial: ++hub.serials, founder: account.place, ...never })
}

/** A member attached, by a stream of that address. */
export function noteAttached(hub: Hub, now: Millis, session: string, account: Account): void {
  const own = expiryOf(hub, now, session)
  own.attended = true
  own.since ??= now
  own.until = Infinity
  if (own.founder !== '') return
  own.founder = account.place
  account.rooms++
}

/** A member detached. */
export function noteDetached(hub: Hub, now: Millis, session: string): void {
  const own = hub.expiries.get(session)
  if (!own || own.since === null || hub.attached.has(session)) return
  own.total += now - own.since
  own.since = null
  own.awayAt = now
  own.until = now + Math.min(ABSENT_MAX_MS, Math.max(minimumOf(hub, session), own.total))
}

// Members of a kept room may go on without the hub for SILENT_MS.
function minimumOf({ archive: { rooms } }: Hub, session: string): Millis {
  return rooms.has(session) ? Math.max(ABSENT_MIN_MS, SILENT_MS) : ABSENT_MIN_MS
}

/** The stream that added these sessions closed: those that nobody attended end. */
export function endUnattended(turn: Turn, founded: Iterable<string>): void {
  for (const session of founded) {
    const own = turn.hub.expiries.get(session)
    if (!own || own.attended) continue
    own.until = turn.now
    endIfExpired(turn, session)
  }
}

/** A session ended. */
export function untrack({ expiries, budgets: own }: Hub, session: string): void {
  const account = own.accounts.get(expiries.get(session)?.founder ?? '')
  if (account) account.rooms--
  expiries.delete(session)
  budgets.roomEnded(own, session)
}

/** Ends a session if its time is over; a change that waits for the disk delays that. */
export function endIfExpired({ hub, now, out }: Turn, session: string): void {
  if (expiryOf(hub, now, session).until > now) return
  if (register.endSession(hub.registers, session, out)) hub.counters.abandoned++
}

/** Ends sessions whose time is over. */
export function sweep(turn: Turn): void {
  const { hub, now } = turn
  if (now < hub.absentAt) return
  hub.absentAt = now + SWEEP_MS
  for (const session of hub.registers.rows.keys()) endIfExpired(turn, session)
}

/** The session whose members are away longest; null if none are for more than NEVER_MS. */
export function longestAbsent(hub: Hub, now: Millis): string | null {
  let found: string | null = null
  let oldest = now - NEVER_MS
  for (const session of hub.registers.rows.keys()) {
    const { since, awayAt } = expiryOf(hub, now, session)
    const isSafe = !hub.archive.rooms.has(session) || now - awayAt > SILENT_MS
    if (since === null && isSafe && awayAt < oldest) [found, oldest] = [session, awayAt]
  }
  return found
}
