/** The messages of calls; every length and every number has its limit. */

import type { Millis } from '../../machine.ts'
import { message, record, text, type ValueOf, varint, word } from '../../wire/layout.ts'

/** The channel of calls. */
export const RPC_CHANNEL = 6
/** Longest name of a method, in bytes. */
export const METHOD_MAX = 96
/** Longest arguments or answer, as JSON, in bytes. */
export const CALL_BYTES_MAX: number = 8 * 1024
/** Longest reason why there is no answer, in characters. */
export const WHY_MAX = 200
/** Calls that one member has under way, and that run for one member at another. */
export const CALLS_MAX = 64
/** Calls and notes that a member may make at once. */
export const CALLS_BURST = 400
/** How many of these come back each second. */
export const CALLS_PER_SECOND = 200
/** The burst that others accept: the network may press together messages that left in good time. */
export const CALLS_BURST_TAKEN: number = 2 * CALLS_BURST
/** Most bytes of calls and notes on their way to one peer: a quarter of its link's queue. */
export const FLIGHT_BYTES_MAX: number = 256 * 1024
/** Most messages on their way to one peer. */
export const FLIGHT_MESSAGES_MAX = 1024
/** Calls of one member that the primary remembers: above that the oldest are forgotten. */
export const ROUTES_MAX = 256
/** How long a call waits for its answer by default. */
export const TIMEOUT_MS: Millis = 10_000
/** The longest time that a call may wait. */
export const TIMEOUT_MAX_MS: Millis = 600_000

const outcome = word(['ok', 'failed', 'not-found', 'overloaded', 'unreachable', 'unknown'])

/** `from` and `to` are the first sender and last receiver, also when the primary passes it on. */
const ends = { from: varint, to: varint }
const said = { method: text(METHOD_MAX), args: text(CALL_BYTES_MAX) }

/** The messages on RPC_CHANNEL. */
export const rpcLayout = message({
  call: [1, record({ ...ends, id: varint, ...said })],
  /** `text` is the answer as JSON if the outcome is `ok`, else the reason why there is none. */
  result: [2, record({ ...ends, id: varint, outcome, text: text(CALL_BYTES_MAX) })],
  /** `to` is 0 for all others. */
  note: [3, record({ ...ends, ...said })],
})
/** A call, its result, or a note. */
export type RpcMessage = ValueOf<typeof rpcLayout>

/** The outcome that the called member reports, or a member that could not pass the call on. */
export type Answered = ValueOf<typeof outcome>
/** Why there is no answer. */
export type Refusal = Exclude<Answered, 'ok'>
/** The outcome of a call. `unknown`: it may have run or not; `timeout` is the caller's own. */
export type Outcome = Answered | 'timeout'
