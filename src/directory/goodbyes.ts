/**
 * When nobody leads a session any more, and its room goes on from the disk.
 *
 * Goodbyes: a process that ends, as a page does that is closed or reloaded, tells the hub on its
 * stream that it is gone for good, and waits for no answer.
 *
 * A goodbye is irrevocable: from then on nobody speaks for that member, and it gets no role. Who
 * led has written its whole log before it. Once primary and backup of a kept session said goodbye,
 * and the disk has all that the last of them who led recorded, nobody can have anything
 * acknowledged that is not here: the session ends, and whoever comes opens its room at once. A
 * goodbye is in memory alone: a hub that starts anew knows of none, and the room waits as after
 * deaths (keeping.ts).
 *
 * Deaths: a strict primary without a backup acknowledges nothing that is not here. Once its stream
 * is gone for longer than dialling again takes, those who are still here need not wait until it
 * cannot publish any more: the session ends, and they open its room.
 */

import type { Millis } from '../machine.ts'
import { detach, dismiss } from './attaching.ts'
import * as archive from './archive.ts'
import type { Stand } from './archive.ts'
import type { ToHub } from './messages.ts'
import { BACK_MS } from './keeping.ts'
import * as register from './register.ts'
import type { Row } from './register.ts'
import { type Call, directoryOut, type Hub, type HubOut } from './state.ts'

/** The member of this stream is gone. One that the hub does not know, or no longer, is no news. */
export function gone(call: Call, { session, epoch, index }: ToHub & { kind: 'gone' }): void {
  const { hub, now, connection, from, out } = call
  const { inc } = from
  const row = register.find(hub.directory, session)
  if (!row || inc === 0 || from.session !== session) return
  if (hub.attached.get(session)?.get(inc) !== connection) return
  row.goodbyes.set(inc, { epoch, index })
  detach(call)
  settle(hub, now, session, out)
}

/** Ends a session that nobody leads any more, if the disk has what the last leader recorded. */
export function settle(hub: Hub, now: Millis, session: string, out: HubOut): void {
  const row = register.find(hub.directory, session)
  if (!row || row.pending || row.members.length === 0 || row.goodbyes.size === 0) return
  const { goodbyes, entry, members } = row
  const isKept = archive.timeOf(entry) > 0
  const { primary, backup } = entry.register
  // What is kept nowhere the others have.
  const leaders = isKept ? [primary, backup] : members.map(({ inc }) => inc)
  if (!leaders.every((inc) => inc === 0 || goodbyes.has(inc))) return
  if (isKept) {
    const room = hub.archive.rooms.get(session)
    if (!room?.saved || room.writing || room.next || !hasAll(row, room.saved)) return
  }
  end({ hub, now, out }, session)
}

/** Ends sessions whose primary was strict, is gone, and has no backup. */
export function sweep(hub: Hub, now: Millis, out: HubOut): void {
  for (const [session, { saved }] of hub.archive.rooms) {
    const row = saved && register.find(hub.directory, session)
    if (row && isDead(row, now, saved)) end({ hub, now, out }, session)
  }
}

function isDead({ entry, pending, present, goneAt }: Row, now: Millis, saved: Stand): boolean {
  const { primary, backup } = entry.register
  if (pending || present.size === 0 || present.has(primary) || backup !== 0) return false
  return saved.acks === 'strict' && saved.by === primary && now - goneAt > BACK_MS
}

// Whoever is here finds that it is in no session any more, and comes in as everybody does.
function end(call: Pick<Call, 'hub' | 'now' | 'out'>, session: string): void {
  dismiss(call, session)
  register.forget(call.hub.directory, session, directoryOut(call.hub, call.out))
}

// Whoever led last wrote what is here, and all that it had. A member that the register names may
// not have heard so: then its predecessor led last, in the epoch before.
function hasAll({ entry, goodbyes }: Row, { by, index }: Stand): boolean {
  const { primary, epoch } = entry.register
  const last = goodbyes.get(by)
  if (!last || last.epoch === 0 || index < last.index) return false
  if (by === primary) return true
  return goodbyes.get(primary)?.epoch === 0 && last.epoch === epoch - 1
}
