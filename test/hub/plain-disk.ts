/** A store's content as plain data, for tests that play the disk themselves. */

import type { StoreChange, StoredRecord, StoreOutcome } from '../../packages/holdfast/src/ports.ts'

export class PlainDisk {
  readonly records = new Map<string, StoredRecord>()
  readonly blobs = new Map<string, Uint8Array>()
  /** Who is told of changes, and what they have not been told while `isQuiet`. */
  readonly watchers: ((key: string, found: StoredRecord | null) => void)[] = []
  readonly news: string[] = []
  isQuiet = false
  #rev = 0

  find(names: readonly string[]): (Uint8Array | null)[] {
    return names.map((name) => this.blobs.get(name) ?? null)
  }

  /** Null if one of the blobs is missing. */
  read(names: readonly string[]): Uint8Array[] | null {
    const found = this.find(names).filter((one) => one !== null)
    return found.length === names.length ? found : null
  }

  /** Makes a change, if its revision is the record's. */
  change({ key, rev, value, blobs }: StoreChange): Exclude<StoreOutcome, Error | 'unknown'> {
    if (rev !== (this.records.get(key)?.rev ?? 0)) return 'conflict'
    for (const [name, bytes] of blobs) {
      if (bytes) this.blobs.set(name, bytes)
      else this.blobs.delete(name)
    }
    if (value) this.records.set(key, { value, rev: ++this.#rev })
    else this.records.delete(key)
    this.news.push(key)
    if (!this.isQuiet) queueMicrotask(() => this.tell())
    return { rev: value ? this.#rev : 0 }
  }

  /** Tells the watchers of all that changed. */
  tell(): void {
    for (const key of this.news.splice(0)) {
      for (const watcher of this.watchers) watcher(key, this.records.get(key) ?? null)
    }
  }
}
