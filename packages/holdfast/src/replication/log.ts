/**
 * The log that primary sends to backup, and the output that waits for it.
 *
 * The primary appends the result of every durable change, sends it at once, and holds all output
 * that would reveal it. An effect that was held after entry n leaves when the backup has n entries,
 * or at once while the primary is alone. So the backup has whatever any member has seen, and a
 * takeover loses nothing. (Output commit: Elnozahy et al., "A survey of rollback-recovery
 * protocols", 2002.)
 *
 * Entries are counted from the beginning of the session; only those that the backup lacks are kept.
 */

import type { Millis } from '../machine.ts'

/** The primary's log with the output that is held for it. */
export interface Log<Effect> {
  /** How many entries are no longer kept; the index of `entries[0]`. */
  base: number
  /** Encoded deltas that the backup may lack, oldest first. */
  entries: Uint8Array[]
  bytes: number
  /** How many entries the backup has acked. */
  acked: number
  /** When the oldest entry that is not acked was appended; Infinity if all are. */
  unackedSince: Millis
  /** Held effects, oldest first. */
  held: Held<Effect>[]
}

/** An effect that may leave once the log is safe up to `length` entries. */
export interface Held<Effect> {
  length: number
  effect: Effect
}

/** A log that continues after `length` entries known to both sides. */
export function create<Effect>(length: number): Log<Effect> {
  return { base: length, entries: [], bytes: 0, acked: length, unackedSince: Infinity, held: [] }
}

/** The number of entries, including those no longer kept. */
export function lengthOf<Effect>(log: Log<Effect>): number {
  return log.base + log.entries.length
}

export function append<Effect>(log: Log<Effect>, now: Millis, delta: Uint8Array): number {
  if (log.acked === lengthOf(log)) log.unackedSince = now
  log.entries.push(delta)
  log.bytes += delta.length
  return lengthOf(log) - 1
}

/** Holds an effect behind everything that was appended so far. */
export function hold<Effect>(log: Log<Effect>, effect: Effect): void {
  log.held.push({ length: lengthOf(log), effect })
}

/** The entry at an index; null if it is no longer kept, or does not exist yet. */
export function entryAt<Effect>(log: Log<Effect>, index: number): Uint8Array | null {
  return log.entries[index - log.base] ?? null
}

/** The backup holds `length` entries. @returns false if that is no progress, or impossible */
export function acknowledge<Effect>(log: Log<Effect>, now: Millis, length: number): boolean {
  if (length <= log.acked || length > lengthOf(log)) return false
  log.acked = length
  log.unackedSince = length === lengthOf(log) ? Infinity : now
  return true
}

/** Counts all entries as acked: the backup holds them, or there is none. */
export function ackAll<Effect>(log: Log<Effect>): void {
  log.acked = lengthOf(log)
  log.unackedSince = Infinity
}

/** As follower: an entry was applied, and need not be kept. */
export function advance<Effect>(log: Log<Effect>): void {
  log.base++
  log.acked = log.base
}

export function unackedCount<Effect>(log: Log<Effect>): number {
  return lengthOf(log) - log.acked
}

export function trim<Effect>(log: Log<Effect>, length: number): void {
  const count = Math.min(length, lengthOf(log)) - log.base
  if (count <= 0) return
  for (const entry of log.entries.splice(0, count)) log.bytes -= entry.length
  log.base += count
}

/** Releases, in order, the effects that wait for at most `length` entries. */
export function release<Effect>(
  log: Log<Effect>,
  length: number,
  leave: (effect: Effect) => void,
): void {
  let count = 0
  while (count < log.held.length && log.held[count]!.length <= length) count++
  for (const { effect } of log.held.splice(0, count)) leave(effect)
}
