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
 * A hub whose change counts deletes the older messages of the record: so the first message of a
 * record always counts, and so does the first after some that were missed. It does so HELD_MS
 * later, which is longer than a read takes. Otherwise a hub that is behind may find the older
 * message deleted and not have come to the newer one: to that hub the record would not exist. Each
 * is deleted by its number, for a server before 2.9.18 that replays a purge of one subject as it
 * starts may purge the whole stream (nats-server #4196); and it is erased, for otherwise it may
 * come back when a server is killed.
 */

import type { JetStreamClient, JetStreamManager, JsMsg, PushConsumer } from '@nats-io/jetstream'
import { HoldfastError, type Millis } from '../../../../holdfast/src/machine.ts'
import { sameBytes } from '../../../../holdfast/src/wire/digest.ts'
import { encode, u32 } from '../../../../holdfast/src/wire/layout.ts'
import { failureOf, isDeleted } from './answers.ts'
import { type Content, encodeContent, type Names, readContent, tokenOf } from './layout.ts'

/** The longest wait for the answer to one message. */
export const ANSWER_MS: Millis = 2_000
/** If the stream is still behind after this, the hub starts another consumer. */
const BEHIND_MS: Millis = 400
/** Most consumers at a time. */
const FOLLOWERS_MAX = 4
/** A read that takes longer fails. */
const READ_MS: Millis = 10_000
/** A replaced message stays for this long: longer than any read takes. */
export const HELD_MS: Millis = 2 * READ_MS
/** Between two tries to read a message that a server does not have yet. */
export const AGAIN_MS: Millis = 50
/** After a longer silence the stream is read from its start: removed records are not in it. */
const SILENT_MS: Millis = 5 * 60_000
/** How long a removed record's messages stay, for hubs that are behind. */
export const REMOVED_MS: Millis = 2 * SILENT_MS
/** Nobody waits any more for a barrier that is so old, whatever the clocks are. */
const ABANDONED_MS: Millis = 10 * 60_000
/** A barrier without an answer is published again after this. */
const AGAIN_BARRIER_MS: Millis = 500
/** Most older messages that are remembered of a record: the hub that replaced them deletes them. */
const OLDER_MAX = 8
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
  /** `client.publish`, which fails at once if the connection is lost: nobody answers then. */
  readonly publish: JetStreamClient['publish']
  readonly streams: JetStreamManager['streams']
}

/** The messages of a record. */
interface State {
  /** The newest message that counts. */
  seq: number
  /** When it was read, if it removed the record; Infinity if it did not. */
  removedAt: Millis
  /** Messages to be deleted: those that it replaced, oldest first, and those that lost. */
  readonly replaced: number[]
  readonly lost: number[]
}

/** A consumer of the stream. */
interface Follower {
  /** Whether it began at the start. */
  readonly isWhole: boolean
  messages: Awaited<ReturnType<PushConsumer['consume']>> | null
  isStopped: boolean
}

/** A change of a record, and how long to wait for its answer. */
type Given = Pick<Content, 'key' | 'blobs' | 'value'> & { readonly within?: Millis | undefined }

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
  readonly #followers = new Set<Follower>()
  /** When one was started last, and when one brought a message. */
  #followedAt: Millis = -Infinity
  #flowedAt: Millis = -Infinity
  #isCatchingUp = false
  /** Whether no follower goes on. */
  #isStalled = false
  #isClosed = false
  #barrierSeq = 0
  /** Whether the stream was recreated, or lost messages that it had acknowledged. */
  #isReplaced = false
  /** Records that were known before the stream was read from its start, and did not come again. */
  #missing: { readonly tokens: Set<string>; readonly until: number; isFirst: boolean } | null = null
  #barrier: Promise<unknown> = Promise.resolve()
  #nextBarrier: Promise<void> | null = null
  /** Messages of former barriers, to be deleted: of this store, and old ones that it found. */
  readonly #passed: number[] = []
  readonly #ownBarrier: Uint8Array
  /** Own changes whose older messages this store will delete, oldest first. */
  readonly #cuts: { readonly state: State; readonly seq: number; readonly at: Millis }[] = []
  /** Removed records, oldest first. */
  readonly #removed: { readonly token: string; readonly seq: number; readonly at: Millis }[] = []

  /** @param writer  an id that no other store has */
  constructor(jet: Jet, names: Names, writer: number) {
    this.#jet = jet
    this.#names = names
    this.#writer = writer
    this.#ownBarrier = encode(u32, writer)
  }

  close(): void {
    this.#isClosed = true
    for (const follower of this.#followers) stop(follower)
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
    this.#cutOld()
    this.#removeOld()
    const giveUpAt = performance.now() + READ_MS
    const seq = await this.#publishBarrier()
    if (seq <= this.#barrierSeq) this.#isReplaced = true
    this.#barrierSeq = seq
    if (this.#isReplaced) throw new HoldfastError('store', REPLACED)
    await this.#reach(seq, giveUpAt)
    for (const one of this.#passed.splice(0)) {
      void this.#delete(one).catch(() => this.#passed.push(one))
    }
  }

  // A message that comes while NATS elects a leader is lost.
  #publishBarrier(): Promise<number> {
    return new Promise((resolve, reject) => {
      let left = ANSWER_MS / AGAIN_BARRIER_MS
      let waiting = 0
      const answered = ({ seq }: { seq: number }): void => {
        clearInterval(timer)
        resolve(seq)
      }
      const failed = (error: unknown): void => {
        waiting--
        if (left === 0 && waiting === 0) reject(error)
      }
      const publish = (): void => {
        if (left === 0) return clearInterval(timer)
        left--
        waiting++
        const options = { timeout: ANSWER_MS }
        const asked = this.#jet.publish(this.#names.barrier, this.#ownBarrier, options)
        asked.then(answered, failed)
      }
      const timer = setInterval(publish, AGAIN_BARRIER_MS)
      publish()
    })
  }

  async #reach(seq: number, giveUpAt: Millis): Promise<void> {
    if (this.#seq === 0) this.#follow(seq)
    while (this.#seq < seq && !this.#isClosed && performance.now() <= giveUpAt) {
      if (await this.#reaches(seq, BEHIND_MS)) break
      this.#follow(seq)
      await this.#catchUp(seq)
    }
    // A process that stood still has missed messages that were deleted meanwhile.
    if (performance.now() > giveUpAt) {
      throw new HoldfastError('store', 'NATS: the stream of records stands still')
    }
  }

  // While NATS elects who places consumers, its servers still answer: each has the messages in
  // their order, up to some number.
  async #catchUp(until: number): Promise<void> {
    // Which records were removed meanwhile, only a consumer from the start tells.
    if (this.#isCatchingUp || this.#missing?.isFirst === false) return
    this.#isCatchingUp = true
    try {
      while (this.#seq < until && !this.#isClosed) {
        const next = { seq: this.#seq + 1, next_by_subj: '>' }
        const found = await this.#jet.streams.getMessage(this.#names.records, next)
        if (!found) return
        this.#isStalled = true
        this.#take(found)
      }
      this.#hasRead(this.#seq)
    } catch {
      // The next time.
    } finally {
      this.#isCatchingUp = false
    }
  }

  async #reaches(seq: number, max: Millis): Promise<boolean> {
    if (this.#isStalled) await this.#catchUp(seq)
    if (this.#seq >= seq) return true
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((one) => one !== waiter)
        resolve(false)
      }, max)
      const reached = (): void => {
        clearTimeout(timer)
        resolve(true)
      }
      const waiter = { seq, reached }
      this.#waiters.push(waiter)
    })
  }

  // A consumer is on one server, whose death NATS's client would notice after a minute. The next
  // one may be put on the same server. So there are several until one of them goes on.
  #follow(until: number): void {
    const now = performance.now()
    // One that brings messages is let alone.
    if (now - Math.max(this.#followedAt, this.#flowedAt) < BEHIND_MS || this.#isClosed) return
    this.#followedAt = now
    const [oldest] = this.#followers
    if (oldest && this.#followers.size >= FOLLOWERS_MAX) {
      stop(oldest)
      this.#followers.delete(oldest)
    }
    const isNew = this.#seq === 0 || now - this.#heardAt > SILENT_MS
    if (isNew && !this.#missing) this.#startOver(until)
    const from = this.#missing ? 1 : this.#seq + 1
    const follower: Follower = { isWhole: from === 1, messages: null, isStopped: false }
    this.#followers.add(follower)
    this.#consume(follower, from).catch(() => this.#followers.delete(follower))
  }

  async #consume(follower: Follower, from: number): Promise<void> {
    const { client } = this.#jet
    const consumer = await client.consumers.getPushConsumer(this.#names.records, {
      opt_start_seq: from,
    })
    follower.messages = await consumer.consume({
      callback: (message) => {
        if (follower.isStopped) return
        this.#flowedAt = performance.now()
        if (message.seq > this.#seq) this.#goesOn(follower)
        this.#take(message)
        if (follower.isWhole) this.#hasRead(message.seq)
      },
    })
    if (follower.isStopped) follower.messages.stop()
  }

  #goesOn(follower: Follower): void {
    this.#isStalled = false
    // Whoever reads from the start comes to the end.
    if (this.#missing) return
    if (this.#followers.size === 1 && this.#followers.has(follower)) return
    for (const one of this.#followers) if (one !== follower) stop(one)
    this.#followers.clear()
    this.#followers.add(follower)
  }

  #startOver(until: number): void {
    const tokens = new Set<string>()
    for (const [token, { removedAt }] of this.#states) {
      if (removedAt === Infinity) tokens.add(token)
    }
    // The first message of each record counts again.
    this.#states.clear()
    for (const follower of this.#followers) stop(follower)
    this.#followers.clear()
    this.#missing = { tokens, until, isFirst: this.#seq === 0 }
  }

  #take({ subject, seq, data, time }: Pick<JsMsg, 'subject' | 'seq' | 'data' | 'time'>): void {
    const token = this.#names.tokenIn(subject)
    if (token !== null) {
      this.#missing?.tokens.delete(token)
      this.#judge(token, seq, data)
    } else {
      const isOld = time.getTime() < Date.now() - ABANDONED_MS
      if (isOld || sameBytes(data, this.#ownBarrier)) this.#passed.push(seq)
    }
    this.#seq = Math.max(this.#seq, seq)
    this.#heardAt = performance.now()
    if (!this.#waiters.some((one) => one.seq <= this.#seq)) return
    const waiters = this.#waiters
    this.#waiters = waiters.filter((one) => one.seq > this.#seq)
    for (const one of waiters) if (one.seq <= this.#seq) one.reached()
  }

  // Whoever removed what is missing has removed its messages since.
  #hasRead(seq: number): void {
    if (!this.#missing || seq < this.#missing.until) return
    const { tokens } = this.#missing
    this.#missing = null
    for (const token of tokens) {
      const found = this.#recent.get(token)?.found
      this.#forget(token)
      if (found) this.changed({ ...found.content, value: null }, this.#seq)
    }
  }

  #judge(token: string, seq: number, data: Uint8Array): void {
    const known = this.#states.get(token)
    if (known && known.seq >= seq) return
    const content = readContent(new Uint8Array(data))
    // What no hub wrote counts for nothing.
    if (!content || tokenOf(content.key) !== token) {
      return void this.#delete(seq).catch(() => {})
    }
    const { writer, change, before, value } = content
    const now = performance.now()
    const counts = !known || follows(known, before, now)
    const own = writer === this.#writer ? this.#pending.get(change) : undefined
    if (own) this.#pending.delete(change)
    own?.(counts)
    if (!counts) {
      known.lost.push(seq)
      return void this.#delete(seq, known.lost).catch(() => {})
    }
    const removedAt = value ? Infinity : now
    if (known) {
      known.replaced.push(known.seq)
      Object.assign(known, { seq, removedAt })
      if (own) this.#cuts.push({ state: known, seq, at: now })
      else known.replaced.splice(0, known.replaced.length - OLDER_MAX)
    } else this.#states.set(token, { seq, removedAt, replaced: [], lost: [] })
    if (value) this.#keep(token, { rev: seq, content: { ...content, value } }, data.length)
    else {
      this.#forget(token)
      this.#removed.push({ token, seq, at: now })
    }
    this.changed(content, seq)
  }

  #cutOld(): void {
    const until = performance.now() - HELD_MS
    while (this.#cuts.length > 0 && this.#cuts[0]!.at < until) {
      const { state, seq } = this.#cuts.shift()!
      void this.#cut(state, seq)
    }
  }

  // Deletes the messages of a record that are older than that one.
  async #cut({ lost, replaced }: State, before: number): Promise<void> {
    const older = replaced.filter((seq) => seq < before)
    try {
      // If a message that lost were the first of its record, it would count.
      await Promise.all([...lost].map((seq) => this.#delete(seq, lost)))
      for (const seq of older) await this.#delete(seq, replaced)
    } catch {
      // After the next change of the record.
    }
  }

  async #delete(seq: number, from: number[] = []): Promise<void> {
    // The numbers are those of another stream.
    if (this.#isReplaced) return
    const { streams } = this.#jet
    try {
      await streams.deleteMessage(this.#names.records, seq, true)
    } catch (error) {
      if (!isDeleted(error)) throw error
    }
    const at = from.indexOf(seq)
    if (at >= 0) from.splice(at, 1)
  }

  // Every hub deletes the messages of removed records: the hub that removed one may be gone.
  #removeOld(): void {
    const until = performance.now() - REMOVED_MS
    while (this.#removed.length > 0 && this.#removed[0]!.at < until) {
      const { token, seq } = this.#removed.shift()!
      const known = this.#states.get(token)
      if (known?.seq === seq) void this.#forgetRemoved(token, known)
    }
  }

  async #forgetRemoved(token: string, known: State): Promise<void> {
    const { seq } = known
    try {
      // While an older message is there, the removal must be.
      for (;;) {
        const oldest = await this.#oldest(token)
        if (known.seq !== seq || (oldest && oldest > seq)) return
        await this.#delete(oldest ?? seq)
        if (oldest === null || oldest === seq) break
      }
      if (this.#states.get(token) === known && known.seq === seq) this.#states.delete(token)
    } catch {
      this.#removed.push({ token, seq, at: performance.now() })
    }
  }

  // The number of the oldest message of a record; null if there is none.
  async #oldest(token: string): Promise<number | null> {
    const next = { seq: 1, next_by_subj: this.#names.record(token) }
    const found = await this.#jet.streams.getMessage(this.#names.records, next)
    return found?.seq ?? null
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
    const { seq = 0, removedAt = Infinity } = this.#states.get(token) ?? {}
    return removedAt === Infinity ? seq : 0
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

  /** Whether the record has that revision, 0 for none, as far as the stream has come. */
  seemsToHave(key: string, rev: number): boolean {
    return this.#revOf(tokenOf(key)) === rev
  }

  /** Whether the record has that revision, 0 for none, once all acknowledged changes are known. */
  async has(key: string, rev: number): Promise<boolean> {
    await this.barrier()
    return this.seemsToHave(key, rev)
  }

  /**
   * Changes a record of that revision, 0 for none.
   *
   * @param given  the new content: a null value removes the record
   * @returns the new message's number
   */
  async change(
    given: Given,
    before: number,
  ): Promise<number | 'conflict' | 'unknown' | HoldfastError> {
    const token = tokenOf(given.key)
    // Servers refuse most of what will lose, and then nobody has to read it.
    const { seq = 0, lost = [] } = this.#states.get(token) ?? {}
    const expected = Math.max(seq, lost.at(-1) ?? 0)
    const first = await this.#publish(token, given, before, expected)
    if (first !== 'conflict') return first
    if (!(await this.has(given.key, before))) return 'conflict'
    // They had compared it with a message that lost, or was removed.
    return this.#publish(token, given, before, null)
  }

  async #publish(
    token: string,
    { within = ANSWER_MS, ...given }: Given,
    before: number,
    expected: number | null,
  ): Promise<number | 'conflict' | 'unknown' | HoldfastError> {
    const change = ++this.#changes
    // A record that is created names its removal.
    const { seq: removal = 0, removedAt = Infinity } = this.#states.get(token) ?? {}
    const newest = before === 0 && removedAt !== Infinity ? removal : before
    const bytes = encodeContent({ ...given, before: newest, writer: this.#writer, change })
    let verdict: boolean | null = null
    this.#pending.set(change, (counts) => (verdict = counts))
    try {
      const { seq } = await this.#jet.publish(this.#names.record(token), bytes, {
        timeout: within,
        ...(expected !== null && { expect: { lastSubjectSequence: expected } }),
      })
      // One that lost may be removed before it comes, and nothing may come after it.
      if (!(await this.#reaches(seq, BEHIND_MS))) await this.barrier()
      if (verdict === null) return 'unknown'
      return verdict ? seq : 'conflict'
    } catch (error) {
      // The message may be in the stream, of which nobody knows more now.
      return error instanceof HoldfastError ? 'unknown' : failureOf(error)
    } finally {
      this.#pending.delete(change)
    }
  }
}

// Whether a message that replaces that one is the next. If it is newer than the known one, messages
// between them were missed. A store names none once it has forgotten an old removal.
function follows({ seq, removedAt }: State, replaced: number, now: Millis): boolean {
  return replaced >= seq || (replaced === 0 && now - removedAt > SILENT_MS)
}

const REPLACED =
  'NATS: the stream of records was recreated or lost messages: restart this hub, and check which ' +
  'rooms are missing'

function stop(follower: Follower): void {
  follower.isStopped = true
  follower.messages?.stop()
}

export function later(ms: Millis): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
