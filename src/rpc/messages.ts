/** What members say to each other about calls; every length and every number has its limit. */

import type { Millis } from '../machine.ts'
import { message, record, text, type ValueOf, varint, word } from '../wire/layout.ts'

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
/** What comes back of that each second. */
export const CALLS_PER_SECOND = 200
/** What others let it make at once: the network may press together what left in good time. */
export const CALLS_BURST_TAKEN: number = 2 * CALLS_BURST
/** Most bytes of calls and notes on their way to one peer: a quarter of what its link holds. */
export const FLIGHT_BYTES_MAX: number = 256 * 1024
/** Most messages on their way to one peer. */
export const FLIGHT_MESSAGES_MAX = 1024
/** Calls of one member that the primary remembers: of more the oldest are forgotten. */
export const ROUTES_MAX = 256
/** How long a call waits for its answer unless told otherwise. */
export const TIMEOUT_MS: Millis = 10_000
/** The longest that it may be told to wait. */
export const TIMEOUT_MAX_MS: Millis = 600_000

const outcome = word(['ok', 'failed', 'not-found', 'overloaded', 'unreachable', 'unknown'])

/** `from` and `to` are whose it is and whom it is for, also when the primary passes it on. */
const ends = { from: varint, to: varint }
const said = { method: text(METHOD_MAX), args: text(CALL_BYTES_MAX) }

/** What goes on RPC_CHANNEL. */
export const rpcLayout = message({
  call: [1, record({ ...ends, id: varint, ...said })],
  /** `text` is the answer as JSON if all is well, else why there is none. */
  result: [2, record({ ...ends, id: varint, outcome, text: text(CALL_BYTES_MAX) })],
  /** To 0 for all others. */
  note: [3, record({ ...ends, ...said })],
})
/** A call, its result, or a note. */
export type RpcMessage = ValueOf<typeof rpcLayout>

/** What the one asked says of a call, or who could not pass it on. */
export type Answered = ValueOf<typeof outcome>
/** Why there is no answer. */
export type Refusal = Exclude<Answered, 'ok'>
/** What came of a call. `unknown`: it may have run or not; `timeout` is the caller's own. */
export type Outcome = Answered | 'timeout'
