/**
 * The stream of records: each change is a message, and the order of the messages decides.
 *
 * A server of NATS compares a message's expected sequence number before the servers agree on it, so
 * two changes of one revision at the same moment may both be acknowledged (nats-server #4320,
 * #8469). So a message names the revision that it replaces, and every hub reads all messages in
 * their one order: the first that names the newest revision of a record is the next one, and any
 * other has lost. The hubs remove what lost. The revision is the sequence number.
 *
 * A server may also answer a read with an old record, if it is behind or does not know yet that
 * another one leads. So before a read the hub writes a message, which a majority of servers
 * acknowledges under some number, and waits until the stream has come as far: then it knows every
 * change that was acknowledged before. The bytes of a message never change.
 *
 * NATS keeps the last HISTORY messages of a record, so a hub that reads from the start, or was
 * behind, may miss older ones. It takes the first one for valid that may follow a missed one; if
 * that one had lost, the next shows it.
 */

import type { JetStreamClient, JetStreamManager, JsMsg, PushConsumer } from '@nats-io/jetstream'
import { HoldfastError, type Millis } from '../../../../holdfast/src/machine.ts'
import { failureOf } from './answers.ts'
import { type Content, encodeContent, type Names, readContent, tokenOf } from './layout.ts'

/** The longest wait for the answer to one message. */
export const ANSWER_MS: Millis = 2_000
/** The messages of a record that NATS keeps: more than changes that lose at the same moment. */
export const HISTORY = 8
/** If the stream has not come as far by then, it is followed anew. */
const BEHIND_MS: Millis = 1_000
/** A read that takes longer fails. */
const READ_MS: Millis = 10_000
/** Between two tries to read a message that a server does not have yet. */
const AGAIN_MS: Millis = 50
/** After a longer silence the stream is read from its start: removed records are not in it. */
const SILENT_MS: Millis = 5 * 60_000
/** How long a removed record's messages stay, for hubs that are behind. */
const REMOVED_MS: Millis = 2 * SILENT_MS
/** Most bytes of records in memory. */
const RECENT_BYTES_MAX: number = 8 * 1024 * 1024

/** A record of the stream. */
export interface Found {
  readonly rev: number
  readonly content: Content & { readonly value: Uint8Array }
}

/** NATS as these files use it. */
export interface Jet {
  readonly client: JetStreamClient
  readonly streams: JetStreamManager['streams']
}

/** The newest message of a record that has not lost. */
interface State {
  readonly seq: number
  readonly isRemoved: boolean
  readonly before: number
  /** Whether what it replaces was missed. */
  readonly isFirst: boolean
}

interface Waiter {
  readonly seq: number
  readonly reached: () => void
}

export class RecordStream {
  /** Called with each change that counts; the content of a removed record has no value. */
  changed: (content: Content, seq: number) => void = () => {}
  readonly #jet: Jet
  readonly #names: Names
  readonly #writer: number
  #changes = 0
  readonly #states = new Map<string, State>()
  /** The newest records by their tokens, oldest first, and their sizes. */
  readonly #recent = new Map<string, { readonly found: Found; readonly size: number }>()
  #recentBytes = 0
  /** Own changes that the stream has not brought: what to do with whether they count. */
  readonly #pending = new Map<number, (counts: boolean) => void>()
  /** How far the stream has come. */
  #seq = 0
  #heardAt: Millis = 0
  #waiters: Waiter[] = []
  #followed: Awaited<ReturnType<PushConsumer['consume']>> | null = null
  #isFollowing = false
  #followedAt: Millis = -Infinity
  #isClosed = false
  /** Counts how often the stream was followed anew. */
  #life = 0
  /** Records that were known before the stream was read from its start, and did not come again. */
  #missing: { readonly tokens: Set<string>; readonly until: number } | null = null
  #barrier: Promise<unknown> = Promise.resolve()
  #nextBarrier: Promise<void> | null = null
  /** Removed records, oldest first. */
  readonly #removed: { readonly token: string; readonly seq: number; readonly at: Millis }[] = []

  /** @param writer  an id that no other store has */
  constructor(jet: Jet, names: Names, writer: number) {
    this.#jet = jet
    this.#names = names
    this.#writer = writer
  }

  close(): void {
    this.#isClosed = true
    this.#followed?.stop()
    for (const { reached } of this.#waiters.splice(0)) reached()
  }

  /** Resolves once every change is known that was acknowledged before the call. */
  barrier(): Promise<void> {
    // One that is on its way may have its number already.
    if (this.#nextBarrier) return this.#nextBarrier
    const next = this.#barrier.then(() => {
      this.#nextBarrier = null
      const own = this.#pass()
      this.#barrier = own.catch(() => {})
      return own
    })
    this.#nextBarrier = next
    return next
  }

  async #pass(): Promise<void> {
    this.#forgetRemoved()
    const { client } = this.#jet
    const nothing = new Uint8Array(0)
    const { seq } = await client.publish(this.#names.barrier, nothing, { timeout: ANSWER_MS })
    await this.#reach(seq)
  }

  async #reach(seq: number): Promise<void> {
    if (this.#seq > 0) await this.#reaches(seq, BEHIND_MS)
    if (this.#seq < seq && !this.#isClosed) {
      await this.#follow(seq)
      await this.#reaches(seq, READ_MS)
    }
    if (this.#seq < seq)
      throw new HoldfastError('store', 'NATS: the stream of records stands still')
  }

  #reaches(seq: number, max: Millis): Promise<void> {
    if (this.#seq >= seq || this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, max)
      const reached = (): void => {
        clearTimeout(timer)
        resolve()
      }
      this.#waiters.push({ seq, reached })
    })
  }

  // A consumer lives on one server, whose death NATS's client would miss for a minute.
  async #follow(until: number): Promise<void> {
    if (this.#isFollowing || performance.now() - this.#followedAt < BEHIND_MS) return
    this.#isFollowing = true
    try {
      const life = ++this.#life
      this.#followed?.stop()
      const isNew = this.#seq === 0 || performance.now() - this.#heardAt > SILENT_MS
      if (isNew) this.#startOver(until)
      const { client } = this.#jet
      const from = isNew ? 1 : this.#seq + 1
      const consumer = await client.consumers.getPushConsumer(this.#names.records, {
        opt_start_seq: from,
      })
      this.#followed = await consumer.consume({
        callback: (message) => {
          if (this.#life === life) this.#take(message)
        },
      })
      if (this.#isClosed) this.#followed.stop()
    } finally {
      this.#isFollowing = false
      this.#followedAt = performance.now()
    }
  }

  #startOver(until: number): void {
    const tokens = new Set<string>()
    for (const [token, { isRemoved }] of this.#states) if (!isRemoved) tokens.add(token)
    this.#missing = { tokens, until }
  }

  #take({ subject, seq, data }: JsMsg): void {
    const token = this.#names.tokenIn(subject)
    if (token !== null) {
      this.#missing?.tokens.delete(token)
      this.#judge(token, seq, data)
    }
    this.#seq = Math.max(this.#seq, seq)
    this.#heardAt = performance.now()
    if (this.#missing && this.#seq >= this.#missing.until) this.#forgetMissing()
    if (!this.#waiters.some((one) => one.seq <= this.#seq)) return
    const waiters = this.#waiters
    this.#waiters = waiters.filter((one) => one.seq > this.#seq)
    for (const one of waiters) if (one.seq <= this.#seq) one.reached()
  }

  // Whoever removed them has removed their messages since.
  #forgetMissing(): void {
    const { tokens } = this.#missing!
    this.#missing = null
    for (const token of tokens) {
      const found = this.#recent.get(token)?.found
      this.#states.delete(token)
      this.#forget(token)
      if (found) this.changed({ ...found.content, value: null }, this.#seq)
    }
  }

  #judge(token: string, seq: number, data: Uint8Array): void {
    const known = this.#states.get(token)
    if (known && known.seq >= seq) return
    const content = readContent(new Uint8Array(data))
    // What no hub wrote counts for nothing.
    if (!content || tokenOf(content.key) !== token) return this.#remove(seq)
    const { writer, change, before, value } = content
    const counts = !known || follows(known, before)
    const own = writer === this.#writer ? this.#pending.get(change) : undefined
    if (own) this.#pending.delete(change)
    if (!counts) {
      own?.(false)
      return this.#remove(seq)
    }
    const isFirst = before > 0 && before !== known?.seq
    this.#states.set(token, { seq, isRemoved: value === null, before, isFirst })
    if (value) this.#keep(token, { rev: seq, content: { ...content, value } }, data.length)
    else {
      this.#forget(token)
      this.#removed.push({ token, seq, at: performance.now() })
    }
    own?.(true)
    this.changed(content, seq)
  }

  #remove(seq: number): void {
    const { streams } = this.#jet
    void streams.deleteMessage(this.#names.records, seq, false).catch(() => {})
  }

  // Every hub removes their messages: the one that removed the record may be gone.
  #forgetRemoved(): void {
    const { streams } = this.#jet
    const until = performance.now() - REMOVED_MS
    while (this.#removed.length > 0 && this.#removed[0]!.at < until) {
      const { token, seq } = this.#removed.shift()!
      if (this.#states.get(token)?.seq !== seq) continue
      this.#states.delete(token)
      const filter = this.#names.record(token)
      void streams.purge(this.#names.records, { filter, seq: seq + 1 }).catch(() => {})
    }
  }

  #keep(token: string, found: Found, size: number): void {
    this.#forget(token)
    this.#recent.set(token, { found, size })
    this.#recentBytes += size
    for (const [oldest] of this.#recent) {
      if (this.#recentBytes <= RECENT_BYTES_MAX || oldest === token) return
      this.#forget(oldest)
    }
  }

  #forget(token: string): void {
    this.#recentBytes -= this.#recent.get(token)?.size ?? 0
    this.#recent.delete(token)
  }

  #revOf(token: string): number {
    const { seq = 0, isRemoved = false } = this.#states.get(token) ?? {}
    return isRemoved ? 0 : seq
  }

  /** The record as it is, with every change that was acknowledged before. */
  async read(key: string): Promise<Found | null> {
    const token = tokenOf(key)
    const until = performance.now() + READ_MS
    for (;;) {
      await this.barrier()
      const rev = this.#revOf(token)
      if (rev === 0) return null
      const found = await this.at(key, rev)
      if (found) return found
      if (performance.now() > until) {
        throw new HoldfastError('store', `NATS: no server has revision ${rev} of ${key}`)
      }
      // It was changed meanwhile, or that server does not have it yet.
      await later(AGAIN_MS)
    }
  }

  /** A revision of a record; null if a server does not have it, or it is none. */
  async at(key: string, rev: number): Promise<Found | null> {
    const recent = this.#recent.get(tokenOf(key))?.found
    if (recent?.rev === rev) return recent
    const { streams } = this.#jet
    const message = await streams.getMessage(this.#names.records, { seq: rev })
    const content = message && readContent(new Uint8Array(message.data))
    if (!content?.value || content.key !== key) return null
    return { rev, content: { ...content, value: content.value } }
  }

  /** Whether the record has that revision, 0 for none, once all acknowledged changes are known. */
  async has(key: string, rev: number): Promise<boolean> {
    await this.barrier()
    return this.#revOf(tokenOf(key)) === rev
  }

  /**
   * Changes a record of that revision, 0 for none.
   *
   * @param given  the new content: a null value removes the record
   * @returns the new message's number
   */
  async change(
    given: Pick<Content, 'key' | 'blobs' | 'value'>,
    before: number,
  ): Promise<number | 'conflict' | 'unknown' | HoldfastError> {
    const token = tokenOf(given.key)
    // Servers refuse most of what will lose, and then nobody has to read it.
    const { seq: expected = 0 } = this.#states.get(token) ?? {}
    const first = await this.#publish(token, given, before, expected)
    if (first !== 'conflict') return first
    if (!(await this.has(given.key, before))) return 'conflict'
    // They had compared it with a message that lost, or was removed.
    return this.#publish(token, given, before, null)
  }

  async #publish(
    token: string,
    given: Pick<Content, 'key' | 'blobs' | 'value'>,
    before: number,
    expected: number | null,
  ): Promise<number | 'conflict' | 'unknown' | HoldfastError> {
    const change = ++this.#changes
    const bytes = encodeContent({ ...given, before, writer: this.#writer, change })
    let verdict: boolean | null = null
    this.#pending.set(change, (counts) => (verdict = counts))
    try {
      const { seq } = await this.#jet.client.publish(this.#names.record(token), bytes, {
        timeout: ANSWER_MS,
        ...(expected !== null && { expect: { lastSubjectSequence: expected } }),
      })
      await this.#reach(seq)
      // One that the stream did not bring has probably lost and been removed.
      if (verdict === null) return 'unknown'
      return verdict ? seq : 'conflict'
    } catch (error) {
      return failureOf(error)
    } finally {
      this.#pending.delete(change)
    }
  }
}

// Whether a message that replaces that revision is the next one.
function follows({ seq, isRemoved, before, isFirst }: State, replaced: number): boolean {
  if (replaced === (isRemoved ? 0 : seq)) return true
  // What it replaces was missed, or the known one had lost.
  return replaced > seq || (isFirst && replaced > before && replaced < seq)
}

function later(ms: Millis): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
