/**
 * Unreliable messages too long for one frame: split into at most 16 parts, reassembled by the
 * receiver, dropped whole if any part is lost (L10). Nothing is resent.
 *
 * Bounded: OUTBOX_PARTS parts wait to leave, INBOX_MESSAGES messages wait for parts; a new message
 * evicts the one begun first.
 */

import { badValue } from '../../machine.ts'
import { joined } from '../../wire/bytes.ts'
import { CHANNEL_MAX, CHANNEL_MIN, PIECE_MAX } from '../limits.ts'
import { PARTS_MAX, type Frames } from './frames.ts'

/** Parts that may wait to leave. */
export const OUTBOX_PARTS = 64
/** Messages that may wait for parts. */
export const INBOX_MESSAGES = 4
/** Longest unreliable message, in bytes. */
export const PARTED_MAX: number = PARTS_MAX * PIECE_MAX

export interface Part {
  channel: number
  message: number
  part: number
  parts: number
  bytes: Uint8Array
}

export function createParted() {
  return {
    /** Number of the next message, 0 to 65535. */
    next: 0,
    /** Parts that wait to leave, oldest first; at most OUTBOX_PARTS. */
    outbox: [] as Part[],
    /** Incomplete messages, in the order they were begun; at most INBOX_MESSAGES. */
    inbox: [] as {
      channel: number
      message: number
      missing: number
      parts: (Uint8Array | null)[]
    }[],
  }
}

export type Parted = ReturnType<typeof createParted>

/** @returns false if too many parts wait @throws HoldfastError code `bad-value` */
export function post(parted: Parted, channel: number, bytes: Uint8Array): boolean {
  if (bytes.length > PARTED_MAX) {
    const limit = `${PARTED_MAX} bytes`
    throw badValue(`an unreliable message has at most ${limit}: ${bytes.length}`)
  }
  if (!Number.isInteger(channel) || channel < CHANNEL_MIN || channel > CHANNEL_MAX) {
    const range = `${CHANNEL_MIN} to ${CHANNEL_MAX}`
    throw badValue(`a channel is a number from ${range}: ${channel}`)
  }
  const parts = Math.max(1, Math.ceil(bytes.length / PIECE_MAX))
  if (parted.outbox.length + parts > OUTBOX_PARTS) return false
  const message = parted.next
  parted.next = (message + 1) % 65536
  for (let part = 0; part < parts; part++) {
    const share = new Uint8Array(bytes.subarray(part * PIECE_MAX, (part + 1) * PIECE_MAX))
    parted.outbox.push({ channel, message, part, parts, bytes: share })
  }
  return true
}

/** Takes one part. @returns the whole message if this was the last missing part, else null */
export function takePart(parted: Parted, frame: Frames): Uint8Array | null {
  const { inbox } = parted
  const { channel, id: message, part, parts } = frame
  const bytes = frame.bytes.subarray(frame.from, frame.to)
  if (parts === 1) return bytes
  let found = inbox.find((one) => one.message === message && one.channel === channel)
  if (found && found.parts.length !== parts) return null
  if (!found) {
    found = { channel, message, missing: parts, parts: [] }
    for (let index = 0; index < parts; index++) found.parts.push(null)
    if (inbox.length === INBOX_MESSAGES) inbox.shift()
    inbox.push(found)
  }
  if (found.parts[part]) return null
  found.parts[part] = new Uint8Array(bytes)
  found.missing -= 1
  if (found.missing > 0) return null
  inbox.splice(inbox.indexOf(found), 1)
  return joined(...(found.parts as Uint8Array[]))
}
