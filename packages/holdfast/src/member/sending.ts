/** What leaves on links that stand: packets, sealed, with what the parts have to say. */

import { ACK_SOON_AFTER } from '../link/limits.ts'
import * as link from '../link/link.ts'
import type { LinkSink } from '../link/link.ts'
import type { PeerId } from '../machine.ts'
import * as seal from '../seal/seal.ts'
import * as doubt from './doubt.ts'
import type { Peer, Runtime } from './state.ts'

/** Asks a peer for a sign of life: two packets that ask for an ack get it at once (L6). */
export function knock(run: Runtime, peer: Peer): void {
  for (let n = 0; n < ACK_SOON_AFTER; n++) link.knock(peer.link!, run.now, sinkOf(run, peer))
  note(run, peer)
}

/**
 * Notes when a peer's link is due next. One call touches few of many links, so only those are
 * looked at; links that are now due later than before are found by the next wake.
 */
export function note(run: Runtime, peer: Peer): void {
  const due = peer.link
    ? Math.min(link.deadline(peer.link), peer.doubt ? doubt.deadline(peer.doubt) : Infinity)
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
    note(run, peer)
  }
  member.touched.clear()
}

/** There is newest state for a peer: it leaves with the next packet that may. */
export function poke(run: Runtime, to: PeerId): void {
  const peer = run.member.peers.get(to)
  if (!peer?.link) return
  link.poke(peer.link, run.now)
  run.member.touched.add(to)
}

const sinks = new WeakMap<Peer, LinkSink>()

/** Where what a link sends goes. */
export function sinkOf(run: Runtime, peer: Peer): LinkSink {
  let sink = sinks.get(peer)
  if (!sink) {
    sink = createSink(run, peer)
    sinks.set(peer, sink)
  }
  return sink
}

function createSink(run: Runtime, peer: Peer): LinkSink {
  const { member } = run
  const { slots } = member
  return {
    packet: (bytes) => {
      if (member.seal && peer.key) seal.send(member.seal, run.now, peer.key, bytes, run.seals)
    },
    write: (sequence, writer, budget) => {
      const { inc } = peer
      if (inc === 0) return link.NOTHING_WAITS
      for (const { part, state } of slots) {
        if (part.write?.(state, run.now, inc, sequence, writer, budget)) return part.channel
      }
      const more = slots.some(({ part, state }) => part.waits?.(state, run.now, inc) ?? false)
      return more ? -1 : link.NOTHING_WAITS
    },
    lost: (sequence) => {
      if (peer.inc === 0) return
      for (const { part, state } of slots) part.lost?.(state, peer.inc, sequence)
    },
  }
}
