/**
 * Who is away: members whose stream to the hub is gone, as the hub tells each member, and who were
 * not heard on a path of their own since. It changes nothing but what a page shows: whether a
 * member is removed, or its role taken, is decided by its silence (S-3).
 */

import type { Millis, PeerId } from '../machine.ts'
import type { Absence, Session, SessionOut } from './state.ts'

/** A stream that is gone for less is no news: it is dialled again after 50 ms. */
export const AWAY_MS: Millis = 500

/** The hub has a stream of that member, or has none any more. */
export function present(
  session: Session,
  now: Millis,
  inc: PeerId,
  here: boolean,
  out: SessionOut,
): void {
  const { absent, view } = session.client
  if (here) return forget(session, [inc], out)
  const isMember = view.members.some((member) => member.inc === inc)
  if (inc === session.me || !isMember || absent.has(inc)) return
  absent.set(inc, { since: now, told: false })
}

/** We have no stream of our own: what the hub said of others may be so no more. */
export function detached(session: Session, out: SessionOut): void {
  forget(session, [...session.client.absent.keys()], out)
}

/** These are here again, or nobody says that they are not. */
export function forget(session: Session, those: Iterable<PeerId>, out: SessionOut): void {
  const { absent } = session.client
  let news = false
  for (const inc of those) {
    news ||= absent.get(inc)?.told ?? false
    absent.delete(inc)
  }
  if (news) tell(session, out)
}

/** Tells of those whose streams are gone for long enough. */
export function wake(session: Session, now: Millis, out: SessionOut): void {
  let news = false
  for (const [inc, absence] of session.client.absent) {
    if (absence.told || now < dueAt(absence)) continue
    if (isHeard(session, inc, absence)) absence.since = now
    else news = absence.told = true
  }
  if (news) tell(session, out)
}

/** When `wake` is due. */
export function deadline({ client: { absent } }: Session): Millis {
  let due = Infinity
  for (const absence of absent.values()) if (!absence.told) due = Math.min(due, dueAt(absence))
  return due
}

// `wake` and `deadline` must round alike.
function dueAt({ since }: Absence): Millis {
  return since + AWAY_MS
}

// What comes on a path of its own needs no hub.
function isHeard({ watches }: Session, inc: PeerId, { since }: Absence): boolean {
  const seen = watches.get(inc)
  return seen !== undefined && !seen.relayed && seen.lastHeard > since
}

function tell({ client: { absent } }: Session, out: SessionOut): void {
  const told = [...absent].filter(([, absence]) => absence.told)
  out.emit({ kind: 'away', members: new Set(told.map(([inc]) => inc)) })
}
