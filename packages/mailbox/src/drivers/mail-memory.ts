/** A mailbox in memory, for tests and under IndexedDB. Letters are immutable and never copied. */

import { HoldfastError } from '../../../holdfast/src/machine.ts'
import { isSame, livesWith, NO_DIGEST, NO_LIFE } from '../../../holdfast/src/wire/history.ts'
import {
  type DeadLetter,
  LETTER_OVERHEAD,
  type Letter,
  type MailChange,
  type MailHead,
  type MailStore,
  type Span,
} from '../../../holdfast/src/ports.ts'

/** A stored letter, with its life and digest. */
export interface StoredLetter extends Letter {
  life: Uint8Array
  digest: Uint8Array
}

/** All durable data of a mailbox. */
export interface MailContent {
  heads: Map<string, MailHead>
  /** Letters by peer, in order. */
  letters: Map<string, StoredLetter[]>
  dead: DeadLetter[]
  values: Map<string, Uint8Array>
}

export function emptyContent(): MailContent {
  return { heads: new Map(), letters: new Map(), dead: [], values: new Map() }
}

export function applyTo(content: MailContent, change: MailChange): void {
  if (change.kind === 'set') {
    if (change.value === null) content.values.delete(change.key)
    else content.values.set(change.key, change.value)
    return
  }
  const { peer } = change
  if (change.kind === 'dead') {
    content.dead.push({ peer, n: change.n, body: change.body, why: change.why })
  } else if (change.kind === 'buried') {
    content.dead = content.dead.filter((letter) => letter.peer !== peer || letter.n !== change.n)
  } else if (change.kind === 'begun') {
    content.letters.delete(peer)
    if (change.head) content.heads.set(peer, { ...change.head })
    else content.heads.delete(peer)
  } else {
    const head = content.heads.get(peer) ?? newHead(peer)
    content.heads.set(peer, head)
    move(head, change)
    if (change.kind === 'posted') {
      const { n, body, life, digest } = change
      lettersOf(content, peer).push({ n, body, life, digest })
    }
    if (change.kind === 'acked') drop(lettersOf(content, peer), change.n)
  }
}

/** The head of an unknown peer. */
export function newHead(peer: string): MailHead {
  const digests = { postedDigest: NO_DIGEST, ackedDigest: NO_DIGEST, heardDigest: NO_DIGEST }
  const numbers = { posted: 0, acked: 0, bytes: 0, heard: 0, tries: 0 }
  return { peer, ...numbers, ...digests, ourLives: [], theirLives: [], key: null, root: null }
}

type Moving = MailChange & { kind: 'posted' | 'acked' | 'heard' | 'tried' | 'bound' }

/** Applies a change to the numbers of a peer, or to its key. */
export function move(head: MailHead, change: Moving): void {
  if (change.kind === 'posted') {
    head.posted = change.n
    head.bytes += change.body.length + LETTER_OVERHEAD
    head.postedDigest = change.digest
    head.ourLives = livesWith(head.ourLives, change.n, change.life)
  } else if (change.kind === 'acked') {
    head.acked = change.n
    head.bytes -= change.bytes
    head.ackedDigest = change.digest
  } else if (change.kind === 'heard') {
    head.heard = change.n
    head.tries = 0
    head.heardDigest = change.digest
    head.theirLives = livesWith(head.theirLives, change.n, change.life)
  } else if (change.kind === 'bound') {
    head.key = change.key
    head.root = change.root
  } else head.tries++
}

function lettersOf(content: MailContent, peer: string): StoredLetter[] {
  const known = content.letters.get(peer)
  if (known) return known
  const letters: StoredLetter[] = []
  content.letters.set(peer, letters)
  return letters
}

function drop(letters: StoredLetter[], upTo: number): void {
  const first = letters[0]?.n ?? 0
  letters.splice(0, Math.max(0, upTo - first + 1))
}

/** An empty mailbox; it ends with its process. */
export function createMailMemory(): MailStore {
  return new MailMemory(emptyContent(), 'memory')
}

export class MailMemory implements MailStore {
  readonly name: string
  readonly sql = null
  readonly repaired: string | null = null
  readonly publish = null
  readonly interrupted: string | null = null
  protected readonly content: MailContent
  #open = true

  constructor(content: MailContent, name: string) {
    this.content = content
    this.name = name
  }

  heads(): MailHead[] {
    return [...this.content.heads.values()].map((head) => ({ ...head })).toSorted(byPeer)
  }

  head(peer: string): MailHead | null {
    const head = this.content.heads.get(peer)
    return head ? { ...head } : null
  }

  dead(skip = 0, most = Infinity): DeadLetter[] {
    return this.content.dead.slice(skip, skip + most)
  }

  deadOne(peer: string, n: number): DeadLetter | null {
    return this.content.dead.find((letter) => letter.peer === peer && letter.n === n) ?? null
  }

  get(key: string): Uint8Array | null {
    return this.content.values.get(key) ?? null
  }

  keys(prefix: string, most = Infinity): string[] {
    const keys = [...this.content.values.keys()].filter((key) => key.startsWith(prefix))
    return keys.toSorted().slice(0, most)
  }

  letters(peer: string, after: number, bytes: number): Span {
    const all = this.content.letters.get(peer) ?? []
    const from = Math.max(0, after + 1 - (all[0]?.n ?? 0))
    const life = all[from]?.life ?? NO_LIFE
    let room = bytes
    let end = from
    while (end < all.length && isSame(all[end]!.life, life)) {
      room -= all[end]!.body.length + LETTER_OVERHEAD
      if (room < 0 && end > from) break
      end++
    }
    const before = all[from - 1]?.digest ?? this.content.heads.get(peer)?.ackedDigest ?? NO_DIGEST
    const letters = all.slice(from, end).map(({ n, body }) => ({ n, body }))
    return { life, before: letters.length > 0 ? before : NO_DIGEST, letters }
  }

  mark(peer: string, n: number): Uint8Array | null {
    const letters = this.content.letters.get(peer) ?? []
    return letters[n - (letters[0]?.n ?? 0)]?.digest ?? null
  }

  weigh(peer: string, after: number, upTo: number): number {
    let bytes = 0
    for (const { n, body } of this.content.letters.get(peer) ?? []) {
      if (n > after && n <= upTo) bytes += body.length + LETTER_OVERHEAD
    }
    return bytes
  }

  commit(changes: readonly MailChange[], done: (error: Error | null) => void): void {
    if (!this.#open) return done(closed(this.name))
    for (const change of changes) applyTo(this.content, change)
    done(null)
  }

  deadCount(): number {
    return this.content.dead.length
  }

  abandon(): void {}

  backup(_to: string): void {
    throw new HoldfastError(
      'store',
      `the mailbox in ${this.name} is not a file, so it cannot be copied`,
    )
  }

  note(_what: string): void {}

  close(): void {
    this.#open = false
  }
}

export function byPeer(one: MailHead, other: MailHead): number {
  return one.peer < other.peer ? -1 : 1
}

export function closed(name: string): HoldfastError {
  return new HoldfastError('store', `the mailbox in ${name} is closed`)
}
