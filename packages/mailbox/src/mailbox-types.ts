/** An open mailbox: what a user holds. */

import type { DeadLetter } from '../../holdfast/src/ports.ts'
import type { Counters } from './machine/mailbox.ts'
import type { Connections, Dialer } from './runtime/connections.ts'
import type { LetterType } from './runtime/letter-types.ts'
import type { Fields, StateOf } from '../../holdfast/src/wire/fields/schema.ts'
import type { Carried, MailValue } from './runtime/values.ts'
import type {
  EffectHandler,
  EffectOptions,
  LetterHandler,
  MailboxEvents,
  QueueFigures,
} from './runtime/options.ts'
import type { MailPeer } from './runtime/peers.ts'
import type { PostOptions } from './runtime/letters.ts'
import type { Transaction } from './runtime/transaction.ts'
import type { Stop, Emitter, Listen } from '../../holdfast/src/api/emitter.ts'

/** The way to one peer. */
export interface MailWay {
  /**
   * Posts a letter. The promise is kept, with its number, when the letter is durable here; one
   * with a `delay` has none yet, which is 0.
   *
   * It rejects with a HoldfastError: `outbox-full` when too many wait for that peer, `bad-value`
   * for what is no letter, or does not fit its type, `key-reused` for a key that another body was
   * posted under, `store` when the store refused.
   */
  post<F extends Fields>(
    type: LetterType<F>,
    body: StateOf<F>,
    options?: PostOptions,
  ): Promise<number>
  post<Body>(body: Body & Carried<Body>, options?: PostOptions): Promise<number>
}

/** A letter that was set aside. */
export type SetAside = Omit<DeadLetter, 'body'> & {
  /** As the handler would have it; of a type that does not fit, as it came. */
  readonly body: MailValue
  /** The name of the type that it says it has; null for none. */
  readonly type: string | null
}

/** Letters and values that are durable, and take effect once whatever dies. */
export interface Mailbox extends Emitter<MailboxEvents>, AsyncDisposable {
  /** Who it is, for its peers. */
  readonly id: string
  /** The public half of its key, by which its peers know it, as text. It stays with the store. */
  readonly key: string
  /** What was found damaged in the store at opening, as a sentence; null if nothing. */
  readonly repaired: string | null
  /** Where others connect; null if nowhere, or while the server of its door does not listen. */
  readonly url: string | null
  /** Whether what is posted outlives the process. */
  readonly durable: boolean
  /** What was refused since the mailbox was opened, by why. */
  readonly counters: Readonly<Counters>
  /** Takes a connection that somebody opened; what a server hands its streams to. */
  readonly accept: Connections['accept']
  /**
   * Sets the handler of letters of no type, or of one of `types`; each has one at most. A letter
   * without a handler waits for it, and those of its sender behind it too.
   *
   * @returns removes it
   * @throws HoldfastError `bad-value` for a second handler, or no function; `not-found` for a type
   *   that `openMailbox` was not given
   */
  on(event: 'letter', handler: LetterHandler): Stop
  on<F extends Fields>(type: LetterType<F>, handler: LetterHandler<Readonly<StateOf<F>>>): Stop
  on<Name extends keyof MailboxEvents>(
    name: Name,
    listener: (value: MailboxEvents[Name]) => void,
    options?: Listen,
  ): Stop
  /**
   * Sets a handler whose effects are elsewhere, such as in a database or behind HTTP: it may take
   * its time, and a letter is acknowledged after its promise was kept. One letter at a time, in the
   * order of its sender. A process may die between the effect and that, so the same letter may come
   * again: with the same `id`, by which the other side knows what it did. One that throws, or does
   * not settle within `timeoutMs`, is tried again as `onPoison` says.
   *
   * @returns removes it; what is under way goes on
   * @throws HoldfastError as `on`; `bad-value` for a replica, too
   */
  handleAsync(event: 'letter', handler: EffectHandler, options?: EffectOptions): Stop
  handleAsync<F extends Fields>(
    type: LetterType<F>,
    handler: EffectHandler<Readonly<StateOf<F>>>,
    options?: EffectOptions,
  ): Stop
  /** The way to a peer. */
  to(peer: string): MailWay
  /** What may be done about a peer: its key, what waits for it, histories that do not fit. */
  peer(id: string): MailPeer
  /**
   * Runs a transaction without a letter: what it reads, writes and posts is one with what letters
   * do. It is run once more if SQL of another ended the turn. Kept, with what it gives, when all of
   * it is durable.
   *
   * It rejects with what the function threw, or with a HoldfastError; then nothing of it holds.
   */
  transact<Result>(run: (tx: Transaction) => Result): Promise<Result>
  /**
   * Draws another key, which replaces that of now. All who know this mailbox get a letter about it,
   * in order with the others, that both keys have signed. Resolves with the new key, as text, when
   * all of that is durable here.
   *
   * It rejects with a HoldfastError: `bad-value` for a replica, `store`.
   */
  replaceKey(): Promise<string>
  /** Keeps a connection to a peer that listens at that URL, or that some other way leads to. */
  connect(peer: string, by: string | Dialer): void
  /** How the queues stand, in order of their peers. */
  queues(): QueueFigures[]
  /** The figures of now in the text format of Prometheus, for an endpoint of the application's. */
  metrics(): string
  /** A value as it is durable. */
  get(key: string): MailValue
  /** Letters that were set aside, oldest first: `most` of them behind the first `skip`. */
  dead(range?: { skip?: number; most?: number }): SetAside[]
  /**
   * Handles a dead letter again, now and once; if the handler throws it stays where it is.
   *
   * @throws HoldfastError `not-found`, or `failed` with what the handler threw
   */
  release(peer: string, n: number): Promise<void>
  /** Throws a dead letter away. @throws HoldfastError `not-found` */
  discard(peer: string, n: number): Promise<void>
  /** The number of a peer's last letter that took effect here: a read (S21). */
  query(peer: string): number
  /** One batch for a carrier that is no connection: letters above what the peer has (S19). */
  batch(peer: string, heard: number): Uint8Array
  /**
   * Takes such a batch; the caller knows whose it is. Kept when all of its letters have taken
   * effect and are durable.
   *
   * It rejects with a HoldfastError: `bad-value` for bytes that are no batch, `failed` with why not
   * all took effect (those before it did; taking it again doubles nothing), `store`.
   */
  take(peer: string, bytes: Uint8Array): Promise<void>
  /**
   * Copies the store into a new file while the mailbox is open. Who opens the copy later is an
   * older store, and is told so.
   *
   * It rejects with a HoldfastError `store`: no file, a file that exists, a disk that refuses.
   */
  backup(path: string): Promise<void>
  /**
   * Ends it; what is posted and not yet durable is made so first. A handler of `handleAsync` that
   * is under way is told by its `signal`, and not waited for: its letter comes again.
   */
  close(): Promise<void>
}
