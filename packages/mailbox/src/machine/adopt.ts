/**
 * Repairs by the owner when the histories of a pair diverged and the right store is lost: continue
 * from the other side's numbers, or forget the peer. One side is enough.
 */

import type { Letter, MailHead, MailShelf } from '../../../holdfast/src/ports.ts'
import { NO_DIGEST } from '../../../holdfast/src/wire/history.ts'
import { BATCH_BYTES_MAX, type Hello } from './messages.ts'
import { add, commonFrom, commonTo } from './outbox.ts'
import { emptyInbox, type Mailbox, type MailOut, type Peer, peerOf } from './state.ts'

/** Numbers of letters, both ends included. */
export interface Range {
  /** The lowest. */
  first: number
  /** The highest. */
  last: number
}

/** The fate of letters of both histories. Numbers are those from before; null for none. */
export interface Adopted {
  /** Our waiting letters, sent again under new numbers. */
  resent: Range | null
  /** Our letters that the other side acked and lost; we no longer have them either. */
  givenUp: Range | null
  /** Their letters that took effect here but are unknown to their store. */
  strays: Range | null
  /** Their letters that their store counts as delivered but are unknown here. */
  missed: Range | null
}

/**
 * Continues from the numbers in the other side's hello.
 *
 * @param common  the last letter to the peer that both have, if the owner knows it
 * @returns null if the last common letter is unknown
 */
export function adopt(
  box: Mailbox,
  id: string,
  hello: Hello,
  common: number | null,
  shelf: MailShelf,
  out: MailOut,
): Adopted | null {
  const peer = peerOf(box, id)
  const to = common ?? commonTo(peer, hello)
  if (to === null) return null
  const waiting = lettersAbove(shelf, id, Math.max(peer.acked, to))
  const from = commonFrom(peer, hello)
  const result = {
    resent: range((waiting[0]?.n ?? 1) - 1, waiting.at(-1)?.n ?? 0),
    givenUp: range(to, peer.acked),
    strays: range(from ?? peer.heard, peer.heard),
    missed: range(from ?? hello.acked, hello.acked),
  }
  emptyInbox(box, peer)
  const head = headOf(peer, hello, from)
  Object.assign(peer, head, { gone: head.heard, retryAt: 0 })
  out.record({ kind: 'begun', peer: id, head: { peer: id, ...head } })
  for (const { body } of waiting) add(box, id, body, out)
  return result
}

/** Forgets a peer and the letters to it. @returns how many letters */
export function forget(box: Mailbox, id: string, out: MailOut): number {
  const peer = peerOf(box, id)
  emptyInbox(box, peer)
  box.peers.delete(id)
  out.record({ kind: 'begun', peer: id, head: null })
  return peer.posted - peer.acked
}

function headOf(peer: Peer, hello: Hello, from: number | null): Omit<MailHead, 'peer'> {
  const heard = Math.min(Math.max(from ?? hello.acked, hello.acked), hello.posted)
  return {
    posted: hello.heard,
    acked: hello.heard,
    bytes: 0,
    tries: 0,
    postedDigest: hello.heardDigest,
    ackedDigest: hello.heardDigest,
    ourLives: hello.theirLives,
    heard,
    heardDigest: digestAt(peer, hello, heard),
    theirLives: hello.ourLives.filter(({ first }) => first <= heard),
    key: peer.key,
    root: peer.root,
  }
}

// An unknown digest matches any, so the next letter is accepted on trust.
function digestAt(peer: Peer, hello: Hello, heard: number): Uint8Array {
  if (heard === hello.posted) return hello.postedDigest
  return heard === peer.heard ? peer.heardDigest : NO_DIGEST
}

/** All letters waiting for a peer above a number. */
export function lettersAbove(shelf: MailShelf, id: string, after: number): Letter[] {
  const all: Letter[] = []
  for (let from = after; ;) {
    const { letters } = shelf.letters(id, from, BATCH_BYTES_MAX)
    if (letters.length === 0) return all
    for (const letter of letters) all.push(letter)
    from = letters.at(-1)!.n
  }
}

function range(after: number, last: number): Range | null {
  return after < last ? { first: after + 1, last } : null
}
