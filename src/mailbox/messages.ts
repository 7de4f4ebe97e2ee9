/** What two mailboxes say to each other; every length and every number has its limit. */

import { blob, fixed, list, message, record, text, type ValueOf, varint } from '../wire/layout.ts'

/** Most bytes of letters in one batch; a single larger letter goes alone. */
export const BATCH_BYTES_MAX: number = 64 * 1024
/** Most letters in one batch. */
export const BATCH_LETTERS_MAX = 4096
/** Longest letter, in bytes. */
export const LETTER_BYTES_MAX: number = 64 * 1024

/** Longest name of a mailbox, in bytes. */
export const MAIL_ID_MAX = 64
/** Version of what mailboxes say to each other. */
export const MAIL_VERSION = 1
/** Longest reason why a connection is refused, in bytes. */
export const REFUSAL_MAX = 300
/** Bytes of a nonce, a proof and the name of a store. */
export const NONCE_BYTES = 16

/** Whether a mailbox may be called so: some text, and nothing in it that a terminal obeys. */
export function isMailId(id: string): boolean {
  const bytes = new TextEncoder().encode(id).length
  return bytes >= 1 && bytes <= MAIL_ID_MAX && !/\p{Control}/u.test(id)
}

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

/** What goes before, on a connection that has to say first whose it is. */
export const greetingLayout = message({
  /** Who speaks to whom; `book` names the speaker's store, for a new one counts from one again. */
  open: [
    16,
    record({
      version: varint,
      from: text(MAIL_ID_MAX),
      to: text(MAIL_ID_MAX),
      nonce: fixed(NONCE_BYTES),
      book: fixed(NONCE_BYTES),
    }),
  ],
  /** That the speaker has the key. */
  proof: [17, record({ proof: fixed(NONCE_BYTES) })],
  /** Why there will be no letters. */
  refused: [18, record({ why: text(REFUSAL_MAX) })],
})
/** What is said before letters go. */
export type Greeting = ValueOf<typeof greetingLayout>
