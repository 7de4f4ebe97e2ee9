/**
 * Goodbyes: a process that ends, as a page does that is closed or reloaded, tells the hub on its
 * stream that it is gone for good, and waits for no answer.
 *
 * A goodbye is irrevocable: from then on nobody speaks for that member, and it gets no role. Who
 * led has written its whole log before it. Once all members of a session said goodbye, or in a kept
 * room a primary without a backup, and the disk has all that the last who led recorded, nobody can
 * have anything acknowledged that is not here: the session ends, and whoever comes, or is left,
 * opens its room at once. A goodbye is in memory alone: a
 * hub that starts anew knows of none, and the room waits as after deaths (keeping.ts).
 */

import { detach } from './attaching.ts'
import * as archive from './archive.ts'
import type { Stand } from './archive.ts'
import type { ToHub } from './messages.ts'
import * as register from './register.ts'
import type { Row } from './register.ts'
import { type Call, directoryOut, type Hub, type HubOut } from './state.ts'

/** The member of this stream is gone. One that the hub does not know, or no longer, is no news. */
export function gone(call: Call, { session, epoch, index }: ToHub & { kind: 'gone' }): void {
  const { hub, connection, from, out } = call
  const { inc } = from
  const row = register.find(hub.directory, session)
  if (!row || inc === 0 || from.session !== session) return
  if (hub.attached.get(session)?.get(inc) !== connection) return
  row.goodbyes.set(inc, { epoch, index })
  detach(call)
  settle(hub, session, out)
}

/**
 * Ends a session in which nobody is left who may lead and has not said goodbye, if the disk has
 * what the last leader recorded.
 */
export function settle(hub: Hub, session: string, out: HubOut): void {
  const row = register.find(hub.directory, session)
  if (!row || row.pending || row.members.length === 0) return
  const isKept = archive.timeOf(row.entry) > 0
  const areAllGone = row.members.every(({ inc }) => row.goodbyes.has(inc))
  if (!areAllGone && !(isKept && isLeaderless(row))) return
  if (isKept) {
    const room = hub.archive.rooms.get(session)
    if (!room?.saved || room.writing || room.next || !hasAll(row, room.saved)) return
  }
  register.forget(hub.directory, session, directoryOut(hub, out))
}

// Who serves is gone and nobody stands by: others came a moment ago, such as a page that was loaded
// anew before the server's own. They know less than the disk, and open the room from there.
function isLeaderless({ entry, goodbyes }: Row): boolean {
  const { primary, backup } = entry.register
  return backup === 0 && goodbyes.has(primary)
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
