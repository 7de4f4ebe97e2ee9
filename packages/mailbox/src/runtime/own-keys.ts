/** A mailbox's own keys: generated when its store is first opened, kept there, and replaceable. */

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

/** A reserved key, as user keys have no NUL. Its value is the recent seeds, newest first. */
const SEEDS = '\0seeds'
/** Stores the seed of each replaced or new key, with the letter about it. */
const nameOf = (key: Uint8Array): string => `\0own key ${toHex(key)}`

/** The recent keys, newest first, and the letter about the newest; null for the very first. */
interface Keys {
  readonly keys: readonly keys.OwnKey[]
  readonly letter: Uint8Array | null
}

/** A mailbox's keys, and the curves to sign with. */
export interface Identity extends Keys {
  readonly curves: Curves
}

type Chance = (count: number) => Uint8Array

/** Reads the keys of a store, or generates one. The caller must make the changes durable. */
export async function openKeys(
  id: string,
  store: MailStore,
  curves: Curves,
  random: Chance,
): Promise<{ identity: Identity; changes: MailChange[] }> {
  const stored = store.get(SEEDS)
  const seeds = stored ?? random(KEY_BYTES)
  const own: keys.OwnKey[] = []
  for (let at = 0; at + KEY_BYTES <= seeds.length; at += KEY_BYTES) {
    const seed = seeds.slice(at, at + KEY_BYTES)
    own.push({ seed, key: await curves.signer(seed) })
  }
  const letter = own.length > 1 ? await letterOf(id, own, curves) : null
  return { identity: { keys: own, letter, curves }, changes: stored ? [] : [seedsChange(own)] }
}

/** Resolves once changes are durable. */
export function committed(store: MailStore, changes: readonly MailChange[]): Promise<void> {
  return new Promise((resolve, reject) => {
    store.commit(changes, (error) => (error ? reject(error) : resolve()))
  })
}

/** Stores a key with the letter about it: a peer long absent may know no newer one. */
function keyChange({ seed, key }: keys.OwnKey, letter: Uint8Array | null): MailChange {
  const value = new Uint8Array(KEY_BYTES + (letter?.length ?? 0))
  value.set(seed)
  if (letter) value.set(letter, KEY_BYTES)
  return { kind: 'set', key: nameOf(key), value }
}

function seedsChange(own: readonly keys.OwnKey[]): MailChange {
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

export class OwnKeys {
  /** The side in handshakes: durable keys only. */
  readonly self: Self
  readonly #curves: Curves
  readonly #store: Pick<MailStore, 'get'>
  readonly #random: Chance
  /** The newest keys, perhaps in a turn that is not durable yet. */
  #newest: Keys
  /** The newest durable keys. */
  #durable: Keys
  /** By peer: the number of the letter about the newest key, posted in this process. */
  #announced = new Map<string, number>()
  /** Serialises key replacements. */
  #replacing: Promise<unknown> = Promise.resolve()

  constructor(id: string, identity: Identity, store: Pick<MailStore, 'get'>, random: Chance) {
    this.#store = store
    this.self = { id, keys: identity.keys }
    this.#curves = identity.curves
    this.#random = random
    this.#newest = this.#durable = identity
  }

  /** The newest durable key, as text. */
  get text(): string {
    return toHex(this.self.keys[0]!.key)
  }

  /** An earlier key from the store; null for none. */
  formerKey(key: Uint8Array): keys.OwnKey | null {
    const stored = this.#store.get(nameOf(key))
    return stored && { seed: stored.slice(0, KEY_BYTES), key }
  }

  /** Generates a new key. @param put  makes it the newest, in a turn; resolves when durable */
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
   * Makes keys ours in a turn, and posts letters about the newest.
   *
   * @param hangUpOthers  closes connections of peers that get no letter: nothing is stored of them
   */
  put(
    draft: Draft,
    box: Mailbox,
    next: Keys,
    hangUpOthers: (announced: ReadonlyMap<string, number>) => void,
  ): void {
    const announced = keys.announce(box, next.letter!, draft.out)
    const [now] = next.keys
    draft.changes.push(seedsChange(next.keys), keyChange(now!, next.letter))
    // Older versions stored neither the letter about the previous key nor older keys.
    const { keys: before, letter } = this.#newest
    for (const [own, about] of [[before[0]!, letter] as const, [before.at(-1)!, null] as const]) {
      if (this.#store.get(nameOf(own.key)) === null) draft.changes.push(keyChange(own, about))
    }
    this.#newest = next
    draft.promises.push({
      // Before the letters leave: their receivers redial at once and ask for the new key.
      resolve: () => {
        this.self.keys = next.keys
        this.#durable = next
        this.#announced = announced
        hangUpOthers(announced)
      },
      reject: () => void (this.#newest = this.#durable),
    })
  }

  /**
   * Handles a connection on which a key of ours was proved. If that is an old one, posts a letter
   * about the newest unless one is waiting.
   *
   * @returns false if the connection must be repeated
   */
  proved(draft: Draft, box: Mailbox, peer: string, proof: keys.OwnProof): boolean {
    const { letter, keys: own } = this.#newest
    const next = keys.afterProof(box, peer, proof, own[0]!.key, this.#announced.get(peer))
    if (next !== 'announce') return next === 'go on'
    const letters = keys.leading(proof.own, letter!, (key) => this.#letterAbout(key))
    const numbers = letters.map((one) => add(box, peer, one, draft.out))
    const n = numbers.at(-1)!
    draft.promises.push({ resolve: () => void this.#announced.set(peer, n) })
    return true
  }

  #letterAbout(key: Uint8Array): Uint8Array | null {
    const letter = this.#store.get(nameOf(key))?.slice(KEY_BYTES)
    return letter && letter.length > 0 ? letter : null
  }
}
