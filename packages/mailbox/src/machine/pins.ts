/**
 * Pins: the key by which a mailbox knows another.
 *
 * An id is bound to the key that is listed, or else to the one that its first letter or ack came
 * with; a greeting alone binds nothing, or anybody could take an id that nobody has used yet. Only
 * two things bind it to another key: the owner, and a letter that the old key signed (keys.ts).
 */

import { isSame } from '../../../holdfast/src/wire/history.ts'
import { type Mailbox, type MailOut, peerOf } from './state.ts'

/** The key by which a peer is known; null for none. */
export function keyOf({ peers, listed }: Mailbox, id: string): Uint8Array | null {
  const peer = peers.get(id)
  const given = listed?.get(id) ?? null
  const key = peer?.key ?? null
  if (given === null || key === null) return given ?? key
  // The list may still name a key that the peer has changed since.
  return isSame(given, peer!.root!) || isSame(given, key) ? key : given
}

/** Whether a peer is known by no other key than that one. */
export function fitsKey(box: Mailbox, id: string, key: Uint8Array): boolean {
  const known = keyOf(box, id)
  return known === null || isSame(known, key)
}

/**
 * A letter or an ack of a peer came with that key: its id is bound to it. One by which the peer has
 * replaced its key came with the old one, which binds nothing any more.
 *
 * @param key  null where a carrier without a greeting brought it, which binds nothing
 */
export function bind(box: Mailbox, id: string, key: Uint8Array | null, out: MailOut): void {
  const bound = box.peers.get(id)?.key
  const isBound = key !== null && bound && isSame(bound, key)
  if (key && !isBound && fitsKey(box, id, key)) know(box, id, key, key, out)
}

/** The owner says by which key a peer is known from now on. */
export function trust(box: Mailbox, id: string, key: Uint8Array, out: MailOut): void {
  know(box, id, key, key, out)
}

/** The key by which a peer is known signed another one. */
export function follow(box: Mailbox, id: string, now: Uint8Array, out: MailOut): void {
  // What the list names leads to the new key, for as long as it names the same.
  const root = box.listed?.get(id) ?? peerOf(box, id).root ?? keyOf(box, id)!
  know(box, id, now, root, out)
}

function know(box: Mailbox, id: string, key: Uint8Array, root: Uint8Array, out: MailOut): void {
  Object.assign(peerOf(box, id), { key, root })
  out.record({ kind: 'bound', peer: id, key, root })
}
