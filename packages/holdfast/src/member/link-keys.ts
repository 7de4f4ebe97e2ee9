/**
 * Which member each link key is, and what a member does with its seal: the view says whose key is
 * whose, and nobody else is believed about it.
 */

import type { PeerId } from '../machine.ts'
import type { Member as Row } from '../replication/layouts.ts'
import * as seal from '../seal/seal.ts'
import { type PeerKey, pointOf, type Request, type Verdict } from '../seal/state.ts'
import { admits } from '../session/membership.ts'
import { drawKey, type Peer, type Runtime } from './state.ts'

/** Links of that session may begin, with the link key that we have. */
export function begin({ member, ports, now, seals: out }: Runtime, session: string): void {
  const { linkKey, entropy } = member
  if (member.sealed === session) return
  const { secret, point } = linkKey
  const seed = drawKey(entropy)
  const { ciphers } = ports
  member.keys.clear()
  member.seal = seal.create(now, { out, ciphers, session, secret, point: point!, seed })
  member.sealed = session
}

/** Tells peers from now on who we are, and which view we have. */
export function become({ member }: Runtime): void {
  const { me, client } = member.session
  seal.become(member.seal!, me, client.view.mv)
}

/** A peer that has a link is that member. */
export function bindKey({ member }: Runtime, { key }: Peer, inc: PeerId): void {
  member.keys.set(key!, inc)
  seal.know(member.seal!, key!, inc)
}

/** What we know of a member: as the primary what we tell, else the view. */
export function rowOf({ member }: Runtime, inc: PeerId): Row | null {
  const { client, server } = member.session
  const shown = client.view.members.find((one) => one.inc === inc)
  return shown ?? server.published.get(inc) ?? null
}

/**
 * The link key of a member; null if nobody told us. Of a primary that no view has the hub is
 * believed, as by a newcomer.
 */
export function keyOf(run: Runtime, inc: PeerId): PeerKey | null {
  const { named } = run.member
  const row = rowOf(run, inc)
  if (row) return seal.nameOf(row.link)
  return named?.inc === inc ? named.key : null
}

/** Asks a peer for a link, on all addresses that it may be at. @returns false if that is no use */
export function ask(run: Runtime, { inc, key, paths }: Peer): boolean {
  const { seal: own, keys } = run.member
  if (!own || !key) return false
  keys.set(key, inc)
  become(run)
  seal.ask(own, run.now, { peer: key, to: inc, addresses: paths })
  return true
}

/** Whether somebody with a link key, which it has shown, may have a link with us. */
export function admit({ member }: Runtime, { peer, from, mv }: Request): Verdict {
  const verdict = admits(member.session, from, pointOf(peer)!, mv)
  if (verdict === 'wait') return 'later'
  if (verdict === 'yes') {
    member.keys.set(peer, from)
    return null
  }
  member.counters.denied++
  return 'notMember'
}

/** Packets for a peer go there from now on. @returns false if it has not shown that it is there */
export function route({ member }: Runtime, { key }: Peer, path: string): boolean {
  return member.seal !== null && key !== null && seal.route(member.seal, key, path)
}

/** Asks whether a peer is at an address. */
export function probe(run: Runtime, { key }: Peer, path: string): void {
  const { seal: own } = run.member
  if (own && key) seal.probe(own, run.now, key, path)
}

/** Ends the keys of a link. */
export function hangUp({ member }: Runtime, { key }: Peer): void {
  if (member.seal && key) seal.hangUp(member.seal, key)
}
