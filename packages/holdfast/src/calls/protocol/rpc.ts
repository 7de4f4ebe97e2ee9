/**
 * Calls: a member runs a procedure of the game at another member, and waits for the answer (B4).
 *
 *     CALL{id, method, args}  ->  RESULT{id, answer or why not}        NOTE{method, args}
 *
 * Calls run at most once: each is sent once on the reliable streams of the links, and never resent.
 * When a link on the path or a member is lost, the outcome of the call is `unknown`. In a mesh a
 * call takes the link between its two ends; in a star the primary relays it.
 *
 * Use an action if something must happen exactly once, and an object for state that all members
 * see: an object costs less, and no member can miss it (B7).
 */

import { type Millis, type PeerId, HoldfastError, misfit } from '../../machine.ts'
import type { Part, PartOut, PartView } from '../../kind/protocol/part.ts'
import { isJson } from '../../wire/text/json.ts'
import { decode } from '../../wire/layout.ts'
import {
  forgetRoute,
  onDelivered,
  send,
  fits,
  keyOf,
  refuse,
  reply,
  type Rpc,
  type RpcOut,
  settle,
  spend,
  viaOf,
} from './state.ts'
import {
  CALLS_BURST_TAKEN,
  CALLS_MAX,
  CALLS_PER_SECOND,
  ROUTES_MAX,
  RPC_CHANNEL,
  type RpcMessage,
  rpcLayout,
  WHY_MAX,
  type Answered,
  CALL_BYTES_MAX,
  CALLS_BURST,
  FLIGHT_BYTES_MAX,
  TIMEOUT_MAX_MS,
} from './messages.ts'

const LINK_LOST = 'a link on the way was lost: it may have run or not'
const WENT = 'the member went: it may have run or not'

export const rpcPart: Part<Rpc> = {
  channel: RPC_CHANNEL,
  receive,
  // A watching member may answer calls.
  acceptsFromWatcher: (bytes) => decode(rpcLayout, bytes)?.kind === 'result',
  view,
  unlinked: (rpc, _now, peer) => lose(rpc, peer),
  delivered: onDelivered,
  reset: (rpc) => leave(rpc, 'that was another session: it may have run or not'),
  flush,
  wake,
  deadline,
}

function receive(rpc: Rpc, now: Millis, from: PeerId, bytes: Uint8Array, out: PartOut): void {
  const message = decode(rpcLayout, bytes)
  if (message) receiveMessage(rpc, now, from, message, out)
  else rpc.counters.malformed++
}

// In a star the other members accept messages only from the primary, which names the sender (B9).
function receiveMessage(
  rpc: Rpc,
  now: Millis,
  from: PeerId,
  message: RpcMessage,
  out: PartOut,
): void {
  const { me, mesh, primary } = rpc
  const leads = !mesh && me === primary
  const isOwn = message.from === from
  const isKnown = message.kind === 'result' || rpc.here.has(message.from)
  const believed = mesh || leads || from === me ? isOwn : from === primary
  if (!believed || !isKnown) return void rpc.counters.forged++
  // The first receiver applies the sender's rate limit.
  if (isOwn && from !== me && message.kind !== 'result') {
    const made = `a member makes ${CALLS_PER_SECOND} calls and notes a second`
    if (!spend(rpc, now, from, CALLS_BURST_TAKEN)) return refuseOverloaded(rpc, message, made)
    const asked = 'this player asks for more than the server does for one in a second'
    if (leads && out.charge?.(from, 'operation') === false)
      return refuseOverloaded(rpc, message, asked)
  }
  if (leads && message.to !== me) relay(rpc, message)
  const isForUs = message.to === me || (message.to === 0 && message.kind === 'note')
  if (isForUs) deliver(rpc, from, message)
  else if (!leads) rpc.counters.forged++
}

function refuseOverloaded(rpc: Rpc, message: RpcMessage, why: string): void {
  rpc.counters.overloaded++
  if (message.kind === 'call') refuse(rpc, message, 'overloaded', why)
}

function deliver(rpc: Rpc, via: PeerId, message: RpcMessage): void {
  if (message.kind === 'result') return receiveResult(rpc, via, message)
  if (!isJson(message.args)) return void rpc.counters.malformed++
  const { from, method, args } = message
  if (message.kind === 'note') return void rpc.events.push({ kind: 'note', from, method, args })
  receiveCall(rpc, via, message)
}

function receiveCall(rpc: Rpc, via: PeerId, call: RpcMessage & { kind: 'call' }): void {
  const { from, id, method, args } = call
  // A former primary may relay a call late.
  if (id <= (rpc.marks.get(from) ?? 0)) return void rpc.counters.stale++
  rpc.marks.set(from, id)
  let running = 0
  for (const one of rpc.running.values()) if (one.from === from) running++
  if (running >= CALLS_MAX) {
    rpc.counters.overloaded++
    return reply(rpc, call, 'overloaded', `${CALLS_MAX} calls of one member run there already`)
  }
  rpc.running.set(keyOf(from, id), { from, id, via })
  rpc.events.push({ kind: 'call', from, id, method, args })
}

function receiveResult(rpc: Rpc, via: PeerId, result: RpcMessage & { kind: 'result' }): void {
  const { from, id, outcome, text } = result
  const pending = rpc.pending.get(id)
  if (!pending || pending.target !== from || pending.via !== via) return void rpc.counters.late++
  if (outcome !== 'ok') return settle(rpc, id, outcome, text.slice(0, WHY_MAX))
  if (isJson(text)) return settle(rpc, id, 'ok', text)
  rpc.counters.malformed++
  settle(rpc, id, 'unknown', 'its answer cannot be read')
}

function view(rpc: Rpc, _now: Millis, seen: PartView): void {
  if (rpc.me !== 0 && rpc.me !== seen.me) leave(rpc, 'we were cut off: it may have run or not')
  const before = rpc.here
  rpc.me = seen.me
  rpc.primary = seen.primary
  rpc.mesh = seen.mesh
  rpc.here = new Set(seen.members.map((member) => member.inc))
  for (const peer of before) if (!rpc.here.has(peer)) forget(rpc, peer)
  if (rpc.mesh || rpc.me !== rpc.primary) rpc.routes.clear()
  // When the primary of a star changes, calls that the former one had to relay are lost.
  failCalls(rpc, (via, member) => via !== viaOf(rpc, member), LINK_LOST)
}

function forget(rpc: Rpc, peer: PeerId): void {
  rpc.marks.delete(peer)
  rpc.buckets.delete(peer)
  rpc.flights.delete(peer)
  failCalls(rpc, (_via, member) => member === peer, WENT)
  failRoutes(rpc, peer, WENT)
}

// The link to a peer is lost, with all messages in flight on it.
function lose(rpc: Rpc, peer: PeerId): void {
  rpc.flights.delete(peer)
  failCalls(rpc, (via) => via === peer, LINK_LOST)
  failRoutes(rpc, peer, LINK_LOST)
}

// Settles our lost calls as `unknown`, and forgets calls that run here and cannot be answered.
function failCalls(rpc: Rpc, isLost: (via: PeerId, member: PeerId) => boolean, why: string): void {
  for (const [id, { via, target }] of rpc.pending) {
    if (isLost(via, target)) settle(rpc, id, 'unknown', why)
  }
  for (const [key, { via, from }] of rpc.running) if (isLost(via, from)) rpc.running.delete(key)
}

function leave(rpc: Rpc, why: string): void {
  failCalls(rpc, () => true, why)
  rpc.me = 0
  rpc.outbox.length = 0
  for (const kept of [rpc.here, rpc.marks, rpc.routes, rpc.buckets, rpc.flights]) kept.clear()
}

// The primary of a star relays calls by their ends, without reading their contents (B9). It
// remembers open calls, to notify a caller when the link to the called member is lost.
function relay(rpc: Rpc, message: RpcMessage): void {
  switch (message.kind) {
    case 'call':
      return relayCall(rpc, message)
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
        // The note is addressed to that member alone: a member that wrongly believes it leads would
        // relay a note to all.
        if (passes) rpc.outbox.push({ to, message: { ...message, to } })
      }
      return
    default:
      message satisfies never
  }
}

function relayCall(rpc: Rpc, call: RpcMessage & { kind: 'call' }): void {
  const { from, to, id } = call
  const routes = rpc.routes.get(from) ?? new Map<number, PeerId>()
  rpc.routes.set(from, routes)
  if (routes.has(id)) return void rpc.counters.stale++
  if (!rpc.here.has(to)) return refuse(rpc, call, 'not-found', `member ${to} is not here`)
  routes.set(id, to)
  if (routes.size > ROUTES_MAX) routes.delete(routes.keys().next().value!)
  rpc.outbox.push({ to, message: call })
}

// The link to a peer is lost, or the peer left: refuses the calls to it.
function failRoutes(rpc: Rpc, peer: PeerId, why: string): void {
  rpc.routes.delete(peer)
  for (const [from, routes] of rpc.routes) {
    for (const [id, to] of routes) {
      if (to !== peer) continue
      routes.delete(id)
      refuse(rpc, { from, to, id }, 'unknown', why)
    }
  }
}

function flush(rpc: Rpc, now: Millis, out: RpcOut): void {
  for (let next = rpc.outbox.shift(); next; next = rpc.outbox.shift()) {
    if (next.to === rpc.me) receiveMessage(rpc, now, rpc.me, next.message, out)
    else send(rpc, next.to, next.message, out)
  }
  for (const event of rpc.events.splice(0)) out.emit(event)
}

function wake(rpc: Rpc, now: Millis): void {
  for (const [id, { until, timeoutMs }] of rpc.pending) {
    if (now >= until) settle(rpc, id, 'timeout', `no answer within ${timeoutMs} ms`)
  }
}

function deadline(rpc: Rpc): Millis {
  let due = Infinity
  for (const { until } of rpc.pending.values()) due = Math.min(due, until)
  return due
}

// The operations of the application: call a procedure, send a note, answer a call.

const encoder = new TextEncoder()

export interface Invocation {
  method: string
  /** As JSON. */
  args: string
}

/** Calls a method; a `settled` event reports the outcome. @returns the number of the call */
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

/** Sends a note to a member, or with 0 to all others. Its delivery is not reported. */
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

/** Sends the outcome of a call that ran here, unless the path back was lost meanwhile. */
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
