/**
 * Dispatch: gives messages and frames to the session or to the part that they name, catches what
 * these throw, and gives what they send to the links. The first byte of a message is its channel.
 */

import type { PeerId, Millis } from '../machine.ts'
import type { PartOut } from '../kind/protocol/part.ts'
import { type PeerMessage, type View, peerLayout } from '../session/messages.ts'
import { leaderCertificateOf } from '../hub-protocol/messages.ts'
import type { Arrival } from '../link/arrivals.ts'
import * as seal from '../seal/seal.ts'
import { nameOf } from '../seal/seal.ts'
import { charge } from '../session/operations.ts'
import * as session from '../session/session.ts'
import { needsCertificate } from '../session/trust.ts'
import { decode, encode } from '../wire/layout.ts'
import {
  type CurveJob,
  type Runtime,
  SESSION_CHANNEL,
  mountOf,
  type CurveQuestion,
  type Peer,
} from './state.ts'
import { ACK_SOON_AFTER } from '../link/limits.ts'
import * as link from '../link/link.ts'
import type { LinkSink } from '../link/link.ts'
import * as reachability from './reachability.ts'

/** Messages of one peer that wait for a signature; more are dropped. */
const HELD_MAX = 4_096

/** A reliable message of a peer, or of ourselves. */
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
  if (member.watchers.has(from)) return receiveFromWatcher(run, from, bytes)
  receiveForPart(run, from, channel, bytes.subarray(1))
}

// Who watches is heard as far as it must be to see.
function receiveFromWatcher(run: Runtime, from: PeerId, bytes: Uint8Array): void {
  const [channel, body] = [bytes[0] ?? -1, bytes.subarray(1)]
  const isHeard = mountOf(run.member, channel)?.part.acceptsFromWatcher?.(body) ?? false
  if (isHeard) receiveForPart(run, from, channel, body)
  else run.member.counters.watching++
}

// What comes behind a view counts only with that view.
function holdBack({ member }: Runtime, from: PeerId, bytes: Uint8Array): boolean {
  const held = member.peers.get(from)?.held
  if (!held) return false
  if (held.length < HELD_MAX) held.push(bytes.slice())
  else member.counters.malformed++
  return true
}

// Somebody leads by the hub's signature.
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

/** The signature in a view is checked: it counts or not, and then what came behind it. */
export function onGrantChecked(
  run: Runtime,
  job: CurveJob & { kind: 'grant' },
  isRight: boolean,
): void {
  const { member } = run
  const { of: peer, view } = job
  if (member.peers.get(peer.inc) !== peer) return
  const held = peer.held ?? []
  peer.held = null
  // The link is that of the key that leads, whatever the view says of others.
  const leads = peer.key === nameOf(view.members.find(({ inc }) => inc === peer.inc)!.link)
  if (isRight && leads) session.takeView(run.turn, peer.inc, view, true)
  else member.counters.forged++
  for (const bytes of held) takeMessage(run, peer.inc, bytes)
}

/** News of a part, in a message of its own or in one of the session. */
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
 * Takes all that a datagram of a peer carried, in its order. All of it counts, even if the first of
 * it ends the link: the packet was checked as a whole, and is acked as a whole.
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

/** A message of the session, as bytes. */
export function frameSession(message: PeerMessage): Uint8Array {
  return framePart(SESSION_CHANNEL, encode(peerLayout, message))
}

/** A message of a part, as bytes. */
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

// The one boundary around the machine of a member: whatever a message makes it throw is a bug of
// ours, and stays in here. It is counted and named, and costs the one message.
//
// What cannot go on is a state that was changed by half. A step that is done wholly or not at all
// counts itself while it runs (`Session.steps`): an entry of the log, a role, what is published, a
// view. Where it threw nothing more is done with that state (`leaveBroken`).
//
// A member without a runtime, as in models, throws: there each throw is a fault that was found.

/** After a throw nothing is due for so long: what is due by the clock and throws would spin. */
export const CALM_MS: Millis = 50

/** Runs what an input causes. @param where  what it was, for whoever reads the report */
export function guard(run: Runtime, where: string, act: () => void): void {
  guarded(run, where, undefined, act)
}

/** The same of what has a result. @param instead  the result where it throws */
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

/** Has curves compute for a job. */
export function compute({ member, ports }: Runtime, job: CurveJob, question: CurveQuestion): void {
  const { curves } = member
  const number = curves.next++
  curves.jobs.set(number, job)
  ports.compute(number, question)
}

/** The job of that number, which is no more; null if it was none. */
export function takeJob({ member }: Runtime, number: number): CurveJob | null {
  const { jobs } = member.curves
  const job = jobs.get(number) ?? null
  jobs.delete(number)
  return job
}

// What leaves on links that stand: packets, sealed, with what the parts have to say.

/** Asks a peer for a sign of life: two packets that ask for an ack get it at once (L6). */
export function probe(run: Runtime, peer: Peer): void {
  for (let n = 0; n < ACK_SOON_AFTER; n++) link.probe(peer.link!, run.now, sinkOf(run, peer))
  noteDeadline(run, peer)
}

/**
 * Notes when a peer's link is due next. One call touches few of many links, so only those are
 * looked at; links that are now due later than before are found by the next wake.
 */
export function noteDeadline(run: Runtime, peer: Peer): void {
  const due = peer.link
    ? Math.min(
        link.deadline(peer.link),
        peer.reachability ? reachability.deadline(peer.reachability) : Infinity,
      )
    : peer.askAt
  if (due < run.member.dueAt) run.member.dueAt = due
}

/** Sends what was written since the last flush. */
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

/** There is newest state for a peer: it leaves with the next packet that may. */
export function scheduleWrite(run: Runtime, to: PeerId): void {
  const peer = run.member.peers.get(to)
  if (!peer?.link) return
  link.scheduleWrite(peer.link, run.now)
  run.member.touched.add(to)
}

const sinks = new WeakMap<Peer, LinkSink>()

/** Where what a link sends goes. */
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
