/**
 * The envelope of a letter, before its body: when it was posted, when it expires, and its trace.
 * Replicas have no clock of their own and send no envelopes.
 *
 *     2, flags, posted at (6 bytes), expires at (6 bytes, flag 1), trace (flag 2)
 */

import { badValue } from '../../../holdfast/src/machine.ts'
import type { Letter } from '../../../holdfast/src/ports.ts'
import { toHex } from '../../../holdfast/src/wire/bytes.ts'
import { digest } from '../../../holdfast/src/wire/digest.ts'
import { LETTER_BYTES_MAX } from '../machine/messages.ts'
import { givenBody, isLetterType } from './letter-types.ts'
import { toBytes, toTyped } from './values.ts'

/** What a handler receives besides the body. */
export interface LetterInfo {
  /** Its number between the two mailboxes. */
  readonly n: number
  /** When it was posted, in ms since 1970 by the sender's clock; null if not in the letter. */
  readonly at: number | null
  /** The number of this attempt to handle it, from 1. */
  readonly attempt: number
  /** Identifies the first letter of a chain; answers inherit the trace. */
  readonly trace: string
}

/**
 * The unique id of a letter, for external effects: its number and a 32-digit digest. The digest
 * covers the body, since a recreated store counts from 1 again.
 */
export function letterId(from: string, to: string, { n, body }: Letter): string {
  const whose = encoder.encode(`${from}\0${to}\0${n}\0`)
  const bytes = new Uint8Array(whose.length + body.length)
  bytes.set(whose)
  bytes.set(body, whose.length)
  return `${n}-${toHex(digest(bytes))}`
}

/** When a letter is posted, and when it expires. */
export interface LetterOptions {
  /** Delays posting by so many ms, across restarts too. Until then the letter has no number. */
  readonly delay?: number
  /** Milliseconds from posting to expiry; an expired letter is acked and not handled. */
  readonly ttl?: number
}

/** The options of `post`. */
export interface PostOptions extends LetterOptions {
  /**
   * A durable idempotency key. Posting the same body to the same peer under it again does nothing
   * and returns the first number; another body is refused (`key-reused`). The last 100,000 are
   * kept.
   */
  readonly key?: string
  /** Default: sender, receiver and number, as in `alice>bob/12`. */
  readonly trace?: string
}

/** The data before a body. */
export interface Envelope {
  at: number | null
  until: number | null
  trace: string | null
}

/** A letter in its envelope, and when to post it; null for now. */
export interface Dated {
  body: Uint8Array
  due: number | null
}

const MARK = 2
const UNTIL = 1
const TRACE = 2
/** Longest trace, in bytes. */
export const TRACE_BYTES_MAX = 160
const ENVELOPE_MAX = 16 + TRACE_BYTES_MAX
/** Longest body of a letter, including its kind byte. */
export const BODY_BYTES_MAX: number = LETTER_BYTES_MAX - ENVELOPE_MAX

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Parses the arguments of `post`: an optional type, a body and options.
 *
 * @throws HoldfastError `bad-value` if the body does not fit its type, is not plain, or is too long
 */
export function givenLetter(given: readonly unknown[]): { body: Uint8Array; options: object } {
  const [type, body, options = {}] = isLetterType(given[0]) ? given : [null, ...given]
  const bytes = isLetterType(type) ? toTyped(type.name, givenBody(type, body)) : toBytes(body)
  return { body: short(bytes), options: options as object }
}

function short(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= BODY_BYTES_MAX) return bytes
  throw badValue(
    `a letter has at most ${BODY_BYTES_MAX} bytes: ${bytes.length}; send larger data in parts`,
  )
}

/** Puts a body into its envelope; without a time, returns it unchanged. */
export function seal(body: Uint8Array, { at, until, trace }: Envelope): Uint8Array {
  if (at === null) return body
  const text = trace === null ? null : encoder.encode(trace)
  const length = 8 + (until === null ? 0 : 6) + (text === null ? 0 : 1 + text.length)
  const bytes = new Uint8Array(length + body.length)
  bytes[0] = MARK
  bytes[1] = (until === null ? 0 : UNTIL) | (text === null ? 0 : TRACE)
  writeTime(bytes, 2, at)
  if (until !== null) writeTime(bytes, 8, until)
  if (text) {
    const place = until === null ? 8 : 14
    bytes[place] = text.length
    bytes.set(text, place + 1)
  }
  bytes.set(body, length)
  return bytes
}

/** Takes a body out of its envelope. Bytes without a complete envelope are a bare body. */
export function unseal(bytes: Uint8Array): Envelope & { body: Uint8Array } {
  const flags = bytes[1] ?? 0
  const nothing = { at: null, until: null, trace: null, body: bytes }
  if (bytes[0] !== MARK || bytes.length < 8) return nothing
  const afterTime = flags & UNTIL ? 14 : 8
  const traceLength = flags & TRACE ? (bytes[afterTime] ?? 0) : -1
  const end = afterTime + 1 + traceLength
  if (end > bytes.length) return nothing
  const trace = flags & TRACE ? decoder.decode(bytes.subarray(afterTime + 1, end)) : null
  const until = flags & UNTIL ? readTime(bytes, 8) : null
  return { at: readTime(bytes, 2), until, trace, body: bytes.subarray(end) }
}

function writeTime(bytes: Uint8Array, at: number, time: number): void {
  const high = Math.floor(time / 2 ** 32)
  const low = time % 2 ** 32
  const words = [high >>> 8, high, low >>> 24, low >>> 16, low >>> 8, low]
  for (const [place, word] of words.entries()) bytes[at + place] = word
}

function readTime(bytes: Uint8Array, at: number): number {
  let time = 0
  for (let place = 0; place < 6; place++) time = time * 256 + bytes[at + place]!
  return time
}

/** Longest `delay` and `ttl`: a hundred years, in milliseconds. */
const SPAN_MAX = 100 * 365 * 86_400_000

/**
 * Puts a body into the envelope for posting.
 *
 * @param date  now; null on replicas, whose letters carry no time
 * @throws HoldfastError `bad-value` for an invalid time, or any on a replica
 */
export function toLetter(
  date: number | null,
  body: Uint8Array,
  { delay, ttl }: LetterOptions,
  trace: string | null,
): Dated {
  if (ttl !== undefined) checkSpan('ttl', ttl, date)
  if (delay !== undefined) checkSpan('delay', delay, date)
  if (date === null) return { body, due: null }
  const at = date + (delay ?? 0)
  const until = ttl === undefined ? null : at + ttl
  return { body: seal(body, { at, until, trace }), due: delay === undefined ? null : at }
}

function checkSpan(name: 'delay' | 'ttl', span: unknown, date: number | null): void {
  if (typeof span !== 'number' || !Number.isSafeInteger(span) || span < 1 || span > SPAN_MAX) {
    throw badValue(`${name} is a whole number of milliseconds, 1 to ${SPAN_MAX}: ${String(span)}`)
  }
  if (date === null) throw badValue(`a replica has no time, so its letters have no ${name}`)
}

/** Returns the trace if it is valid. @throws HoldfastError `bad-value` */
export function checkTrace(trace: string): string {
  const length = encoder.encode(trace).length
  if (length >= 1 && length <= TRACE_BYTES_MAX) return trace
  throw badValue(`a trace has 1 to ${TRACE_BYTES_MAX} bytes: ${length}`)
}
