/** Published vectors, test/data/crypto_vectors.json: each list names its source. All in hex. */

import { readFileSync } from 'node:fs'

/** Rows of one kind. */
export interface Rows<Name extends string> {
  source: string
  rows: readonly Record<Name, string>[]
}

/** A whole handshake with its packets, in turns. */
export interface NoiseVector {
  init_prologue: string
  init_static: string
  init_ephemeral: string
  init_remote_static: string
  resp_static: string
  resp_ephemeral: string
  handshake_hash: string
  messages: readonly { payload: string; ciphertext: string }[]
}

const file = new URL('../data/crypto_vectors.json', import.meta.url)

/** All of them. */
export const VECTORS = JSON.parse(readFileSync(file, 'utf8')) as {
  x25519: Rows<'secret' | 'point' | 'shared'>
  ed25519: Rows<'seed' | 'signer' | 'message' | 'signature'>
  chacha20poly1305: Rows<'key' | 'nonce' | 'data' | 'text' | 'sealed'>
  sha256: Rows<'bytes' | 'hash'>
  hmac: Rows<'key' | 'bytes' | 'mac'>
  noise: { source: string; rows: readonly NoiseVector[] }
}

/** Bytes of a text in hex. */
export function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'))
}
