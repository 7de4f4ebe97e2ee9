/**
 * Pins: the key by which a mailbox knows each peer.
 *
 * An id is bound to its listed key, or else to the key of its first letter or ack. A handshake
 * alone binds nothing, or anyone could claim an unused id. Only the owner, or a letter signed by
 * the old key (keys.ts), rebinds it.
 */

import { isSame } from '../../../holdfast/src/wire/history.ts'
import { type Mailbox, type MailOut, peerOf } from './state.ts'

/** The key by which a peer is known; null for none. */
export function keyOf({ peers, listed }: Mailbox, id: string): Uint8Array | null {
  const peer = peers.get(id)
  const given = listed?.get(id) ?? null
  const key = peer?.key ?? null
  if (given === null || key === null) return given ?? key
  // The list may still name a key that the peer has since replaced.
  return isSame(given, peer!.root!) || isSame(given, key) ? key : given
}

/** Whether a peer is unknown, or known by that key. */
export function fitsKey(box: Mailbox, id: string, key: Uint8Array): boolean {
  const known = keyOf(box, id)
  return known === null || isSame(known, key)
}

/**
 * Binds a peer's id to the key that its letter or ack came with. A key letter arrives under the old
 * key, which no longer fits and binds nothing.
 *
 * @param key  null for a carrier without a handshake, which binds nothing
 */
export function bind(box: Mailbox, id: string, key: Uint8Array | null, out: MailOut): void {
  const bound = box.peers.get(id)?.key
  const isBound = key !== null && bound && isSame(bound, key)
  if (key && !isBound && fitsKey(box, id, key)) know(box, id, key, key, out)
}

export function trust(box: Mailbox, id: string, key: Uint8Array, out: MailOut): void {
  know(box, id, key, key, out)
}

export function follow(box: Mailbox, id: string, now: Uint8Array, out: MailOut): void {
  // The listed key leads to the new key for as long as the list keeps naming it.
  const root = box.listed?.get(id) ?? peerOf(box, id).root ?? keyOf(box, id)!
  know(box, id, now, root, out)
}

function know(box: Mailbox, id: string, key: Uint8Array, root: Uint8Array, out: MailOut): void {
  Object.assign(peerOf(box, id), { key, root })
  out.record({ kind: 'bound', peer: id, key, root })
}
