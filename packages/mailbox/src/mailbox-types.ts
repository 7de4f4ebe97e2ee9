/** The interface of an open mailbox. */

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

/** Posts letters to one peer. */
export interface MailWay {
  /**
   * Posts a letter. Resolves with its number once the letter is durable here; a letter with a
   * `delay` has no number yet, so 0.
   *
   * Rejects with a HoldfastError: `outbox-full` when too many letters wait for that peer,
   * `bad-value` when the body is not a plain value or does not fit its type, `key-reused` when the
   * key was used for another body, `store` when the store failed.
   */
  post<F extends Fields>(
    type: LetterType<F>,
    body: StateOf<F>,
    options?: PostOptions,
  ): Promise<number>
  post<Body>(body: Body & Carried<Body>, options?: PostOptions): Promise<number>
}

/** A dead letter. */
export type SetAside = Omit<DeadLetter, 'body'> & {
  /** The body as the handler receives it; as sent if it does not fit its type. */
  readonly body: MailValue
  /** The name of its type, as sent; null for none. */
  readonly type: string | null
}

/** Durable letters and values: each letter takes effect exactly once, across crashes. */
export interface Mailbox extends Emitter<MailboxEvents>, AsyncDisposable {
  /** The name by which its peers know it. */
  readonly id: string
  /** Its public key as text, by which its peers know it. The key stays with the store. */
  readonly key: string
  /** The damage found in the store at opening, as a sentence; null for none. */
  readonly repaired: string | null
  /** Where it listens; null if it does not, or while a shared server is not listening. */
  readonly url: string | null
  /** Whether posted letters outlive the process. */
  readonly durable: boolean
  /** What was refused since opening, by reason. */
  readonly counters: Readonly<Counters>
  /** Accepts an incoming stream; a server passes its streams here. */
  readonly accept: Connections['accept']
  /**
   * Sets the handler of untyped letters, or of one type in `types`; each has at most one. A letter
   * without a handler waits for one, and its sender's later letters wait behind it.
   *
   * @returns removes it
   * @throws HoldfastError `bad-value` for a second handler or a non-function; `not-found` for a
   *   type that `openMailbox` was not given
   */
  on(event: 'letter', handler: LetterHandler): Stop
  on<F extends Fields>(type: LetterType<F>, handler: LetterHandler<Readonly<StateOf<F>>>): Stop
  on<Name extends keyof MailboxEvents>(
    name: Name,
    listener: (value: MailboxEvents[Name]) => void,
    options?: Listen,
  ): Stop
  /**
   * Sets a handler with external effects, such as in a database or over HTTP. It may be async; the
   * letter is acknowledged once its promise resolves. One letter runs at a time, in its sender's
   * order. A process may die between the effect and the ack, so a letter may come again with the
   * same `id`, by which the other side can deduplicate. A handler that throws, or does not settle
   * within `timeoutMs`, is retried as `onPoison` says.
   *
   * @returns removes it; a running handler goes on
   * @throws HoldfastError as `on`; also `bad-value` on a replica
   */
  handleAsync(event: 'letter', handler: EffectHandler, options?: EffectOptions): Stop
  handleAsync<F extends Fields>(
    type: LetterType<F>,
    handler: EffectHandler<Readonly<StateOf<F>>>,
    options?: EffectOptions,
  ): Stop
  /** Posts to a peer. */
  to(peer: string): MailWay
  /** Operations on a peer: its key, its waiting letters, diverged histories. */
  peer(id: string): MailPeer
  /**
   * Runs a transaction without a letter, atomic like that of a handler. It runs again if SQL of
   * another handler or transaction ended the turn. Resolves with its result once all of it is
   * durable.
   *
   * Rejects with what the function threw, or with a HoldfastError; then all of it is rolled back.
   */
  transact<Result>(run: (tx: Transaction) => Result): Promise<Result>
  /**
   * Replaces the key of this mailbox with a new one. Every known peer gets a letter about it, in
   * order with the others and signed by both keys. Resolves with the new key, as text, once all of
   * that is durable here.
   *
   * Rejects with a HoldfastError: `bad-value` on a replica, `store`.
   */
  replaceKey(): Promise<string>
  /** Keeps a connection to a peer, by URL or by another carrier. */
  connect(peer: string, by: string | Dialer): void
  /** The queues, sorted by peer. */
  queues(): QueueFigures[]
  /** The current figures in the Prometheus text format, for the application's own endpoint. */
  metrics(): string
  /** The durable value of a key. */
  get(key: string): MailValue
  /** Dead letters, oldest first: `most` of them after the first `skip`. */
  dead(range?: { skip?: number; most?: number }): SetAside[]
  /**
   * Handles a dead letter again, once; if the handler throws, it stays a dead letter.
   *
   * @throws HoldfastError `not-found`, or `failed` with what the handler threw
   */
  release(peer: string, n: number): Promise<void>
  /** Deletes a dead letter. @throws HoldfastError `not-found` */
  discard(peer: string, n: number): Promise<void>
  /** The number of a peer's last letter that took effect here: a read (S21). */
  query(peer: string): number
  /** One batch for a carrier without connections: letters above what the peer has (S19). */
  batch(peer: string, heard: number): Uint8Array
  /**
   * Takes such a batch; the caller vouches for the sender. Resolves once all of its letters took
   * effect and are durable.
   *
   * Rejects with a HoldfastError: `bad-value` for malformed bytes; `failed`, with the reason, if
   * some letter did not take effect (earlier ones did; taking the batch again is idempotent);
   * `store`.
   */
  take(peer: string, bytes: Uint8Array): Promise<void>
  /**
   * Copies the store into a new file while the mailbox is open. A mailbox opened on the copy is an
   * older store, and its peers report that.
   *
   * Rejects with a HoldfastError `store`: there is no file, the target exists, or the disk failed.
   */
  backup(path: string): Promise<void>
  /**
   * Closes it, after making posted letters durable. A running `handleAsync` handler is aborted by
   * its `signal` and not awaited: its letter comes again.
   */
  close(): Promise<void>
}
