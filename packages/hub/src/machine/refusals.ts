/**
 * How a client learns that it exceeded a limit: its stream is closed, or its request is `refused`.
 * The reason begins with `limit ` and the code of the limit. Each refusal is counted (budgets.ts),
 * but reports are rate-limited: answering each message of a flood would be a flood too.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { Closing } from '../../../holdfast/src/ports.ts'
import * as budgets from './budgets.ts'
import type { Exceeded, Spender } from './budgets.ts'
import type { What } from './limits.ts'
import { type Call, refuse } from './state.ts'

/** Shortest time between two reports of the same limit to a stream. */
export const REPORT_MS: Millis = 1_000
/** Dropped datagrams that cost as much as one message. */
export const DROPS_PER_MESSAGE = 16

/** Closes a stream that exceeded a limit. */
export function close({ hub, connection, out }: Call, met: Exceeded, kind: Closing['kind']): void {
  out.close(connection, { kind, why: budgets.reasonOf(hub.budgets, met) })
}

/** Refuses a request that exceeded a limit; it gets no other answer. */
export function answer({ hub, connection, out }: Call, request: number, met: Exceeded): void {
  refuse(connection, request, budgets.reasonOf(hub.budgets, met), out)
}

/** Spends from the buckets of the stream, its address and the hub. @returns the exceeded limit */
export function spend(call: Call, what: What, cost: number, session?: string): Exceeded | null {
  const { hub, now, from } = call
  const by: Spender = { account: from.account, buckets: from.buckets, session }
  return budgets.spend(hub.budgets, now, by, what, cost)
}

/** Spends for a message, or closes the stream. @returns whether it is still open */
export function charge(call: Call, what: 'messages' | 'rows', cost: number): boolean {
  const met = spend(call, what, cost)
  if (!met) return true
  call.hub.counters.flooding++
  close(call, met, 'refused')
  return false
}

/** Reports a dropped datagram to its sender; closes a stream that keeps sending. */
export function drop(call: Call, met: Exceeded): void {
  const { hub, now, connection, from, out } = call
  if (!charge(call, 'messages', 1 / DROPS_PER_MESSAGE)) return
  const code = budgets.codeOf(met)
  if (now - (from.reportedAt.get(code) ?? -Infinity) < REPORT_MS) return
  from.reportedAt.set(code, now)
  refuse(connection, 0, budgets.reasonOf(hub.budgets, met), out)
}
