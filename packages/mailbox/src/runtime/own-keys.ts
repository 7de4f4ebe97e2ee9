/** The keys of a mailbox's own: drawn when its store is first opened, kept there, and replaced. */

import type { Self } from '../machine/handshake.ts'
import * as keys from '../machine/keys.ts'
import { keyText } from '../machine/messages.ts'
import { add, type Mailbox } from '../machine/mailbox.ts'
import {
  type Curves,
  KEY_BYTES,
  type MailChange,
  type MailStore,
} from '../../../holdfast/src/ports.ts'
import type { Draft } from './draft.ts'
import { toHex } from '../../../holdfast/src/wire/bytes.ts'

/** A key of the library's own: those of users have no NUL. Seeds, the newest first. */
const SEEDS = '\0seeds'
/** Each key that is not the first one, or is none of the newest: its seed, the letter about it. */
const nameOf = (key: Uint8Array): string => `\0own key ${toHex(key)}`

/** The newest keys, the newest of all first, and the letter about that; null for the very first. */
interface Keys {
  readonly keys: readonly keys.OwnKey[]
  readonly letter: Uint8Array | null
}

/** A mailbox's keys, and what it computes with. */
export interface Identity extends Keys {
  readonly curves: Curves
}

type Chance = (count: number) => Uint8Array

/** The keys in a store. One without any has a new one, by changes that are to be made durable. */
export async function openKeys(
  id: string,
  store: MailStore,
  curves: Curves,
  random: Chance,
): Promise<{ identity: Identity; changes: MailChange[] }> {
  const kept = store.get(SEEDS)
  const seeds = kept ?? random(KEY_BYTES)
  const own: keys.OwnKey[] = []
  for (let at = 0; at + KEY_BYTES <= seeds.length; at += KEY_BYTES) {
    const seed = seeds.slice(at, at + KEY_BYTES)
    own.push({ seed, key: await curves.signer(seed) })
  }
  const letter = own.length > 1 ? await letterOf(id, own, curves) : null
  return { identity: { keys: own, letter, curves }, changes: kept ? [] : [keysKept(own)] }
}

/** A key from before, and the letter about it: who was away for long may know no newer one. */
function keyKept({ seed, key }: keys.OwnKey, letter: Uint8Array | null): MailChange {
  const value = new Uint8Array(KEY_BYTES + (letter?.length ?? 0))
  value.set(seed)
  if (letter) value.set(letter, KEY_BYTES)
  return { kind: 'set', key: nameOf(key), value }
}

function keysKept(own: readonly keys.OwnKey[]): MailChange {
  const value = new Uint8Array(own.length * KEY_BYTES)
  for (const [at, { seed }] of own.entries()) value.set(seed, at * KEY_BYTES)
  return { kind: 'set', key: SEEDS, value }
}

async function letterOf(
  id: string,
  [now, ...before]: readonly keys.OwnKey[],
  curves: Curves,
): Promise<Uint8Array> {
  const old = before.map(({ key }) => key)
  const text = keyText(id, old, now!.key)
  const signed = async (by: keys.OwnKey): Promise<{ key: Uint8Array; signature: Uint8Array }> => {
    return { key: by.key, signature: await curves.sign(by.seed, text) }
  }
  const all = await Promise.all(before.map(signed))
  return keys.keyLetter({ before: all, now: await signed(now!) })
}

/** See the head of this file. */
export class OwnKeys {
  /** What greets: only keys that are durable. */
  readonly self: Self
  readonly #curves: Curves
  readonly #store: Pick<MailStore, 'get'>
  readonly #random: Chance
  /** The newest, which may be in a turn that is not durable yet. */
  #newest: Keys
  /** The newest that is durable. */
  #durable: Keys
  /** The number of the letter about the newest key that this process has posted to a peer. */
  #told = new Map<string, number>()
  /** Keys are replaced one after the other. */
  #replacing: Promise<unknown> = Promise.resolve()

  constructor(id: string, identity: Identity, store: Pick<MailStore, 'get'>, random: Chance) {
    this.#store = store
    this.self = { id, keys: identity.keys }
    this.#curves = identity.curves
    this.#random = random
    this.#newest = this.#durable = identity
  }

  /** The newest that is durable, as text. */
  get text(): string {
    return toHex(this.self.keys[0]!.key)
  }

  /** A durable key of before; null for none. */
  formerKey(key: Uint8Array): keys.OwnKey | null {
    const kept = this.#store.get(nameOf(key))
    return kept && { seed: kept.slice(0, KEY_BYTES), key }
  }

  /** Draws another key. @param put  makes it the newest, in a turn; kept when that is durable */
  replace(put: (next: Keys) => Promise<void>): Promise<string> {
    const replaced = this.#replacing.then(async () => {
      const seed = this.#random(KEY_BYTES)
      const own = { seed, key: await this.#curves.signer(seed) }
      const all = [own, ...keys.signersOf(this.self.keys)]
      await put({ keys: all, letter: await letterOf(this.self.id, all, this.#curves) })
      return this.text
    })
    this.#replacing = replaced.catch(() => {})
    return replaced
  }

  /**
   * Has the turn make keys ours, and post letters about the newest.
   *
   * @param anew  hangs up on those that are connected and get no letter, for they are not known yet
   */
  put(
    draft: Draft,
    box: Mailbox,
    next: Keys,
    anew: (told: ReadonlyMap<string, number>) => void,
  ): void {
    const told = keys.announce(box, next.letter!, draft.out)
    const [now] = next.keys
    draft.changes.push(keysKept(next.keys), keyKept(now!, next.letter))
    // Older versions kept neither the letter about the newest before nor keys beyond the newest.
    const { keys: before, letter } = this.#newest
    for (const [own, about] of [[before[0]!, letter] as const, [before.at(-1)!, null] as const]) {
      if (this.#store.get(nameOf(own.key)) === null) draft.changes.push(keyKept(own, about))
    }
    this.#newest = next
    draft.promises.push({
      // Before the letters leave: who takes one calls at once, and asks for the new key.
      keep: () => {
        this.self.keys = next.keys
        this.#durable = next
        this.#told = told
        anew(told)
      },
      break: () => void (this.#newest = this.#durable),
    })
  }

  /**
   * A connection stands on which a key of ours was proved. Where that was an old one, a letter
   * about the newest has to be on its way.
   *
   * @returns false if it is to be made anew
   */
  proved(draft: Draft, box: Mailbox, peer: string, proof: keys.OwnProof): boolean {
    const { letter, keys: own } = this.#newest
    const next = keys.afterProof(box, peer, proof, own[0]!.key, this.#told.get(peer))
    if (next !== 'tell') return next === 'go on'
    const letters = keys.leading(proof.own, letter!, (key) => this.#letterAbout(key))
    const numbers = letters.map((one) => add(box, peer, one, draft.out))
    const n = numbers.at(-1)!
    draft.promises.push({ keep: () => void this.#told.set(peer, n), break: () => {} })
    return true
  }

  #letterAbout(key: Uint8Array): Uint8Array | null {
    const letter = this.#store.get(nameOf(key))?.slice(KEY_BYTES)
    return letter && letter.length > 0 ? letter : null
  }
}
