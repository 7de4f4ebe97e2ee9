/**
 * One member's state of calls: its own, those that run here, and as the primary of a star those
 * that it relayed.
 */

import * as buckets from '../../bucket.ts'
import type { Millis, PeerId } from '../../machine.ts'
import type { PartOut } from '../../kind/protocol/part.ts'
import {
  type Answered,
  CALLS_PER_SECOND,
  type Outcome,
  type Refusal,
  type RpcMessage,
  WHY_MAX,
} from './messages.ts'

export interface Pending {
  target: PeerId
  /** The peer over whose link the call was sent. */
  via: PeerId
  timeoutMs: Millis
  until: Millis
}

export interface Running {
  from: PeerId
  id: number
  via: PeerId
}

/** Messages in flight to a peer, oldest first. */
export interface Flight {
  sent: { number: number; bytes: number }[]
  bytes: number
}

export interface Sending {
  to: PeerId
  message: RpcMessage
}

export type RpcEvent =
  | { kind: 'call'; from: PeerId; id: number; method: string; args: string }
  | { kind: 'note'; from: PeerId; method: string; args: string }
  | { kind: 'settled'; id: number; outcome: Outcome; text: string }

export type RpcOut = PartOut<RpcEvent>

export function create() {
  return {
    me: 0 as PeerId,
    primary: 0 as PeerId,
    mesh: false,
    here: new Set<PeerId>(),
    nextId: 1,
    pending: new Map<number, Pending>(),
    /** By caller and id. */
    running: new Map<string, Running>(),
    /** The highest id of each caller that ran here, so that no late duplicate runs. */
    marks: new Map<PeerId, number>(),
    /** The calls that we relayed, by caller: the called member of each id. */
    routes: new Map<PeerId, Map<number, PeerId>>(),
    buckets: new Map<PeerId, buckets.Bucket>(),
    flights: new Map<PeerId, Flight>(),
    outbox: [] as Sending[],
    events: [] as RpcEvent[],
    counters: { malformed: 0, forged: 0, late: 0, stale: 0, overloaded: 0 },
  }
}

export type Rpc = ReturnType<typeof create>

/** The peer whose link leads to a member: the member itself, or in a star the primary (B9). */
export function viaOf(rpc: Rpc, member: PeerId): PeerId {
  const straight = rpc.mesh || rpc.me === rpc.primary || member === rpc.me
  return straight ? member : rpc.primary
}

export function keyOf(from: PeerId, id: number): string {
  return `${from}.${id}`
}

/** Ends one of our calls; does nothing if it has ended. */
export function settle(rpc: Rpc, id: number, outcome: Outcome, text: string): void {
  if (rpc.pending.delete(id)) rpc.events.push({ kind: 'settled', id, outcome, text })
}

export interface Ends {
  from: PeerId
  to: PeerId
  id: number
}

/** Sends a caller the reason for no answer; a local caller gets it at once. */
export function refuse(rpc: Rpc, { from, to, id }: Ends, outcome: Refusal, why: string): void {
  if (from === rpc.me) return settle(rpc, id, outcome, why)
  reply(rpc, { from, to, id }, outcome, why)
}

/** Sends the outcome of a call. @param text  the answer as JSON, or the reason for none */
export function reply(rpc: Rpc, { from, to, id }: Ends, outcome: Answered, text: string): void {
  const said = outcome === 'ok' ? text : text.slice(0, WHY_MAX)
  const message = { kind: 'result', from: to, to: from, id, outcome, text: said } as const
  rpc.outbox.push({ to: viaOf(rpc, from), message })
}

/** Counts a message against a member's rate limit. @returns false if it is exceeded */
export function spend(rpc: Rpc, now: Millis, member: PeerId, most: number): boolean {
  const rate = { max: most, perSecond: CALLS_PER_SECOND }
  const bucket = rpc.buckets.get(member) ?? buckets.create(now, rate)
  rpc.buckets.set(member, bucket)
  return buckets.take(bucket, rate, now, 1)
}
