/** What two mailboxes say to each other; every length and every number has its limit. */

import { DIGEST_BYTES, LIFE_BYTES, LIVES_MAX, NO_DIGEST, NO_LIFE } from '../wire/history.ts'
import {
  blob,
  fixed,
  flag,
  list,
  message,
  record,
  text,
  type ValueOf,
  varint,
} from '../wire/layout.ts'

/** Most bytes of letters in one batch; a single larger letter goes alone. */
export const BATCH_BYTES_MAX: number = 64 * 1024
/** Most letters in one batch. */
export const BATCH_LETTERS_MAX = 4096
/** Longest letter, in bytes. */
export const LETTER_BYTES_MAX: number = 64 * 1024

/** Longest name of a mailbox, in bytes. */
export const MAIL_ID_MAX = 64
/** Version of what mailboxes say to each other. */
export const MAIL_VERSION = 2
/** Longest reason why a connection is refused, in bytes. */
export const REFUSAL_MAX = 300
/** Bytes of a nonce and of a proof. */
export const NONCE_BYTES = 16

/** Whether a mailbox may be called so: some text, and nothing in it that a terminal obeys. */
export function isMailId(id: string): boolean {
  const bytes = new TextEncoder().encode(id).length
  return bytes >= 1 && bytes <= MAIL_ID_MAX && !/\p{Control}/u.test(id)
}

const letter = record({ n: varint, body: blob(LETTER_BYTES_MAX) })
const life = record({ first: varint, life: fixed(LIFE_BYTES) })

/** What goes from mailbox to mailbox. */
export const mailLayout = message({
  /** On a new connection: how far each direction is here (S21), to be compared. */
  hello: [
    1,
    record({
      /** The last letter of yours that took effect here, and the digest up to it. */
      heard: varint,
      heardDigest: fixed(DIGEST_BYTES),
      /** The last letter to you, and the last that you acked. */
      posted: varint,
      postedDigest: fixed(DIGEST_BYTES),
      acked: varint,
      ourLives: list(life, LIVES_MAX),
      theirLives: list(life, LIVES_MAX),
    }),
  ],
  /** Letters of one life, and beside them what `hello` says of `heard`, as it is now (S14). */
  batch: [
    2,
    record({
      life: fixed(LIFE_BYTES),
      /** The digest before the first of them. */
      before: fixed(DIGEST_BYTES),
      letters: list(letter, BATCH_LETTERS_MAX),
      ack: varint,
      ackDigest: fixed(DIGEST_BYTES),
    }),
  ],
  /** Histories of these two do not fit: letters between them rest. */
  fault: [3, record({ why: text(REFUSAL_MAX) })],
})
/** A hello, a batch or a fault. */
export type MailMessage = ValueOf<typeof mailLayout>
/** What a hello says. */
export type Hello = MailMessage & { kind: 'hello' }
/** Letters and an ack. */
export type Batch = MailMessage & { kind: 'batch' }

/** A batch that says nothing of its history, for a carrier that vouches for what it brings. */
export function plainBatch(letters: Batch['letters'], ack: number): Batch {
  const nothing = { life: NO_LIFE, before: NO_DIGEST, ackDigest: NO_DIGEST }
  return { kind: 'batch', ...nothing, letters, ack }
}

/** What goes before, on a connection that has to say first whose it is. */
export const greetingLayout = message({
  /** Who speaks to whom. */
  open: [
    16,
    record({
      version: varint,
      from: text(MAIL_ID_MAX),
      to: text(MAIL_ID_MAX),
      nonce: fixed(NONCE_BYTES),
    }),
  ],
  /** That the speaker has the key. */
  proof: [17, record({ proof: fixed(NONCE_BYTES) })],
  /** Why there will be no letters. */
  refused: [18, record({ why: text(REFUSAL_MAX) })],
  /** After the greeting: somebody is here, and whether that is to be said in return. */
  alive: [19, record({ wanted: flag })],
})
/** What is said before letters go. */
export type Greeting = ValueOf<typeof greetingLayout>
