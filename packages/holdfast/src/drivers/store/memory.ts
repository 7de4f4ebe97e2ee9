/** A store that lives as long as its process: for tests, and where nothing must be kept. */

import { HoldfastError } from '../../machine.ts'
import type { Store, StoreChange, StoredRecord, StoreOutcome } from '../../ports.ts'
import { checkChange, compareKeys } from './limits.ts'

export function createMemoryStore(): Store {
  return new MemoryStore()
}

class MemoryStore implements Store {
  readonly #records = new Map<string, StoredRecord>()
  readonly #blobs = new Map<string, Uint8Array>()
  #rev = 0
  #open = true

  entries(): Iterable<readonly [key: string, found: StoredRecord]> {
    this.#check()
    return [...this.#records]
      .sort(([a], [b]) => compareKeys(a, b))
      .map(([key, found]) => [key, copyOf(found)] as const)
  }

  get(key: string, done: (found: StoredRecord | HoldfastError | null) => void): void {
    this.#check()
    const known = this.#records.get(key)
    const found = known ? copyOf(known) : null
    queueMicrotask(() => done(found))
  }

  blobs(
    _key: string,
    names: readonly string[],
    done: (found: (Uint8Array | null)[] | HoldfastError) => void,
  ): void {
    this.#check()
    const found = names.map((name) => this.#blobs.get(name)?.slice() ?? null)
    queueMicrotask(() => done(found))
  }

  cas(change: StoreChange, done: (outcome: StoreOutcome) => void): void {
    this.#check()
    checkChange(change)
    const outcome = this.#change(change)
    queueMicrotask(() => done(outcome))
  }

  check(done: (error: HoldfastError | null) => void): void {
    this.#check()
    queueMicrotask(() => done(null))
  }

  close(): void {
    this.#open = false
    this.#records.clear()
    this.#blobs.clear()
  }

  #change({ key, rev, value, blobs }: StoreChange): StoreOutcome {
    if (rev !== (this.#records.get(key)?.rev ?? 0)) return 'conflict'
    for (const [name, bytes] of blobs) {
      if (bytes) this.#blobs.set(name, new Uint8Array(bytes))
      else this.#blobs.delete(name)
    }
    if (value === null) {
      this.#records.delete(key)
      return { rev: 0 }
    }
    const now = ++this.#rev
    this.#records.set(key, { value: new Uint8Array(value), rev: now })
    return { rev: now }
  }

  #check(): void {
    if (!this.#open) throw new HoldfastError('store', 'the store is closed')
  }
}

function copyOf({ value, rev }: StoredRecord): StoredRecord {
  return { value: new Uint8Array(value), rev }
}
