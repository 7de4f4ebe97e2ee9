/**
 * Records of hubs up to 0.2: one for each session, by its id, and one for each stored room, by
 * `kept ` and that id.
 */

import { blob, decode, record, word } from '../../../holdfast/src/wire/layout.ts'
import { encodePlace, ROOM_FIELDS } from './places.ts'
import { readRecord } from './records.ts'
import { placeOf } from './register.ts'
import type { PlaceRecord } from './state.ts'

type Records = readonly (readonly [key: string, value: Uint8Array])[]

const ROOMS_PREFIX = 'kept '
/** Most bytes of the session's record in that of a stored room. */
const RECORD_MAX = 1024 * 1024
const archived = record({
  form: word(['kept', 'imported']),
  ...ROOM_FIELDS,
  session: blob(RECORD_MAX),
})

/**
 * The same records, one for each place; other records stay as they are. Of several sessions in one
 * room the stored one counts, else one whose primary answered, else the one with the most players.
 */
export function upgradeRecords(records: Records): Records {
  const sessions = new Map<string, PlaceRecord>()
  const others: (readonly [key: string, value: Uint8Array])[] = []
  for (const [key, value] of records) {
    const known = readOld(key, value)
    if (!known) {
      others.push([key, value])
      continue
    }
    const { session } = known.session.entry
    const before = sessions.get(session)
    sessions.set(session, before ? merged(before, known) : known)
  }
  const places = new Map<string, PlaceRecord>()
  for (const known of sessions.values()) {
    const place = placeOf(known.session.entry)
    const other = places.get(place)
    if (!other || rank(known) > rank(other)) places.set(place, known)
  }
  return [
    ...others,
    ...Array.from(places, ([place, known]) => [place, encodePlace(known)] as const),
  ]
}

function readOld(key: string, value: Uint8Array): PlaceRecord | null {
  const mark = { boot: 0, write: 0 }
  if (!key.startsWith(ROOMS_PREFIX)) {
    const session = readRecord(value)
    return session && { ...mark, lasts: true, session, stored: null }
  }
  const read = decode(archived, value)
  const session = read && readRecord(read.session)
  if (!read || !session) return null
  const { form, session: _, ...rest } = read
  return { ...mark, lasts: false, session, stored: { ...rest, imported: form === 'imported' } }
}

// The record of a session, and that of its stored room.
function merged(one: PlaceRecord, other: PlaceRecord): PlaceRecord {
  return { ...(one.lasts ? one : other), stored: one.stored ?? other.stored }
}

function rank({ stored, session: { entry } }: PlaceRecord): number {
  if (stored) return Infinity
  return entry.standing === 'unreachable' ? 0 : 1 + entry.players
}
