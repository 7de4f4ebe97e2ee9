/** The messages of calls; every length and number has a limit. */

import type { Millis } from '../../machine.ts'
import { message, record, text, type ValueOf, varint, word } from '../../wire/layout.ts'

export const RPC_CHANNEL = 6
/** Longest name of a method, in bytes. */
export const METHOD_MAX = 96
/** Longest arguments or answer, as JSON, in bytes. */
export const CALL_BYTES_MAX: number = 8 * 1024
/** Longest reason why there is no answer, in characters. */
export const WHY_MAX = 200
/** Most open calls of one member, and most that run for one member at another. */
export const CALLS_MAX = 64
/** Calls and notes that a member may make at once. */
export const CALLS_BURST = 400
/** Sustained calls and notes a second. */
export const CALLS_PER_SECOND = 200
/** The burst that receivers accept: the network may bunch messages sent within the rate. */
export const CALLS_BURST_TAKEN: number = 2 * CALLS_BURST
/** Most bytes of calls and notes in flight to one peer: a quarter of its link's queue. */
export const FLIGHT_BYTES_MAX: number = 256 * 1024
export const FLIGHT_MESSAGES_MAX = 1024
/** Most calls of one member that the primary remembers; it forgets the oldest first. */
export const ROUTES_MAX = 256
export const TIMEOUT_MS: Millis = 10_000
export const TIMEOUT_MAX_MS: Millis = 600_000

const outcome = word(['ok', 'failed', 'not-found', 'overloaded', 'unreachable', 'unknown'])

/** The original sender and the final receiver, also when the primary relays the message. */
const ends = { from: varint, to: varint }
const invocation = { method: text(METHOD_MAX), args: text(CALL_BYTES_MAX) }

export const rpcLayout = message({
  call: [1, record({ ...ends, id: varint, ...invocation })],
  /** `text` is the answer as JSON if the outcome is `ok`, else the reason why there is none. */
  result: [2, record({ ...ends, id: varint, outcome, text: text(CALL_BYTES_MAX) })],
  /** `to` is 0 for all others. */
  note: [3, record({ ...ends, ...invocation })],
})
export type RpcMessage = ValueOf<typeof rpcLayout>

/** The outcome as reported by the called member, or by a member that could not relay the call. */
export type Answered = ValueOf<typeof outcome>
export type Refusal = Exclude<Answered, 'ok'>
/** The outcome of a call. `unknown`: it may have run or not; `timeout`: set by the caller. */
export type Outcome = Answered | 'timeout'
