/** The operations of the application: call a procedure, send a note, answer a call. */

import { HoldfastError, misfit, type Millis, type PeerId } from '../../machine.ts'
import { fits } from './flight.ts'
import {
  type Answered,
  CALL_BYTES_MAX,
  CALLS_BURST,
  CALLS_MAX,
  CALLS_PER_SECOND,
  FLIGHT_BYTES_MAX,
  TIMEOUT_MAX_MS,
} from './messages.ts'
import { keyOf, reply, type Rpc, spend, viaOf } from './state.ts'

const encoder = new TextEncoder()

export interface Invocation {
  method: string
  /** As JSON. */
  args: string
}

/**
 * Calls a method at a member. One `settled` event reports the outcome.
 *
 * @returns the number of the call
 * @throws HoldfastError `not-found`, `bad-value`, `overloaded`
 */
export function call(
  rpc: Rpc,
  now: Millis,
  target: PeerId,
  invocation: Invocation,
  timeoutMs: Millis,
): number {
  if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MAX_MS)) {
    throw new HoldfastError('bad-value', `timeoutMs is 1 to ${TIMEOUT_MAX_MS}: ${timeoutMs}`)
  }
  check(rpc, target, invocation)
  if (rpc.pending.size >= CALLS_MAX) {
    throw new HoldfastError('overloaded', `${CALLS_MAX} calls are under way: wait for one to end`)
  }
  take(rpc, now)
  const id = rpc.nextId++
  const via = viaOf(rpc, target)
  rpc.pending.set(id, { target, via, timeoutMs, until: now + timeoutMs })
  rpc.outbox.push({
    to: via,
    message: { kind: 'call', from: rpc.me, to: target, id, ...invocation },
  })
  return id
}

/**
 * Sends a note to a member, or with 0 to all others. Its delivery is not reported.
 *
 * @throws HoldfastError `not-found`, `bad-value`, `overloaded`
 */
export function note(rpc: Rpc, now: Millis, target: PeerId, invocation: Invocation): void {
  check(rpc, target, invocation)
  const { me } = rpc
  const targets = target === 0 ? [...rpc.here].filter((member) => member !== me) : [target]
  const peers = new Set(targets.map((member) => viaOf(rpc, member)))
  for (const peer of peers) {
    if (fits(rpc, peer, invocation.args.length)) continue
    const why = `${FLIGHT_BYTES_MAX} bytes of calls are on their way to member ${peer} already`
    throw new HoldfastError('overloaded', why)
  }
  take(rpc, now)
  // A member with links to all addresses each receiver: a receiver that wrongly believes it leads
  // would relay a note to all.
  const each = rpc.mesh || me === rpc.primary
  for (const to of peers) {
    rpc.outbox.push({
      to,
      message: { kind: 'note', from: me, to: each ? to : target, ...invocation },
    })
  }
}

function check(rpc: Rpc, target: PeerId, { method, args }: Invocation): void {
  if (target !== 0 && !rpc.here.has(target)) {
    throw new HoldfastError('not-found', `member ${target} is not here`)
  }
  const size = encoder.encode(args).length
  if (size <= CALL_BYTES_MAX) return
  const what = `the arguments of "${method}"`
  throw misfit(`${what} have ${CALL_BYTES_MAX} bytes at most: ${size}`)
}

function take(rpc: Rpc, now: Millis): void {
  if (spend(rpc, now, rpc.me, CALLS_BURST)) return
  const limit = `${CALLS_PER_SECOND} calls and notes a second, ${CALLS_BURST} at once`
  throw new HoldfastError('overloaded', `a member makes ${limit}: prefer an object`)
}

/**
 * Sends the outcome of a call that ran here, unless the path back was lost meanwhile.
 *
 * @param text  the answer as JSON, or why there is none
 */
export function answer(rpc: Rpc, from: PeerId, id: number, outcome: Answered, text: string): void {
  if (!rpc.running.delete(keyOf(from, id))) return
  const ends = { from, to: rpc.me, id }
  const size = encoder.encode(text).length
  if (outcome !== 'ok' || size <= CALL_BYTES_MAX) return reply(rpc, ends, outcome, text)
  reply(rpc, ends, 'failed', `an answer has ${CALL_BYTES_MAX} bytes at most: ${size}`)
}

export function unfit(rpc: Rpc): void {
  rpc.counters.malformed++
}
