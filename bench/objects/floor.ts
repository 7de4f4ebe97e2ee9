/**
 * The floor: what it costs to send each client as many messages, as large, as Holdfast did in the
 * same setting, and to take as many back, with the same cipher and nothing else. No links, no
 * state, no words of any protocol. A message is a datagram or a message of a WebSocket.
 */

import { openOnNode } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import {
  CIPHER_NONCE_BYTES,
  type Ciphers,
  KEY_BYTES,
  TAG_BYTES,
} from '../../packages/holdfast/src/ports.ts'
import type { Wire } from './words.ts'

/** What goes to one client in a tick, and comes back. */
export interface Traffic {
  down: Wire
  up: Wire
}

/** Bytes of the number by which a relay knows a client. */
export const NUMBER_BYTES = 2
const KEY = new Uint8Array(KEY_BYTES).fill(7)
const NONCE = new Uint8Array(CIPHER_NONCE_BYTES)
const NOTHING = new Uint8Array(0)
const OPENED = new Uint8Array(65_536)

export function ciphers(): Promise<Ciphers> {
  return openOnNode().then((crypto) => crypto.ciphers)
}

/** Packets of one size. */
export class Packets {
  readonly #ciphers: Ciphers
  readonly #text: Uint8Array
  readonly #sealedBytes: number

  /** @param bytes  of a packet, the tag included */
  constructor(own: Ciphers, bytes: number) {
    this.#ciphers = own
    this.#text = new Uint8Array(Math.max(0, Math.round(bytes) - TAG_BYTES)).fill(1)
    this.#sealedBytes = this.#text.length + TAG_BYTES
  }

  /** @param head  bytes before what is sealed, for whoever sends it on */
  sealed(head: number): Uint8Array {
    const packet = new Uint8Array(head + this.#sealedBytes)
    this.#ciphers.seal(KEY, NONCE, NOTHING, this.#text, packet.subarray(head))
    return packet
  }

  /** @throws Error if it is not such a packet */
  static open(own: Ciphers, packet: Uint8Array): void {
    const text = OPENED.subarray(0, packet.length - TAG_BYTES)
    if (!own.open(KEY, NONCE, NOTHING, packet, text)) throw new Error('a packet does not open')
  }
}

/** Counts how many are due if so many are due each time. */
export class Due {
  readonly #each: number
  #owed = 0

  constructor(each: number) {
    this.#each = each
  }

  next(): number {
    this.#owed += this.#each
    const whole = Math.floor(this.#owed)
    this.#owed -= whole
    return whole
  }
}
