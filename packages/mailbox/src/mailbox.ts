/** A running mailbox: turns decide, connections carry. */

import { badValue, HoldfastError, type Millis } from '../../holdfast/src/machine.ts'
import { type OwnProof } from './machine/keys.ts'
import * as mailbox from './machine/mailbox.ts'
import type { Limits } from './machine/mailbox.ts'
import { mailLayout } from './machine/messages.ts'
import type { Alarm, Connect, Listening, MailStore, Watchdog } from '../../holdfast/src/ports.ts'
import { NO_LIFE } from '../../holdfast/src/wire/history.ts'
import { encode } from '../../holdfast/src/wire/layout.ts'
import { plain } from '../../holdfast/src/wire/text/plain.ts'
import type { Fields, StateOf } from '../../holdfast/src/wire/fields/schema.ts'
import { ASYNC_DISPOSE, type Stop, stopping } from '../../holdfast/src/api/emitter.ts'
import type { Listen, Listeners } from '../../holdfast/src/api/emitter.ts'
import { MailEvents, type MailReports } from './mail-events.ts'
import type { Mailbox, MailWay, SetAside } from './mailbox-types.ts'
import { removeDead, type Draft, findDead, type TurnEvent } from './runtime/draft.ts'
import { type MailFigures, metricsOf, published } from './runtime/figures.ts'
import { Connections, type ConnectionEvents, type Dialer } from './runtime/connections.ts'
import { checkId, limitsOf, listedOf, DEAD_MAX, PEERS_MAX, wholeNumber } from './runtime/options.ts'
import type {
  EffectHandler,
  EffectOptions,
  LetterHandler,
  MailboxEvents,
  MailboxOptions,
  QueueFigures,
} from './runtime/options.ts'
import { type Identity, OwnKeys } from './runtime/own-keys.ts'
import { checkDelayed, checkRoom } from './runtime/task-schedule.ts'
import type { Transaction } from './runtime/transaction.ts'
import { MALFORMED, Turns, type TurnsHost } from './runtime/turns.ts'
import { EFFECT_MS } from './runtime/effects.ts'
import { Handlers } from './runtime/handlers.ts'
import { isLetterType, type LetterDefinition, type LetterType } from './runtime/letter-types.ts'
import { PostKeys } from './runtime/keys.ts'
import { checkTrace, type Dated, type PostOptions, givenLetter, unseal } from './runtime/letters.ts'
import { KnownPeer, type MailPeer, strange } from './runtime/peers.ts'
import { type MailValue, readLetter, toValue } from './runtime/values.ts'
import { checkFunction, checkOptions } from '../../holdfast/src/api/options.ts'

/** How often an open mailbox publishes its figures for inspection. */
const PUBLISH_MS: Millis = 500

/** What a mailbox runs on, whatever its store. */
export interface MailRuntime extends MailReports {
  /** Opens a stream to a URL. */
  connect: Connect
  /** Milliseconds since 1970; without it letters carry no time. */
  date?: () => number
}

export interface MailPlace extends MailRuntime {
  store: MailStore
  /** The durable id of this life of the store; replicas have none. */
  life?: Uint8Array
  /** Its durable keys, and the curves to sign with. */
  identity: Identity
  watchdog?: Watchdog | undefined
}

export class RunningMailbox implements Mailbox {
  readonly id: string
  readonly repaired: string | null
  durable = false
  readonly #place: MailPlace
  readonly #limits: Limits
  readonly #peersMax: number
  readonly #isReplica: boolean
  readonly #own: OwnKeys
  readonly #connections: Connections
  readonly #turns: Turns
  readonly #handlers: Handlers
  readonly #keys: PostKeys
  readonly #events: Listeners<MailboxEvents>
  readonly #reporter: MailEvents
  readonly #publishing: Alarm
  #listening: Listening | null = null
  #isToPublish = false
  #closed = false
  #onClose: (() => void)[] = []

  constructor(place: MailPlace, options: MailboxOptions) {
    const { store, loop } = place
    this.id = checkId(options.id)
    this.repaired = store.repaired
    this.#place = place
    this.#limits = limitsOf(options)
    this.#peersMax = wholeNumber('peersMax', options.peersMax ?? PEERS_MAX)
    this.#isReplica = options.replica ?? false
    this.#own = new OwnKeys(this.id, place.identity, store, (count) => loop.random(count))
    this.#reporter = new MailEvents(this.id, place)
    this.#events = this.#reporter.events
    this.#publishing = loop.alarm(() => {
      this.#isToPublish = false
      store.publish?.(published(this.#figures()))
    })
    this.#handlers = new Handlers(options.types ?? [])
    const host = this.#turnsHost(options)
    this.#turns = new Turns(this.id, host, this.#limits, place.life ?? NO_LIFE)
    this.#keys = new PostKeys(this.#turns.values)
    const { curves } = place.identity
    this.#connections = new Connections(
      this.#own.self,
      { ...place, curves },
      this.#connectionEvents(),
    )
    for (const [peer, url] of Object.entries(options.peers ?? {})) this.connect(peer, url)
    this.#publishSoon()
  }

  #turnsHost(options: MailboxOptions): TurnsHost {
    const { loop, store, identity, date = null, watchdog = null } = this.#place
    return {
      loop,
      handlers: this.#handlers,
      store,
      curves: identity.curves,
      listed: listedOf(options),
      onDurable: () => this.#publishSoon(),
      expects: (peer) => this.#connections.expects(peer),
      send: (peer, message) => void this.#connections.send(peer, encode(mailLayout, message)),
      onEvent: (event) => this.#onEvent(event),
      deadMax: wholeNumber('deadMax', options.deadMax ?? DEAD_MAX),
      deadMs: options.deadMs === undefined ? null : wholeNumber('deadMs', options.deadMs),
      date: options.replica ? null : date,
      watchdog,
      onProgress: (peer) => this.#connections.progress(peer),
      onMalformed: (peer) => this.#connections.hangUp(peer, MALFORMED),
      onStoreError: (error) => {
        this.#connections.hangUpAll(`the store refused: ${error.message}`)
        this.#events.emit('trouble', error)
      },
    }
  }

  on(event: 'letter', handler: LetterHandler): Stop
  on<F extends Fields>(type: LetterType<F>, handler: LetterHandler<Readonly<StateOf<F>>>): Stop
  on<Name extends keyof MailboxEvents>(
    event: Name,
    listener: (value: MailboxEvents[Name]) => void,
    listen?: Listen,
  ): Stop
  on(event: 'letter' | object | keyof MailboxEvents, listener: never, listen?: Listen): Stop {
    const type = isLetterType(event) ? event : null
    if (!type && event !== 'letter') {
      return this.#events.on(event as keyof MailboxEvents, listener, listen)
    }
    checkFunction('the handler of letters', listener)
    this.#turns.handle(type, { kind: 'turn', run: listener })
    return stopping(() => this.#handlers.delete(type))
  }

  handleAsync(
    what: 'letter' | LetterDefinition,
    handler: EffectHandler<never>,
    options: EffectOptions = {},
  ): Stop {
    const type = isLetterType(what) ? what : null
    if (!type && what !== 'letter') {
      throw badValue(`handleAsync takes "letter" or a type of letters`)
    }
    checkFunction('the handler of letters', handler)
    checkOptions('handleAsync', options, ['timeoutMs'])
    if (this.#isReplica)
      throw badValue('a replica has no external effects, since every replica would repeat them')
    const ms = wholeNumber('timeoutMs', options.timeoutMs ?? EFFECT_MS)
    this.#turns.handle(type, { kind: 'effect', run: handler as EffectHandler, ms })
    return stopping(() => this.#handlers.delete(type))
  }

  to(peer: string): MailWay {
    checkId(peer)
    return { post: (...given: readonly unknown[]) => this.#post(peer, given) }
  }

  peer(id: string): MailPeer {
    return new KnownPeer(
      {
        turns: this.#turns,
        store: this.#place.store,
        ask: (run) => this.#ask(run),
        hangUp: (peer, why) => this.#connections.hangUp(peer, why),
      },
      id,
    )
  }

  async transact<Result>(run: (tx: Transaction) => Result): Promise<Result> {
    checkFunction('a transaction', run)
    return this.#ask((draft) => this.#turns.run(draft, 'a transaction', run))
  }

  get key(): string {
    return this.#own.text
  }

  async replaceKey(): Promise<string> {
    if (this.#isReplica)
      throw badValue('a replica cannot replace its key, since replicas must post the same letters')
    this.#checkOpen()
    const hangUpOthers = (announced: ReadonlyMap<string, number>): void => {
      this.#connections.hangUpAllBut(announced, 'this mailbox has another key')
    }
    return this.#own.replace((next) => {
      return this.#ask((draft) => this.#own.put(draft, this.#turns.box, next, hangUpOthers))
    })
  }

  connect(peer: string, by: string | Dialer): void {
    this.#connections.dial(checkId(peer), by)
  }

  get accept(): Connections['accept'] {
    return (stream) => this.#connections.accept(stream)
  }

  queues(): QueueFigures[] {
    return [...this.#turns.box.peers].toSorted(byId).map(([peer, numbers]) => ({
      peer,
      connected: this.#connections.has(peer),
      waiting: numbers.posted - numbers.acked,
      bytes: numbers.bytes,
      posted: numbers.posted,
      acked: numbers.acked,
      heard: numbers.heard,
      fault: numbers.fault,
      stopped: this.#turns.blocked.why(peer),
    }))
  }

  get counters(): Readonly<mailbox.Counters> {
    return { ...this.#turns.box.counters }
  }

  metrics(): string {
    return metricsOf(this.#figures())
  }

  get(key: string): MailValue {
    const bytes = this.#place.store.get(key)
    return bytes ? toValue(bytes) : undefined
  }

  dead({ skip = 0, most = Infinity }: { skip?: number; most?: number } = {}): SetAside[] {
    const letters = this.#place.store.dead(skip, most)
    return letters.map((letter) => ({ ...letter, ...readLetter(unseal(letter.body).body) }))
  }

  async release(peer: string, n: number): Promise<void> {
    this.#checkOpen()
    await this.#turns.effectOfDead(peer, n)
    return this.#ask((draft) => {
      this.#turns.handleDead(draft, findDead(draft, this.#place.store, peer, n))
      removeDead(draft, peer, n)
    })
  }

  discard(peer: string, n: number): Promise<void> {
    return this.#ask((draft) => {
      findDead(draft, this.#place.store, peer, n)
      removeDead(draft, peer, n)
    })
  }

  query(peer: string): number {
    return this.#place.store.head(peer)?.heard ?? 0
  }

  batch(peer: string, heard: number): Uint8Array {
    const message = mailbox.batchFor(this.#turns.box, peer, heard, this.#place.store)
    return encode(mailLayout, message)
  }

  async take(peer: string, bytes: Uint8Array): Promise<void> {
    checkId(peer)
    const why = await this.#ask((draft) => this.#turns.receive(draft, peer, bytes))
    if (why !== null) throw new HoldfastError(why === MALFORMED ? 'bad-value' : 'failed', why)
  }

  async backup(path: string): Promise<void> {
    await this.#ask(() => {})
    this.#place.store.backup(path)
  }

  /** Sets the listener, which closes with the mailbox. */
  listen(listening: Listening): void {
    this.#listening = listening
    this.onClose(() => listening.close())
  }

  get url(): string | null {
    return this.#listening?.url ?? null
  }

  onClose(run: () => void): void {
    this.#onClose.push(run)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    await this.#turns.end()
    this.#closed = true
    this.#publishing.cancel()
    this.#connections.close()
    for (const run of this.#onClose) run()
    this.#place.store.close()
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.close()
  }

  #figures(): MailFigures {
    const { id, key, counters } = this
    const [dead, later] = [this.#place.store.deadCount(), this.#turns.schedule.count]
    return { id, key, queues: this.queues(), counters, dead, later }
  }

  /** Schedules publishing the figures, if the store can. */
  #publishSoon(): void {
    const { loop, store } = this.#place
    if (!store.publish || this.#isToPublish || this.#closed) return
    this.#isToPublish = true
    this.#publishing.set(loop.now() + PUBLISH_MS)
  }

  async #post(peer: string, given: readonly unknown[]): Promise<number> {
    const { body: plain, options } = givenLetter(given)
    checkOptions('post', options, ['key', 'delay', 'ttl', 'trace'])
    const { key, trace = null } = options as PostOptions
    if (trace !== null) checkTrace(trace)
    this.#checkOpen()
    const letter = this.#turns.seal(plain, options, trace)
    const isKnown = key !== undefined && this.#keys.find(peer, key, plain) !== null
    if (!isKnown && letter.due === null) this.#checkRoom(peer, letter.body)
    return this.#turns.ask((draft) => {
      const known = key === undefined ? null : this.#keys.find(peer, key, plain)
      if (known !== null) return known
      const n = this.#postNow(draft, peer, letter)
      if (key !== undefined) this.#keys.add(peer, key, { n, body: plain })
      return n
    })
  }

  #postNow(draft: Draft, peer: string, { body, due }: Dated): number {
    const { out } = draft
    this.#turns.reportUnseen(draft, peer)
    if (due === null) {
      this.#checkRoom(peer, body)
      return mailbox.post(this.#turns.box, peer, body, out)
    }
    checkDelayed(this.#turns.schedule, 1)
    this.#turns.schedule.add(due, { kind: 'post', peer, body })
    return 0
  }

  #checkRoom(peer: string, body: Uint8Array): void {
    checkRoom(this.#turns.box, peer, 1, mailbox.sizeOf(body))
  }

  async #ask<Result>(run: (draft: Draft) => Result): Promise<Result> {
    this.#checkOpen()
    return this.#turns.ask(run)
  }

  #onEvent(event: TurnEvent): void {
    const { peer } = event
    if (event.kind === 'gap') {
      // The missing letters are resent on a new connection.
      return this.#connections.hangUp(peer, `letter ${event.expected} of ${peer} was missing`)
    }
    // Later letters need a connection that proved the new key.
    if (event.kind === 'key') this.#connections.hangUp(peer, `${peer} has another key`)
    const known = this.#turns.box.peers.get(peer)
    this.#reporter.report(event, known ? known.posted - known.acked : 0)
  }

  #connectionEvents(): ConnectionEvents {
    return {
      refuses: (id) => this.#refuses(id),
      keyOf: (id) => mailbox.pins.keyOf(this.#turns.box, id),
      formerKey: (key) => this.#own.formerKey(key),
      strange: (id, key) => strange(this.#turns.box, id, key),
      connected: (peer, key, proof) => {
        this.#publishSoon()
        this.#turns.input((draft) => this.#connected(draft, peer, key, proof))
        this.#events.emit('connected', { peer })
      },
      message: (peer, key, bytes) => this.#turns.receiveLater(peer, key, bytes),
      disconnected: (peer, why) => {
        this.#publishSoon()
        mailbox.disconnected(this.#turns.box, peer)
        this.#events.emit('disconnected', { peer, why })
      },
      failed: (peer, why, counts) => {
        if (counts) this.#turns.box.counters[counts]++
        this.#events.emit('disconnected', { peer, why })
      },
    }
  }

  /** Earlier letters of this turn may have bound the id to a key other than the one proved. */
  #connected(draft: Draft, peer: string, key: Uint8Array, proof: OwnProof): void {
    const { box } = this.#turns
    if (!this.#connections.has(peer)) return
    if (!mailbox.pins.fitsKey(box, peer, key)) {
      box.counters.otherKey++
      this.#connections.hangUp(peer, strange(box, peer, key))
    } else if (this.#own.proved(draft, box, peer, proof)) {
      mailbox.connected(box, this.#place.loop.now(), peer, key)
    } else this.#connections.hangUp(peer, 'this mailbox has another key')
  }

  #refuses(id: string): string | null {
    const { peers: known, listed } = this.#turns.box
    if (listed && !listed.has(id)) return `${plain(this.id)} takes no letters from ${plain(id)}`
    const isFull = !known.has(id) && known.size >= this.#peersMax
    return isFull ? `${plain(this.id)} has ${known.size} peers and takes no more` : null
  }

  #checkOpen(): void {
    if (this.#closed) throw new HoldfastError('store', `the mailbox of ${this.id} is closed`)
  }
}

function byId([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1
}
