/**
 * What a chain gives all of its replicas: the same signed batches in the same order (S19). Each
 * block brings one of them or none.
 */

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { mailLayout, type MailMessage } from '../../packages/mailbox/src/machine/messages.ts'
import { sameBytes } from '../../packages/holdfast/src/wire/digest.ts'

export type Batch = MailMessage & { kind: 'batch' }

/** A batch as it stands in the log. */
export interface Signed {
  from: string
  /** Which of its sender's transactions it is: the same letters may come twice, in two of them. */
  sequence: number
  bytes: Uint8Array
  proof: Uint8Array
}

/** One place of the log. */
export type Block = Signed | null

/** Keys of those who may send. */
const KEYS: Readonly<Record<string, string>> = { client: 'key of the client', other: 'other key' }

export function sign(from: string, sequence: number, batch: Batch): Signed {
  const bytes = encode(mailLayout, batch)
  return { from, sequence, bytes, proof: proofOf(from, sequence, bytes)! }
}

export function isSigned({ from, sequence, bytes, proof }: Signed): boolean {
  const expected = proofOf(from, sequence, bytes)
  return expected !== null && sameBytes(proof, expected)
}

function proofOf(from: string, sequence: number, bytes: Uint8Array): Uint8Array | null {
  const key = KEYS[from]
  if (key === undefined) return null
  const text = new TextEncoder()
  const said = [...text.encode(`${from}\0${sequence}\0`), ...bytes]
  return hmac(sha256, text.encode(key), Uint8Array.from(said))
}
