/**
 * The floor: what it costs to send each client as many messages, as large, as Holdfast did in the
 * same setting, and to receive as many, with the same cipher and nothing else: no links, no state,
 * no protocol. A message is a datagram or a message of a WebSocket.
 */

import { openOnNode } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { CIPHER_NONCE_BYTES, KEY_BYTES, TAG_BYTES } from '../../packages/holdfast/src/ports.ts'
import type { Wire } from './words.ts'

/** What the server sends to one client in a tick, and that client to the server. */
export interface Traffic {
  down: Wire
  up: Wire
}

/** Bytes of a client's number, with which the hub addresses messages. */
export const NUMBER_BYTES = 2
const KEY = new Uint8Array(KEY_BYTES).fill(7)
const NONCE = new Uint8Array(CIPHER_NONCE_BYTES)
const NOTHING = new Uint8Array(0)
const OPENED = new Uint8Array(65_536)

const { ciphers } = await openOnNode()

/** Text that is as long, once sealed, as the mean message. */
export function textOf({ payload, messages }: Wire): Uint8Array {
  return new Uint8Array(Math.max(0, Math.round(payload / messages) - TAG_BYTES)).fill(1)
}

/** @param head  bytes that are left free before the sealed text */
export function seal(text: Uint8Array, head = 0): Uint8Array {
  const message = new Uint8Array(head + text.length + TAG_BYTES)
  ciphers.seal(KEY, NONCE, NOTHING, text, message.subarray(head))
  return message
}

/** @throws Error if `seal` did not make it */
export function open(message: Uint8Array): void {
  const text = OPENED.subarray(0, message.length - TAG_BYTES)
  if (!ciphers.open(KEY, NONCE, NOTHING, message, text)) throw new Error('does not open')
}

/** Turns a mean rate into whole messages: returns how many are due now. */
export function dueOf(each: number): () => number {
  let owed = 0
  return () => {
    owed += each
    const whole = Math.floor(owed)
    owed -= whole
    return whole
  }
}
