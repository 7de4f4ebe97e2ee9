/**
 * A mailbox: what a user holds. Around the machine (src/mailbox) it runs turns:
 *
 *     all that came in since the last one → handlers → one transaction of the store → what goes out
 *
 * A turn takes in whatever waits, so the more there is to do, the more one transaction carries.
 * When the store refuses, everything since the last turn is forgotten and begun again from what is
 * durable: connections are dropped and made anew, for nothing was said that does not hold.
 */

import { HoldfastError, type Millis } from '../machine.ts'
import * as mailbox from '../mailbox/mailbox.ts'
import type { Limits, MailEvent, MailOut } from '../mailbox/mailbox.ts'
import { mailLayout, NONCE_BYTES } from '../mailbox/messages.ts'
import type { Alarm, Connect, DeadLetter, Loop, MailChange, MailStore } from '../ports.ts'
import { sameBytes } from '../wire/digest.ts'
import { encode } from '../wire/layout.ts'
import { Lines, type Way } from './mail-lines.ts'
import { checkId, limitsOf } from './mail-options.ts'
import type { LetterHandler, MailboxEvents, MailboxOptions, QueueFigures } from './mail-options.ts'
import { type Desk, LetterTransaction, Values } from './mail-transaction.ts'
import { type MailValue, toLetter, toValue } from './mail-values.ts'

/** Letters that one turn handles at most. */
const TURN_LETTERS_MAX = 4096
/** Keys of our own; those of users have no NUL. */
const BOOK = '\0book'
const BOOK_OF = '\0book of '

/** What a mailbox runs on. */
export interface MailPlace {
  loop: Loop
  connect: Connect
  store: MailStore
}

interface Waiting {
  n: number
  resolve: (n: number) => void
  reject: (error: Error) => void
}

type Listeners = { [Name in keyof MailboxEvents]: Set<MailboxEvents[Name]> }

/** An open mailbox. */
export class Mailbox {
  readonly id: string
  /** What was found damaged in the store at opening, as a sentence; null if nothing. */
  readonly repaired: string | null
  /** Where others connect; null if nowhere. */
  url: string | null = null
  /** Whether what is posted outlives the process. */
  durable = false
  readonly #place: MailPlace
  readonly #limits: Limits
  readonly #accept: ReadonlySet<string> | null
  readonly #values: Values
  readonly #lines: Lines
  readonly #alarm: Alarm
  readonly #out: MailOut
  readonly #desk: Desk
  readonly #listeners: Listeners = {
    connected: new Set(),
    disconnected: new Set(),
    acked: new Set(),
    threw: new Set(),
    dead: new Set(),
    fault: new Set(),
    trouble: new Set(),
  }
  #box: mailbox.Mailbox
  #handler: LetterHandler | null = null
  #inputs: (() => void)[] = []
  #changes: MailChange[] = []
  #events: MailEvent[] = []
  #posts: Waiting[] = []
  /** The peer whose letters are handled first, by its place among them. */
  #first = 0
  /** A turn begins soon. */
  #due = false
  #busy = false
  #closed = false
  #onClose: (() => void)[] = []

  constructor(place: MailPlace, options: MailboxOptions) {
    const { store, loop } = place
    this.id = checkId(options.id)
    this.repaired = store.repaired
    this.#place = place
    this.#limits = limitsOf(options)
    this.#accept = options.accept ? new Set(options.accept) : null
    this.#box = mailbox.create(store.heads(), this.#limits)
    this.#values = new Values(store)
    this.#alarm = loop.alarm(() => this.#turn())
    this.#out = {
      record: (change) => this.#changes.push(change),
      send: (to, message) => void this.#lines.send(to, encode(mailLayout, message)),
      emit: (event) => this.#events.push(event),
    }
    this.#desk = {
      store,
      values: this.#values,
      checkRoom: (to, letters, bytes) => this.#checkRoom(to, letters, bytes),
    }
    const self = { id: this.id, key: options.key ?? '', book: this.#book() }
    this.#lines = new Lines(self, loop, place.connect, this.#lineEvents())
    for (const [peer, url] of Object.entries(options.peers ?? {})) this.connect(peer, url)
  }

  /** Sets the handler of letters, or adds a listener. @returns removes it */
  on(event: 'letter', handler: LetterHandler): () => void
  on<Name extends keyof MailboxEvents>(event: Name, listener: MailboxEvents[Name]): () => void
  on(event: 'letter' | keyof MailboxEvents, listener: never): () => void {
    if (event !== 'letter') {
      const listeners = this.#listeners[event] as Set<never>
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
    if (this.#handler) throw new HoldfastError('bad-value', 'letters have a handler already')
    this.#handler = listener
    this.#soon()
    return () => (this.#handler = null)
  }

  /** The way to a peer. */
  to(peer: string): {
    /**
     * Posts a letter. The promise is kept, with its number, when the letter is durable here.
     *
     * @throws HoldfastError `outbox-full` when too many wait for that peer, `bad-value`, `store`
     */
    post(body: MailValue): Promise<number>
  } {
    checkId(peer)
    return { post: (body) => this.#post(peer, body) }
  }

  /** Keeps a connection to a peer that listens at that URL, or that some other way leads to. */
  connect(peer: string, by: string | Way): void {
    this.#lines.dial(checkId(peer), by)
  }

  /** Takes a connection that somebody opened; what a server hands its streams to. */
  get accept(): Lines['accept'] {
    return (stream) => this.#lines.accept(stream)
  }

  /** How the queues stand, by peer. */
  queues(): QueueFigures[] {
    return [...this.#box.peers].map(([peer, { posted, acked, bytes, heard, fault }]) => ({
      peer,
      connected: this.#lines.has(peer),
      waiting: posted - acked,
      bytes,
      posted,
      acked,
      heard,
      fault,
    }))
  }

  /** A value as it is durable. */
  get(key: string): MailValue {
    const bytes = this.#place.store.get(key)
    return bytes ? toValue(bytes) : undefined
  }

  /** Letters that were set aside. */
  dead(): (Omit<DeadLetter, 'body'> & { body: MailValue })[] {
    return this.#place.store.dead().map((letter) => ({ ...letter, body: toValue(letter.body) }))
  }

  /**
   * Handles a dead letter again, now and once; if the handler throws it stays where it is.
   *
   * @throws HoldfastError `not-found`, or `failed` with what the handler threw
   */
  release(peer: string, n: number): Promise<void> {
    return this.#ask(() => {
      const letter = this.#dead(peer, n)
      const error = this.#handle(peer, letter.body)
      if (error) throw new HoldfastError('failed', `the handler threw again: ${error.message}`)
      this.#changes.push({ kind: 'buried', peer, n })
    })
  }

  /** Throws a dead letter away. @throws HoldfastError `not-found` */
  discard(peer: string, n: number): Promise<void> {
    return this.#ask(() => {
      this.#dead(peer, n)
      this.#changes.push({ kind: 'buried', peer, n })
    })
  }

  /** The number of a peer's last letter that took effect here: a read (S21). */
  query(peer: string): number {
    return this.#place.store.heads().find((head) => head.peer === peer)?.heard ?? 0
  }

  /** One batch for a carrier that is no connection: letters above what the peer has (S19). */
  batch(peer: string, heard: number): Uint8Array {
    const message = mailbox.batchFor(this.#box, peer, heard, this.#place.store)
    return encode(mailLayout, message)
  }

  /** Takes such a batch. Kept when all of it is durable. The caller knows whose it is. */
  take(peer: string, bytes: Uint8Array): Promise<void> {
    return this.#ask(() => this.#receive(checkId(peer), bytes))
  }

  /** Calls when the mailbox closes. */
  onClose(run: () => void): void {
    this.#onClose.push(run)
  }

  /** Ends it; what is posted and not yet durable is made so first. */
  async close(): Promise<void> {
    if (this.#closed) return
    await this.#ask(() => {}).catch(() => {})
    this.#closed = true
    this.#alarm.cancel()
    this.#lines.close()
    for (const run of this.#onClose) run()
    this.#place.store.close()
  }

  #post(peer: string, body: MailValue): Promise<number> {
    const letter = toLetter(body)
    this.#checkOpen()
    this.#checkRoom(peer, 1, mailbox.sizeOf(letter))
    return new Promise((resolve, reject) => {
      this.#input(() => {
        const n = mailbox.post(this.#box, peer, letter, this.#out)
        if (n > 0) this.#posts.push({ n, resolve, reject })
        else reject(this.#full(peer))
      })
    })
  }

  #ask(run: () => void): Promise<void> {
    this.#checkOpen()
    return new Promise((resolve, reject) => {
      this.#input(() => {
        try {
          run()
          this.#posts.push({ n: 0, resolve: () => resolve(), reject })
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  #input(run: () => void): void {
    this.#inputs.push(run)
    this.#soon()
  }

  #soon(): void {
    if (this.#busy || this.#closed || this.#due) return
    this.#due = true
    this.#alarm.set(this.#place.loop.now())
  }

  #turn(): void {
    this.#due = false
    if (this.#busy || this.#closed) return
    let more = false
    const inputs = this.#inputs.splice(0)
    try {
      for (let run = inputs.shift(); run; run = inputs.shift()) run()
      more = this.#handleAll()
    } catch (error) {
      // What lies in the store cannot be read.
      this.#inputs.unshift(...inputs)
      return this.#fail(error as Error)
    }
    this.#busy = true
    this.#place.store.commit(this.#changes.splice(0), (error) => {
      this.#busy = false
      this.#values.end(error === null)
      if (error) this.#fail(error)
      else this.#durable(more)
    })
  }

  /** @returns whether letters are left for another turn, which begins with another peer */
  #handleAll(): boolean {
    if (!this.#handler) return false
    const now = this.#place.loop.now()
    const peers = [...this.#box.peers.keys()]
    let left = TURN_LETTERS_MAX
    for (let turn = 0; turn < peers.length; turn++) {
      const place = (this.#first + turn) % peers.length
      left = this.#handleOf(peers[place]!, now, left)
      if (left > 0) continue
      this.#first = place + 1
      return true
    }
    return false
  }

  /** Letters of one peer, at most so many. @returns how many more may be handled */
  #handleOf(peer: string, now: Millis, most: number): number {
    let left = most
    for (let letter = mailbox.next(this.#box, now, peer); letter && left > 0; left--) {
      const error = this.#handle(peer, letter.body)
      if (error === null) mailbox.done(this.#box, now, peer, this.#out)
      else this.#threw(now, peer, letter.n, error)
      letter = mailbox.next(this.#box, now, peer)
    }
    return left
  }

  #threw(now: Millis, peer: string, n: number, error: Error): void {
    this.#tell('threw', { peer, n, why: error.message })
    // Whom it wanted to write to takes no more just now: that is no fault of this letter.
    const isFull = error instanceof HoldfastError && error.code === 'outbox-full'
    if (isFull) mailbox.postpone(this.#box, now, peer)
    else mailbox.failed(this.#box, now, peer, error.message, this.#out)
  }

  /** @returns what the handler threw, or null; then what it did is among the changes */
  #handle(peer: string, body: Uint8Array): Error | null {
    const tx = new LetterTransaction(this.#desk)
    try {
      if (!this.#handler) throw new Error('there is no handler for letters')
      const result: unknown = this.#handler(tx, peer, toValue(body))
      if (result instanceof Promise) {
        result.catch(() => {})
        throw new Error('a handler of letters may not be async: what it does is one transaction')
      }
    } catch (error) {
      tx.undo()
      return error instanceof Error ? error : new Error(String(error))
    }
    this.#changes.push(...tx.keep())
    for (const post of tx.posts) mailbox.post(this.#box, post.to, post.body, this.#out)
    return null
  }

  #durable(more: boolean): void {
    for (const { n, resolve } of this.#posts.splice(0)) resolve(n)
    const { loop, store } = this.#place
    const now = loop.now()
    try {
      mailbox.pump(this.#box, now, store, this.#out)
    } catch (error) {
      return this.#fail(error as Error)
    }
    for (const event of this.#events.splice(0)) this.#told(event)
    const due = more || this.#inputs.length > 0 ? now : mailbox.deadline(this.#box)
    if (!this.#closed && due < Infinity) this.#alarm.set(this.#held(due, now))
  }

  // Without a handler letters wait, and there is nothing to be woken for.
  #held(due: Millis, now: Millis): Millis {
    return this.#handler || due > now || this.#inputs.length > 0 ? due : now + 1_000
  }

  #fail(error: Error): void {
    const why = `the store refused: ${error.message}`
    this.#changes = []
    this.#events = []
    this.#box = mailbox.create(this.#place.store.heads(), this.#limits)
    for (const { peer } of this.queues()) this.#lines.hangUp(peer, why)
    for (const { reject } of this.#posts.splice(0)) reject(error)
    this.#tell('trouble', error)
    if (this.#inputs.length > 0) this.#soon()
  }

  #told(event: MailEvent): void {
    const { peer } = event
    switch (event.kind) {
      case 'acked': {
        const known = this.#box.peers.get(peer)
        const waiting = known ? known.posted - known.acked : 0
        return this.#tell('acked', { peer, n: event.n, waiting })
      }
      case 'dead':
        return this.#tell('dead', { peer, n: event.n, why: event.why })
      case 'fault':
        return this.#tell('fault', { peer, why: event.why })
      default:
        // What is missing comes again on a new connection.
        this.#lines.hangUp(peer, `letter ${event.expected} of ${peer} was missing`)
    }
  }

  #tell<Name extends keyof MailboxEvents>(
    name: Name,
    event: Parameters<MailboxEvents[Name]>[0],
  ): void {
    for (const listener of this.#listeners[name] as Set<(event: unknown) => void>) listener(event)
  }

  #lineEvents(): ConstructorParameters<typeof Lines>[3] {
    return {
      accepts: (id, book) => this.#accepts(id) ?? this.#fits(id, book),
      connected: (peer, book) => {
        this.#remember(peer, book)
        this.#input(() => {
          if (this.#lines.has(peer)) mailbox.connected(this.#box, this.#place.loop.now(), peer)
        })
        this.#tell('connected', { peer })
      },
      message: (peer, bytes) => this.#input(() => this.#receive(peer, bytes)),
      disconnected: (peer, why) => {
        mailbox.disconnected(this.#box, peer)
        this.#tell('disconnected', { peer, why })
      },
      failed: (peer, why) => this.#tell('disconnected', { peer, why }),
    }
  }

  #receive(peer: string, bytes: Uint8Array): void {
    const { loop, store } = this.#place
    mailbox.receive(this.#box, loop.now(), peer, bytes, store, this.#out)
  }

  #accepts(id: string): string | null {
    const known = this.#accept === null || this.#accept.has(id)
    return known ? null : `${this.id} takes no letters from ${id}`
  }

  /** The name of our store, made when it was empty. */
  #book(): Uint8Array {
    const { store, loop } = this.#place
    const known = store.get(BOOK)
    if (known) return known
    const book = loop.random(NONCE_BYTES)
    this.#changes.push({ kind: 'set', key: BOOK, value: book })
    this.#soon()
    return book
  }

  // A store that was lost and begun anew counts from one: its letters would be taken for old ones.
  #fits(peer: string, book: Uint8Array): string | null {
    const key = `${BOOK_OF}${peer}`
    const known = this.#values.get(key)
    if (known && !sameBytes(known, book)) {
      return (
        `${peer} has another store than when ${this.id} last spoke to it, so numbers of letters ` +
        `do not fit; bring the old store back, or give ${peer} a new id`
      )
    }
    return null
  }

  #remember(peer: string, book: Uint8Array): void {
    const key = `${BOOK_OF}${peer}`
    if (this.#values.get(key)) return
    this.#input(() => {
      this.#values.set(key, book)
      this.#changes.push({ kind: 'set', key, value: book })
    })
  }

  #dead(peer: string, n: number): DeadLetter {
    const letters = this.#place.store.dead()
    const found = letters.find((letter) => letter.peer === peer && letter.n === n)
    if (found) return found
    throw new HoldfastError('not-found', `no letter ${n} of ${peer} was set aside`)
  }

  #checkRoom(to: string, letters: number, bytes: number): void {
    if (!mailbox.hasRoom(this.#box, to, letters, bytes)) throw this.#full(to)
  }

  #full(to: string): HoldfastError {
    const { lettersMax, bytesMax } = this.#limits
    const { posted, acked, bytes } = mailbox.peerOf(this.#box, to)
    return new HoldfastError(
      'outbox-full',
      `the outbox to ${to} is full: ${posted - acked} letters of ${lettersMax}, ` +
        `${bytes} bytes of ${bytesMax}; wait until ${to} has taken some`,
    )
  }

  #checkOpen(): void {
    if (this.#closed) throw new HoldfastError('store', `the mailbox of ${this.id} is closed`)
  }
}
