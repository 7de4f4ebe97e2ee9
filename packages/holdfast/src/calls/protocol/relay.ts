/**
 * The primary of a star passes calls on, by the numbers of their ends and without a look at their
 * contents (B9). It remembers which calls are open: when the link to the called member is lost, the
 * caller cannot see that, and the primary notifies it.
 */

import type { PeerId } from '../../machine.ts'
import { forgetRoute } from './flight.ts'
import { ROUTES_MAX, type RpcMessage } from './messages.ts'
import { refuse, type Rpc } from './state.ts'

/** Passes on a message for another member. */
export function passOn(rpc: Rpc, message: RpcMessage): void {
  switch (message.kind) {
    case 'call':
      return passCall(rpc, message)
    case 'result':
      // A result counts only from the member that was called.
      if (rpc.routes.get(message.to)?.get(message.id) !== message.from)
        return void rpc.counters.late++
      forgetRoute(rpc, message.to, message.id)
      rpc.outbox.push({ to: message.to, message })
      return
    case 'note':
      for (const to of message.to === 0 ? rpc.here : [message.to]) {
        const passes = to !== rpc.me && to !== message.from && rpc.here.has(to)
        // The note names that member alone: one that wrongly thinks it leads would otherwise pass
        // it on again.
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

/** The link to a peer is lost, or the peer left: calls to it will have no answer. */
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
