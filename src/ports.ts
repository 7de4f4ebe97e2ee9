/**
 * What the outside world offers a runtime: time, chance, datagrams, streams, a store.
 *
 * These are the only doors through which a clock, a random source, a socket or a disk is
 * reached. `drivers/` implements them for browsers and Node, `sim/` in virtual time.
 */

import type { Millis } from './machine.ts'

/** Time and chance of one process. */
export interface Loop {
  /** Milliseconds since some start, with fractions; never goes backwards. */
  now(): Millis
  /** Fresh random bytes, fit for secrets (in the simulator: seeded). */
  random(count: number): Uint8Array
  /** Calls when the code that runs now has returned, before anything else happens. */
  soon(run: () => void): void
  /** A timer of one shot. `run` is called once for each `set`, at or soon after that instant. */
  alarm(run: () => void): Alarm
}

/** One timer. */
export interface Alarm {
  /** Goes off at this instant, replacing an earlier one; at once (not in this call) if past. */
  set(at: Millis): void
  /** Does not go off any more. */
  cancel(): void
}

/** Largest datagram that any carrier takes, in bytes. */
export const DATAGRAM_MAX = 1232

/** Unordered, unreliable, bounded: a datagram that cannot leave at once is dropped, counted. */
export interface Datagrams {
  /** Where others reach us, best first, such as `udp:127.0.0.1:4000`; may be empty. */
  readonly addresses: readonly string[]
  /** Whether this carrier knows how to send to such an address. */
  reaches(address: string): boolean
  /** Sends at most DATAGRAM_MAX bytes; the bytes are not kept. Never throws. */
  send(to: string, bytes: Uint8Array): void
  close(): void
}

/** What a carrier of datagrams tells. */
export interface DatagramEvents {
  /** The bytes are valid only during the call. `from` is an address to answer to. */
  datagram(from: string, bytes: Uint8Array): void
  /** Nobody listens at that address any more, as far as the system can tell. */
  refused(address: string): void
}

/** Opens a carrier of datagrams. @throws HoldfastError when the place is taken or not to be had */
export type OpenDatagrams = (events: DatagramEvents) => Promise<Datagrams>

/** Largest message of a stream, in bytes. */
export const STREAM_MESSAGE_MAX: number = 256 * 1024
/** Most bytes that may wait in one stream; a message beyond is refused. */
export const STREAM_BACKLOG_MAX: number = 4 * 1024 * 1024

/** Whole messages, ordered and reliable, until it closes; what was under way then is lost. */
export interface Stream {
  /** False if the stream is closed or its backlog is full; then nothing of it was sent. */
  send(bytes: Uint8Array): boolean
  /** Bytes that wait to leave. */
  backlog(): number
  /** `closed` is not told for one's own close. */
  close(): void
}

/** What a stream tells, in this order: opened once, messages, closed once. */
export interface StreamEvents {
  opened(): void
  /** The bytes may be kept. */
  message(bytes: Uint8Array): void
  /** It will carry nothing more; `why` is a sentence for a log. */
  closed(why: string): void
}

/** Starts to open a stream to a URL like `ws://127.0.0.1:8700/hub`; failure is `closed`. */
export type Connect = (url: string, events: StreamEvents) => Stream

/** Small records by key, durable when `write` has returned. */
export interface Store {
  /** All that was written and not removed, in key order. */
  entries(): Iterable<readonly [key: string, value: Uint8Array]>
  /** All of the changes or, when it throws `store`, none; null removes. Durable on return. */
  write(changes: readonly (readonly [key: string, value: Uint8Array | null])[]): void
  close(): void
}

/** A place to run in: a page, a Node process, a machine of the simulator. */
export interface Environment {
  kind: 'node' | 'browser'
  loop: Loop
  connect: Connect
  /** Carriers besides the relay, best first; each is opened anew for every session. */
  carriers: readonly OpenDatagrams[]
  /** Where the hub is if nobody says: a page's own origin; null where there is none. */
  defaultServer: string | null
  /** Calls when this process is about to end, if that can be known. @returns forgets it */
  onEnd(run: () => void): () => void
  /** Calls when it is about to be stopped for a while. @returns forgets it */
  onFreeze(run: () => void): () => void
}
