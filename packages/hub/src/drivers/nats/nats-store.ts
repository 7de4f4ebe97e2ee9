/**
 * A store that several hubs have: two streams of NATS JetStream.
 *
 *     records   each change of a record
 *     blobs     the parts of segments, which records name
 *
 * A majority of servers has a message before it is acknowledged. A change without an answer may yet
 * be made: it is `unknown`, as are all while NATS elects a leader.
 */

import { checkChange, compareKeys } from '../../../../holdfast/src/drivers/store/limits.ts'
import { HoldfastError } from '../../../../holdfast/src/machine.ts'
import type {
  Store,
  StoreChange,
  StoredRecord,
  StoreOutcome,
} from '../../../../holdfast/src/ports.ts'
import { failureOf, storeError } from './answers.ts'
import { BlobStream } from './blob-stream.ts'
import { BLOBS_MAX, type Content, type Names, type Parts } from './layout.ts'
import { AGAIN_MS, type Jet, later, RecordStream } from './record-stream.ts'

const NO_BLOBS: Parts = new Map()
/** How often blobs are read that a record names and no server has. */
const TRIES = 40

export class NatsStore implements Store {
  readonly isShared = true
  readonly #records: RecordStream
  readonly #blobs: BlobStream
  readonly #end: () => void
  /** Until somebody watches, all records: what a start finds. */
  #start: Map<string, StoredRecord> | null = new Map()
  #watcher: ((key: string, found: StoredRecord | null) => void) | null = null
  #isClosed = false

  private constructor(jet: Jet, names: Names, writer: number, end: () => void) {
    this.#records = new RecordStream(jet, names, writer)
    this.#blobs = new BlobStream(jet, names)
    this.#end = end
  }

  /**
   * @param writer  an id that no other store has
   * @param end     ends the connection
   */
  static async open(jet: Jet, names: Names, writer: number, end: () => void): Promise<NatsStore> {
    const store = new NatsStore(jet, names, writer, end)
    const named = new Map<string, Parts>()
    store.#records.changed = (content, seq) => {
      named.set(content.key, content.blobs)
      store.#hear(content, seq)
    }
    try {
      await store.#records.barrier()
    } catch (error) {
      store.#records.close()
      throw error
    }
    store.#records.changed = (content, seq) => store.#hear(content, seq)
    const parts = new Set([...named.values()].flatMap((blobs) => [...blobs.values()].flat()))
    void store.#blobs.sweep((seq) => parts.has(seq)).catch(() => {})
    return store
  }

  entries(): Iterable<readonly [key: string, found: StoredRecord]> {
    this.#check()
    const found = Array.from(this.#start ?? [], ([key, { rev, value }]) => {
      return [key, { value: value.slice(), rev }] as const
    })
    return found.sort(([a], [b]) => compareKeys(a, b))
  }

  watch(changed: (key: string, found: StoredRecord | null) => void): void {
    this.#watcher = changed
    this.#start = null
  }

  get(key: string, done: (found: StoredRecord | HoldfastError | null) => void): void {
    this.#check()
    const read = async (): Promise<StoredRecord | null> => {
      const found = await this.#records.read(key)
      return found && { value: found.content.value.slice(), rev: found.rev }
    }
    this.#answer(read(), done)
  }

  blobs(
    key: string,
    names: readonly string[],
    done: (found: (Uint8Array | null)[] | HoldfastError) => void,
  ): void {
    this.#check()
    this.#answer(this.#readBlobs(key, names), done)
  }

  cas(change: StoreChange, done: (outcome: StoreOutcome) => void): void {
    this.#check()
    checkChange(change)
    const changed = this.#change(change)
    void changed.then((outcome) => done(this.#isClosed ? CLOSED : outcome))
  }

  check(done: (error: HoldfastError | null) => void): void {
    this.#check()
    const passed = this.#records.barrier().then(() => null)
    this.#answer(passed, done)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#records.close()
    this.#end()
  }

  #answer<Found>(asked: Promise<Found>, done: (found: Found | HoldfastError) => void): void {
    const answered = asked.catch((error: unknown) => storeError(error))
    void answered.then((found) => done(this.#isClosed ? CLOSED : found))
  }

  #check(): void {
    if (this.#isClosed) throw new HoldfastError('store', 'the store is closed')
  }

  #hear({ key, value }: Content, rev: number): void {
    if (value) this.#start?.set(key, { value, rev })
    else this.#start?.delete(key)
    this.#watcher?.(key, value && { value: value.slice(), rev })
  }

  // A blob that the record names and no server has was replaced meanwhile, or is not there yet.
  async #readBlobs(key: string, names: readonly string[]): Promise<(Uint8Array | null)[]> {
    for (let left = TRIES; ; left--) {
      const named = (await this.#records.read(key))?.content.blobs ?? NO_BLOBS
      const found = await Promise.all(names.map((name) => this.#blobs.get(named.get(name) ?? null)))
      const isWhole = names.every((name, at) => found[at] !== null || !named.has(name))
      if (isWhole || left === 0) return found
      await later(AGAIN_MS)
    }
  }

  async #change(change: StoreChange): Promise<StoreOutcome> {
    const { key, rev, value, within } = change
    const put: number[] = []
    try {
      const isKnown = this.#records.seemsToHave(key, rev) && (rev > 0 || value !== null)
      if (!isKnown && !(await this.#records.has(key, rev))) return 'conflict'
      // Whoever removes nothing changes nothing.
      if (rev === 0 && !value) return { rev: 0 }
      const before = await this.#partsBefore(change)
      if (!before) return 'unknown'
      const names = new Set([...before.keys(), ...change.blobs.map(([name]) => name)])
      if (names.size > BLOBS_MAX) {
        throw new HoldfastError('store', `NATS: a record names ${BLOBS_MAX} blobs: ${names.size}`)
      }
      const blobs = await this.#putBlobs(change, before, put)
      const outcome = await this.#records.change({ key, blobs, value, within }, rev)
      if (typeof outcome !== 'number') {
        if (outcome !== 'unknown') this.#blobs.remove(put)
        return outcome
      }
      this.#blobs.remove(replaced(change, before))
      return { rev: value ? outcome : 0 }
    } catch (error) {
      // The record was not published.
      this.#blobs.remove(put)
      return failureOf(error)
    }
  }

  // The blobs that the record names before the change; null if no server has that revision.
  async #partsBefore({ key, rev, from }: StoreChange): Promise<Parts | null> {
    if (rev > 0) return (await this.#records.at(key, rev))?.content.blobs ?? null
    if (from === undefined) return NO_BLOBS
    return (await this.#records.read(from))?.content.blobs ?? NO_BLOBS
  }

  async #putBlobs({ blobs }: StoreChange, before: Parts, put: number[]): Promise<Parts> {
    const named = new Map(before)
    // If a change names a blob twice, the later value counts.
    const puts = Array.from(new Map(blobs), async ([name, value]) => {
      if (!value) return void named.delete(name)
      const parts = await this.#blobs.put(value)
      put.push(...parts)
      named.set(name, parts)
    })
    await Promise.all(puts)
    return named
  }
}

// The messages that the record named before the change, and does not name after it.
function replaced({ blobs }: StoreChange, before: Parts): number[] {
  const names = new Set(blobs.map(([name]) => name))
  return [...names].flatMap((name) => before.get(name) ?? [])
}

const CLOSED = new HoldfastError('store', 'the store was closed: nobody knows whether it was made')
