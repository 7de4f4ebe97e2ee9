/** The owner's operations on a peer: inspect and redirect its letters, repair or forget it. */

import { badValue, HoldfastError } from '../../../holdfast/src/machine.ts'
import * as mailbox from '../machine/mailbox.ts'
import type { MailStore } from '../../../holdfast/src/ports.ts'
import { isSame } from '../../../holdfast/src/wire/history.ts'
import { plain, plainJson } from '../../../holdfast/src/wire/text/plain.ts'
import type { Draft } from './draft.ts'
import { unseal } from './letters.ts'
import { checkId, checkKey } from './options.ts'
import { checkRoom } from './task-schedule.ts'
import type { Turns } from './turns.ts'
import { type MailValue, readLetter } from './values.ts'
import { toHex } from '../../../holdfast/src/wire/bytes.ts'

/** Most bytes of letters redirected at once. */
const REDIRECT_BYTES_MAX: number = 64 * 1024 * 1024
const READ_BYTES: number = 256 * 1024

/** A letter waiting in an outbox. */
export interface WaitingLetter {
  /** Its number between the two mailboxes. */
  readonly n: number
  /** When it was posted, in ms since 1970; null if not in the letter. */
  readonly at: number | null
  /** Its trace; null if it starts a chain. */
  readonly trace: string | null
  /** Its body. */
  readonly body: MailValue
  /** The name of its type; null for none. */
  readonly type: string | null
}

/** The owner's operations on a peer. */
export interface MailPeer {
  /** Its known key, bound or listed; null before its first letter or ack. */
  readonly key: string | null
  /**
   * Trusts that key from now on. Its owner must have confirmed the key over a trusted channel: use
   * this for a peer that lost its key, or before its first letter. Resolves when durable.
   *
   * Rejects with a HoldfastError: `bad-value` for an invalid key, or one other than `accept` lists;
   * `store`.
   */
  trust(key: string): Promise<void>
  /**
   * Continues from the peer's numbers when histories diverged and the right store is lost. Resolves
   * with the fate of the letters when durable.
   *
   * @param how  `common`: the last letter to it that both have, if that is unknown
   * Rejects with a HoldfastError: `unreachable` while it is not connected, `bad-value`, `store`.
   */
  adopt(how?: { common?: number }): Promise<mailbox.Adopted>
  /** Forgets the peer and the letters waiting for it. @returns how many letters */
  forget(): Promise<{ dropped: number }>
  /** Unacked letters, in order: those after number `after`, at most `most` (100). */
  outbox(page?: { after?: number; most?: number }): WaitingLetter[]
  /**
   * Makes its first waiting letter a dead letter (`dead`), so that later ones go on: for a queue
   * blocked by this letter alone. Resolves with its number when durable.
   *
   * Rejects with a HoldfastError: `not-found` if none of its letters waits; `store`.
   */
  setAside(): Promise<number>
  /**
   * Posts all letters waiting for the peer to another one instead, and forgets the peer. Letters in
   * flight may also have taken effect at the old one.
   *
   * Rejects with a HoldfastError: `outbox-full` if they do not fit, `bad-value` above 64 MiB,
   * `store`.
   */
  redirect(to: string): Promise<{ moved: number }>
}

export interface PeerHost {
  readonly turns: Turns
  readonly store: MailStore
  readonly ask: <Result>(run: (draft: Draft) => Result) => Promise<Result>
  readonly hangUp: (peer: string, why: string) => void
}

export class KnownPeer implements MailPeer {
  readonly #host: PeerHost
  readonly #id: string

  constructor(host: PeerHost, id: string) {
    this.#host = host
    this.#id = checkId(id)
  }

  get key(): string | null {
    const key = mailbox.pins.keyOf(this.#host.turns.box, this.#id)
    return key && toHex(key)
  }

  async trust(text: string): Promise<void> {
    const { turns, ask, hangUp } = this.#host
    const id = this.#id
    const key = checkKey(`the key of ${id}`, text)
    const listed = turns.box.listed?.get(id) ?? null
    if (listed && !isSame(listed, key)) {
      throw badValue(`accept lists ${id} with another key: write the new one there`)
    }
    await ask(({ out }) => mailbox.pins.trust(turns.box, id, key, out))
    hangUp(id, `${id} is known by the key that its owner trusts now`)
  }

  async adopt({ common }: { common?: number } = {}): Promise<mailbox.Adopted> {
    const { turns, store, ask, hangUp } = this.#host
    const id = this.#id
    const adopted = await ask(({ out }) => {
      const hello = turns.box.peers.get(id)?.link?.theirs
      if (!hello) {
        throw new HoldfastError(
          'unreachable',
          `${id} is not connected, so what it has is not known; adopt needs that`,
        )
      }
      const result = mailbox.adopt(turns.box, id, hello, common ?? null, store, out)
      if (result) return result
      throw badValue(
        `the last letter to ${id} that both have is not known; say which: adopt({ common: 12 })`,
      )
    })
    hangUp(id, `the history of ${id} was adopted`)
    return adopted
  }

  async forget(): Promise<{ dropped: number }> {
    const { turns, ask, hangUp } = this.#host
    const id = this.#id
    const dropped = await ask(({ out }) => {
      return mailbox.forget(turns.box, id, out) + turns.schedule.move(id, null)
    })
    hangUp(id, `${id} was forgotten`)
    return { dropped }
  }

  outbox({ after = 0, most = 100 }: { after?: number; most?: number } = {}): WaitingLetter[] {
    const { turns, store } = this.#host
    const found: WaitingLetter[] = []
    let from = Math.max(after, turns.box.peers.get(this.#id)?.acked ?? 0)
    while (found.length < most) {
      const { letters } = store.letters(this.#id, from, READ_BYTES)
      if (letters.length === 0) break
      for (const { n, body } of letters.slice(0, most - found.length)) {
        const { at, trace, body: plain } = unseal(body)
        found.push({ n, at, trace, ...readLetter(plain) })
      }
      from = letters.at(-1)!.n
    }
    return found
  }

  setAside(): Promise<number> {
    const { turns, ask } = this.#host
    return ask((draft) => {
      const n = turns.setAside(draft, this.#id)
      if (n !== null) return n
      throw new HoldfastError('not-found', `no letter of ${this.#id} waits here to be handled`)
    })
  }

  async redirect(to: string): Promise<{ moved: number }> {
    const { turns, store, ask, hangUp } = this.#host
    const id = this.#id
    if (id === checkId(to)) throw badValue(`letters to ${id} go there already`)
    const moved = await ask(({ out }) => {
      const { bytes, acked } = mailbox.peerOf(turns.box, id)
      if (bytes > REDIRECT_BYTES_MAX) {
        throw badValue(`${REDIRECT_BYTES_MAX} bytes of letters are redirected at most: ${bytes}`)
      }
      const letters = mailbox.lettersAbove(store, id, acked)
      checkRoom(turns.box, to, letters.length, bytes)
      mailbox.forget(turns.box, id, out)
      for (const { body } of letters) mailbox.add(turns.box, to, body, out)
      return letters.length + turns.schedule.move(id, to)
    })
    hangUp(id, `letters to ${id} go to ${to} now`)
    return { moved }
  }
}

/** Why a peer with another key is refused, and what its owner can do. */
export function strange({ listed }: mailbox.Mailbox, id: string, key: Uint8Array): string {
  const [who, text] = [plain(id), toHex(key)]
  const cure = listed?.get(id)
    ? 'write it into accept'
    : `call box.peer(${plainJson(id)}).trust("${text}"), or holdfast mailbox trust`
  return (
    `${who} is known here by another key than the one that it comes with, ${text}: ` +
    `if that is its own, as its owner can say, ${cure}`
  )
}
