/**
 * Opens what pages sent one another, with the keys that they tell who asks (`holdfastKeyLog`): the
 * result reads as if their ciphers had hidden nothing. Of handshakes only the numbers of keys are
 * left, for those keys are never told.
 */

import { createDecipheriv } from 'node:crypto'

const TAG = Buffer.alloc(16)
const [FIRST, SECOND, SEALED] = [1, 2, 16]

/** Keys of pages, and which of them each number belongs to. */
export interface Keys {
  all: readonly Buffer[]
  known: Map<number, Buffer>
}

/** A message on a stream to the hub, with the datagram in it opened; null for what cannot be. */
export function unsealed(keys: Keys, message: Uint8Array): Uint8Array | null {
  if (message[0] === 0) return message
  // Behind the kind stands the number of who it is for.
  const at = 2 + message.subarray(1).findIndex((byte) => byte < 0x80)
  const datagram = opened(keys, Buffer.from(message.subarray(at)))
  return datagram && Uint8Array.of(...message.subarray(0, at), ...datagram)
}

function opened(keys: Keys, datagram: Buffer): Buffer | null {
  const kind = datagram[0]!
  if (kind === FIRST) return firstOf(datagram)
  if (kind === SECOND) return secondOf(datagram)
  return kind >= SEALED ? textOf(keys, datagram) : null
}

// Nobody asks nobody for the link of that number.
function firstOf(datagram: Buffer): Buffer {
  const [head, index] = [datagram.subarray(0, 6), datagram.subarray(2, 6)]
  const said = Buffer.concat([Buffer.of(0, 0), index, Buffer.of(0, 0, 0, 0, 0)])
  return Buffer.concat([head, Buffer.alloc(80), said, TAG, TAG, TAG])
}

function secondOf(datagram: Buffer): Buffer {
  const said = datagram.readUInt32BE(1) === 0 ? Buffer.of(2, 0) : Buffer.of(1)
  return Buffer.concat([datagram.subarray(0, 9), Buffer.alloc(32), said, TAG, TAG])
}

function textOf({ all, known }: Keys, datagram: Buffer): Buffer | null {
  const number = datagram.readUInt32BE(1)
  const found = known.get(number)
  for (const key of found ? [found] : all) {
    const text = open(key, datagram)
    if (!text) continue
    known.set(number, key)
    return text
  }
  return null
}

function open(key: Buffer, datagram: Buffer): Buffer | null {
  const head = datagram.subarray(0, 5 + (datagram[0]! % 16))
  const nonce = Buffer.alloc(12)
  nonce.writeUIntLE(Number(`0x${head.subarray(5).toString('hex')}`), 4, 6)
  const sealed = datagram.subarray(head.length, -TAG.length)
  const cipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: TAG.length })
  cipher.setAAD(head, { plaintextLength: sealed.length })
  cipher.setAuthTag(datagram.subarray(-TAG.length))
  const text = cipher.update(sealed)
  try {
    cipher.final()
  } catch {
    return null
  }
  return Buffer.concat([head, text, TAG])
}
