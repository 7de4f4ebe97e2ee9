/**
 * The keys of a mailbox's own, and the letter by which others learn of a new one.
 *
 * That letter is one like others: in order, repeated until it is acked, in the transaction of its
 * number. The newest keys from before sign the new one, so it is enough that a peer knows any of
 * them; one that knows an older key gets the letters that lead from that to the newest.
 *
 *     alice's keys   B        B, A      B, A            B, A
 *     bob knows      B        B         A, durable      A
 *                    greeting | letter ->  | ack, lost  | greeting: bob says that he knows A
 *
 * As an ack may be lost, alice cannot know by which of her keys bob knows her. He says so in the
 * greeting, and she proves that one: all of her keys are kept for it, each with its letter.
 */

import { isSame } from '../../../holdfast/src/wire/history.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import { KEY_LETTER, type KeyLetter, keyLetterLayout, MAIL_KEYS_MAX, keyText } from './messages.ts'
import { add } from './outbox.ts'
import { follow, keyOf } from './pins.ts'
import type { Mailbox, MailOut } from './state.ts'

/** A key of a mailbox's own. */
export interface OwnKey {
  seed: Uint8Array
  /** Its public half. */
  key: Uint8Array
}

/** Which of our keys was proved on a connection. */
export interface OwnProof {
  own: Uint8Array
  /** Whether the other side asked for that one. */
  isAsked: boolean
}

/** A signature to be checked. */
export interface Check {
  key: Uint8Array
  message: Uint8Array
  signature: Uint8Array
}

/**
 * The letters that lead whoever knows us by an old key to the newest one, in order: keys that one
 * of them is about sign the next.
 *
 * @param newest  the letter about our newest key
 * @param about  the letter about one of our keys; null where none is kept
 * @returns the newest alone where the old key is none of ours
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

/** The keys that sign a new one. @param keys  of a mailbox, the newest first */
export function signersOf(keys: readonly OwnKey[]): readonly OwnKey[] {
  return keys.slice(0, MAIL_KEYS_MAX - 1)
}

/** The letter about a new key. */
export function keyLetter(letter: KeyLetter): Uint8Array {
  const said = encode(keyLetterLayout, letter)
  const body = new Uint8Array(1 + said.length)
  body[0] = KEY_LETTER
  body.set(said, 1)
  return body
}

/** Whether a letter is about a key, and so for the mailbox itself. */
export function isKeyLetter(body: Uint8Array): boolean {
  return body[0] === KEY_LETTER
}

/** What such a letter says; null if it is malformed. */
export function readKeyLetter(body: Uint8Array): KeyLetter | null {
  return isKeyLetter(body) ? decode(keyLetterLayout, body.subarray(1)) : null
}

/** Posts a letter about our new key to all who may know an older one. @returns its numbers */
export function announce(box: Mailbox, letter: Uint8Array, out: MailOut): Map<string, number> {
  const ids = [...box.peers.keys()].filter((id) => isKept(box, id))
  return new Map(ids.map((id) => [id, add(box, id, letter, out)]))
}

// Whoever took that letter, and still asks for an old key, lost what it knew.
function waits({ peers }: Mailbox, id: string, n: number): boolean {
  const { acked, posted } = peers.get(id)!
  return n > acked && n <= posted
}

function isKept({ peers }: Mailbox, id: string): boolean {
  const peer = peers.get(id)
  return peer !== undefined && (peer.posted > 0 || peer.heard > 0 || peer.key !== null)
}

/**
 * What becomes of a connection on which we proved a key. Where that is not our newest, the peer has
 * to be told of that one; one of which nothing is kept, as of a stranger, is told nothing. If it
 * did not ask for the old key, the key was replaced while the two greeted: then they greet again.
 *
 * @param told  the number of the letter about it that this process has posted to the peer
 */
export function afterProof(
  box: Mailbox,
  id: string,
  { own, isAsked }: OwnProof,
  newest: Uint8Array,
  told: number | undefined,
): 'go on' | 'tell' | 'anew' {
  if (isSame(own, newest)) return 'go on'
  if (isKept(box, id)) return waits(box, id, told ?? 0) ? 'go on' : 'tell'
  return isAsked ? 'go on' : 'anew'
}

/**
 * The signatures that have to be right before a peer has another key. None where nothing changes,
 * as when it is known by no key from before, for its owner here knew better.
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

/** Those signatures were right: the peer has another key from now on. */
export function rekey(box: Mailbox, id: string, { now }: KeyLetter, out: MailOut): void {
  follow(box, id, now.key, out)
  out.emit({ kind: 'key', peer: id, key: now.key })
}
