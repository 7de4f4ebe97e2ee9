/** What an application sees of the paths to other members: `session.paths()`. */

import type { MemberInfo } from '../kind/kind.ts'
import * as link from '../link/link.ts'
import type { Member, Peer } from '../member/state.ts'
import { isByRelay, type PathKind } from '../paths/paths.ts'

/** A link of this member to another one, and the path by which its packets go now. */
export interface PathInfo {
  /** The member at the other end. */
  readonly member: MemberInfo
  /** What carries the packets; `relay` is the hub. */
  readonly kind: 'udp' | 'webrtc' | 'websocket' | 'relay'
  /** Round trip by this path in ms, smoothed; null before the first measurement. */
  readonly rttMs: number | null
  /** Share of our packets by this path that were lost, 0 to 1. */
  readonly loss: number
  /** Bytes of the link by all paths, without seal and headers. */
  readonly bytes: { readonly in: number; readonly out: number }
  /**
   * Why packets go through the hub; null if they go directly. `no-address`: the other member offers
   * no address that this one reaches. `opening`: a direct path is being tried. `proving`: it failed
   * before, and must answer for a while. `no-answer`: what was tried did not answer, and is tried
   * again.
   */
  readonly why: 'no-address' | 'opening' | 'proving' | 'no-answer' | null
}

const KINDS = {
  ...{ udp: 'udp', rtc: 'webrtc', ws: 'websocket', relay: 'relay' },
} as const satisfies Record<PathKind, PathInfo['kind']>

/** The paths to all members of that list with whom we have a link. */
export function pathsOf(member: Member, members: readonly MemberInfo[]): PathInfo[] {
  return members.flatMap((info) => {
    const peer = member.peers.get(info.inc)
    return peer?.link && peer.paths.chosen ? [infoOf(member, peer, info)] : []
  })
}

function infoOf(member: Member, peer: Peer, info: MemberInfo): PathInfo {
  const { rtt, asked, lost } = link.current(peer.link!)
  const { bytesReceived, bytesSent } = peer.link!.counters
  return {
    member: info,
    kind: KINDS[peer.paths.chosen!.kind],
    rttMs: rtt.samples === 0 ? null : rtt.smoothed,
    loss: asked === 0 ? 0 : lost / asked,
    bytes: { in: bytesReceived, out: bytesSent },
    why: isByRelay(peer.paths) ? reasonOf(member, peer) : null,
  }
}

function reasonOf({ channels }: Member, { inc, paths }: Peer): PathInfo['why'] {
  const states = paths.candidates.filter(({ kind }) => kind !== 'relay').map(({ state }) => state)
  if (states.includes('good')) return 'proving'
  if (states.includes('new') || states.includes('probing')) return 'opening'
  const pair = channels.pairs.get(inc)
  if (pair && (pair.state !== 'closed' || pair.failures === 0)) return 'opening'
  return pair || states.length > 0 ? 'no-answer' : 'no-address'
}
