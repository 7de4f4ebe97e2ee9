/**
 * A cache of recent runs: their ends with bytes and digests, so an ack need not read them again,
 * and the letters of the newest runs, which are sent at once. Other letters are read from disk.
 */

import type { Span } from '../../../holdfast/src/ports.ts'
import { type Run, unpack, weighUpTo } from './mail-runs.ts'

type End = Pick<Run, 'first' | 'last' | 'bytes' | 'digest' | 'life' | 'before'> & {
  /** The packed letters: one buffer is cheaper than many small ones. Null once evicted. */
  packed: Uint8Array | null
}

export type Written = Run & { packed: Uint8Array }

/** Most bytes of cached letters, over all peers. */
const BYTES_MAX = 1024 * 1024

/** Most cached runs of one peer. */
const ENDS_MAX = 4_096
/** Most peers with cached runs. */
const PEERS_MAX = 1_000

export class Ends {
  readonly #ends = new Map<string, End[]>()
  /** Runs whose letters are cached, oldest first. */
  readonly #cached: End[] = []
  #bytes = 0

  add(peer: string, runs: readonly Written[]): void {
    const ends = this.#ends.get(peer) ?? []
    if (ends.length + runs.length > ENDS_MAX || this.#ends.size > PEERS_MAX) this.#ends.clear()
    else this.#ends.set(peer, ends)
    for (const { first, last, bytes, digest, life, before, packed } of runs) {
      ends.push({ first, last, bytes, digest, life, before, packed })
      this.#cached.push(ends.at(-1)!)
      this.#bytes += bytes
    }
    while (this.#bytes > BYTES_MAX) {
      const oldest = this.#cached.shift()!
      this.#bytes -= oldest.bytes
      oldest.packed = null
    }
  }

  /** The run that holds the letter after that number; null if not cached. */
  run(peer: string, after: number): (Span & { last: number }) | null {
    const end = this.#behind(peer, after)
    if (!end?.packed) return null
    const { first, last, life, before, packed } = end
    return { last, life, before, letters: unpack(first, last, packed)! }
  }

  /** Bytes of the letters up to n in the run that continues past n; null if not cached. */
  part(peer: string, n: number): number | null {
    const end = this.#behind(peer, n)
    return end?.packed ? weighUpTo(end.first, n, end.packed) : null
  }

  #behind(peer: string, n: number): End | null {
    const end = this.#ends.get(peer)?.find(({ last }) => last > n)
    return end && end.first <= n + 1 ? end : null
  }

  /** Evicts the letters up to that number. */
  trim(peer: string, upTo: number): void {
    const ends = this.#ends.get(peer)
    const next = ends?.findIndex(({ last }) => last > upTo) ?? -1
    for (const end of ends?.splice(0, next < 0 ? ends.length : next) ?? []) end.packed = null
  }

  forget(peer: string): void {
    this.#ends.delete(peer)
  }

  /** Bytes of the letters above `after`, up to a number; null if not cached. */
  weigh(peer: string, after: number, upTo: number): number | null {
    let bytes = 0
    let at = after
    for (const end of this.#ends.get(peer) ?? []) {
      if (end.last <= after) continue
      if (end.first !== at + 1 || end.last > upTo) return null
      bytes += end.bytes
      at = end.last
      if (at === upTo) return bytes
    }
    return null
  }

  /** The digest of the last letter of a cached run; null for others. */
  mark(peer: string, n: number): Uint8Array | null {
    return this.#ends.get(peer)?.find(({ last }) => last === n)?.digest ?? null
  }
}
