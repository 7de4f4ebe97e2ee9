/** The messages of a part by another author: the same around whatever bytes the author uses. */

import { blob, list, maybe, message, record, text, u16, varint } from '../../wire/layout.ts'

/** Most bytes of an operation, of one change and of an answer. */
export const CUSTOM_BYTES_MAX: number = 16 * 1024 - 64
export const CUSTOM_CHANGES_MAX = 256
/** Most bytes of the changes of one operation together. */
export const CUSTOM_CHANGES_BYTES_MAX: number = 40 * 1024
/** Most bytes of a snapshot. */
export const CUSTOM_SNAPSHOT_MAX: number = 4 * 1024 * 1024
/** Most bytes of a message from member to member. */
export const CUSTOM_SAID_MAX: number = 8 * 1024
/** Longest sentence of a refusal, in bytes of UTF-8. */
export const CUSTOM_REASON_MAX = 1_000
/** A snapshot goes in pieces of so many bytes. */
export const CUSTOM_PIECE_MAX: number = 32 * 1024

const bytes = blob(CUSTOM_BYTES_MAX)
const said = blob(CUSTOM_SAID_MAX)
const inc = varint

export const customMessage = message({
  /** A piece of a snapshot, for a member that is brought up to date. */
  state: [1, record({ piece: u16, of: u16, bytes: blob(CUSTOM_PIECE_MAX) })],
  /** Changes of one operation; `before` is how many were applied before them. */
  changes: [2, record({ before: varint, changes: list(bytes, CUSTOM_CHANGES_MAX) })],
  /** To that member, or (0) to all others: sent directly, or by way of the primary. */
  say: [3, record({ to: inc, bytes: said })],
  /** A message of that member, passed on by the primary. */
  said: [4, record({ from: inc, bytes: said })],
})

export const customAnswer = message({
  done: [1, record({ answer: bytes })],
  refused: [2, record({ reason: text(CUSTOM_REASON_MAX) })],
  failed: [3, record({ reason: text(CUSTOM_REASON_MAX) })],
})

/** The state with the number of its changes; no bytes if the author’s code failed. */
export const customSnapshot = record({
  made: varint,
  state: maybe(blob(CUSTOM_SNAPSHOT_MAX)),
})
