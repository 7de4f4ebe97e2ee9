/**
 * A mailbox's own keys, and the letter that announces a new one.
 *
 * A key letter is an ordinary letter: in order, resent until acked, in one transaction with its
 * number. The newest earlier keys sign the new one, so a peer needs to know only one of them; a
 * peer that knows an older key gets the chain of letters from that key to the newest.
 *
 *     alice's keys   B        B, A      B, A            B, A
 *     bob knows      B        B         A, durable      A
 *                   handshake | letter ->  | ack, lost  | handshake: bob names A
 *
 * An ack may be lost, so alice cannot know which of her keys bob knows. Bob names it in the
 * handshake and she proves that one, so she keeps all of her keys, each with its letter.
 */

import { isSame } from '../../../holdfast/src/wire/history.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import { KEY_LETTER, type KeyLetter, keyLetterLayout, MAIL_KEYS_MAX, keyText } from './messages.ts'
import { add } from './outbox.ts'
import { follow, keyOf } from './pins.ts'
import type { Mailbox, MailOut } from './state.ts'

/** One of a mailbox's own keys. */
export interface OwnKey {
  seed: Uint8Array
  /** The public half. */
  key: Uint8Array
}

/** The own key that was proved on a connection. */
export interface OwnProof {
  own: Uint8Array
  /** Whether the other side asked for this key. */
  isAsked: boolean
}

export interface Check {
  key: Uint8Array
  message: Uint8Array
  signature: Uint8Array
}

/**
 * The chain of letters from an old key of ours to the newest, in order: each key signs the next
 * letter.
 *
 * @param newest  the letter about our newest key
 * @param about  the stored letter about one of our keys; null for none
 * @returns the newest alone if the old key is not ours
 */
export function leading(
  old: Uint8Array,
  newest: Uint8Array,
  about: (key: Uint8Array) => Uint8Array | null,
): Uint8Array[] {
  const letters = [newest]
  for (;;) {
    const before = readKeyLetter(letters[0]!)?.before.map(({ key }) => key) ?? []
    if (before.some((key) => isSame(key, old))) return letters
    let earlier: Uint8Array | null = null
    while (!earlier && before.length > 0) earlier = about(before.pop()!)
    if (!earlier) return [newest]
    letters.unshift(earlier)
  }
}

export function signersOf(keys: readonly OwnKey[]): readonly OwnKey[] {
  return keys.slice(0, MAIL_KEYS_MAX - 1)
}

export function keyLetter(letter: KeyLetter): Uint8Array {
  const encoded = encode(keyLetterLayout, letter)
  const body = new Uint8Array(1 + encoded.length)
  body[0] = KEY_LETTER
  body.set(encoded, 1)
  return body
}

/** Whether a letter is about a key: the mailbox itself handles it. */
export function isKeyLetter(body: Uint8Array): boolean {
  return body[0] === KEY_LETTER
}

/** Reads a key letter; null if it is malformed. */
export function readKeyLetter(body: Uint8Array): KeyLetter | null {
  return isKeyLetter(body) ? decode(keyLetterLayout, body.subarray(1)) : null
}

/** Posts a letter about our new key to all who may know an older one. @returns its numbers */
export function announce(box: Mailbox, letter: Uint8Array, out: MailOut): Map<string, number> {
  const ids = [...box.peers.keys()].filter((id) => isStored(box, id))
  return new Map(ids.map((id) => [id, add(box, id, letter, out)]))
}

// A peer that acked that letter and still asks for an old key lost its state.
function waits({ peers }: Mailbox, id: string, n: number): boolean {
  const { acked, posted } = peers.get(id)!
  return n > acked && n <= posted
}

function isStored({ peers }: Mailbox, id: string): boolean {
  const peer = peers.get(id)
  return peer !== undefined && (peer.posted > 0 || peer.heard > 0 || peer.key !== null)
}

/**
 * Decides about a connection on which we proved a key. If it is not our newest, the peer must get a
 * letter about that one. A peer about which nothing is stored, such as a stranger, gets none; if it
 * did not ask for the old key, the key was replaced during the handshake, which is then repeated.
 *
 * @param announced  the letter about the newest key that this process posted to the peer
 */
export function afterProof(
  box: Mailbox,
  id: string,
  { own, isAsked }: OwnProof,
  newest: Uint8Array,
  announced: number | undefined,
): 'go on' | 'announce' | 'repeat' {
  if (isSame(own, newest)) return 'go on'
  if (isStored(box, id)) return waits(box, id, announced ?? 0) ? 'go on' : 'announce'
  return isAsked ? 'go on' : 'repeat'
}

/**
 * The signatures to check before a peer's key changes. None if nothing changes, as when the owner
 * trusts a key that the letter does not replace.
 */
export function checksOf(box: Mailbox, id: string, { before, now }: KeyLetter): Check[] {
  const known = keyOf(box, id)
  const old = before.find(({ key }) => known !== null && isSame(key, known))
  if (!old || isSame(now.key, old.key)) return []
  const message = keyText(
    id,
    before.map(({ key }) => key),
    now.key,
  )
  return [old, now].map((one) => ({ ...one, message }))
}

export function rekey(box: Mailbox, id: string, { now }: KeyLetter, out: MailOut): void {
  follow(box, id, now.key, out)
  out.emit({ kind: 'key', peer: id, key: now.key })
}
