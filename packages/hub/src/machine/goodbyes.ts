/**
 * Goodbyes: a process that ends, such as a closed or reloaded page, reports on its stream that it
 * is gone for good, and waits for no answer.
 *
 * A goodbye is irrevocable: the member can no longer attach and gets no role. A primary writes its
 * whole log before it. Once all members of a session said goodbye and the last primary's log is
 * persisted, no member can acknowledge anything that the hub lacks: the session ends, and the next
 * process that joins reopens its room at once. Goodbyes are in memory only: after a restart of the
 * hub the room waits as after crashes (persistence.ts).
 */

import { detach } from './attachment.ts'
import * as archive from './archive.ts'
import type { StoredRoom } from './archive.ts'
import type { ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as register from './register.ts'
import type { Row } from './register.ts'
import { type Call, isAttachedTo, type Turn } from './state.ts'

/** The member of this stream said goodbye. Unknown and detached members are ignored. */
export function receiveGoodbye(
  call: Call,
  { session, epoch, index }: ToHub & { kind: 'gone' },
): void {
  const row = register.find(call.hub.registers, session)
  if (!row || !isAttachedTo(call, session)) return
  row.goodbyes.set(call.from.inc, { epoch, index })
  detach(call)
  endIfDeserted(call, session)
}

/** Ends a session whose members all said goodbye, if the last primary's log is persisted. */
export function endIfDeserted({ hub, out }: Turn, session: string): void {
  const row = register.find(hub.registers, session)
  if (!row || row.pending || row.members.length === 0) return
  if (!row.members.every(({ inc }) => row.goodbyes.has(inc))) return
  if (archive.keepMsOf(row.entry) > 0) {
    const room = hub.archive.rooms.get(session)
    if (!room?.saved || room.writing || room.next || !hasAll(row, room.saved)) return
  }
  register.endSession(hub.registers, session, out)
}

/**
 * Whether a primary without a backup said goodbye and its log is persisted. Others may have joined
 * a moment before, such as a page that reloaded faster than the primary's: attached members recover
 * the session; if there are none, the next process that joins opens the room.
 */
export function leftAll(row: Row, stored: Pick<StoredRoom, 'by' | 'index'>): boolean {
  const { primary, backup } = row.entry.register
  return backup === 0 && row.goodbyes.has(primary) && hasAll(row, stored)
}

// Whether the last primary wrote the stored segments, with its whole log. The registered primary
// may not have learned of its role: then its predecessor led last, in the epoch before.
function hasAll(
  { entry, goodbyes }: Row,
  { by, index }: Pick<StoredRoom, 'by' | 'index'>,
): boolean {
  const { primary, epoch } = entry.register
  const last = goodbyes.get(by)
  if (!last || last.epoch === 0 || index < last.index) return false
  if (by === primary) return true
  return goodbyes.get(primary)?.epoch === 0 && last.epoch === epoch - 1
}
