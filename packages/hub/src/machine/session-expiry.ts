/**
 * How long a session stays whose members are all away (SE-8).
 *
 * One that nobody ever attended ends as soon as its founder's stream closes, and after NEVER_MS in
 * any case. One that was attended stays as long as it was, but for ABSENT_MIN_MS at least and
 * ABSENT_MAX_MS at most: so what was opened to fill the hub ends in seconds, and what people played
 * in outlasts a line that is cut for minutes. Nobody has attended a session that was read from
 * disk, for its members are still on their way back: it has RESTART_MS.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import { SILENT_MS } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as budgets from './budgets.ts'
import type { Account } from './budgets.ts'
import * as register from './register.ts'
import type { SessionExpiry, Hub, Turn } from './state.ts'

/** A session that was added has so long until a member is attached. */
export const NEVER_MS: Millis = 10_000
/** A session whose members are all away stays so long at least, */
export const ABSENT_MIN_MS: Millis = 30_000
/** and no longer than this. */
export const ABSENT_MAX_MS: Millis = 600_000
/** After a start of the hub its sessions wait so long for their members. */
export const RESTART_MS: Millis = 120_000
/** The absent are looked for no more often than this, when the hub is awake. */
const SWEEP_MS: Millis = 1_000

/** The attendance of a session; one that was read from disk has none yet. */
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

/** A member is attached, by a stream of that address. */
export function noteAttached(hub: Hub, now: Millis, session: string, account: Account): void {
  const own = expiryOf(hub, now, session)
  own.attended = true
  own.since ??= now
  own.until = Infinity
  if (own.founder !== '') return
  own.founder = account.place
  account.rooms++
}

/** A member is attached no more. */
export function noteDetached(hub: Hub, now: Millis, session: string): void {
  const own = hub.expiries.get(session)
  if (!own || own.since === null || hub.attached.has(session)) return
  own.total += now - own.since
  own.since = null
  own.awayAt = now
  own.until = now + Math.min(ABSENT_MAX_MS, Math.max(minimumOf(hub, session), own.total))
}

// Members of a room that is kept may go on without the hub for so long.
function minimumOf({ archive: { rooms } }: Hub, session: string): Millis {
  return rooms.has(session) ? Math.max(ABSENT_MIN_MS, SILENT_MS) : ABSENT_MIN_MS
}

/** The stream that added sessions is gone: those that nobody attended end. */
export function endUnattended(turn: Turn, founded: Iterable<string>): void {
  for (const session of founded) {
    const own = turn.hub.expiries.get(session)
    if (!own || own.attended) continue
    own.until = turn.now
    endIfExpired(turn, session)
  }
}

/** A session is there no more. */
export function untrack({ expiries, budgets: own }: Hub, session: string): void {
  const account = own.accounts.get(expiries.get(session)?.founder ?? '')
  if (account) account.rooms--
  expiries.delete(session)
  budgets.roomEnded(own, session)
}

/** Ends a session if its time is over. While a change of it is on its way to the disk, it waits. */
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

/** The session whose members are away for longest; null if none are, or for a moment only. */
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
