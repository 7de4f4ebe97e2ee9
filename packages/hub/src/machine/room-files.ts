/** Export and import of stored rooms as files, for the operator of a hub. */

import { termOf } from '../../../holdfast/src/machine.ts'
import { sameBytes } from '../../../holdfast/src/wire/digest.ts'
import { decode } from '../../../holdfast/src/wire/layout.ts'
import * as archive from './archive.ts'
import type { StoredRoom } from './archive.ts'
import { TERMS_MAX } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as register from './register.ts'
import type { Saved } from '../../../holdfast/src/hub-protocol/saved-room.ts'
import type { Hub, HubOut, Turn } from './state.ts'
import { readRecord } from './records.ts'

/** Retention of a saved room whose terms set none, in minutes. */
const RETENTION_MINUTES = 10
// Attempts to read a room that is written meanwhile.
const TRIES_MAX = 10

interface Reading {
  readonly hub: Hub
  readonly out: Pick<HubOut, 'read'>
}

/** A room as persisted; null if there is none. */
export function exportRoom({ hub, out }: Reading, place: register.Place): Saved | null {
  const session = archive.sessionIn(hub.archive, place)
  if (session === null) return null
  for (let count = 0; count < TRIES_MAX; count++) {
    const saved = read(session, out)
    if (saved !== 'changed') return saved
  }
  return null
}

// A write between two segments is detected by its record.
function read(session: string, out: Reading['out']): Saved | 'changed' | null {
  const key = archive.recordOf(session)
  const before = out.read(key)
  const stored = before && decode(archive.archived, before)
  const record = stored && readRecord(stored.session)
  if (!stored || !record) return null
  const segments: Uint8Array[] = []
  for (let segment = 0; segment < stored.segments; segment++) {
    const bytes = out.read(archive.keyOf(session, segment))
    if (!bytes) return 'changed'
    segments.push(bytes)
  }
  const after = out.read(key)
  if (!after || !sameBytes(before, after)) return 'changed'
  const { game, room, playersMax, topology, terms, register: lead } = record.entry
  const { recovers, hosts, entrants } = record
  const { next, time, index } = stored
  const place = { game, room, session, playersMax, topology, terms, epoch: lead.epoch }
  return { ...place, recovers, hosts, entrants, next, time, index, segments }
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
  const isPlayed = register.inRoom(hub.registers, as).length > 0
  if (isHere || isPlayed || archive.find(hub.archive, as)) return 'is there'
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
  out.record(session)
  return null
}

function termsToKeep(terms: string): string {
  if ((termOf(terms, 'keep') ?? 0) > 0) return terms
  const more = `${terms}${terms === '' ? '' : ';'}keep=${RETENTION_MINUTES}`
  return more.length > TERMS_MAX ? terms : more
}
