/**
 * Section 21 of the document, for a reader that knows nothing else: datagrams of sealed links,
 * opened with the secrets of who asked. Its curves and ciphers are node:crypto's. All verbs throw
 * Malformed.
 */

import {
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
} from 'node:crypto'
import { limit, type Standard } from './document.ts'
import { readWhole } from './reader.ts'
import { Malformed, type Value } from './values.ts'

/** Whose handshake it is: secrets of the asker, the link key of the one asked. */
export interface Handshake {
  session: string
  /** The asker's secret of this handshake, and its own. */
  e: Uint8Array
  s: Uint8Array
  asked: Uint8Array
}

/** The handshake as far as it was read. */
export interface Opened {
  chain: Buffer
  hash: Buffer
  /** The numbers of both ends' keys; 0 while not known. */
  asker: number
  other: number
  /** What the asker seals with, and the other. */
  keys: [Buffer, Buffer] | null
}

const sha = (...parts: Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest()
const mac = (key: Uint8Array, ...parts: Uint8Array[]): Buffer =>
  createHmac('sha256', key).update(Buffer.concat(parts)).digest()

function form(prefix: string, key: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(prefix, 'hex'), key])
}

function point(secret: Uint8Array, other: Uint8Array): Buffer {
  const key = form('302e020100300506032b656e04220420', secret)
  const open = form('302a300506032b656e032100', other)
  return diffieHellman({
    privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    publicKey: createPublicKey({ key: open, format: 'der', type: 'spki' }),
  })
}

const BASE = Buffer.concat([Buffer.of(9), Buffer.alloc(31)])

function mixKey(own: Opened, input: Uint8Array): Buffer {
  const secret = mac(own.chain, input)
  own.chain = mac(secret, Buffer.of(1))
  return mac(secret, own.chain, Buffer.of(2))
}

function open(key: Uint8Array, counter: number, data: Uint8Array, sealed: Uint8Array): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32LE(counter, 4)
  const length = sealed.length - 16
  const cipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 })
  cipher.setAAD(data, { plaintextLength: length })
  cipher.setAuthTag(sealed.subarray(length))
  const text = cipher.update(sealed.subarray(0, length))
  try {
    cipher.final()
  } catch {
    throw new Malformed('does not open')
  }
  return text
}

function opened(own: Opened, input: Uint8Array, sealed: Uint8Array): Buffer {
  const text = open(mixKey(own, input), 0, own.hash, sealed)
  own.hash = sha(own.hash, sealed)
  return text
}

function prologueOf(standard: Standard, session: string): Buffer {
  const id = Buffer.from(session)
  const version = limit(standard, 'SEAL_VERSION')
  return Buffer.concat([Buffer.from('holdfast'), Buffer.of(version, id.length), id])
}

function proves(
  standard: Standard,
  of: Handshake,
  to: Uint8Array,
  bytes: Buffer,
  end: number,
): void {
  const key = mac(to, Buffer.from('holdfast proof'), prologueOf(standard, of.session))
  const wanted = mac(key, bytes.subarray(0, end - 16)).subarray(0, 16)
  if (!wanted.equals(bytes.subarray(end - 16, end))) throw new Malformed('mac1')
}

/** Message 1: what it says, and the handshake from there. */
export function readFirst(
  standard: Standard,
  of: Handshake,
  datagram: Uint8Array,
): { said: Value; own: Opened } {
  const bytes = Buffer.from(datagram)
  if (bytes[0] !== 1 || bytes[1] !== limit(standard, 'SEAL_VERSION')) throw new Malformed('kind')
  if (bytes.length < limit(standard, 'FIRST_MIN')) throw new Malformed('short')
  proves(standard, of, of.asked, bytes, bytes.length - 16)
  const name = Buffer.from('Noise_IK_25519_ChaChaPoly_SHA256')
  const hash = sha(sha(name, prologueOf(standard, of.session)), of.asked)
  const own: Opened = { chain: name, hash, asker: bytes.readUInt32BE(2), other: 0, keys: null }
  const e = bytes.subarray(6, 38)
  if (!e.equals(point(of.e, BASE))) throw new Malformed('another e')
  own.hash = sha(own.hash, e)
  const s = opened(own, point(of.e, of.asked), bytes.subarray(38, 86))
  if (!s.equals(point(of.s, BASE))) throw new Malformed('another s')
  const said = opened(own, point(of.s, of.asked), bytes.subarray(86, bytes.length - 32))
  return { said: readWhole(standard, 'SealFirst', said), own }
}

/** Message 2: what it says; the handshake has its keys. */
export function readSecond(
  standard: Standard,
  of: Handshake,
  own: Opened,
  datagram: Uint8Array,
): Value {
  const bytes = Buffer.from(datagram)
  if (bytes[0] !== 2 || bytes.readUInt32BE(5) !== own.asker) throw new Malformed('kind')
  proves(standard, of, point(of.s, BASE), bytes, bytes.length)
  own.other = bytes.readUInt32BE(1)
  const e = bytes.subarray(9, 41)
  own.hash = sha(own.hash, e)
  mixKey(own, point(of.e, e))
  const said = opened(own, point(of.s, e), bytes.subarray(41, bytes.length - 16))
  const secret = mac(own.chain)
  const first = mac(secret, Buffer.of(1))
  own.keys = [first, mac(secret, first, Buffer.of(2))]
  return readWhole(standard, 'SealSecond', said)
}

/** A packet's text, or what a word says. */
export function readSealed(standard: Standard, own: Opened, datagram: Uint8Array): Value {
  const bytes = Buffer.from(datagram)
  const width = bytes[0]! & 0xf
  const to = bytes.readUInt32BE(1)
  const at = [own.other, own.asker].indexOf(to)
  if (width < 1 || width > 3 || at < 0 || !own.keys) throw new Malformed('kind')
  const counter = bytes.readUIntBE(5, width)
  if (width > 1 && counter < 256 ** (width - 1)) throw new Malformed('a longer form')
  const head = 5 + width
  const text = open(own.keys[at]!, counter, bytes.subarray(0, head), bytes.subarray(head))
  if (bytes[0]! >> 4 === 1) return new Uint8Array(text)
  if (bytes[0]! >> 4 !== 2) throw new Malformed('kind')
  return readWhole(standard, 'SealWord', new Uint8Array(text))
}
