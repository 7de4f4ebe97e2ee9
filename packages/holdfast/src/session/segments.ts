/**
 * Sheets: what is kept of a room beyond its members, as its primary writes it. The first has the
 * whole state, those behind it entries of the log, in the forms that a backup gets.
 */

import * as durable from '../replication/durable.ts'
import type { Durable } from '../replication/durable.ts'
import {
  type Change,
  type Delta,
  deltaLayout,
  lineageLayout,
  type PersistedPoint,
  COUNTER_MAX,
  type LeaderStart,
} from '../replication/layouts.ts'
import type { AckPolicy } from '../hub-protocol/messages.ts'
import { INC_MAX, type Millis } from '../machine.ts'
import { TYPES_MAX } from '../wire/fields/difference.ts'
import { createReader } from '../wire/bytes.ts'
import {
  blob,
  decode,
  encode,
  list,
  record,
  text,
  u32,
  type ValueOf,
  varint,
} from '../wire/layout.ts'
import { negotiate, only, encodeVersions, type Versions } from '../wire/versions.ts'
import { type Settings, settingsLayout } from './messages.ts'

/** Most bytes of a sheet, as it is read. */
export const SHEET_BYTES_MAX: number = 2 * 1024 * 1024
/** Most entries of one. */
export const SHEET_ENTRIES_MAX = 65_536

/** A whole state begins with this, and the versions of sheets by which it can be read. */
const MARK = 'HOLDFAST'
/** What this build reads. What 0.2 wrote has neither mark nor version: it is version 1. */
export const SHEET_VERSIONS: Versions = { lowest: 1, highest: 2 }

/** The whole state in a sheet of 0.2. */
export const oldSnapshotSegmentLayout = record({
  schema: u32,
  types: text(TYPES_MAX),
  index: varint,
  snapshot: blob(SHEET_BYTES_MAX),
})

const headLayout = record({ mark: text(MARK.length), versions: varint })
/** The whole state in a sheet. */
export const snapshotSegmentLayout = record({
  /** MARK, and a build reads it that speaks one of these versions. */
  mark: text(MARK.length),
  versions: varint,
  /** What the founder set for all: in a room with a key the hub's word of it does not count. */
  settings: settingsLayout,
  lineage: lineageLayout,
  /** How many sheets its leader has written with this. */
  sheets: varint,
  /** Of the types that have state in it; and these as text, '' if that is too long. */
  schema: u32,
  types: text(TYPES_MAX),
  /** How many entries of the log it includes. */
  index: varint,
  snapshot: blob(SHEET_BYTES_MAX),
})
/** Entries in a sheet. */
export const entriesSegmentLayout = record({ entries: list(blob(2 ** 20), SHEET_ENTRIES_MAX) })

/** How far the hub has what this primary recorded. */
export interface Persistence {
  /** The session's terms say that its room is kept. */
  readonly on: boolean
  /** Nothing is acknowledged without it, however many are here, and whatever the hub says. */
  readonly always: boolean
  /** The hub takes us for a member. */
  open: boolean
  /** Of the sheet that was written last: each has another. */
  number: number
  /** The length of the log as it was written; -1: the whole state is to be written next. */
  sent: number
  /** As the hub has it on disk; -1 for nothing of ours. */
  kept: number
  /** Up to here nobody waits for the hub: it is how the room was founded or opened. */
  readonly free: number
  /** Entries behind `sent`, oldest first, and their bytes. */
  entries: Uint8Array[]
  bytes: number
  /** Bytes of the whole as it was written last, and of all entries behind it. */
  snapshotBytes: number
  entriesBytes: number
  /** How we acknowledge, as it was written last; null if nothing was. */
  sentAcks: AckPolicy | null
  /** The strictest that the hub may believe of that: it opens the room by it. */
  believedAcks: AckPolicy
  /** A sheet is on its way. */
  inFlight: boolean
  sentAt: Millis
  /** Something changed that is kept and in no log. */
  unlogged: boolean
  /** When the oldest of `entries` was recorded, or that changed. */
  since: Millis
  /** Why the hub does not keep it, '' if it does. */
  why: string
  /** The length of the log with its last operation. */
  operations: number
  /** How many sheets were written. */
  segments: number
  /** Both as the last one was. */
  asked: Pick<PersistedPoint, 'index' | 'sheets'>
  /** What the others were told last that the hub has. */
  announced: PersistedPoint | null
}

/** A sheet, and the length of the log with it, where whoever sealed it says so. */
export interface Segment {
  readonly bytes: Uint8Array
  readonly index: number | null
}

function hasLength({ index }: Segment, length: number): boolean {
  return index === null || index === length
}

/** A room as its sheets have it. */
export interface StoredState {
  /** Null in what 0.2 wrote. */
  readonly settings: Settings | null
  readonly lineage: LeaderStart[]
  /** How many sheets their leader had written; 0 in what 0.2 wrote. */
  readonly sheets: number
  readonly schema: number
  readonly types: string
  readonly state: Durable
  /** Before `changes`. */
  readonly parts: durable.PartState[]
  readonly changes: readonly Change[]
  /** The length of the log with them. */
  readonly length: number
}

/** The whole state as bytes. */
export function writeSnapshotSegment(
  whole: Omit<ValueOf<typeof snapshotSegmentLayout>, 'mark' | 'versions'>,
): Uint8Array {
  return encode(snapshotSegmentLayout, {
    ...whole,
    mark: MARK,
    versions: encodeVersions(only(SHEET_VERSIONS.highest)),
  })
}

/** As a sheet of this build or of 0.2 has it; null if it is none of these. */
export function readSnapshotSegment(
  bytes: Uint8Array,
):
  | (Omit<ValueOf<typeof snapshotSegmentLayout>, 'mark' | 'versions' | 'settings'> &
      Pick<StoredState, 'settings'>)
  | null {
  const versions = versionsOf(bytes)
  if (versions !== null) {
    return negotiate(SHEET_VERSIONS, versions) === null
      ? null
      : decode(snapshotSegmentLayout, bytes)
  }
  const old = decode(oldSnapshotSegmentLayout, bytes)
  return old && { ...old, settings: null, lineage: [], sheets: 0 }
}

/** By which versions a whole state can be read, as it says itself; null for one of 0.2. */
export function versionsOf(bytes: Uint8Array): number | null {
  const reader = createReader(bytes)
  const { mark, versions } = headLayout.read(reader)
  return reader.failed || mark !== MARK ? null : versions
}

/** Reads the sheets of a room that is opened again; null if they are none of ours. */
export function read(all: readonly Segment[]): StoredState | null {
  const [first, ...rest] = all
  const whole = first ? readSnapshotSegment(first.bytes) : null
  const from = whole && durable.restore(whole.snapshot)
  if (!whole || whole.index > COUNTER_MAX || !from || !hasLength(first!, whole.index)) return null
  if (from.durable.nextInc >= INC_MAX) return null
  const { schema, types, index, settings, lineage } = whole
  const sheets = whole.sheets === 0 ? 0 : whole.sheets + rest.length
  const { durable: state, parts } = from
  const changes: Change[] = []
  let length = index
  for (const sheet of rest) {
    const deltas = deltasOf(sheet)
    length += deltas?.filter(({ kind }) => kind !== 'loose').length ?? 0
    if (!deltas || !hasLength(sheet, length)) return null
    for (const delta of deltas) {
      durable.apply(state, delta)
      if ('changes' in delta) changes.push(...delta.changes)
    }
  }
  return { settings, lineage, sheets, schema, types, state, parts, changes, length }
}

function deltasOf({ bytes }: Segment): Delta[] | null {
  const entries = decode(entriesSegmentLayout, bytes)?.entries ?? null
  const deltas = entries?.flatMap((entry) => decode(deltaLayout, entry) ?? []) ?? null
  return deltas?.length === entries?.length ? deltas : null
}
