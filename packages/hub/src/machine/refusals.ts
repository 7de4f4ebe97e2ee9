/**
 * How somebody hears that it would be too much: by a close of its stream, or by `refused`. The
 * reason begins with `limit ` and the code of the limit. It is counted each time (budgets.ts) and
 * told once in a while, for an answer to each message of a flood would be a flood too.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { Closing } from '../../../holdfast/src/ports.ts'
import * as budgets from './budgets.ts'
import type { Exceeded, Spender } from './budgets.ts'
import type { What } from './limits.ts'
import { type Call, refuse } from './state.ts'

/** A stream is told of the same limit no sooner than this. */
export const REPORT_MS: Millis = 1_000
/** Datagrams that were dropped for a limit and cost as much as one message. */
export const DROPS_PER_MESSAGE = 16

/** Closes a stream for that limit. */
export function close({ hub, connection, out }: Call, met: Exceeded, kind: Closing['kind']): void {
  out.close(connection, { kind, why: budgets.reasonOf(hub.budgets, met) })
}

/** A request was refused for that limit: it has no other answer. */
export function answer({ hub, connection, out }: Call, request: number, met: Exceeded): void {
  refuse(connection, request, budgets.reasonOf(hub.budgets, met), out)
}

/** The stream spends, with its address and the hub. @returns the limit that it met */
export function spend(call: Call, what: What, cost: number, session?: string): Exceeded | null {
  const { hub, now, from } = call
  const by: Spender = { account: from.account, buckets: from.buckets, session }
  return budgets.spend(hub.budgets, now, by, what, cost)
}

/** What a stream says costs. @returns false if it was too much, and the stream is closed */
export function charge(call: Call, what: 'messages' | 'rows', cost: number): boolean {
  const met = spend(call, what, cost)
  if (!met) return true
  call.hub.counters.flooding++
  close(call, met, 'refused')
  return false
}

/** A datagram was dropped for that limit: its sender is told, and who goes on is closed. */
export function drop(call: Call, met: Exceeded): void {
  const { hub, now, connection, from, out } = call
  if (!charge(call, 'messages', 1 / DROPS_PER_MESSAGE)) return
  const code = budgets.codeOf(met)
  if (now - (from.reportedAt.get(code) ?? -Infinity) < REPORT_MS) return
  from.reportedAt.set(code, now)
  refuse(connection, 0, budgets.reasonOf(hub.budgets, met), out)
}
