/**
 * Turns of a mailbox: the one place where a turn begins, ends and is dropped.
 *
 *     all that came in since the last turn → handlers → one transaction of the store → output
 *
 * A turn works on a draft: changes for the store, events, promises, values, and the SQL of a
 * transaction that nobody has committed. The draft is kept whole, when the store has it, or dropped
 * whole, in memory too. Two causes drop it. If the store refuses, the promises reject, connections
 * are dropped and all begins again from what is durable. If SQL of a handler ended the transaction
 * of all, the same inputs are done again, without that letter.
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

/** A handler that takes longer than this is reported. */
const SLOW_MS: Millis = 1_000

/** Letters that one turn handles, and some more: a batch that was begun is finished. */
const TURN_LETTERS_MAX = 4096

/** After a crash, so many letters are each noted before they are handled. */
const NOTED_LETTERS = 10_000

/** A delayed letter whose time has come, and whose outbox is full, is tried again after this. */
const FULL_MS: Millis = 1_000
/** Delayed letters are checked at least so often. */
const LOOK_MS: Millis = 60_000

/** The reason for bytes that are no message. */
export const MALFORMED = 'what came is no message of a mailbox'

/** What turns run on, and the callbacks that they use. */
export interface TurnsHost {
  loop: Loop
  store: MailStore
  /** Letters that are kept set aside, and for how long. */
  deadMax: number
  deadMs: number | null
  /** The wall clock; null for replicas, which say nothing of time. */
  date: (() => number) | null
  watchdog: Watchdog | null
  handlers: Handlers
  curves: Curves
  /** The only ids that may come, with their keys. */
  listed: Listed | null
  /** Whether that peer is dialled, or connected. */
  expects(peer: string): boolean
  send(peer: string, message: MailMessage): void
  onEvent(event: TurnEvent): void
  /** Something became durable. */
  onDurable(): void
  /** Letters to or from a peer are through. */
  onProgress(peer: string): void
  /** What a peer sent is no message. */
  onMalformed(peer: string): void
  /** The store refused: connections are to be dropped. */
  onStoreError(error: Error): void
}

/** Work for a turn. It may be done again, for a turn that failed is begun anew. */
export type Input = (draft: Draft) => void

/** The turns of one mailbox. */
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
  /** The queues that a letter blocks. */
  readonly blocked: BlockedQueues
  #inputs: Input[] = []
  /** Peers whose letters wait to be handled again. */
  readonly #late = new Set<string>()
  /** Why the first letter of a peer waits for something. */
  readonly #held = new Map<string, string>()
  /** Letters that ended the transaction of a turn, and why: in this turn they fail at once. */
  readonly #blamed = new Map<string, Error>()
  /** How many more letters are noted before they are handled. */
  #noted = 0
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

  /** Letters of that type, or of none, have a handler from now on. @throws HoldfastError */
  handle(type: LetterDefinition | null, handler: Handling): void {
    this.#host.handlers.add(type, handler)
    for (const id of this.box.peers.keys()) this.#wake(id)
    this.#soon()
  }

  /** What letters of a peer waited for is here. */
  #wake(id: string): void {
    const peer = this.box.peers.get(id)
    if (!peer) return
    if (mailbox.waits(peer)) this.#late.add(id)
    if (peer.retryAt === Infinity) peer.retryAt = 0
    this.#held.delete(id)
    this.#soon()
  }

  /** Does some work in the next turn. */
  input(run: Input): void {
    this.#inputs.push(run)
    this.#soon()
  }

  /** Does some work for a caller who waits. @returns its result, when all of it is durable */
  ask<Result>(run: (draft: Draft) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.input((draft) => {
        try {
          const result = run(draft)
          draft.promises.push({ keep: () => resolve(result), break: reject })
        } catch (error) {
          if (!(error instanceof TransactionEnded)) return reject(error as Error)
          error.reject = reject
          throw error
        }
      })
    })
  }

  /** Bytes came from a peer with that key: they are taken in the next turn. */
  receiveLater(peer: string, key: Uint8Array, bytes: Uint8Array): void {
    this.input((draft) => {
      if (this.receive(draft, peer, bytes, key) === MALFORMED) this.#host.onMalformed(peer)
    })
  }

  /**
   * Takes bytes of a peer, and handles the letters in them whose turn it is.
   *
   * @param key  that it proved; null where the caller knows whose they are
   * @returns why not all of it took effect, a sentence; null if it did
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
      mailbox.hear(box, loop.now(), peer, message, store, draft.out, key)
    } catch (error) {
      // The data in the store for that peer cannot be read.
      mailbox.fault(peer, mailbox.peerOf(box, peer), (error as Error).message, draft.out)
    }
    // Replicas have no time of their own: a waiting letter is handled when it is brought again.
    if (this.#isReplica) mailbox.peerOf(box, peer).retryAt = 0
    this.#handleOf(draft, peer)
    const why = message.kind === 'batch' ? this.#stays(draft, peer, message) : null
    if (this.#isReplica) this.#drop(peer)
    return why
  }

  #stays({ events }: Draft, id: string, { letters }: Batch): string | null {
    const peer = mailbox.peerOf(this.box, id)
    if (peer.fault !== null) return peer.fault
    const last = letters.reduce((most, { n }) => Math.max(most, n), 0)
    const next = peer.heard + 1
    if (last < next) return null
    if (!mailbox.waits(peer)) return `letter ${next} of ${id} is missing`
    const isHeld = !this.#host.handlers.some || peer.retryAt === Infinity
    if (isHeld) return `letter ${next} of ${id} waits: ${this.#held.get(id) ?? NO_HANDLER}`
    const thrown = events.findLast((event) => event.kind === 'threw' && event.peer === id)
    const why = thrown && 'why' in thrown ? `its handler threw: ${thrown.why}` : 'it failed before'
    return `letter ${next} of ${id} waits to be handled again: ${why}`
  }

  #drop(id: string): void {
    mailbox.emptyInbox(this.box, mailbox.peerOf(this.box, id))
    this.#late.delete(id)
  }

  /** Runs a transaction that a caller asked for. @throws what the transaction throws */
  run<Result>(draft: Draft, what: string, act: (tx: Transaction) => Result): Result {
    let result: Result
    const error = this.#attempt(draft, null, null, (tx) => {
      result = requireSync(what, act(tx))
    })
    if (error) throw error
    return result!
  }

  /** Hands a dead letter to the handler. @throws HoldfastError `failed` if that throws */
  handleDead(draft: Draft, { peer, n, body }: DeadLetter): void {
    const error = this.#handle(draft, peer, { n, body }, true)
    if (!error) return
    const how = error instanceof Unhandled ? '' : 'the handler threw again: '
    throw new HoldfastError('failed', how + error.message)
  }

  /**
   * Has the handler of a dead letter do what it does elsewhere, if that is so.
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

  /** Sets the first letter that waits of a peer aside. @returns its number, or null for none */
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

  /** Tells of a letter to somebody who was never seen, and is not expected: a name may be wrong. */
  reportUnseen({ events }: Draft, peer: string): void {
    const known = this.box.peers.get(peer)
    const isSeen = known && (known.heard > 0 || known.acked > 0 || known.key !== null)
    if (isSeen || this.box.listed?.has(peer) || this.#host.expects(peer)) return
    events.push({ kind: 'unseen', peer })
  }

  /** Puts the body of a letter into its envelope. @throws HoldfastError `bad-value` */
  seal(body: Uint8Array, options: LetterOptions, trace: string | null): Dated {
    return toLetter(this.#host.date?.() ?? null, body, options, trace)
  }

  /** Makes pending work durable, and does nothing more. */
  async end(): Promise<void> {
    await this.ask(() => {}).catch(() => {})
    this.#isOver = true
    this.#effects.close()
    this.#alarm.cancel()
  }

  /** After a death, which a handler may have caused, the next letters are watched for a while. */
  #resume({ store }: TurnsHost): void {
    store.note('')
    if (store.interrupted === null) return
    this.#noted = NOTED_LETTERS
    const [, n, peer] = /^(\d+) (.+)$/u.exec(store.interrupted) ?? []
    if (peer === undefined) return
    this.input((draft) => {
      this.blocked.noteCrash(peer, Number(n))
      // The death must be durable before the letter is handled once more.
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
    // One by one: a call takes some hundred thousand arguments, and a turn may have more values.
    for (const change of this.values.changes) draft.changes.push(change)
    this.#isBusy = true
    if (this.#noted > 0) this.#host.store.note('')
    this.#noted = Math.max(0, this.#noted - draft.handled)
    this.#host.store.commit(draft.changes, (error) => {
      this.#isBusy = false
      if (error) this.#refused(draft, error)
      else this.#durable(draft)
    })
  }

  /** Does the turn again, but the letter or caller that ended the transaction has failed. */
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
    for (const promise of draft.promises) promise.break(error)
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
    for (const promise of draft.promises) promise.keep()
    if (draft.changes.length > 0) this.#host.onDurable()
    const now = loop.now()
    const { events } = draft
    const out: MailOut = {
      ...draft.out,
      send: (to, message) => this.#host.send(to, message),
    }
    mailbox.pump(this.box, now, store, out)
    for (const event of events) this.#host.onEvent(event)
    this.#sleep(now)
  }

  /** When to check delayed letters: the clock may be set while one sleeps. */
  #laterAt(now: Millis): Millis {
    const { date } = this.#host
    if (!date || this.schedule.due === Infinity) return Infinity
    return now + Math.min(LOOK_MS, Math.max(0, this.schedule.due - date()))
  }

  #sleep(now: Millis): void {
    if (this.#isOver || this.#isBusy || this.#isDue) return
    const isMore = this.#inputs.length > 0 || this.#isReady(now)
    const due = isMore ? now : mailbox.deadline(this.box)
    // Without a handler letters wait, so a wake would be useless.
    const held = this.#host.handlers.some || due > now || isMore ? due : now + 1_000
    const at = Math.min(held, this.#laterAt(now))
    if (at < Infinity) this.#alarm.set(at)
  }

  /** Does the tasks whose time has come, as far as there is room for their letters. */
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

  /** The next letter of a peer that may be handled: one about a key needs no handler. */
  #next(now: Millis, peer: string): Letter | null {
    const letter = mailbox.next(this.box, now, peer)
    return letter && (this.#host.handlers.some || isKeyLetter(letter.body)) ? letter : null
  }

  #isReady(now: Millis): boolean {
    return [...this.#late].some((peer) => this.#next(now, peer) !== null)
  }

  /** Handles letters that waited, in the order in which they came. */
  #handleLate(draft: Draft): void {
    if (this.#late.size === 0) return
    const place = (peer: string): number => this.box.peers.get(peer)?.place ?? 0
    const late = [...this.#late].toSorted((a, b) => place(a) - place(b))
    for (const peer of late) this.#handleOf(draft, peer, TURN_LETTERS_MAX)
  }

  /** A batch that was begun is finished, so `receive` can return its result. */
  #handleOf(draft: Draft, peer: string, most = Infinity): void {
    const { box } = this
    const known = box.peers.get(peer)
    if (!known) return void this.#late.delete(peer)
    const now = this.#host.loop.now()
    const next = (): ReturnType<typeof mailbox.next> =>
      draft.handled < most ? this.#next(now, peer) : null
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
    if (this.#noted > 0) this.#host.store.note(`${n} ${peer}`)
    return this.#handle(draft, peer, { n, body }, false)
  }

  #threw(draft: Draft, now: Millis, peer: string, n: number, error: Error): void {
    if (error instanceof Unhandled) return this.#leave(draft, now, peer, error)
    if (error instanceof AsyncHandler) this.#held.set(peer, error.message)
    this.blocked.failed(draft, this.box, now, { peer, n }, error)
  }

  // What does not fit never will; what has no handler waits for it.
  #leave({ out }: Draft, now: Millis, peer: string, { isUnfit, message }: Unhandled): void {
    if (!isUnfit) {
      this.#held.set(peer, message)
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
    // What was released has been done elsewhere by now.
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

  /** @returns the error it threw, or null; then its effects are in the draft @throws Ended */
  #attempt(
    draft: Draft,
    letter: TransactionEnded['letter'],
    trace: string | null,
    act: (tx: Transaction) => void,
  ): Error | null {
    const tx = new LetterTransaction(this.#desk(trace))
    let error: Error | null = null
    try {
      act(tx)
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown))
    }
    const ended = this.#host.store.sql?.ended
    if (ended) throw new TransactionEnded(ended, letter)
    if (error) {
      tx.undo()
      return error
    }
    tx.keep()
    for (const post of tx.posts) this.#post(draft, post)
    return null
  }

  // Letters of handlers have room of their own, which was checked when they were posted.
  #post(draft: Draft, { to, body, due }: Posted): void {
    this.reportUnseen(draft, to)
    if (due === null) mailbox.add(this.box, to, body, draft.out)
    else this.schedule.add(due, { kind: 'post', peer: to, body })
  }

  #desk(trace: string | null): TransactionHost {
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
