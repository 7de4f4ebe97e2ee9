// Goal: a proof shows its secret to nobody, belongs to one purpose, and is compared in full.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { toHex } from '../../../../test/hex.ts'
import { digest, fingerprint, proofOf, proves, sameBytes } from './digest.ts'

function sha256(...parts: (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex').slice(0, 32)
}

test('a digest is the first sixteen bytes of SHA-256 (PR-2)', () => {
  for (const length of [0, 1, 63, 64, 200]) {
    const bytes = new Uint8Array(length).fill(length)
    expect(toHex(digest(bytes))).toBe(sha256(bytes))
  }
})

test('a proof is the digest of the secret and its purpose, and its hash knows it (PR-2)', () => {
  const secret = Uint8Array.from({ length: 16 }, (_, at) => at + 1)
  const proof = proofOf(secret, 'register')
  expect(toHex(proof)).toBe(sha256(secret, 'register'))
  expect(proves(proof, digest(proof))).toBe(true)
  expect(proves(secret, digest(proof))).toBe(false)
  expect(proves(proof, proof)).toBe(false)
})

test('runs of bytes are the same if each byte is and there are as many (PR-2)', () => {
  const one = Uint8Array.of(1, 2, 3)
  expect(sameBytes(one, Uint8Array.of(1, 2, 3))).toBe(true)
  expect(sameBytes(new Uint8Array(0), new Uint8Array(0))).toBe(true)
  for (const other of [[9, 2, 3], [1, 9, 3], [1, 2, 9], [1, 2], [1, 2, 3, 0], []]) {
    expect(sameBytes(one, Uint8Array.from(other)), `${other.join()}`).toBe(false)
    expect(sameBytes(Uint8Array.from(other), one), `${other.join()}`).toBe(false)
  }
})

test('a fingerprint is FNV-1a of 32 bits, of the text’s UTF-8 (PR-2)', () => {
  // From the published test vectors.
  expect(fingerprint('')).toBe(0x811c9dc5)
  expect(fingerprint('a')).toBe(0xe40c292c)
  expect(fingerprint('foobar')).toBe(0xbf9cf968)
  expect(fingerprint('ü')).not.toBe(fingerprint('u'))
})
