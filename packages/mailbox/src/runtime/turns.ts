/**
 * The turns of a mailbox: this file alone begins, ends and drops a turn.
 *
 *     all input since the last turn → handlers → one transaction of the store → output
 *
 * A turn works on a draft: store changes, events, promises, values, and uncommitted SQL. The draft
 * is committed whole or dropped whole, in memory too. If the store fails, the draft is dropped,
 * promises reject, connections close, and everything restarts from the durable state. If a
 * handler's SQL ended the shared transaction, the same inputs run again without that letter.
 */

import { HoldfastError, type Millis } from '../../../holdfast/src/machine.ts'
import * as mailbox from '../machine/mailbox.ts'
import type { Limits, Listed, MailMessage, MailOut } from '../machine/mailbox.ts'
import { isKeyLetter } from '../machine/keys.ts'
import { type Batch, mailLayout } from '../machine/messages.ts'
import type {
  Alarm,
  Curves,
  DeadLetter,
  Letter,
  Loop,
  MailStore,
  Watchdog,
} from '../../../holdfast/src/ports.ts'
import { decode } from '../../../holdfast/src/wire/layout.ts'
import { isSame, NO_LIFE } from '../../../holdfast/src/wire/history.ts'
import {
  AsyncHandler,
  type Found,
  type Handlers,
  type Handling,
  NO_HANDLER,
  Unhandled,
} from './handlers.ts'
import { KeyLetters } from './key-letters.ts'
import type { LetterDefinition } from './letter-types.ts'
import {
  type TransactionHost,
  LetterTransaction,
  type Posted,
  type Transaction,
} from './transaction.ts'
import { Values } from './values.ts'
import { type Effect, Effects } from './effects.ts'
import {
  checkDelayed,
  checkRoom,
  TransactionEnded,
  TaskSchedule,
  RESERVE,
} from './task-schedule.ts'
import {
  begin,
  boundDead,
  type Draft,
  dropDead,
  movedIn,
  peersOf,
  type TurnEvent,
} from './draft.ts'
import { BlockedQueues } from './blocked-queues.ts'
import {
  type Dated,
  letterId,
  type LetterInfo,
  type LetterOptions,
  toLetter,
  unseal,
} from './letters.ts'
import { requireSync } from '../../../holdfast/src/api/reports.ts'

/** A handler slower than this is reported. */
const SLOW_MS: Millis = 1_000

/** Most letters per turn, though a started batch is finished. */
const TURN_LETTERS_MAX = 4096

/** After a crash, so many letters are noted one by one before being handled. */
const NOTED_LETTERS = 10_000

/** A due letter is retried after this when its outbox is full. */
const FULL_MS: Millis = 1_000
/** Scheduled tasks are checked at least this often. */
const LOOK_MS: Millis = 60_000

/** The reason given for malformed bytes. */
export const MALFORMED = 'the bytes are no message of a mailbox'

/** What turns need of their mailbox. */
export interface TurnsHost {
  loop: Loop
  store: MailStore
  /** The limits on dead letters: how many, and for how long. */
  deadMax: number
  deadMs: number | null
  /** The wall clock; null on replicas. */
  date: (() => number) | null
  watchdog: Watchdog | null
  handlers: Handlers
  curves: Curves
  /** The only ids admitted, with their keys. */
  listed: Listed | null
  /** Whether that peer is dialled or connected. */
  expects(peer: string): boolean
  send(peer: string, message: MailMessage): void
  onEvent(event: TurnEvent): void
  onDurable(): void
  /** Letters to or from a peer were processed. */
  onProgress(peer: string): void
  onMalformed(peer: string): void
  /** The store failed: connections must be dropped. */
  onStoreError(error: Error): void
}

/** Work for a turn. It runs again if its turn is repeated. */
export type Input = (draft: Draft) => void

export class Turns {
  readonly values: Values
  readonly schedule: TaskSchedule
  box: mailbox.Mailbox
  readonly #host: TurnsHost
  readonly #limits: Limits
  readonly #id: string
  readonly #isReplica: boolean
  readonly #alarm: Alarm
  readonly #keyLetters: KeyLetters
  readonly #effects: Effects
  readonly blocked: BlockedQueues
  #inputs: Input[] = []
  /** Peers whose letters wait for another attempt. */
  readonly #late = new Set<string>()
  /** By peer: what its first letter waits for. */
  readonly #waitsFor = new Map<string, string>()
  /** Letters that ended the shared transaction, and why: they fail at once in this turn. */
  readonly #blamed = new Map<string, Error>()
  /** How many more letters to note before handling. */
  #toNote = 0
  #isDue = false
  #isBusy = false
  #isOver = false

  constructor(id: string, host: TurnsHost, limits: Limits, life: Uint8Array) {
    this.#id = id
    this.#host = host
    this.#limits = limits
    this.#isReplica = isSame(life, NO_LIFE)
    this.box = mailbox.create(host.store.heads(), limits, life, host.listed)
    this.#keyLetters = new KeyLetters(host.curves, (peer) => this.#wake(peer))
    this.#effects = new Effects(host.loop, (peer) => this.#wake(peer))
    this.values = new Values(host.store)
    this.schedule = new TaskSchedule(this.values, host.store)
    this.blocked = new BlockedQueues(this.values)
    this.#alarm = host.loop.alarm(() => this.#turn())
    this.#resume(host)
    this.#sleep(host.loop.now())
  }

  /** Sets the handler of a type, or of untyped letters. @throws HoldfastError */
  handle(type: LetterDefinition | null, handler: Handling): void {
    this.#host.handlers.add(type, handler)
    for (const id of this.box.peers.keys()) this.#wake(id)
    this.#soon()
  }

  /** Retries the letters of a peer now: what they waited for is here. */
  #wake(id: string): void {
    const peer = this.box.peers.get(id)
    if (!peer) return
    if (mailbox.waits(peer)) this.#late.add(id)
    if (peer.retryAt === Infinity) peer.retryAt = 0
    this.#waitsFor.delete(id)
    this.#soon()
  }

  input(run: Input): void {
    this.#inputs.push(run)
    this.#soon()
  }

  /** Runs work for a caller in a turn. @returns its result, once the turn is durable */
  ask<Result>(run: (draft: Draft) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.input((draft) => {
        try {
          const result = run(draft)
          draft.promises.push({ resolve: () => resolve(result), reject })
        } catch (error) {
          if (!(error instanceof TransactionEnded)) return reject(error as Error)
          error.reject = reject
          throw error
        }
      })
    })
  }

  /** Receives bytes from a peer with that key, in the next turn. */
  receiveLater(peer: string, key: Uint8Array, bytes: Uint8Array): void {
    this.input((draft) => {
      if (this.receive(draft, peer, bytes, key) === MALFORMED) this.#host.onMalformed(peer)
    })
  }

  /**
   * Receives bytes from a peer, and handles the letters whose turn it is.
   *
   * @param key  proved by the peer; null if the caller vouches for it
   * @returns why some of it did not take effect, as a sentence; null if all did
   */
  receive(
    draft: Draft,
    peer: string,
    bytes: Uint8Array,
    key: Uint8Array | null = null,
  ): string | null {
    const { loop, store } = this.#host
    const { box } = this
    const message = decode(mailLayout, bytes)
    if (!message) {
      box.counters.malformed++
      return MALFORMED
    }
    try {
      mailbox.receive(box, loop.now(), peer, message, store, draft.out, key)
    } catch (error) {
      // The stored data of that peer is unreadable.
      mailbox.fault(peer, mailbox.peerOf(box, peer), (error as Error).message, draft.out)
    }
    // Replicas have no clock: a waiting letter is retried when it arrives again.
    if (this.#isReplica) mailbox.peerOf(box, peer).retryAt = 0
    this.#handleOf(draft, peer)
    const why = message.kind === 'batch' ? this.#whyUnhandled(draft, peer, message) : null
    if (this.#isReplica) {
      mailbox.emptyInbox(box, mailbox.peerOf(box, peer))
      this.#late.delete(peer)
    }
    return why
  }

  #whyUnhandled({ events }: Draft, id: string, { letters }: Batch): string | null {
    const peer = mailbox.peerOf(this.box, id)
    if (peer.fault !== null) return peer.fault
    const last = letters.reduce((most, { n }) => Math.max(most, n), 0)
    const next = peer.heard + 1
    if (last < next) return null
    if (!mailbox.waits(peer)) return `letter ${next} of ${id} is missing`
    const isWaiting = !this.#host.handlers.some || peer.retryAt === Infinity
    if (isWaiting) return `letter ${next} of ${id} waits: ${this.#waitsFor.get(id) ?? NO_HANDLER}`
    const thrown = events.findLast((event) => event.kind === 'threw' && event.peer === id)
    const why = thrown && 'why' in thrown ? `its handler threw: ${thrown.why}` : 'it failed before'
    return `letter ${next} of ${id} waits to be handled again: ${why}`
  }

  /** Runs a caller's transaction. @throws what the transaction throws */
  run<Result>(draft: Draft, what: string, act: (tx: Transaction) => Result): Result {
    let result: Result
    const error = this.#attempt(draft, null, null, (tx) => {
      result = requireSync(what, act(tx))
    })
    if (error) throw error
    return result!
  }

  /** Hands a dead letter to its handler. @throws HoldfastError `failed` if the handler throws */
  handleDead(draft: Draft, { peer, n, body }: DeadLetter): void {
    const error = this.#handle(draft, peer, { n, body }, true)
    if (!error) return
    const how = error instanceof Unhandled ? '' : 'the handler threw again: '
    throw new HoldfastError('failed', how + error.message)
  }

  /**
   * Runs the external effect of a dead letter, if its handler has one.
   *
   * @throws HoldfastError `failed` if it throws
   */
  async effectOfDead(id: string, n: number): Promise<void> {
    const letter = this.#host.store.deadOne(id, n)
    const found = letter && this.#host.handlers.find(unseal(letter.body).body)
    if (!found || found instanceof Unhandled || found.how.kind === 'turn') return
    const error = await this.#effects.once(this.#effectOf(id, letter, found))
    if (error) throw new HoldfastError('failed', `the handler threw again: ${error.message}`)
  }

  /** Makes a peer's first waiting letter a dead letter. @returns its number; null for none */
  setAside({ out }: Draft, id: string): number | null {
    const peer = this.box.peers.get(id)
    if (!peer || !mailbox.waits(peer)) return null
    const why = this.blocked.why(id) ?? 'its owner set it aside'
    mailbox.setAside(this.box, this.#host.loop.now(), id, why, out)
    this.blocked.unblock(id)
    this.#effects.drop(id)
    this.#wake(id)
    return peer.heard
  }

  /** Reports a letter to a peer that was never seen and is not expected: its id may be wrong. */
  reportUnseen({ events }: Draft, peer: string): void {
    const known = this.box.peers.get(peer)
    const isSeen = known && (known.heard > 0 || known.acked > 0 || known.key !== null)
    if (isSeen || this.box.listed?.has(peer) || this.#host.expects(peer)) return
    events.push({ kind: 'unseen', peer })
  }

  seal(body: Uint8Array, options: LetterOptions, trace: string | null): Dated {
    return toLetter(this.#host.date?.() ?? null, body, options, trace)
  }

  /** Makes pending work durable, then stops. */
  async end(): Promise<void> {
    await this.ask(() => {}).catch(() => {})
    this.#isOver = true
    this.#effects.close()
    this.#alarm.cancel()
  }

  /** After a crash, perhaps caused by a handler, notes the next letters for a while. */
  #resume({ store }: TurnsHost): void {
    store.note('')
    if (store.interrupted === null) return
    this.#toNote = NOTED_LETTERS
    const [, n, peer] = /^(\d+) (.+)$/u.exec(store.interrupted) ?? []
    if (peer === undefined) return
    this.input((draft) => {
      this.blocked.noteCrash(peer, Number(n))
      // The crash must be durable before the letter is handled again.
      draft.handled = TURN_LETTERS_MAX
    })
  }

  #soon(): void {
    if (this.#isBusy || this.#isOver || this.#isDue) return
    this.#isDue = true
    this.#alarm.set(this.#host.loop.now())
  }

  #turn(): void {
    this.#isDue = false
    if (this.#isBusy || this.#isOver) return
    const draft = begin()
    const inputs = this.#inputs
    let at = 0
    try {
      this.#doDue(draft)
      this.#handleLate(draft)
      while (at < inputs.length && draft.handled < TURN_LETTERS_MAX) inputs[at++]!(draft)
    } catch (error) {
      if (error instanceof TransactionEnded) return this.#again(draft, error, at - 1)
      this.#inputs = inputs.slice(at)
      return this.#refused(draft, error as Error)
    }
    this.#inputs = inputs.slice(at)
    boundDead(draft, this.#host.store, this.#host, this.schedule, this.#host.date?.() ?? null)
    // Pushed one by one: a spread call is limited to some hundred thousand arguments.
    for (const change of this.values.changes) draft.changes.push(change)
    this.#isBusy = true
    if (this.#toNote > 0) this.#host.store.note('')
    this.#toNote = Math.max(0, this.#toNote - draft.handled)
    this.#host.store.commit(draft.changes, (error) => {
      this.#isBusy = false
      if (error) this.#refused(draft, error)
      else this.#durable(draft)
    })
  }

  /** Repeats the turn with the letter or caller that ended the transaction failed. */
  #again(draft: Draft, { letter, why, reject }: TransactionEnded, at: number): void {
    this.#forget(draft)
    if (letter) this.#blamed.set(`${letter.peer} ${letter.n}`, why)
    else {
      this.#inputs.splice(at, 1)
      reject(why)
    }
    this.#soon()
  }

  #refused(draft: Draft, error: Error): void {
    this.#forget(draft)
    this.#blamed.clear()
    this.#late.clear()
    this.#host.onStoreError(error)
    const { counters, life } = this.box
    const { store, listed } = this.#host
    this.box = { ...mailbox.create(store.heads(), this.#limits, life, listed), counters }
    for (const promise of draft.promises) promise.reject?.(error)
    if (this.#inputs.length > 0) this.#soon()
  }

  #forget({ changes }: Draft): void {
    const { store } = this.#host
    this.values.end(false)
    store.abandon()
    for (const peer of peersOf(changes)) mailbox.rewind(this.box, peer, store.head(peer))
  }

  #durable(draft: Draft): void {
    const { loop, store } = this.#host
    this.values.end(true)
    this.#blamed.clear()
    for (const peer of peersOf(draft.changes)) mailbox.settle(this.box, peer)
    for (const peer of movedIn(draft.changes)) this.#host.onProgress(peer)
    for (const promise of draft.promises) promise.resolve()
    if (draft.changes.length > 0) this.#host.onDurable()
    const now = loop.now()
    const { events } = draft
    const out: MailOut = { ...draft.out, send: (to, message) => this.#host.send(to, message) }
    mailbox.pump(this.box, now, store, out)
    for (const event of events) this.#host.onEvent(event)
    this.#sleep(now)
  }

  /** When to check scheduled tasks: the clock may be set meanwhile. */
  #laterAt(now: Millis): Millis {
    const { date } = this.#host
    if (!date || this.schedule.due === Infinity) return Infinity
    return now + Math.min(LOOK_MS, Math.max(0, this.schedule.due - date()))
  }

  #sleep(now: Millis): void {
    if (this.#isOver || this.#isBusy || this.#isDue) return
    const isMore = this.#inputs.length > 0 || this.#isReady(now)
    const due = isMore ? now : mailbox.deadline(this.box)
    // Without a handler letters wait, so waking would be useless.
    const held = this.#host.handlers.some || due > now || isMore ? due : now + 1_000
    const at = Math.min(held, this.#laterAt(now))
    if (at < Infinity) this.#alarm.set(at)
  }

  /** Runs the due tasks, as far as there is room for their letters. */
  #doDue(draft: Draft): void {
    const { date, store } = this.#host
    const now = date?.() ?? -Infinity
    for (const task of this.schedule.take(now, TURN_LETTERS_MAX)) {
      const { peer } = task
      if (task.kind === 'bury') dropDead(draft, store, peer, task.n)
      else if (mailbox.post(this.box, peer, task.body, draft.out) === 0) {
        this.schedule.add(now + FULL_MS, task)
      }
    }
  }

  /** The next letter of a peer to handle; key letters need no handler. */
  #next(now: Millis, peer: string): Letter | null {
    const letter = mailbox.next(this.box, now, peer)
    return letter && (this.#host.handlers.some || isKeyLetter(letter.body)) ? letter : null
  }

  #isReady(now: Millis): boolean {
    return [...this.#late].some((peer) => this.#next(now, peer) !== null)
  }

  /** Handles waiting letters, in order of arrival. */
  #handleLate(draft: Draft): void {
    if (this.#late.size === 0) return
    const place = (peer: string): number => this.box.peers.get(peer)?.place ?? 0
    const late = [...this.#late].toSorted((a, b) => place(a) - place(b))
    for (const peer of late) this.#handleOf(draft, peer, TURN_LETTERS_MAX)
  }

  /** Handles a peer's letters. A started batch is finished, so `receive` can return its result. */
  #handleOf(draft: Draft, peer: string, most = Infinity): void {
    const { box } = this
    const known = box.peers.get(peer)
    if (!known) return void this.#late.delete(peer)
    const now = this.#host.loop.now()
    const next = (): Letter | null => (draft.handled < most ? this.#next(now, peer) : null)
    for (let letter = next(); letter; letter = next()) {
      draft.handled++
      const { n } = letter
      const error = this.#blamed.get(`${peer} ${n}`) ?? this.#tryLetter(draft, peer, letter)
      if (error === null) {
        mailbox.done(box, now, peer, draft.out)
        this.blocked.unblock(peer)
      } else this.#threw(draft, now, peer, n, error)
    }
    this.blocked.forget(peer, known.heard)
    if (mailbox.waits(known)) this.#late.add(peer)
    else this.#late.delete(peer)
  }

  #tryLetter(draft: Draft, peer: string, { n, body }: Letter): Error | null {
    const crash = this.blocked.afterCrashes(this.box, peer, n)
    if (crash) return crash
    if (isKeyLetter(body)) return this.#keyLetters.handle(this.box, peer, body, draft.out)
    if (this.#toNote > 0) this.#host.store.note(`${n} ${peer}`)
    return this.#handle(draft, peer, { n, body }, false)
  }

  #threw(draft: Draft, now: Millis, peer: string, n: number, error: Error): void {
    if (error instanceof Unhandled) return this.#leave(draft, now, peer, error)
    if (error instanceof AsyncHandler) this.#waitsFor.set(peer, error.message)
    this.blocked.failed(draft, this.box, now, { peer, n }, error)
  }

  // A letter that does not fit never will; one without a handler waits for it.
  #leave({ out }: Draft, now: Millis, peer: string, { isUnfit, message }: Unhandled): void {
    if (!isUnfit) {
      this.#waitsFor.set(peer, message)
      return void (mailbox.peerOf(this.box, peer).retryAt = Infinity)
    }
    this.box.counters.unfit++
    mailbox.setAside(this.box, now, peer, message, out)
    this.blocked.unblock(peer)
  }

  #handle(draft: Draft, peer: string, letter: Letter, isReleased: boolean): Error | null {
    const { n } = letter
    const { until, body } = unseal(letter.body)
    const { date } = this.#host
    if (until !== null && date && date() > until && !isReleased) {
      draft.events.push({ kind: 'expired', peer, n })
      return null
    }
    const found = this.#host.handlers.find(body)
    if (found instanceof Unhandled) return found
    if (found.how.kind === 'turn') return this.#handleNow(draft, peer, letter, found, isReleased)
    // The effect of a released letter has already run.
    return isReleased ? null : this.#effects.outcome(draft, this.#effectOf(peer, letter, found))
  }

  #handleNow(
    draft: Draft,
    peer: string,
    letter: Letter,
    found: Found,
    isReleased: boolean,
  ): Error | null {
    const { n } = letter
    const { loop, handlers, watchdog } = this.#host
    const info = this.#infoOf(peer, letter)
    const begun = loop.now()
    watchdog?.begin(`${this.#id}'s handler of letters, with letter ${n} of ${peer},`)
    const blame = isReleased ? null : { peer, n }
    const error = this.#attempt(draft, blame, info.trace, (tx) => {
      handlers.handle(tx, peer, found, info)
    })
    watchdog?.end()
    const ms = loop.now() - begun
    if (ms > SLOW_MS) draft.events.push({ kind: 'slow', peer, n, ms: Math.round(ms) })
    return error
  }

  /** @returns the thrown error, or null with the effects in the draft @throws TransactionEnded */
  #attempt(
    draft: Draft,
    letter: TransactionEnded['letter'],
    trace: string | null,
    act: (tx: Transaction) => void,
  ): Error | null {
    const tx = new LetterTransaction(this.#transactionHost(trace))
    let error: Error | null = null
    try {
      act(tx)
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown))
    }
    const ended = this.#host.store.sql?.ended
    if (ended) throw new TransactionEnded(ended, letter)
    if (error) {
      tx.rollBack()
      return error
    }
    tx.commit()
    for (const post of tx.posts) this.#post(draft, post)
    return null
  }

  // Room for letters of handlers was checked when they were posted.
  #post(draft: Draft, { to, body, due }: Posted): void {
    this.reportUnseen(draft, to)
    if (due === null) mailbox.add(this.box, to, body, draft.out)
    else this.schedule.add(due, { kind: 'post', peer: to, body })
  }

  #transactionHost(trace: string | null): TransactionHost {
    return {
      seal: (body, options) => this.seal(body, options, trace),
      store: this.#host.store,
      values: this.values,
      checkRoom: (to, letters, bytes) => checkRoom(this.box, to, letters, bytes, RESERVE),
      checkLater: (letters) => checkDelayed(this.schedule, letters),
    }
  }

  #infoOf(peer: string, { n, body }: Letter): LetterInfo {
    const { at, trace } = unseal(body)
    const attempt = 1 + mailbox.peerOf(this.box, peer).tries + this.blocked.crashes(peer, n)
    return { n, at, attempt, trace: trace ?? `${peer}>${this.#id}/${n}` }
  }

  #effectOf(peer: string, letter: Letter, { how, body }: Found): Effect {
    const id = letterId(peer, this.#id, letter)
    const given = { ...this.#infoOf(peer, letter), id, from: peer, body }
    const { run, ms } = how as Handling & { kind: 'effect' }
    return { peer, id, ms, run: (signal) => run({ ...given, signal }) }
  }
}
