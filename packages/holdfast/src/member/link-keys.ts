/**
 * Maps link keys to members, and drives a member's seal. Only the view assigns keys to members.
 */

import type { PeerId } from '../machine.ts'
import type { Member as Row } from '../replication/layouts.ts'
import * as seal from '../seal/seal.ts'
import { type PeerKey, pointOf, type Request, type Verdict } from '../seal/state.ts'
import { admits } from '../session/membership.ts'
import { drawKey, type Peer, type Runtime } from './state.ts'

/** Creates the seal for a session with our link key. */
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

/** Sets our number and the version of our view for new handshakes. */
export function become({ member }: Runtime): void {
  const { me, client } = member.session
  seal.become(member.seal!, me, client.view.mv)
}

/** Binds the key of a linked peer to a member. */
export function bindKey({ member }: Runtime, { key }: Peer, inc: PeerId): void {
  member.keys.set(key!, inc)
  seal.know(member.seal!, key!, inc)
}

/** A member's row in our view, or in the view that we publish as primary. */
export function rowOf({ member }: Runtime, inc: PeerId): Row | null {
  const { client, server } = member.session
  const shown = client.view.members.find((one) => one.inc === inc)
  return shown ?? server.published.get(inc) ?? null
}

/**
 * The link key of a member, or null. The hub is believed about a primary that is in no view, as by
 * a newcomer.
 */
export function keyOf(run: Runtime, inc: PeerId): PeerKey | null {
  const { named } = run.member
  const row = rowOf(run, inc)
  if (row) return seal.nameOf(row.link)
  return named?.inc === inc ? named.key : null
}

/** Asks a peer for a link, at all of its addresses. @returns false if that is impossible */
export function ask(run: Runtime, { inc, key, paths }: Peer): boolean {
  const { seal: own, keys } = run.member
  if (!own || !key) return false
  keys.set(key, inc)
  become(run)
  seal.ask(own, run.now, { peer: key, to: inc, addresses: paths })
  return true
}

/** Whether a process that has proven its link key may have a link with us. */
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

/** Sets the address of packets to a peer. @returns false if the peer has not validated it */
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
