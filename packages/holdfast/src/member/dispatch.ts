/**
 * Dispatch: routes messages and frames to the session or a part by their channel (the first byte),
 * catches errors thrown there, and passes their output to the links.
 */

import type { PeerId, Millis } from '../machine.ts'
import type { PartOut } from '../kind/protocol/part.ts'
import { type PeerMessage, type View, peerLayout } from '../session/messages.ts'
import { leaderCertificateOf } from '../hub-protocol/messages.ts'
import type { Arrival } from '../link/arrivals.ts'
import * as seal from '../seal/seal.ts'
import { charge } from '../session/operations.ts'
import * as session from '../session/session.ts'
import { needsCertificate } from '../session/state.ts'
import { decode, encode } from '../wire/layout.ts'
import {
  type CurveJob,
  type Runtime,
  SESSION_CHANNEL,
  SIGNAL_CHANNEL,
  mountOf,
  type CurveQuestion,
  type Peer,
  type JobOf,
} from './state.ts'
import * as channels from './channels.ts'
import { ACK_SOON_AFTER } from '../link/limits.ts'
import * as link from '../link/link.ts'
import type { LinkSink } from '../link/link.ts'

/** Most messages of one peer that wait for a signature check; more are dropped. */
const HELD_MAX = 4_096

export function takeMessage(run: Runtime, from: PeerId, bytes: Uint8Array): void {
  const { member } = run
  const channel = bytes[0] ?? -1
  if (holdBack(run, from, bytes)) return
  if (channel === SESSION_CHANNEL) {
    const message = decode(peerLayout, bytes.subarray(1))
    if (!message) member.counters.malformed++
    else if (message.kind === 'view' && needsCertificate(member.session, from, message.view)) {
      checkGrant(run, from, message.view)
    } else session.receive(run.turn, from, message)
    return
  }
  if (channel === SIGNAL_CHANNEL) return channels.receive(run, from, bytes.subarray(1))
  if (member.watchers.has(from)) return receiveFromWatcher(run, from, bytes)
  receiveForPart(run, from, channel, bytes.subarray(1))
}

// A watcher may send only what it needs in order to see.
function receiveFromWatcher(run: Runtime, from: PeerId, bytes: Uint8Array): void {
  const [channel, body] = [bytes[0] ?? -1, bytes.subarray(1)]
  const isHeard = mountOf(run.member, channel)?.part.acceptsFromWatcher?.(body) ?? false
  if (isHeard) receiveForPart(run, from, channel, body)
  else run.member.counters.watching++
}

// Messages after a view wait until that view is checked.
function holdBack({ member }: Runtime, from: PeerId, bytes: Uint8Array): boolean {
  const held = member.peers.get(from)?.held
  if (!held) return false
  if (held.length < HELD_MAX) held.push(bytes.slice())
  else member.counters.malformed++
  return true
}

// A new primary must have the hub's certificate.
function checkGrant(run: Runtime, from: PeerId, view: View): void {
  const { hubKey, session: own, peers } = run.member
  const [peer, row] = [peers.get(from), view.members.find(({ inc }) => inc === from)]
  if (!peer || !hubKey || !row) return void run.member.counters.forged++
  const { epoch } = view
  const message = leaderCertificateOf({ session: own.id, epoch, primary: from, link: row.link })
  peer.held = []
  const question = { kind: 'verify', key: hubKey, message, signature: view.grant! } as const
  compute(run, { kind: 'grant', of: peer, view }, question)
}

/** The certificate of a view is checked: applies the view if valid, then the messages after it. */
export function onGrantChecked(run: Runtime, job: JobOf<'grant'>, isRight: boolean): void {
  const { member } = run
  const { of: peer, view } = job
  if (member.peers.get(peer.inc) !== peer) return
  const held = peer.held ?? []
  peer.held = null
  // The link key must be the primary's own.
  const leads = peer.key === seal.nameOf(view.members.find(({ inc }) => inc === peer.inc)!.link)
  if (isRight && leads) session.takeView(run.turn, peer.inc, view, true)
  else member.counters.forged++
  for (const bytes of held) takeMessage(run, peer.inc, bytes)
}

/** A message for a part, on its own or inside one of the session. */
export function receiveForPart(
  run: Runtime,
  from: PeerId,
  channel: number,
  bytes: Uint8Array,
): void {
  const mount = mountOf(run.member, channel)
  if (!mount?.part.receive) return void run.member.counters.malformed++
  mount.part.receive(mount.state, run.now, from, bytes, partOut(run, channel))
}

/**
 * Handles everything that a datagram of a peer carried, in order, even if the first arrival ends
 * the link: the packet was checked and is acked as a whole.
 *
 * @param first  how many were taken before
 */
export function takeArrivals(run: Runtime, from: PeerId, first = 0): void {
  const { arrivals } = run
  for (let i = first; i < arrivals.count; i++) {
    guard(run, 'a message', () => takeArrival(run, from, arrivals.list[i]!))
  }
}

function takeArrival(run: Runtime, from: PeerId, { what, number, bytes }: Arrival): void {
  const { mounts } = run.member
  switch (what) {
    case 'message':
      return takeMessage(run, from, bytes)
    case 'frame':
      return takeFrame(run, from, number, bytes)
    case 'acked':
      for (const { part, state } of mounts) part.acked?.(state, from, number)
      return
    case 'lost':
      for (const { part, state } of mounts) part.lost?.(state, from, number)
      return
    case 'delivered':
      for (const { part, state } of mounts) part.delivered?.(state, from, number)
  }
}

/** An unreliable frame of a peer. */
function takeFrame(run: Runtime, from: PeerId, channel: number, bytes: Uint8Array): void {
  const mount = mountOf(run.member, channel)
  if (!mount?.part.read) return void run.member.counters.malformed++
  if (run.member.watchers.has(from) && !mount.part.acceptsWatcherFrames) {
    return void run.member.counters.watching++
  }
  mount.part.read(mount.state, run.now, from, bytes, partOut(run, channel))
}

export function frameSession(message: PeerMessage): Uint8Array {
  return framePart(SESSION_CHANNEL, encode(peerLayout, message))
}

export function framePart(channel: number, bytes: Uint8Array): Uint8Array {
  const framed = new Uint8Array(bytes.length + 1)
  framed[0] = channel
  framed.set(bytes, 1)
  return framed
}

/** The sink of one part; made once for each. */
export function partOut(run: Runtime, channel: number): PartOut {
  let out = run.outs.get(channel)
  if (!out) {
    out = {
      send: (to, bytes) => run.deliver(to, framePart(channel, bytes)),
      emit: (event) => run.ports.emit({ kind: 'part', channel, event }),
      charge: (from, what) => charge(run.member.session, run.now, from, what),
    }
    run.outs.set(channel, out)
  }
  return out
}

// The one error boundary around a member: an error thrown by any input is a bug of ours. It is
// counted and reported, and costs that one message.
//
// A half-changed state cannot go on. Steps that must be atomic (a log entry, a role, a publication,
// a view) count themselves in `Session.steps` while they run; after an error inside one, the state
// is abandoned (`leaveBroken`).
//
// A member without a runtime, as in models, throws: there every error is a finding.

/** After an error nothing is due for so long, or a deadline that throws would spin. */
export const CALM_MS: Millis = 50

/** Runs the handler of an input. @param where  names the input in the report */
export function guard(run: Runtime, where: string, act: () => void): void {
  guarded(run, where, undefined, act)
}

/** The same for a handler with a result. @param instead  the result if it throws */
export function guarded<Result>(
  run: Runtime,
  where: string,
  instead: Result,
  act: () => Result,
): Result {
  const { member, ports } = run
  if (!ports.threw) return act()
  if (member.broken !== '') return instead
  try {
    return act()
  } catch (error) {
    member.counters.threw++
    member.calmUntil = run.now + CALM_MS
    ports.threw(error, where)
    if (member.session.steps > 0) member.broken = `at ${where}: ${String(error)}`
    return instead
  }
}

export function compute({ member, ports }: Runtime, job: CurveJob, question: CurveQuestion): void {
  const { curves } = member
  const number = curves.next++
  curves.jobs.set(number, job)
  ports.compute(number, question)
}

export function takeJob({ member }: Runtime, number: number): CurveJob | null {
  const { jobs } = member.curves
  const job = jobs.get(number) ?? null
  jobs.delete(number)
  return job
}

// Output on open links: sealed packets, filled by the parts.

/** Probes a peer: two packets that ask for an ack get it at once (L6). */
export function probe(run: Runtime, peer: Peer): void {
  for (let n = 0; n < ACK_SOON_AFTER; n++) link.probe(peer.link!, run.now, sinkOf(run, peer))
  noteDeadline(run, peer)
}

/**
 * Notes when a peer's link is due next. One call touches few of many links, so only those are
 * checked; the next wake finds links whose deadline moved back.
 */
export function noteDeadline(run: Runtime, peer: Peer): void {
  let due = peer.link ? Math.min(link.deadline(peer.link), peer.paths.dueAt) : peer.askAt
  if (peer.link && peer.reachability) {
    due = Math.min(due, peer.reachability.askAt, peer.reachability.until)
  }
  if (due < run.member.dueAt) run.member.dueAt = due
}

export function flush(run: Runtime): void {
  const { member } = run
  for (const inc of member.touched) {
    const peer = member.peers.get(inc)
    if (!peer?.link) continue
    link.flush(peer.link, run.now, sinkOf(run, peer))
    noteDeadline(run, peer)
  }
  member.touched.clear()
}

/** State for a peer changed: the next packet that may leave carries it. */
export function scheduleWrite(run: Runtime, to: PeerId): void {
  const peer = run.member.peers.get(to)
  if (!peer?.link) return
  link.scheduleWrite(peer.link, run.now)
  run.member.touched.add(to)
}

const sinks = new WeakMap<Peer, LinkSink>()

export function sinkOf(run: Runtime, peer: Peer): LinkSink {
  let sink = sinks.get(peer)
  if (!sink) {
    const { member } = run
    const { mounts } = member
    sink = {
      packet: (bytes) => {
        if (member.seal && peer.key) seal.send(member.seal, run.now, peer.key, bytes)
      },
      write: (sequence, writer, budget) => {
        const { inc } = peer
        if (inc === 0) return link.NOTHING_WAITS
        for (const { part, state } of mounts) {
          if (part.write?.(state, run.now, inc, sequence, writer, budget)) return part.channel
        }
        const more = mounts.some(({ part, state }) => part.waits?.(state, run.now, inc) ?? false)
        return more ? -1 : link.NOTHING_WAITS
      },
      lost: (sequence) => {
        if (peer.inc === 0) return
        for (const { part, state } of mounts) part.lost?.(state, peer.inc, sequence)
      },
    }
    sinks.set(peer, sink)
  }
  return sink
}
