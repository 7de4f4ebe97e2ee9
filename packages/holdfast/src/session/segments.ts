/**
 * Segments: the stored state of a room that outlives its members, as its primary writes it. The
 * first segment is a snapshot of the whole state; those after it contain entries of the log. Both
 * use the encoding that a backup receives.
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

/** Most bytes of a segment that is read. */
export const SEGMENT_BYTES_MAX: number = 2 * 1024 * 1024
/** Most bytes of the state in a snapshot, which has types, settings and a seal beside it. */
export const SNAPSHOT_MAX: number = SEGMENT_BYTES_MAX - 128 * 1024
/** Most entries of one segment. */
export const SEGMENT_ENTRIES_MAX = 65_536

/** A snapshot segment begins with this, then the versions that can read it. */
const MARK = 'HOLDFAST'
/** The versions that this build reads. Version 1, of 0.2, has neither mark nor version. */
export const SEGMENT_VERSIONS: Versions = { lowest: 1, highest: 2 }

/** A snapshot segment of 0.2. */
export const oldSnapshotSegmentLayout = record({
  schema: u32,
  types: text(TYPES_MAX),
  index: varint,
  snapshot: blob(SEGMENT_BYTES_MAX),
})

const headLayout = record({ mark: text(MARK.length), versions: varint })
export const snapshotSegmentLayout = record({
  /** MARK; a build that speaks one of `versions` can read the segment. */
  mark: text(MARK.length),
  versions: varint,
  /** The founder's settings; a room with a key does not trust the hub for them. */
  settings: settingsLayout,
  lineage: lineageLayout,
  /** The number of segments that its leader has written, this one included. */
  segments: varint,
  /** Fingerprint of the types with state in it, and these types as text ('' if too long). */
  schema: u32,
  types: text(TYPES_MAX),
  /** The number of log entries that it includes. */
  index: varint,
  snapshot: blob(SEGMENT_BYTES_MAX),
})
export const entriesSegmentLayout = record({ entries: list(blob(2 ** 20), SEGMENT_ENTRIES_MAX) })

/** How much of what this primary recorded the hub has stored. */
export interface Persistence {
  /** The session's settings keep its room. */
  readonly on: boolean
  /** Nothing is ever acknowledged before the hub has it on disk. */
  readonly always: boolean
  /** We are attached to the hub as a member. */
  open: boolean
  /** Number of the segment that was written last. */
  number: number
  /** Length of the log that was written; -1 if a snapshot must be written next. */
  sent: number
  /** Length of the log that the hub has on disk; -1 if it has nothing of ours. */
  kept: number
  /** Entries before this one need no ack of the hub: the room was founded or opened with them. */
  readonly free: number
  /** Entries behind `sent`, oldest first, and their bytes. */
  entries: Uint8Array[]
  bytes: number
  /** Bytes of the last snapshot segment, and of all entry segments after it. */
  snapshotBytes: number
  entriesBytes: number
  /** The policy in the last segment; null if none was written. */
  sentAcks: AckPolicy | null
  /** The strictest policy that the hub may believe in: it decides when the room may be opened. */
  believedAcks: AckPolicy
  inFlight: boolean
  sentAt: Millis
  unlogged: boolean
  /** Since when `entries` or unlogged changes wait. */
  since: Millis
  /** Why the hub does not store the room; '' if it does. */
  why: string
  /** The length of the log up to its last operation. */
  operations: number
  segments: number
  /** `operations` and `segments` as of the last segment. */
  asked: Pick<PersistedPoint, 'index' | 'segments'>
  /** The persisted point that was last announced to the members. */
  announced: PersistedPoint | null
}

/** A segment, and the length of the log up to it if its seal contains that. */
export interface Segment {
  readonly bytes: Uint8Array
  readonly index: number | null
}

function hasLength({ index }: Segment, length: number): boolean {
  return index === null || index === length
}

/** The state of a room that was read from its segments. */
export interface StoredState {
  /** Null for segments of 0.2. */
  readonly settings: Settings | null
  readonly lineage: LeaderStart[]
  /** The number of segments that their leader had written; 0 for 0.2. */
  readonly segments: number
  readonly schema: number
  readonly types: string
  readonly state: Durable
  /** The state before `changes`. */
  readonly parts: durable.PartState[]
  readonly changes: readonly Change[]
  /** The length of the log after `changes`. */
  readonly length: number
}

export function writeSnapshotSegment(
  whole: Omit<ValueOf<typeof snapshotSegmentLayout>, 'mark' | 'versions'>,
): Uint8Array {
  return encode(snapshotSegmentLayout, {
    ...whole,
    mark: MARK,
    versions: encodeVersions(only(SEGMENT_VERSIONS.highest)),
  })
}

/** Decodes a snapshot segment of this build or of 0.2; null if it is neither. */
export function readSnapshotSegment(
  bytes: Uint8Array,
):
  | (Omit<ValueOf<typeof snapshotSegmentLayout>, 'mark' | 'versions' | 'settings'> &
      Pick<StoredState, 'settings'>)
  | null {
  const versions = versionsOf(bytes)
  if (versions !== null) {
    return negotiate(SEGMENT_VERSIONS, versions) === null
      ? null
      : decode(snapshotSegmentLayout, bytes)
  }
  const old = decode(oldSnapshotSegmentLayout, bytes)
  return old && { ...old, settings: null, lineage: [], segments: 0 }
}

/** The versions that can read a snapshot segment, by its own header; null for one of 0.2. */
export function versionsOf(bytes: Uint8Array): number | null {
  const reader = createReader(bytes)
  const { mark, versions } = headLayout.read(reader)
  return reader.failed || mark !== MARK ? null : versions
}

/** Reads the segments of a stored room; null if they are malformed. */
export function read(all: readonly Segment[]): StoredState | null {
  const [first, ...rest] = all
  const whole = first ? readSnapshotSegment(first.bytes) : null
  const from = whole && durable.restore(whole.snapshot)
  if (!whole || whole.index > COUNTER_MAX || !from || !hasLength(first!, whole.index)) return null
  if (from.durable.nextInc >= INC_MAX) return null
  const { schema, types, index, settings, lineage } = whole
  const segments = whole.segments === 0 ? 0 : whole.segments + rest.length
  const { durable: state, parts } = from
  const changes: Change[] = []
  let length = index
  for (const segment of rest) {
    const deltas = deltasOf(segment)
    length += deltas?.filter(({ kind }) => kind !== 'loose').length ?? 0
    if (!deltas || !hasLength(segment, length)) return null
    for (const delta of deltas) {
      durable.apply(state, delta)
      if ('changes' in delta) changes.push(...delta.changes)
    }
  }
  return { settings, lineage, segments, schema, types, state, parts, changes, length }
}

function deltasOf({ bytes }: Segment): Delta[] | null {
  const entries = decode(entriesSegmentLayout, bytes)?.entries ?? null
  const deltas = entries?.flatMap((entry) => decode(deltaLayout, entry) ?? []) ?? null
  return deltas?.length === entries?.length ? deltas : null
}
