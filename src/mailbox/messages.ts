/** What two mailboxes say to each other; every length and every number has its limit. */

import { blob, list, message, record, type ValueOf, varint } from '../wire/layout.ts'

/** Most bytes of letters in one batch; a single larger letter goes alone. */
export const BATCH_BYTES_MAX: number = 64 * 1024
/** Most letters in one batch. */
export const BATCH_LETTERS_MAX = 4096
/** Longest letter, in bytes. */
export const LETTER_BYTES_MAX: number = 64 * 1024

const letter = record({ n: varint, body: blob(LETTER_BYTES_MAX) })

/** What goes from mailbox to mailbox. */
export const mailLayout = message({
  /** On a new connection: the last letter of yours that took effect here (S21). */
  hello: [1, record({ heard: varint })],
  /** Letters, and beside them the same number as in `hello`, as it is now (S14). */
  batch: [2, record({ letters: list(letter, BATCH_LETTERS_MAX), ack: varint })],
})
/** A hello or a batch. */
export type MailMessage = ValueOf<typeof mailLayout>
