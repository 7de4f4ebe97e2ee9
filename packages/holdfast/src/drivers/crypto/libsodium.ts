/**
 * The package libsodium-wrappers: libsodium as WebAssembly, which plain `npm install` brings on
 * Node. Its wrappers allocate arrays at each call. This file calls the functions behind them with
 * reused memory, so a packet makes no garbage, in half of the time.
 */

import {
  KEY_BYTES,
  CIPHER_NONCE_BYTES,
  TAG_BYTES,
  type Ciphers,
  type Curves,
  type Crypto,
} from '../../ports.ts'
import { hashes } from './key-forms.ts'
import { sodiumNative } from './sodium-native.ts'

import sodium from 'libsodium-wrappers'

/** The module behind the wrappers. Addresses and lengths are bytes in `HEAPU8`. */
interface Module {
  /** Replaced when the memory grows. */
  readonly HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _free(place: number): void
  // A 64-bit length is two numbers, the low one first.
  _crypto_aead_chacha20poly1305_ietf_encrypt(
    ...of: [into: number, lengthInto: number, text: number, low: number, high: number, ...Rest]
  ): number
  _crypto_aead_chacha20poly1305_ietf_decrypt(
    ...of: [into: number, lengthInto: number, none: number, sealed: number, low: number, ...Rest2]
  ): number
}

type Rest = [data: number, low: number, high: number, none: number, nonce: number, key: number]
type Rest2 = [high: number, data: number, low: number, dataHigh: number, nonce: number, key: number]

/** Bytes that fit without a further allocation. */
const ROOM = 4096
const SMALL = 64

/** Memory of calls: one block for key and nonce, another for input and output. */
interface Memory {
  readonly module: Module
  readonly fixed: number
  place: number
  room: number
}

export async function libsodium(): Promise<Ciphers> {
  await sodium.ready
  const { libsodium: module } = sodium as unknown as { libsodium: Module }
  const fixed = module._malloc(KEY_BYTES + CIPHER_NONCE_BYTES)
  const memory: Memory = { module, fixed, place: module._malloc(ROOM), room: ROOM }
  const once = fixed + KEY_BYTES
  return {
    name: 'libsodium-wrappers',
    seal: (key, nonce, data, text, into) => {
      const out = lay(memory, key, nonce, data, text)
      const known = out - data.length
      const given = [text.length, 0, known, data.length, 0, 0, once, fixed] as const
      module._crypto_aead_chacha20poly1305_ietf_encrypt(out, 0, memory.place, ...given)
      take(module, out, into)
    },
    open: (key, nonce, data, sealed, into) => {
      const out = lay(memory, key, nonce, data, sealed)
      const known = out - data.length
      const given = [sealed.length, 0, known, data.length, 0, once, fixed] as const
      const { place } = memory
      if (module._crypto_aead_chacha20poly1305_ietf_decrypt(out, 0, 0, place, ...given) !== 0) {
        return false
      }
      take(module, out, into)
      return true
    },
    ...hashes,
  }
}

/**
 * The curves of libsodium. Those of node:crypto take three times as long: they create an object for
 * each raw key and compute the public key with it.
 */
export async function libsodiumCurves(): Promise<Curves> {
  await sodium.ready
  const secretOf = (seed: Uint8Array): Uint8Array =>
    sodium.crypto_sign_seed_keypair(seed).privateKey
  return {
    name: 'libsodium-wrappers',
    agree: (secret, point) => {
      try {
        return sodium.crypto_scalarmult(secret, point)
      } catch {
        return null
      }
    },
    signer: (seed) => sodium.crypto_sign_seed_keypair(seed).publicKey,
    sign: (seed, message) => sodium.crypto_sign_detached(message, secretOf(seed)),
    verify: (signer, message, signature) => {
      return sodium.crypto_sign_verify_detached(signature, message, signer)
    },
  }
}

/** Writes the input of a call, and the data behind it. @returns the address of the output */
function lay(
  memory: Memory,
  key: Uint8Array,
  nonce: Uint8Array,
  data: Uint8Array,
  from: Uint8Array,
): number {
  const need = 2 * from.length + data.length + TAG_BYTES
  const { module, fixed } = memory
  if (need > memory.room) {
    module._free(memory.place)
    memory.room = 2 * need
    memory.place = module._malloc(memory.room)
  }
  const bytes = module.HEAPU8
  bytes.set(key, fixed)
  bytes.set(nonce, fixed + KEY_BYTES)
  bytes.set(from, memory.place)
  bytes.set(data, memory.place + from.length)
  return memory.place + from.length + data.length
}

function take({ HEAPU8 }: Module, from: number, into: Uint8Array): void {
  if (into.length > SMALL) into.set(HEAPU8.subarray(from, from + into.length))
  // A loop is faster for a few bytes.
  else for (let at = 0; at < into.length; at++) into[at] = HEAPU8[from + at]!
}

/** Ciphers of `sodium-native` if installed, else `libsodium-wrappers`, and the latter's curves. */
export async function openOnNode(load?: () => unknown): Promise<Crypto> {
  const ciphers = sodiumNative(load) ?? (await libsodium())
  return { ciphers, curves: await curvesOnNode() }
}

/** Only the curves, for code that seals nothing. */
export function curvesOnNode(): Promise<Curves> {
  return libsodiumCurves()
}
