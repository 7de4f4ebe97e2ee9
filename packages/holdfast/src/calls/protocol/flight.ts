/**
 * Sends messages, and limits the bytes and messages in flight to each peer (back-pressure).
 *
 * Calls share a link with the session's own messages, and a link with a full queue is closed. So
 * calls use a quarter of the queue at most; a call that does not fit is refused as `overloaded`.
 */

import type { PeerId } from '../../machine.ts'
import { encode } from '../../wire/layout.ts'
import { FLIGHT_BYTES_MAX, FLIGHT_MESSAGES_MAX, type RpcMessage, rpcLayout } from './messages.ts'
import { refuse, reply, type Rpc, type RpcOut } from './state.ts'

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
