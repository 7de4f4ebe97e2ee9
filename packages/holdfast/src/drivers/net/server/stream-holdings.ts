/**
 * Server memory that clients occupy: incomplete messages, and bytes that they do not read. Each has
 * a time limit, and all together have a size limit; otherwise some hundred streams, each within its
 * own limit, would fill the memory.
 */

import type { ServerStream } from './server-stream.ts'
import type { StreamServerCounters } from './stream-counters.ts'

/** Incomplete messages, oldest first. */
export class Halves {
  readonly #counters: StreamServerCounters
  readonly #ms: number
  readonly #bytesMax: number
  readonly #held = new Map<ServerStream, { since: number; bytes: number }>()
  #bytes = 0

  constructor(counters: StreamServerCounters, ms: number, bytesMax: number) {
    this.#counters = counters
    this.#ms = ms
    this.#bytesMax = bytesMax
  }

  /** Records the bytes kept for a stream's incomplete message; 0 for none. */
  note(stream: ServerStream, bytes: number): void {
    const known = this.#held.get(stream)
    this.#bytes += bytes - (known?.bytes ?? 0)
    if (bytes === 0) this.#held.delete(stream)
    else if (known) known.bytes = bytes
    else this.#held.set(stream, { since: performance.now(), bytes })
    // The oldest goes and not the newest: an honest client needs milliseconds for a message.
    while (this.#bytes > this.#bytesMax) {
      this.#end(this.#held.keys().next().value!, 'too many messages were half sent')
    }
  }

  sweep(now: number): void {
    for (const [stream, { since }] of this.#held) {
      if (now - since < this.#ms) return
      this.#end(stream, 'a message was not whole in time')
    }
  }

  #end(stream: ServerStream, why: string): void {
    this.note(stream, 0)
    if (stream.cut(why)) this.#counters.halves += 1
  }
}

/** Sent bytes that were not read yet. */
export class Unread {
  readonly #counters: StreamServerCounters
  readonly #ms: number
  readonly #bytesMax: number
  /**
   * Upper bound of the unread bytes: those at the last sweep, and those sent since to streams that
   * are behind.
   */
  #bytes = 0

  constructor(counters: StreamServerCounters, ms: number, bytesMax: number) {
    this.#counters = counters
    this.#ms = ms
    this.#bytesMax = bytesMax
  }

  /** Counts bytes sent to a stream that is behind. @returns whether to sweep now */
  add(bytes: number): boolean {
    this.#bytes += bytes
    return this.#bytes > this.#bytesMax
  }

  /** Ends streams that do not read, and the fullest ones while there is too much. */
  sweep(now: number, streams: Iterable<ServerStream>): void {
    const full: ServerStream[] = []
    this.#bytes = 0
    for (const stream of streams) {
      if (stream.unreadMs(now) >= this.#ms) this.#end(stream, 'what was sent was not read in time')
      else if (stream.backlog() > 0) {
        full.push(stream)
        this.#bytes += stream.backlog()
      }
    }
    if (this.#bytes <= this.#bytesMax) return
    full.sort((a, b) => b.backlog() - a.backlog())
    for (const stream of full) {
      // Down to half; otherwise the next byte could require another sweep.
      if (this.#bytes <= this.#bytesMax / 2) return
      this.#bytes -= stream.backlog()
      this.#end(stream, 'too much of what was sent was not read')
    }
  }

  #end(stream: ServerStream, why: string): void {
    if (stream.cut(why)) this.#counters.unread += 1
  }
}
