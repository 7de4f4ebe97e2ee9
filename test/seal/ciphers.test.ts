// Goal: every driver of ciphers and curves computes what the RFCs say, and the same as all others;
// the toys of the simulator are no ciphers, and yet nothing that was altered opens in them.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openInPage, nobleCiphers } from '../../packages/holdfast/src/drivers/crypto/browser.ts'
import { libsodium, libsodiumCurves } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { nobleCurves } from '../../packages/holdfast/src/drivers/crypto/noble-curves.ts'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { nodeCiphers } from '../node-ciphers.ts'
import { openOnNode } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { sodiumNative } from '../../packages/holdfast/src/drivers/crypto/sodium-native.ts'
import { webCurves } from '../../packages/holdfast/src/drivers/crypto/web-curves.ts'
import {
  BASE_POINT,
  CIPHER_NONCE_BYTES,
  KEY_BYTES,
  TAG_BYTES,
} from '../../packages/holdfast/src/ports.ts'
import type { Ciphers, Curves, SigningCurves } from '../../packages/holdfast/src/ports.ts'
import { toyCiphers, toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { toHex } from '../hex.ts'
import { fromHex, VECTORS } from './vectors.ts'

const CIPHERS: readonly Ciphers[] = [sodiumNative()!, await libsodium(), nobleCiphers, nodeCiphers]
const CURVES: readonly Curves[] = [
  nodeCurves,
  await libsodiumCurves(),
  (await webCurves())!,
  nobleCurves,
]
const RUNS = { seed: 19, numRuns: 60 }

const bytes = (count: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: count, maxLength: count })
interface Sealing {
  key: Uint8Array
  nonce: Uint8Array
  data: Uint8Array
  text: Uint8Array
}
const sealing: fc.Arbitrary<Sealing> = fc.record({
  key: bytes(KEY_BYTES),
  nonce: bytes(CIPHER_NONCE_BYTES),
  data: fc.uint8Array({ maxLength: 40 }),
  text: fc.uint8Array({ maxLength: 1300 }),
})

// At an odd place of its memory, as packets come.
const place = (length: number): Uint8Array => new Uint8Array(length + 3).subarray(3)

function seal(ciphers: Ciphers, { key, nonce, data, text }: Sealing): Uint8Array {
  const into = place(text.length + TAG_BYTES)
  ciphers.seal(key, nonce, data, text, into)
  return into
}

function open(ciphers: Ciphers, one: Sealing, sealed: Uint8Array): Uint8Array | null {
  const into = place(Math.max(0, sealed.length - TAG_BYTES))
  return ciphers.open(one.key, one.nonce, one.data, sealed, into) ? into : null
}

/** The same with one bit turned, by a number that says which. */
function turned(from: Uint8Array, which: number): Uint8Array {
  const copy = from.slice()
  copy[which % copy.length]! ^= 1 << (which % 8)
  return copy
}

describe.each(CIPHERS)('$name', (ciphers) => {
  test('seals and opens the example of RFC 8439', () => {
    for (const row of VECTORS.chacha20poly1305.rows) {
      const [key, nonce, data, text] = [row.key, row.nonce, row.data, row.text].map(fromHex)
      const one = { key: key!, nonce: nonce!, data: data!, text: text! }
      expect(toHex(seal(ciphers, one))).toBe(row.sealed)
      expect(toHex(open(ciphers, one, fromHex(row.sealed))!)).toBe(row.text)
    }
  })
  test('hashes as FIPS 180-4 and RFC 4231 do', () => {
    for (const row of VECTORS.sha256.rows) {
      expect(toHex(ciphers.hash(fromHex(row.bytes)))).toBe(row.hash)
    }
    for (const row of VECTORS.hmac.rows) {
      expect(toHex(ciphers.hmac(fromHex(row.key), fromHex(row.bytes)))).toBe(row.mac)
    }
  })
  test('seals whatever all others seal to the same bytes, and opens theirs', () => {
    const check = (one: Sealing): void => {
      const sealed = seal(nodeCiphers, one)
      expect(toHex(seal(ciphers, one))).toBe(toHex(sealed))
      expect(toHex(open(ciphers, one, sealed)!)).toBe(toHex(one.text))
    }
    fc.assert(fc.property(sealing, check), RUNS)
  })
})

describe.each([...CIPHERS, toyCiphers])('$name', (ciphers) => {
  test('opens nothing that was cut or altered, nor by another key, nonce or data (SE-2)', () => {
    const check = (one: Sealing, which: number): void => {
      const sealed = seal(ciphers, one)
      expect(open(ciphers, one, sealed)).toEqual(one.text)
      expect(open(ciphers, one, turned(sealed, which))).toBe(null)
      expect(open(ciphers, one, sealed.subarray(0, which % sealed.length))).toBe(null)
      expect(open(ciphers, { ...one, key: turned(one.key, which) }, sealed)).toBe(null)
      expect(open(ciphers, { ...one, nonce: turned(one.nonce, which) }, sealed)).toBe(null)
      const data = one.data.length === 0 ? new Uint8Array(1) : turned(one.data, which)
      expect(open(ciphers, { ...one, data }, sealed)).toBe(null)
    }
    fc.assert(fc.property(sealing, fc.nat(), check), RUNS)
  })
})

describe.each(CURVES)('$name', (curves) => {
  test('multiplies as RFC 7748 does', async () => {
    for (const { secret, point, shared } of VECTORS.x25519.rows) {
      expect(toHex((await curves.agree(fromHex(secret), fromHex(point)))!)).toBe(shared)
    }
  })
  test('signs and verifies as RFC 8032 does', async () => {
    for (const { seed, signer, message, signature } of VECTORS.ed25519.rows) {
      expect(toHex(await curves.signer(fromHex(seed)))).toBe(signer)
      expect(toHex(await curves.sign(fromHex(seed), fromHex(message)))).toBe(signature)
      const [key, said, signed] = [signer, message, signature].map(fromHex)
      expect(await curves.verify(key!, said!, signed!)).toBe(true)
    }
  })
  test('signs the same by a key that is made once, where it has one', async () => {
    if (!('signing' in curves)) return
    const signers = curves as Curves & SigningCurves
    for (const { seed, message } of VECTORS.ed25519.rows) {
      const by = signers.signing(fromHex(seed))
      const signed = await curves.sign(fromHex(seed), fromHex(message))
      expect([by(fromHex(message)), by(fromHex(message))]).toEqual([signed, signed])
    }
  })
  test('makes nothing of points that give nothing secret', async () => {
    const one = Uint8Array.of(1, ...new Uint8Array(31))
    for (const point of [new Uint8Array(32), one]) {
      expect(await curves.agree(new Uint8Array(32).fill(7), point)).toBe(null)
    }
  })
})

describe.each([...CURVES, toyCurves])('$name', (curves) => {
  const publicOf = async (secret: Uint8Array): Promise<Uint8Array> =>
    (await curves.agree(secret, BASE_POINT))!

  test('two ends agree, and a third does not', async () => {
    const check = async (a: Uint8Array, b: Uint8Array, c: Uint8Array): Promise<void> => {
      const shared = await curves.agree(a, await publicOf(b))
      expect(await curves.agree(b, await publicOf(a))).toEqual(shared)
      const other = await publicOf(c)
      if (toHex(other) === toHex(await publicOf(b))) return
      expect(await curves.agree(a, other)).not.toEqual(shared)
    }
    const keys = bytes(KEY_BYTES)
    await fc.assert(fc.asyncProperty(keys, keys, keys, check), { ...RUNS, numRuns: 12 })
  })
  test('a signature is of one message by one key', async () => {
    const check = async (seed: Uint8Array, said: Uint8Array, which: number): Promise<void> => {
      const signer = await curves.signer(seed)
      const signed = await curves.sign(seed, said)
      expect(await curves.verify(signer, said, signed)).toBe(true)
      expect(await curves.verify(signer, turned(said, which), signed)).toBe(false)
      expect(await curves.verify(signer, said, turned(signed, which))).toBe(false)
      expect(await curves.verify(turned(signer, which), said, signed)).toBe(false)
    }
    const said = fc.uint8Array({ minLength: 1, maxLength: 200 })
    const property = fc.asyncProperty(bytes(KEY_BYTES), said, fc.nat(), check)
    await fc.assert(property, { ...RUNS, numRuns: 12 })
  })
  test('gives what all others give', async () => {
    if (curves === toyCurves) return
    const check = async (seed: Uint8Array, said: Uint8Array): Promise<void> => {
      expect(await publicOf(seed)).toEqual(nodeCurves.agree(seed, BASE_POINT))
      expect(await curves.signer(seed)).toEqual(nodeCurves.signer(seed))
      expect(await curves.sign(seed, said)).toEqual(nodeCurves.sign(seed, said))
    }
    const property = fc.asyncProperty(bytes(KEY_BYTES), fc.uint8Array({ maxLength: 99 }), check)
    await fc.assert(property, { ...RUNS, numRuns: 12 })
  })
})

describe('which are taken', () => {
  const missing = (): never => {
    throw new Error('not installed')
  }
  test('on Node sodium-native where it is installed, else what comes with the package', async () => {
    expect((await openOnNode()).ciphers.name).toBe('sodium-native')
    const { ciphers, curves } = await openOnNode(missing)
    expect([ciphers.name, curves.name]).toEqual(['libsodium-wrappers', 'libsodium-wrappers'])
  })
  test('in pages the platform’s curves, and a package where it has none', async () => {
    expect((await openInPage()).curves.name).toBe('WebCrypto')
    const platform = Object.getOwnPropertyDescriptor(globalThis, 'crypto')!
    Object.defineProperty(globalThis, 'crypto', { ...platform, get: () => undefined })
    try {
      expect((await openInPage()).curves.name).toBe('@noble/curves')
    } finally {
      Object.defineProperty(globalThis, 'crypto', platform)
    }
  })
})
