/** A store that lives as long as its process: for tests, and where nothing must be kept. */

import { HoldfastError } from '../../machine.ts'
import type { Store } from '../../ports.ts'
import { checkChanges, compareKeys, type Changes } from './limits.ts'

export function createMemoryStore(): Store {
  return new MemoryStore()
}

class MemoryStore implements Store {
  readonly #records = new Map<string, Uint8Array>()
  #open = true

  entries(before?: string): Iterable<readonly [key: string, value: Uint8Array]> {
    this.#check()
    return [...this.#records]
      .filter(([key]) => before === undefined || compareKeys(key, before) < 0)
      .sort(([a], [b]) => compareKeys(a, b))
      .map(([key, value]) => [key, new Uint8Array(value)] as const)
  }

  read(key: string): Uint8Array | null {
    this.#check()
    const value = this.#records.get(key)
    return value ? new Uint8Array(value) : null
  }

  write(changes: Changes, done: (error: HoldfastError | null) => void): void {
    this.#check()
    checkChanges(changes)
    for (const [key, value] of changes) {
      if (value === null) this.#records.delete(key)
      else this.#records.set(key, new Uint8Array(value))
    }
    queueMicrotask(() => done(null))
  }

  close(): void {
    this.#open = false
    this.#records.clear()
  }

  #check(): void {
    if (!this.#open) throw new HoldfastError('store', 'the store is closed')
  }
}
