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
  FLIGHT_BYTES_MAX,
  FLIGHT_MESSAGES_MAX,
  rpcLayout,
} from './messages.ts'
import { encode } from '../../wire/layout.ts'

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
  const shortened = outcome === 'ok' ? text : text.slice(0, WHY_MAX)
  const message = { kind: 'result', from: to, to: from, id, outcome, text: shortened } as const
  rpc.outbox.push({ to: viaOf(rpc, from), message })
}

/** Counts a message against a member's rate limit. @returns false if it is exceeded */
export function spend(rpc: Rpc, now: Millis, member: PeerId, most: number): boolean {
  const rate = { max: most, perSecond: CALLS_PER_SECOND }
  const bucket = rpc.buckets.get(member) ?? buckets.create(now, rate)
  rpc.buckets.set(member, bucket)
  return buckets.take(bucket, rate, now, 1)
}

// Sending, and the limits of bytes and messages in flight to each peer (back-pressure). Calls share
// a link with the session's own messages, and a link with a full queue is closed. So calls use a
// quarter of the queue at most; a call that does not fit is refused as `overloaded`.

export function fits(rpc: Rpc, peer: PeerId, bytes: number): boolean {
  return within(rpc, peer, bytes, 1)
}

// Results may use twice the limit: there is one per running call.
function within(rpc: Rpc, peer: PeerId, bytes: number, share: number): boolean {
  const flight = rpc.flights.get(peer)
  if (!flight) return true
  const { sent } = flight
  return (
    sent.length < FLIGHT_MESSAGES_MAX * share && flight.bytes + bytes <= FLIGHT_BYTES_MAX * share
  )
}

export function send(rpc: Rpc, to: PeerId, message: RpcMessage, out: RpcOut): void {
  const bytes = encode(rpcLayout, message)
  const isResult = message.kind === 'result'
  if (!within(rpc, to, bytes.length, isResult ? 2 : 1)) return refuseFull(rpc, to, message)
  const number = out.send(to, bytes)
  if (number === 0) return refuseUnreachable(rpc, to, message)
  const flight = rpc.flights.get(to) ?? { sent: [], bytes: 0 }
  rpc.flights.set(to, flight)
  flight.sent.push({ number, bytes: bytes.length })
  flight.bytes += bytes.length
}

function refuseFull(rpc: Rpc, to: PeerId, message: RpcMessage): void {
  rpc.counters.overloaded++
  if (message.kind === 'call') {
    forgetRoute(rpc, message.from, message.id)
    const why = `${FLIGHT_BYTES_MAX} bytes of calls are on their way to member ${to} already`
    return refuse(rpc, message, 'overloaded', why)
  }
  if (message.kind !== 'result' || message.outcome === 'unknown') return
  const { from, to: caller, id } = message
  const why = 'it ran, and there is no room for its answer'
  if (message.outcome === 'ok') reply(rpc, { from: caller, to: from, id }, 'unknown', why)
}

// The call was not sent, so it did not run.
function refuseUnreachable(rpc: Rpc, to: PeerId, message: RpcMessage): void {
  if (message.kind !== 'call') return
  forgetRoute(rpc, message.from, message.id)
  refuse(rpc, message, 'unreachable', `there is no link to member ${to} just now`)
}

/** Forgets a call that we relayed. @returns the called member */
export function forgetRoute(rpc: Rpc, caller: PeerId, id: number): PeerId | null {
  const routes = rpc.routes.get(caller)
  const target = routes?.get(id) ?? null
  routes?.delete(id)
  return target
}

export function onDelivered(rpc: Rpc, peer: PeerId, upTo: number): void {
  const flight = rpc.flights.get(peer)
  while (flight?.sent[0] && flight.sent[0].number <= upTo)
    flight.bytes -= flight.sent.shift()!.bytes
}
