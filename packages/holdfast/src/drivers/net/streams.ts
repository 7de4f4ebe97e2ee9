/**
 * Datagrams over WebSockets to members that listen: the dialling end.
 *
 * An address is a claim of its member, and opening a stream there is a request to a stranger. So
 * nothing is opened before a datagram is to go there; a host that does not answer is dialled ever
 * more rarely; and few streams are open at a time. A stream delivers everything, however late, so
 * datagrams that it cannot take at once are dropped, as by the relay.
 */

import type { Millis } from '../../machine.ts'
import {
  type Connect,
  DATAGRAM_MAX,
  type DatagramEvents,
  type Datagrams,
  type OpenDatagrams,
  type Stream,
} from '../../ports.ts'
import { readStreamAddress, type StreamPlace } from '../../wire/stream-address.ts'
import { RELAY_BACKLOG_MAX, UNCOUNTED } from './relay.ts'

/** Most streams that are open or opening; a further one replaces one that is not used. */
export const STREAMS_MAX = 16
/** A stream is in use for so long after the last datagram on it. */
export const USED_MS: Millis = 10_000
/** Most addresses that are remembered, with when they may be dialled again. */
export const LINES_MAX = 64
/** First and longest wait before an address is dialled again. It doubles until it answers. */
export const DIAL_MS: readonly [Millis, Millis] = [250, 30_000]
/** Most datagrams that wait until a stream is open; a further one replaces the oldest. */
export const HELD_MAX = 8

/** One address that was dialled. */
interface Line {
  stream: Stream | null
  isOpen: boolean
  held: Uint8Array[]
  /** How often it was dialled since it last answered. */
  tries: number
  /** Not dialled before this instant. */
  nextAt: Millis
  usedAt: Millis
}

/** @param mayDial  whether this process may open streams to such a place */
export function openStreams(
  connect: Connect,
  mayDial: (place: StreamPlace) => boolean = () => true,
): OpenDatagrams {
  return (events) => Promise.resolve(new DialledStreams(connect, mayDial, events))
}

export class DialledStreams implements Datagrams {
  readonly addresses: readonly string[] = []
  readonly counters = {
    ...UNCOUNTED,
    dialled: 0,
  }
  readonly #connect: Connect
  readonly #mayDial: (place: StreamPlace) => boolean
  readonly #events: DatagramEvents
  readonly #now: () => Millis
  readonly #lines = new Map<string, Line>()
  #streams = 0
  #isClosed = false

  constructor(
    connect: Connect,
    mayDial: (place: StreamPlace) => boolean,
    events: DatagramEvents,
    now: () => Millis = () => performance.now(),
  ) {
    this.#connect = connect
    this.#mayDial = mayDial
    this.#events = events
    this.#now = now
  }

  reaches(address: string): boolean {
    const place = readStreamAddress(address)
    return place !== null && this.#mayDial(place)
  }

  send(to: string, bytes: Uint8Array): void {
    const { counters } = this
    const line = this.#isClosed ? null : this.#lineTo(to)
    if (line === null) {
      counters.unreachable += 1
    } else if (bytes.length > DATAGRAM_MAX) {
      counters.oversize += 1
    } else if (line.isOpen) {
      this.#sendOn(line, bytes)
    } else if (line.stream || this.#dial(to, line)) {
      if (line.held.length >= HELD_MAX) counters.congested += 1
      line.held = [...line.held.slice(1 - HELD_MAX), bytes.slice()]
    } else {
      counters.unreachable += 1
    }
  }

  close(): void {
    this.#isClosed = true
    for (const line of this.#lines.values()) this.#end(line)
    this.#lines.clear()
  }

  #sendOn(line: Line, bytes: Uint8Array): void {
    const stream = line.stream!
    line.usedAt = this.#now()
    if (stream.backlog() <= RELAY_BACKLOG_MAX && stream.send(bytes)) this.counters.sent += 1
    else this.counters.congested += 1
  }

  #lineTo(address: string): Line | null {
    const known = this.#lines.get(address)
    if (known) return known
    if (!this.reaches(address)) return null
    if (this.#lines.size >= LINES_MAX && !this.#forgetOne()) return null
    const line: Line = {
      ...{ stream: null, isOpen: false, held: [], tries: 0, nextAt: -Infinity, usedAt: -Infinity },
    }
    this.#lines.set(address, line)
    return line
  }

  // One without a stream, and of those the one that may be dialled again first.
  #forgetOne(): boolean {
    const idle = [...this.#lines].filter(([, { stream }]) => !stream)
    const [first] = idle.toSorted(([, one], [, other]) => one.nextAt - other.nextAt)
    return first !== undefined && this.#lines.delete(first[0])
  }

  #dial(url: string, line: Line): boolean {
    const now = this.#now()
    if (now < line.nextAt || (this.#streams >= STREAMS_MAX && !this.#endUnused(now))) return false
    this.counters.dialled += 1
    const [first, longest] = DIAL_MS
    line.nextAt = now + Math.min(longest, first * 2 ** line.tries)
    line.tries = Math.min(line.tries + 1, 32)
    line.usedAt = now
    const stream = this.#connect(url, {
      opened: () => line.stream === stream && this.#opened(line),
      message: (bytes) => line.stream === stream && this.#message(url, line, bytes),
      closed: () => line.stream === stream && this.#end(line),
    })
    line.stream = stream
    this.#streams += 1
    return true
  }

  #opened(line: Line): void {
    line.isOpen = true
    for (const bytes of line.held.splice(0)) this.#sendOn(line, bytes)
  }

  #message(url: string, line: Line, bytes: Uint8Array): void {
    this.counters.received += 1
    if (bytes.length > DATAGRAM_MAX) {
      this.counters.oversize += 1
      return this.#end(line)
    }
    // Not when it opens: what takes streams and says nothing is no member.
    line.tries = 0
    line.usedAt = this.#now()
    if (bytes.length > 0) this.#events.datagram(url, bytes)
  }

  #endUnused(now: Millis): boolean {
    const open = [...this.#lines.values()].filter(({ stream }) => stream)
    const [oldest] = open.toSorted((one, other) => one.usedAt - other.usedAt)
    if (!oldest || now - oldest.usedAt < USED_MS) return false
    this.#end(oldest)
    return true
  }

  #end(line: Line): void {
    const { stream } = line
    if (!stream) return
    line.stream = null
    line.isOpen = false
    line.held = []
    this.#streams -= 1
    stream.close()
  }
}
