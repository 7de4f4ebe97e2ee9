/**
 * What every room shares. It imports nothing.
 *
 * A protocol room is a noun: one type of plain data and a handful of verbs whose parameters
 * are always `(state, now, …, out)`. Time comes in as an argument, effects go out through a
 * sink, so the same code runs on real sockets, in the seeded simulator and under the model
 * checker. State is plain data (numbers, strings, arrays, objects, Map, Set, typed arrays):
 * it can be cloned, saved, sent and compared.
 */

/** An instant or a span in milliseconds on the monotonic clock of one process. */
export type Millis = number

/**
 * A member of a session: the number of its incarnation, given at JOIN and never used again.
 * 0 stands for the hub.
 */
export type PeerId = number

/** The hub's place in the number space of peers. */
export const HUB: PeerId = 0

/** The sink of one verb. Effects leave after the verb has returned: records first. */
export interface Out<Message, Delta, Event> {
  /** Reliable and ordered, to one peer. Valid only during the call: a sink that keeps it copies it. */
  send(to: PeerId, message: Message): void
  /** Must be durable (at the backup, or in the store) before a later send or emit of this call leaves. */
  record(delta: Delta): void
  /** Tells the layer above: between rooms a direct call, to the application queued until the verb has returned. */
  emit(event: Event): void
}

/** Marks a bug of ours, never a fault of a peer. Stays on in production. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`holdfast bug: ${claim}`)
}

/** Why a call failed. `message` names the thing, the limit and the value, and what to do. */
export type ErrorCode =
  | 'bad-value'
  | 'denied'
  | 'full'
  | 'left'
  | 'no-such-game'
  | 'not-found'
  | 'not-owner'
  | 'overloaded'
  | 'port-taken'
  | 'schema'
  | 'store'
  | 'timeout'
  | 'unreachable'
  | 'version'

/** The one error type a user meets. */
export class HoldfastError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.name = 'HoldfastError'
    this.code = code
  }
}
