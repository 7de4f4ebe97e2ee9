/**
 * The primary of a star passes calls on, by the numbers of their ends and without a look at what
 * they say (B9). It remembers which are under way: when the link to the one asked is lost, the
 * caller cannot see it, and is told.
 */

import type { PeerId } from '../machine.ts'
import { forgetRoute } from './flight.ts'
import { ROUTES_MAX, type RpcMessage } from './messages.ts'
import { refuse, type Rpc } from './state.ts'

/** Passes on what is for another member. */
export function passOn(rpc: Rpc, message: RpcMessage): void {
  switch (message.kind) {
    case 'call':
      return passCall(rpc, message)
    case 'result':
      // Who was not asked has no answer to give.
      if (rpc.routes.get(message.to)?.get(message.id) !== message.from)
        return void rpc.counters.late++
      forgetRoute(rpc, message.to, message.id)
      rpc.outbox.push({ to: message.to, message })
      return
    case 'note':
      for (const to of message.to === 0 ? rpc.here : [message.to]) {
        const passes = to !== rpc.me && to !== message.from && rpc.here.has(to)
        // To that member alone: one that thinks it leads as well would pass it on once more.
        if (passes) rpc.outbox.push({ to, message: { ...message, to } })
      }
      return
    default:
      message satisfies never
  }
}

function passCall(rpc: Rpc, call: RpcMessage & { kind: 'call' }): void {
  const { from, to, id } = call
  const routes = rpc.routes.get(from) ?? new Map<number, PeerId>()
  rpc.routes.set(from, routes)
  if (routes.has(id)) return void rpc.counters.stale++
  if (!rpc.here.has(to)) return refuse(rpc, call, 'not-found', `member ${to} is not here`)
  routes.set(id, to)
  if (routes.size > ROUTES_MAX) routes.delete(routes.keys().next().value!)
  rpc.outbox.push({ to, message: call })
}

/** The link to a peer is lost, or it went: what it was asked has no answer any more. */
export function sever(rpc: Rpc, peer: PeerId, why: string): void {
  rpc.routes.delete(peer)
  for (const [from, routes] of rpc.routes) {
    for (const [id, to] of routes) {
      if (to !== peer) continue
      routes.delete(id)
      refuse(rpc, { from, to, id }, 'unknown', why)
    }
  }
}
