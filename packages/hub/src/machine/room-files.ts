/** Export and import of stored rooms as files, for the operator of a hub. */

import { termOf } from '../../../holdfast/src/machine.ts'
import * as archive from './archive.ts'
import type { StoredRoom } from './archive.ts'
import { TERMS_MAX } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { SessionRecord } from './records.ts'
import * as moves from './moves.ts'
import * as register from './register.ts'
import type { Saved } from '../../../holdfast/src/hub-protocol/saved-room.ts'
import type { Turn } from './state.ts'

/** Retention of a saved room whose terms set none, in minutes. */
const RETENTION_MINUTES = 10

/** A stored room with its segments, as a file has it. */
export function savedOf(
  { entry, recovers, hosts, entrants }: SessionRecord,
  { next, time, index }: Omit<StoredRoom, 'session'>,
  segments: Uint8Array[],
): Saved {
  const { session, game, room, playersMax, topology, terms, register: lead } = entry
  const head = { game, room, session, playersMax, topology, terms, epoch: lead.epoch }
  return { ...head, recovers, hosts, entrants, next, time, index, segments }
}

export type ImportRefusal = 'is there' | 'full' | 'too large'

/**
 * Stores a saved room as the same session until it expires.
 *
 * @param as  the game and room to store it under
 */
export function importRoom(
  { hub, now, out }: Turn,
  saved: Saved,
  as: register.Place,
): ImportRefusal | null {
  const { session, playersMax, topology, recovers, hosts, entrants, segments } = saved
  const { index, time, next } = saved
  const isHere = register.find(hub.registers, session) ?? hub.archive.rooms.get(session)
  const key = register.placeOf(as)
  if (hub.elsewhere.has(key) || hub.sessionsElsewhere.has(session)) return 'is there'
  const isTaken = archive.roomAt(hub.archive, key) !== null || moves.at(hub, key) !== null
  if (isHere || isTaken || register.inRoom(hub.registers, as)) return 'is there'
  const { room, hub: all } = hub.budgets.limits
  const bytes = segments.reduce((sum, one) => sum + one.length, 0)
  if (bytes > room.kept) return 'too large'
  if (hub.archive.rooms.size >= all.kept) return 'full'
  const terms = termsToKeep(saved.terms)
  const lead = { epoch: saved.epoch, primary: 0, backup: 0 }
  const place = { ...as, session, playersMax, topology, terms, register: lead }
  const entry = { ...place, players: 0, standing: 'open' } as const
  const at = archive.wallOf(hub.archive, now)
  const stored: StoredRoom = {
    session: { entry, recovers, hosts, members: [], entrants, invitations: [] },
    by: 0,
    index,
    time,
    at,
    next,
    acks: 'strict',
    segments: segments.length,
    bytes,
    until: at + archive.keepMsOf(entry),
    imported: true,
  }
  archive.change(hub.archive, entry, stored, new Map(segments.entries()))
  out.record(register.placeOf(as))
  return null
}

function termsToKeep(terms: string): string {
  if ((termOf(terms, 'keep') ?? 0) > 0) return terms
  const more = `${terms}${terms === '' ? '' : ';'}keep=${RETENTION_MINUTES}`
  return more.length > TERMS_MAX ? terms : more
}
