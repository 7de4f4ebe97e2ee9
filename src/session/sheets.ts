/**
 * Sheets: what is kept of a room beyond its members, as its primary writes it. The first has the
 * whole state, those behind it entries of the log, in the forms that a backup gets.
 */

import * as durable from '../replication/durable.ts'
import type { Durable } from '../replication/durable.ts'
import { type Change, type Delta, deltaLayout, RISEN_MAX } from '../replication/layouts.ts'
import { INC_MAX, type Millis } from '../machine.ts'
import { TYPES_MAX } from '../wire/difference.ts'
import { blob, decode, list, record, text, u32, varint } from '../wire/layout.ts'

/** Most bytes of a sheet, as it is read. */
export const SHEET_BYTES_MAX: number = 2 * 1024 * 1024
/** Most entries of one. */
export const SHEET_ENTRIES_MAX = 65_536

/** The whole state in a sheet. */
export const wholeLayout = record({
  /** Of the types that have state in it; and these as text, '' if that is too long. */
  schema: u32,
  types: text(TYPES_MAX),
  /** How many entries of the log it includes. */
  index: varint,
  snapshot: blob(SHEET_BYTES_MAX),
})
/** Entries in a sheet. */
export const entriesLayout = record({ entries: list(blob(2 ** 20), SHEET_ENTRIES_MAX) })

/** How far the hub has what this primary recorded. */
export interface Keeping {
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
  whole: number
  behind: number
  /** Whether we were alone as it was written last; null if nothing was. */
  lone: boolean | null
  /** The hub knows nothing else than that others are here. */
  shared: boolean
  /** A sheet is on its way. */
  flying: boolean
  sentAt: Millis
  /** Something changed that is kept and in no log. */
  loose: boolean
  /** When the oldest of `entries` was recorded, or that changed. */
  since: Millis
  /** Why the hub does not keep it, '' if it does. */
  why: string
  /** Our own store did not take what was put last. */
  untaken: boolean
}

/** A sheet, and the length of the log with it, where whoever sealed it says so. */
export interface Sheet {
  readonly bytes: Uint8Array
  readonly index: number | null
}

function stands({ index }: Sheet, length: number): boolean {
  return index === null || index === length
}

/** A room as its sheets have it. */
export interface Read {
  readonly schema: number
  readonly types: string
  readonly state: Durable
  /** Before `changes`. */
  readonly parts: durable.PartState[]
  readonly changes: readonly Change[]
  /** The length of the log with them. */
  readonly length: number
}

/** Reads the sheets of a room that is opened again; null if they are none of ours. */
export function read(sheets: readonly Sheet[]): Read | null {
  const [first, ...rest] = sheets
  const whole = first && decode(wholeLayout, first.bytes)
  const from = whole && durable.restore(whole.snapshot)
  if (!whole || whole.index > RISEN_MAX || !from || !stands(first!, whole.index)) return null
  if (from.durable.nextInc >= INC_MAX) return null
  const { schema, types, index } = whole
  const { durable: state, parts } = from
  const changes: Change[] = []
  let length = index
  for (const sheet of rest) {
    const deltas = deltasOf(sheet)
    length += deltas?.filter(({ kind }) => kind !== 'loose').length ?? 0
    if (!deltas || !stands(sheet, length)) return null
    for (const delta of deltas) {
      durable.apply(state, delta)
      if ('changes' in delta) changes.push(...delta.changes)
    }
  }
  return { schema, types, state, parts, changes, length }
}

function deltasOf({ bytes }: Sheet): Delta[] | null {
  const entries = decode(entriesLayout, bytes)?.entries ?? null
  const deltas = entries?.flatMap((entry) => decode(deltaLayout, entry) ?? []) ?? null
  return deltas?.length === entries?.length ? deltas : null
}
