/**
 * The link of a join: to the primary that the hub has named, with our JOIN in its handshake. The
 * hub relays it and cannot read it. The primary answers on the link, which stays once we are a
 * member.
 */

import * as link from '../link/link.ts'
import type { Millis } from '../machine.ts'
import { knocking } from '../wire/relay.ts'
import * as seal from '../seal/seal.ts'
import { claimOf, type Join, joinLayout } from '../session/messages.ts'
import { encode } from '../wire/layout.ts'
import * as dispatch from './dispatch.ts'
import { compute } from './dispatch.ts'
import * as peers from './peers.ts'
import * as linkKeys from './link-keys.ts'
import { type CurveJob, JOIN_CHANNEL, type Peer, type Runtime } from './state.ts'

/** A primary that is silent for so long before its answer may have been replaced. */
export const SILENT_MS: Millis = 1_500

/** Has our JOIN signed; `onJoinSigned` sends it. */
export function sendJoin(run: Runtime, to: string, join: Omit<Join, 'signature'>): void {
  const { curves, options } = run.member
  if ([...curves.jobs.values()].some((job) => job.kind === 'sign' && job.session === to)) return
  const message = claimOf(to, join)
  const { seed } = options.identity
  compute(run, { kind: 'sign', session: to, join }, { kind: 'sign', seed, message })
}

/** Sends our signed JOIN, if it is still wanted. */
export function onJoinSigned(
  run: Runtime,
  job: CurveJob & { kind: 'sign' },
  signature: Uint8Array,
): void {
  const { member, now } = run
  const { phase, found, named } = member
  if (phase !== 'asking' || found !== job.session || member.joinPeer || !named) return
  linkKeys.begin(run, found)
  const peer = peers.blank(run, named.key, true)
  const join = encode(joinLayout, { ...job.join, signature })
  peer.path = knocking(0)
  member.joinPeer = peer
  const asked = { peer: named.key, to: named.inc, addresses: [peer.path], join }
  seal.ask(member.seal!, now, asked)
}

/**
 * The primary's answer in the current datagram.
 *
 * @returns the answer, and how many arrivals it took; null if there was none
 */
export function takeAnswer({ arrivals }: Runtime): { blob: Uint8Array; count: number } | null {
  for (let at = 0; at < arrivals.count; at++) {
    const { what, bytes } = arrivals.list[at]!
    if (what !== 'message' || bytes[0] !== JOIN_CHANNEL) continue
    return { blob: bytes.subarray(1), count: at + 1 }
  }
  return null
}

/** Whether the primary that we asked has been silent for too long. */
export function isSilent({ member, now }: Runtime): boolean {
  const { joinPeer } = member
  return !joinPeer?.link ? false : now - joinPeer.link.lastReceived > SILENT_MS
}

/** Gives up on the primary that we asked. */
export function leave(run: Runtime): void {
  const { member } = run
  if (!member.joinPeer) return
  linkKeys.hangUp(run, member.joinPeer)
  member.joinPeer = null
}

/** Closes the link of a join with a reason. */
export function close(run: Runtime, peer: Peer, reason: number): void {
  if (peer.link) link.close(peer.link, run.now, reason, dispatch.sinkOf(run, peer))
  leave(run)
}
