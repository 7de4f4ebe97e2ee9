/**
 * What one member knows of calls: its own, those that run here, and as the primary of a star
 * those that it has passed on.
 */

import * as buckets from '../bucket.ts'
import type { Millis, PartOut, PeerId } from '../machine.ts'
import {
  type Answered,
  CALLS_PER_SECOND,
  type Outcome,
  type Refusal,
  type RpcMessage,
  WHY_MAX,
} from './messages.ts'

/** One of our calls. */
export interface Pending {
  target: PeerId
  /** The peer whose link it took. */
  via: PeerId
  timeoutMs: Millis
  until: Millis
}

/** A call that the application runs just now. */
export interface Running {
  from: PeerId
  id: number
  via: PeerId
}

/** What is on its way to a peer, oldest first. */
export interface Flight {
  sent: { number: number; bytes: number }[]
  bytes: number
}

/** Something to be sent at the end of the verb. */
export interface Sending {
  to: PeerId
  message: RpcMessage
}

/** What calls tell the application. */
export type RpcEvent =
  | { kind: 'call'; from: PeerId; id: number; method: string; args: string }
  | { kind: 'note'; from: PeerId; method: string; args: string }
  | { kind: 'settled'; id: number; outcome: Outcome; text: string }

/** The sink of calls. */
export type RpcOut = PartOut<RpcEvent>

/** All calls of one member. */
export interface Rpc {
  me: PeerId
  primary: PeerId
  mesh: boolean
  here: Set<PeerId>
  nextId: number
  pending: Map<number, Pending>
  /** By caller and id. */
  running: Map<string, Running>
  /** The largest id that ran here of each caller: none runs twice, whatever comes late. */
  marks: Map<PeerId, number>
  /** By caller: the calls that we passed on, and whom to. */
  routes: Map<PeerId, Map<number, PeerId>>
  buckets: Map<PeerId, buckets.Bucket>
  flights: Map<PeerId, Flight>
  outbox: Sending[]
  events: RpcEvent[]
  counters: { malformed: number; forged: number; late: number; stale: number; overloaded: number }
}

/** No calls yet. */
export function create(): Rpc {
  return {
    me: 0,
    primary: 0,
    mesh: false,
    here: new Set(),
    nextId: 1,
    pending: new Map(),
    running: new Map(),
    marks: new Map(),
    routes: new Map(),
    buckets: new Map(),
    flights: new Map(),
    outbox: [],
    events: [],
    counters: { malformed: 0, forged: 0, late: 0, stale: 0, overloaded: 0 },
  }
}

/** Whose link leads to a member: its own, or in a star the primary's (B9). */
export function viaOf(rpc: Rpc, member: PeerId): PeerId {
  const straight = rpc.mesh || rpc.me === rpc.primary || member === rpc.me
  return straight ? member : rpc.primary
}

/** Where a running call is kept. */
export function keyOf(from: PeerId, id: number): string {
  return `${from}.${id}`
}

/** Ends one of our calls; one that has ended already stays as it is. */
export function settle(rpc: Rpc, id: number, outcome: Outcome, text: string): void {
  if (rpc.pending.delete(id)) rpc.events.push({ kind: 'settled', id, outcome, text })
}

/** A call by its ends. */
export interface Ends {
  from: PeerId
  to: PeerId
  id: number
}

/** Tells a caller why there is no answer; who calls from here hears it at once. */
export function refuse(rpc: Rpc, { from, to, id }: Ends, outcome: Refusal, why: string): void {
  if (from === rpc.me) return settle(rpc, id, outcome, why)
  reply(rpc, { from, to, id }, outcome, why)
}

/** Sends what came of somebody's call. @param text  the answer as JSON, or why there is none */
export function reply(rpc: Rpc, { from, to, id }: Ends, outcome: Answered, text: string): void {
  const said = outcome === 'ok' ? text : text.slice(0, WHY_MAX)
  const message = { kind: 'result', from: to, to: from, id, outcome, text: said } as const
  rpc.outbox.push({ to: viaOf(rpc, from), message })
}

/** Takes what a message costs. @returns false if it is not to be had */
export function spend(rpc: Rpc, now: Millis, member: PeerId, most: number): boolean {
  const rate = { max: most, perSecond: CALLS_PER_SECOND }
  const bucket = rpc.buckets.get(member) ?? buckets.create(now, rate)
  rpc.buckets.set(member, bucket)
  return buckets.take(bucket, rate, now, 1)
}
