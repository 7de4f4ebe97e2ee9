/** The keys of a mailbox's own: drawn when its store is first opened, and kept there. */

import type { OwnKey } from '../../mailbox/keys.ts'
import { keyLetter, signersOf } from '../../mailbox/keys.ts'
import { keyText } from '../../mailbox/messages.ts'
import { type Curves, KEY_BYTES, type MailChange, type MailStore } from '../../ports.ts'

/** A key of the library's own: those of users have no NUL. Seeds, the newest first. */
const SEEDS = '\0seeds'

/** A mailbox's keys, and what it computes with. */
export interface Identity {
  /** The newest first; one at least. */
  readonly keys: readonly OwnKey[]
  readonly curves: Curves
}

/** What a mailbox has after its key was replaced, and the letter that says so. */
export interface NewKey {
  readonly keys: readonly OwnKey[]
  readonly letter: Uint8Array
}

/** The keys in a store. One without any has a new one, by changes that are to be made durable. */
export async function openKeys(
  store: MailStore,
  curves: Curves,
  random: (count: number) => Uint8Array,
): Promise<{ keys: OwnKey[]; changes: MailChange[] }> {
  const kept = store.get(SEEDS)
  const seeds = kept ?? random(KEY_BYTES)
  const keys: OwnKey[] = []
  for (let at = 0; at + KEY_BYTES <= seeds.length; at += KEY_BYTES) {
    const seed = seeds.slice(at, at + KEY_BYTES)
    keys.push({ seed, key: await curves.signer(seed) })
  }
  return { keys, changes: kept ? [] : [keysKept(keys)] }
}

/** Keys as the store has them. */
export function keysKept(keys: readonly OwnKey[]): MailChange {
  const value = new Uint8Array(keys.length * KEY_BYTES)
  for (const [at, { seed }] of keys.entries()) value.set(seed, at * KEY_BYTES)
  return { kind: 'set', key: SEEDS, value }
}

/** Draws another key, which itself and those before it sign. */
export async function drawKey(
  id: string,
  { keys, curves }: Identity,
  random: (count: number) => Uint8Array,
): Promise<NewKey> {
  const seed = random(KEY_BYTES)
  const own: OwnKey = { seed, key: await curves.signer(seed) }
  const signers = signersOf(keys)
  const text = keyText(
    id,
    signers.map(({ key }) => key),
    own.key,
  )
  const signed = async (by: OwnKey): Promise<{ key: Uint8Array; signature: Uint8Array }> => {
    return { key: by.key, signature: await curves.sign(by.seed, text) }
  }
  const letter = { before: await Promise.all(signers.map(signed)), now: await signed(own) }
  return { keys: [own, ...signers], letter: keyLetter(letter) }
}
