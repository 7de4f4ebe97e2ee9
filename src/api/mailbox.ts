/** A mailbox: what a user holds. Its turns (mail-turns.ts) decide, its lines carry. */

import { badValue, HoldfastError, type Millis } from '../machine.ts'
import * as mailbox from '../mailbox/mailbox.ts'
import type { Limits } from '../mailbox/mailbox.ts'
import { mailLayout } from '../mailbox/messages.ts'
import type { Alarm, Connect, DeadLetter, Loop, MailStore } from '../ports.ts'
import { NO_LIFE } from '../wire/history.ts'
import { encode } from '../wire/layout.ts'
import { Emitter, type Listen } from './emitter.ts'
import { type MailFigures, metricsOf, published } from './mail-figures.ts'
import { Lines, type Way } from './mail-lines.ts'
import {
  checkId,
  limitsOf,
  DEAD_MAX,
  MAILBOX_EVENTS,
  PEERS_MAX,
  wholeNumber,
} from './mail-options.ts'
import type { LetterHandler, MailboxEvents, MailboxOptions, QueueFigures } from './mail-options.ts'
import type { Transaction } from './mail-transaction.ts'
import { type Draft, MALFORMED, type TurnEvent, Turns } from './mail-turns.ts'
import { PostKeys } from './mail-keys.ts'
import { checkTrace, type PostOptions, toBody, unseal } from './mail-letters.ts'
import { type MailValue, toValue } from './mail-values.ts'
import { checkFunction, checkOptions } from './options.ts'
import { Reports } from './reports.ts'

/** How often figures are shown to who inspects an open mailbox. */
const PUBLISH_MS: Millis = 500

/** What a mailbox runs on. */
export interface MailPlace {
  loop: Loop
  connect: Connect
  store: MailStore
  /** The name of this life of the store, durable; replicas have none. */
  life?: Uint8Array
  /** Milliseconds since 1970; without it letters say nothing of time. */
  date?: () => number
  /** Says what nobody else heard of: a function of the application threw, and where. */
  report?: (error: unknown, where: string) => void
}

/** What the owner may do about a peer. */
export interface MailPeer {
  /**
   * Goes on from what the peer has, where histories do not fit and the right store will not come
   * back. Kept, with what became of which letters, when that is durable.
   *
   * @param how  `common`: the last letter to it that both have, where that is not known
   * It rejects with a HoldfastError: `unreachable` while it is not connected, `bad-value`, `store`.
   */
  adopt(how?: { common?: number }): Promise<mailbox.Adopted>
  /** Forgets all that is known of it, with the letters that wait for it. @returns how many */
  forget(): Promise<{ dropped: number }>
}

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
  readonly #peersMax: number
  readonly #accept: ReadonlySet<string> | null
  readonly #lines: Lines
  readonly #turns: Turns
  readonly #keys: PostKeys
  readonly #events: Emitter<MailboxEvents>
  readonly #hasDate: boolean
  readonly #publishing: Alarm
  #isToPublish = false
  #closed = false
  #onClose: (() => void)[] = []

  constructor(place: MailPlace, options: MailboxOptions) {
    const { store, loop } = place
    this.id = checkId(options.id)
    this.repaired = store.repaired
    this.#place = place
    this.#limits = limitsOf(options)
    this.#hasDate = !options.replica && place.date !== undefined
    this.#peersMax = wholeNumber('peersMax', options.peersMax ?? PEERS_MAX)
    this.#accept = options.accept ? new Set(options.accept) : null
    this.#events = this.#openEvents()
    this.#publishing = loop.alarm(() => {
      this.#isToPublish = false
      store.publish?.(published(this.#figures()))
    })
    const host = {
      loop,
      store,
      changed: () => this.#publishSoon(),
      send: (peer: string, message: mailbox.MailMessage) =>
        void this.#lines.send(peer, encode(mailLayout, message)),
      told: (event: TurnEvent) => this.#told(event),
      deadMax: wholeNumber('deadMax', options.deadMax ?? DEAD_MAX),
      date: options.replica ? null : (place.date ?? null),
      moved: (peer: string) => this.#lines.progress(peer),
      refused: (error: Error) => {
        this.#lines.hangUpAll(`the store refused: ${error.message}`)
        this.#events.tell('trouble', error)
      },
    }
    this.#turns = new Turns(this.id, host, this.#limits, place.life ?? NO_LIFE)
    this.#keys = new PostKeys(this.#turns.values)
    const self = { id: this.id, key: options.key ?? '' }
    this.#lines = new Lines(self, loop, place.connect, this.#lineEvents())
    for (const [peer, url] of Object.entries(options.peers ?? {})) this.connect(peer, url)
  }

  /**
   * Sets the handler of letters, or adds a listener. What a listener throws disturbs nothing.
   *
   * @returns removes it
   * @throws HoldfastError `bad-value` for an event that there is not, or a second handler
   */
  on(event: 'letter', handler: LetterHandler): () => void
  on<Name extends keyof MailboxEvents>(
    event: Name,
    listener: (value: MailboxEvents[Name]) => void,
    listen?: Listen,
  ): () => void
  on(event: 'letter' | keyof MailboxEvents, listener: never, listen?: Listen): () => void {
    if (event !== 'letter') return this.#events.on(event, listener, listen)
    checkFunction('the handler of letters', listener)
    if (this.#turns.handler) throw badValue('letters have a handler already')
    this.#turns.handler = listener
    return () => (this.#turns.handler = null)
  }

  /** The way to a peer. */
  to(peer: string): {
    /**
     * Posts a letter. The promise is kept, with its number, when the letter is durable here.
     *
     * It rejects with a HoldfastError: `outbox-full` when too many wait for that peer,
     * `bad-value` for what is no letter, `store` when the store refused.
     */
    post(body: MailValue, options?: PostOptions): Promise<number>
  } {
    checkId(peer)
    return { post: (body, options = {}) => this.#post(peer, body, options) }
  }

  /** What may be done about a peer whose history does not fit ours: see the event `fault`. */
  peer(id: string): MailPeer {
    checkId(id)
    return {
      adopt: ({ common = null } = {}) => this.#adopt(id, common),
      forget: () => this.#forget(id),
    }
  }

  /**
   * Runs a transaction without a letter: what it reads, writes and posts is one with what letters
   * do. It is run once more if SQL of another ended the turn. Kept, with what it gives, when all of
   * it is durable.
   *
   * It rejects with what the function threw, or with a HoldfastError; then nothing of it holds.
   */
  async transact<Result>(run: (tx: Transaction) => Result): Promise<Result> {
    checkFunction('a transaction', run)
    this.#checkOpen()
    return this.#turns.ask((draft) => this.#turns.run(draft, 'a transaction', run))
  }

  /** Keeps a connection to a peer that listens at that URL, or that some other way leads to. */
  connect(peer: string, by: string | Way): void {
    this.#lines.dial(checkId(peer), by)
  }

  /** Takes a connection that somebody opened; what a server hands its streams to. */
  get accept(): Lines['accept'] {
    return (stream) => this.#lines.accept(stream)
  }

  /** How the queues stand, in order of their peers. */
  queues(): QueueFigures[] {
    return [...this.#turns.box.peers].toSorted(byId).map(([peer, numbers]) => ({
      peer,
      connected: this.#lines.has(peer),
      waiting: numbers.posted - numbers.acked,
      bytes: numbers.bytes,
      posted: numbers.posted,
      acked: numbers.acked,
      heard: numbers.heard,
      fault: numbers.fault,
    }))
  }

  /** What was refused since the mailbox was opened, by why. */
  get counters(): Readonly<mailbox.Counters> {
    return { ...this.#turns.box.counters }
  }

  /** The figures of now in the text format of Prometheus, for an endpoint of the application's. */
  metrics(): string {
    return metricsOf(this.#figures())
  }

  /** A value as it is durable. */
  get(key: string): MailValue {
    const bytes = this.#place.store.get(key)
    return bytes ? toValue(bytes) : undefined
  }

  /** Letters that were set aside, oldest first: `most` of them behind the first `skip`. */
  dead({ skip = 0, most = Infinity }: { skip?: number; most?: number } = {}): (Omit<
    DeadLetter,
    'body'
  > & { body: MailValue })[] {
    const letters = this.#place.store.dead(skip, most)
    return letters.map((letter) => ({ ...letter, body: toValue(unseal(letter.body).body) }))
  }

  /**
   * Handles a dead letter again, now and once; if the handler throws it stays where it is.
   *
   * @throws HoldfastError `not-found`, or `failed` with what the handler threw
   */
  release(peer: string, n: number): Promise<void> {
    return this.#ask((draft) => {
      this.#turns.handleDead(draft, this.#dead(draft, peer, n))
      this.#bury(draft, peer, n)
    })
  }

  /** Throws a dead letter away. @throws HoldfastError `not-found` */
  discard(peer: string, n: number): Promise<void> {
    return this.#ask((draft) => {
      this.#dead(draft, peer, n)
      this.#bury(draft, peer, n)
    })
  }

  /** The number of a peer's last letter that took effect here: a read (S21). */
  query(peer: string): number {
    return this.#place.store.head(peer)?.heard ?? 0
  }

  /** One batch for a carrier that is no connection: letters above what the peer has (S19). */
  batch(peer: string, heard: number): Uint8Array {
    const message = mailbox.batchFor(this.#turns.box, peer, heard, this.#place.store)
    return encode(mailLayout, message)
  }

  /**
   * Takes such a batch; the caller knows whose it is. Kept when all of its letters have taken
   * effect and are durable.
   *
   * It rejects with a HoldfastError: `bad-value` for bytes that are no batch, `failed` with why not
   * all took effect (those before it did; taking it again doubles nothing), `store`.
   */
  async take(peer: string, bytes: Uint8Array): Promise<void> {
    checkId(peer)
    const why = await this.#ask((draft) => this.#turns.receive(draft, peer, bytes))
    if (why !== null) throw new HoldfastError(why === MALFORMED ? 'bad-value' : 'failed', why)
  }

  /**
   * Copies the store into a new file while the mailbox is open. Who opens the copy later is an
   * older store, and is told so.
   *
   * It rejects with a HoldfastError `store`: no file, a file that exists, a disk that refuses.
   */
  async backup(path: string): Promise<void> {
    await this.#ask(() => {})
    this.#place.store.backup(path)
  }

  /** Calls when the mailbox closes. */
  onClose(run: () => void): void {
    this.#onClose.push(run)
  }

  /** Ends it; what is posted and not yet durable is made so first. */
  async close(): Promise<void> {
    if (this.#closed) return
    await this.#turns.end()
    this.#closed = true
    this.#publishing.cancel()
    this.#lines.close()
    for (const run of this.#onClose) run()
    this.#place.store.close()
  }

  #figures(): MailFigures {
    const { id, counters } = this
    return { id, queues: this.queues(), counters, dead: this.#place.store.deadCount() }
  }

  /** Shows the figures in a while, if somebody could look at them. */
  #publishSoon(): void {
    const { loop, store } = this.#place
    if (!store.publish || this.#isToPublish || this.#closed) return
    this.#isToPublish = true
    this.#publishing.set(loop.now() + PUBLISH_MS)
  }

  async #post(peer: string, body: MailValue, options: PostOptions): Promise<number> {
    checkOptions('post', options, ['key', 'ttl', 'trace'])
    const { key, ttl = null, trace = null } = options
    const plain = toBody(body)
    if (ttl !== null) this.#checkTtl(ttl)
    if (trace !== null) checkTrace(trace)
    this.#checkOpen()
    const known = key === undefined ? 0 : this.#keys.find(peer, key)
    if (known === 0) this.#turns.checkRoom(peer, 1, mailbox.sizeOf(plain))
    return this.#turns.ask(({ out, changes }) => {
      const before = key === undefined ? 0 : this.#keys.find(peer, key)
      if (before > 0) return before
      const letter = this.#turns.seal(plain, trace, ttl)
      this.#turns.checkRoom(peer, 1, mailbox.sizeOf(letter))
      const n = mailbox.post(this.#turns.box, peer, letter, out)
      if (key !== undefined) this.#keys.add(peer, key, n, changes)
      return n
    })
  }

  #checkTtl(ttl: number): void {
    wholeNumber('ttl', ttl)
    if (this.#hasDate) return
    throw badValue('a replica has no time, so its letters have no ttl')
  }

  async #ask<Result>(run: (draft: Draft) => Result): Promise<Result> {
    this.#checkOpen()
    return this.#turns.ask(run)
  }

  /** A dead letter that this turn has not taken out. @throws HoldfastError `not-found` */
  #dead({ buried }: Draft, peer: string, n: number): DeadLetter {
    const found = this.#place.store.dead().find((one) => one.peer === peer && one.n === n)
    if (found && !buried.has(`${peer} ${n}`)) return found
    throw new HoldfastError('not-found', `no letter ${n} of ${peer} was set aside`)
  }

  #bury({ buried, changes }: Draft, peer: string, n: number): void {
    buried.add(`${peer} ${n}`)
    changes.push({ kind: 'buried', peer, n })
  }

  async #adopt(id: string, common: number | null): Promise<mailbox.Adopted> {
    const adopted = await this.#ask(({ out }) => {
      const { box } = this.#turns
      const hello = box.peers.get(id)?.link?.theirs
      if (!hello) {
        throw new HoldfastError(
          'unreachable',
          `${id} is not connected, so what it has is not known; adopt needs that`,
        )
      }
      const result = mailbox.adopt(box, id, hello, common, this.#place.store, out)
      if (result) return result
      throw badValue(
        `the last letter to ${id} that both have is not known; say which: adopt({ common: 12 })`,
      )
    })
    this.#lines.hangUp(id, `the history of ${id} was adopted`)
    return adopted
  }

  async #forget(id: string): Promise<{ dropped: number }> {
    const dropped = await this.#ask(({ out }) => mailbox.forget(this.#turns.box, id, out))
    this.#lines.hangUp(id, `${id} was forgotten`)
    return { dropped }
  }

  #openEvents(): Emitter<MailboxEvents> {
    const { loop, report } = this.#place
    const reports = new Reports({
      soon: (run) => loop.soon(run),
      tell: (reported) => {
        const hears = events.hears('error')
        if (hears) events.tell('error', reported)
        return hears
      },
      place: ({ error, where }) => report?.(error, where),
    })
    const events = new Emitter<MailboxEvents>('a mailbox', MAILBOX_EVENTS, reports)
    return events
  }

  #told(event: TurnEvent): void {
    const { peer } = event
    switch (event.kind) {
      case 'acked': {
        const known = this.#turns.box.peers.get(peer)
        const waiting = known ? known.posted - known.acked : 0
        return this.#events.tell('acked', { peer, n: event.n, waiting })
      }
      case 'threw':
        return this.#events.tell('threw', { peer, n: event.n, why: event.why })
      case 'dead':
        return this.#events.tell('dead', { peer, n: event.n, why: event.why })
      case 'fault':
        return this.#events.tell('fault', { peer, why: event.why })
      case 'dropped':
        return this.#events.tell('dropped', { peer, n: event.n })
      case 'expired':
        return this.#events.tell('expired', { peer, n: event.n })
      case 'slow':
        return this.#events.tell('slow', { peer, n: event.n, ms: event.ms })
      default:
        // What is missing comes again on a new connection.
        this.#lines.hangUp(peer, `letter ${event.expected} of ${peer} was missing`)
    }
  }

  #lineEvents(): ConstructorParameters<typeof Lines>[3] {
    return {
      accepts: (id) => this.#accepts(id),
      connected: (peer) => {
        this.#publishSoon()
        this.#turns.input(() => {
          if (!this.#lines.has(peer)) return
          mailbox.connected(this.#turns.box, this.#place.loop.now(), peer)
        })
        this.#events.tell('connected', { peer })
      },
      message: (peer, bytes) => {
        this.#turns.input((draft) => {
          const why = this.#turns.receive(draft, peer, bytes)
          if (why === MALFORMED) this.#lines.hangUp(peer, why)
        })
      },
      disconnected: (peer, why) => {
        this.#publishSoon()
        mailbox.disconnected(this.#turns.box, peer)
        this.#events.tell('disconnected', { peer, why })
      },
      failed: (peer, why) => this.#events.tell('disconnected', { peer, why }),
    }
  }

  #accepts(id: string): string | null {
    const known = this.#accept === null || this.#accept.has(id)
    if (!known) return `${this.id} takes no letters from ${id}`
    const { peers } = this.#turns.box
    const isFull = !peers.has(id) && peers.size >= this.#peersMax
    return isFull ? `${this.id} has ${peers.size} peers and takes no more` : null
  }

  #checkOpen(): void {
    if (this.#closed) throw new HoldfastError('store', `the mailbox of ${this.id} is closed`)
  }
}

function byId([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1
}
