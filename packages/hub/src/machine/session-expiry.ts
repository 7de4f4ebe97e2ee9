/**
 * How long a session lasts while all its members are away (SE-8).
 *
 * A session that no member ever attended ends when its founder's stream closes, and after NEVER_MS
 * in any case. Otherwise it lasts as long as it was attended, within ABSENT_MIN_MS and
 * ABSENT_MAX_MS: sessions created to fill the hub end in seconds, and a played one survives minutes
 * of network failure. A session restored from disk gets RESTART_MS, because its members are still
 * reconnecting.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import { SILENT_MS } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Account } from './budgets.ts'
import * as register from './register.ts'
import type { SessionExpiry, Hub, Turn } from './state.ts'

/** Longest wait of a new session for its first member. */
export const NEVER_MS: Millis = 10_000
/** Shortest time that a session outlasts its attached members. */
export const ABSENT_MIN_MS: Millis = 30_000
/** Longest such time. */
export const ABSENT_MAX_MS: Millis = 600_000
/** How long restored sessions wait for their members after a restart of the hub. */
export const RESTART_MS: Millis = 120_000
/** Shortest time between two sweeps. */
const SWEEP_MS: Millis = 1_000

/** The expiry of a session; created here for one restored from disk. */
export function expiryOf(hub: Hub, now: Millis, session: string): SessionExpiry {
  const known = hub.expiries.get(session)
  if (known) return known
  const read = { founder: '', attended: true, since: null, awayAt: now, total: RESTART_MS }
  const made = { serial: ++hub.serials, ...read, until: now + RESTART_MS }
  hub.expiries.set(session, made)
  return made
}

export function track(hub: Hub, now: Millis, session: string, account: Account): void {
  account.rooms++
  const never = { attended: false, since: null, awayAt: now, total: 0, until: now + NEVER_MS }
  hub.expiries.set(session, { serial: ++hub.serials, founder: account.place, ...never })
}

export function noteAttached(hub: Hub, now: Millis, session: string, account: Account): void {
  const own = expiryOf(hub, now, session)
  own.attended = true
  own.since ??= now
  own.until = Infinity
  if (own.founder !== '') return
  own.founder = account.place
  account.rooms++
}

export function noteDetached(hub: Hub, now: Millis, session: string): void {
  const own = hub.expiries.get(session)
  if (!own || own.since === null || hub.attached.has(session)) return
  own.total += now - own.since
  own.since = null
  own.awayAt = now
  own.until = now + Math.min(ABSENT_MAX_MS, Math.max(minimumOf(hub, session), own.total))
}

// Members of a stored room may play on without the hub for SILENT_MS.
function minimumOf({ archive: { rooms } }: Hub, session: string): Millis {
  return rooms.has(session) ? Math.max(ABSENT_MIN_MS, SILENT_MS) : ABSENT_MIN_MS
}

/** The stream that founded these sessions closed: those that no member attended end. */
export function endUnattended(turn: Turn, founded: Iterable<string>): void {
  for (const session of founded) {
    const own = turn.hub.expiries.get(session)
    if (!own || own.attended) continue
    own.until = turn.now
    endIfExpired(turn, session)
  }
}

export function untrack({ expiries, budgets: own }: Hub, session: string): void {
  const account = own.accounts.get(expiries.get(session)?.founder ?? '')
  if (account) account.rooms--
  expiries.delete(session)
  own.rooms.delete(session)
}

/** Ends an expired session; a pending change delays that. */
export function endIfExpired({ hub, now, out }: Turn, session: string): void {
  if (expiryOf(hub, now, session).until > now) return
  if (register.endSession(hub.registers, session, out)) hub.counters.abandoned++
}

export function sweep(turn: Turn): void {
  const { hub, now } = turn
  if (now < hub.absentAt) return
  hub.absentAt = now + SWEEP_MS
  for (const session of hub.registers.rows.keys()) endIfExpired(turn, session)
}

/** The session without members for longest; null if none for more than NEVER_MS. */
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
