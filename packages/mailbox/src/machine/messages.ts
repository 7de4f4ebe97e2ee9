/** The messages between two mailboxes; every length and number is bounded. */

import { KEY_BYTES, SIGNATURE_BYTES } from '../../../holdfast/src/ports.ts'
import {
  DIGEST_BYTES,
  LIFE_BYTES,
  LIVES_MAX,
  NO_DIGEST,
  NO_LIFE,
} from '../../../holdfast/src/wire/history.ts'
import { only, type Versions } from '../../../holdfast/src/wire/versions.ts'
import {
  blob,
  encode,
  fixed,
  flag,
  list,
  message,
  record,
  text,
  type ValueOf,
  varint,
} from '../../../holdfast/src/wire/layout.ts'

/** Most bytes of letters in one batch; a larger letter goes alone. */
export const BATCH_BYTES_MAX: number = 64 * 1024
export const BATCH_LETTERS_MAX = 4096
/** Longest letter, in bytes. */
export const LETTER_BYTES_MAX: number = 64 * 1024

export const MAIL_ID_MAX = 64
/** The version of the messages between mailboxes. */
export const MAIL_VERSION = 3
/** The versions that this build speaks. */
export const MAIL_VERSIONS: Versions = only(MAIL_VERSION)
export const REFUSAL_MAX = 300
export const NONCE_BYTES = 16
/** Most signatures in a key letter: by the new key and by earlier ones. */
export const MAIL_KEYS_MAX = 8
/** The first byte of a key letter. */
export const KEY_LETTER = 4

const encoder = new TextEncoder()

/** Whether a mailbox id is valid: text without control characters, which terminals obey. */
export function isMailId(id: string): boolean {
  const bytes = encoder.encode(id).length
  return bytes >= 1 && bytes <= MAIL_ID_MAX && !/\p{Control}/u.test(id)
}

const letter = record({ n: varint, body: blob(LETTER_BYTES_MAX) })
const life = record({ first: varint, life: fixed(LIFE_BYTES) })

export const mailLayout = message({
  /** First on a connection: the sender's numbers in both directions (S21), to be compared. */
  hello: [
    1,
    record({
      /** The receiver's last letter that took effect here, and the digest up to it. */
      heard: varint,
      heardDigest: fixed(DIGEST_BYTES),
      /** The last letter to the receiver, and the last one it acked. */
      posted: varint,
      postedDigest: fixed(DIGEST_BYTES),
      acked: varint,
      ourLives: list(life, LIVES_MAX),
      theirLives: list(life, LIVES_MAX),
    }),
  ],
  /** Letters of one life, with an ack: the sender's current `heard` (S14). */
  batch: [
    2,
    record({
      life: fixed(LIFE_BYTES),
      /** The digest before the first of the letters. */
      before: fixed(DIGEST_BYTES),
      letters: list(letter, BATCH_LETTERS_MAX),
      ack: varint,
      ackDigest: fixed(DIGEST_BYTES),
    }),
  ],
  /** The histories of the two mailboxes diverged: letters stop. */
  fault: [3, record({ why: text(REFUSAL_MAX) })],
})
export type MailMessage = ValueOf<typeof mailLayout>
/** The first message on a connection. */
export type Hello = MailMessage & { kind: 'hello' }
export type Batch = MailMessage & { kind: 'batch' }

/** A batch without digests, for a trusted carrier. */
export function plainBatch(letters: Batch['letters'], ack: number): Batch {
  const nothing = { life: NO_LIFE, before: NO_DIGEST, ackDigest: NO_DIGEST }
  return { kind: 'batch', ...nothing, letters, ack }
}

export const handshakeLayout = message({
  /** Opens the handshake: who calls whom. It is the same in every version, which it names. */
  open: [
    16,
    record({
      version: varint,
      from: text(MAIL_ID_MAX),
      to: text(MAIL_ID_MAX),
      nonce: fixed(NONCE_BYTES),
    }),
  ],
  /** Proves possession of the sender's key. */
  proof: [17, record({ signature: fixed(SIGNATURE_BYTES) })],
  /** Refuses the connection, with the reason. */
  refused: [18, record({ why: text(REFUSAL_MAX) })],
  /** After the handshake, a heartbeat; `wanted` asks for one in return. */
  alive: [19, record({ wanted: flag })],
  /** The key by which the sender knows the receiver; all zero for none. */
  known: [20, record({ key: fixed(KEY_BYTES) })],
  /** The sender's key, which its proof will use. */
  key: [21, record({ key: fixed(KEY_BYTES) })],
})
export type HandshakeMessage = ValueOf<typeof handshakeLayout>

const PROOF_LABEL = 'holdfast mailbox'
/** The text that a proof signs; `calls` is set for the side that opened the connection. */
export const proofLayout = record({
  label: text(PROOF_LABEL.length),
  /** The caller's offer, signed so that no one can remove a version from it. */
  version: varint,
  calls: flag,
  caller: text(MAIL_ID_MAX),
  called: text(MAIL_ID_MAX),
  callerKey: fixed(KEY_BYTES),
  calledKey: fixed(KEY_BYTES),
  /** The key by which each side knows the other. */
  callerKnows: fixed(KEY_BYTES),
  calledKnows: fixed(KEY_BYTES),
  callerNonce: fixed(NONCE_BYTES),
  calledNonce: fixed(NONCE_BYTES),
})

/** The bytes that a proof signs: the two sides, their keys, and the connection's nonces. */
export function proofText(of: Omit<ValueOf<typeof proofLayout>, 'label'>): Uint8Array {
  return encode(proofLayout, { ...of, label: PROOF_LABEL })
}

const signed = record({ key: fixed(KEY_BYTES), signature: fixed(SIGNATURE_BYTES) })
/** A key letter, after its first byte. */
export const keyLetterLayout = record({
  /** The earlier keys, newest first, each with its signature. */
  before: list(signed, MAIL_KEYS_MAX - 1),
  now: signed,
})
/** A new key, signed by itself and by the earlier ones. */
export type KeyLetter = ValueOf<typeof keyLetterLayout>

const KEY_LABEL = 'holdfast mailbox key'
/** The text that all signatures of a key letter sign. */
export const keyTextLayout = record({
  label: text(KEY_LABEL.length),
  id: text(MAIL_ID_MAX),
  before: list(fixed(KEY_BYTES), MAIL_KEYS_MAX - 1),
  now: fixed(KEY_BYTES),
})

/** The bytes that a mailbox's keys sign: its earlier keys and its new one. */
export function keyText(id: string, before: Uint8Array[], now: Uint8Array): Uint8Array {
  return encode(keyTextLayout, { label: KEY_LABEL, id, before, now })
}
