/**
 * Datagrams over WebSockets to a member that listens: the accepting end, on Node.
 *
 * Strangers may connect, so streams are few in all and from one place, have small messages, and end
 * when nothing was sent there for IDLE_MS. The seal answers only those that prove to be members;
 * what others send ends in its counters, and their streams end as idle.
 */

import { badValue, type Millis } from '../../../machine.ts'
import {
  ADDRESS_MAX,
  type Closing,
  DATAGRAM_MAX,
  type DatagramEvents,
  type Datagrams,
  type Door,
  type Listening,
  type OpenDatagrams,
  type Opening,
  type Stream,
  type StreamEvents,
} from '../../../ports.ts'
import { accepted, readStreamAddress } from '../../../wire/stream-address.ts'
import { placeOf, type Trust } from '../../../wire/text/ip.ts'
import { RELAY_BACKLOG_MAX, UNCOUNTED } from '../relay.ts'
import { ownHosts } from '../udp.ts'
import { listenStreams } from './websocket-listen.ts'

/** Default limits of a door. */
export const DOOR_LIMITS = {
  /** Most streams at a time. */
  streamsMax: 512,
  /** Most streams of one IP address, or of one /64 of IPv6. */
  streamsPerPlaceMax: 128,
  /** A stream to which nothing was sent for so long is closed. */
  idleMs: 15_000 as Millis,
}
type DoorLimits = typeof DOOR_LIMITS

/** A door for datagrams: where it listens, and where others find it. */
export interface StreamDoorOptions {
  door: Door
  /** The address to announce; null for that at which it listens. */
  url: string | null
  trust: Trust
}

const CROWDED: Closing = { kind: 'full', why: 'too many streams come from this address' }

/** @throws HoldfastError of its promise: `port-taken`, `unreachable` or `bad-value` */
export function openDoor(
  { door, url, trust }: StreamDoorOptions,
  limits: Partial<DoorLimits> = {},
): OpenDatagrams {
  return async (events) => {
    const streams = new AcceptedStreams(events, { ...DOOR_LIMITS, ...limits })
    const { streamsMax: connectionsMax } = { ...DOOR_LIMITS, ...limits }
    const bounds = { connectionsMax, messageMax: DATAGRAM_MAX, trust, isSealed: true }
    const listening = await listenStreams(door, streams.accept, bounds)
    try {
      streams.announce(listening, url ?? ownUrl(listening))
    } catch (error) {
      listening.close()
      throw error
    }
    return streams
  }
}

// A wildcard is no address to dial.
function ownUrl({ url }: Listening): string {
  if (url === null) {
    throw badValue('listen.server does not listen yet: start it first, or give listen.url')
  }
  const [host] = ['0.0.0.0', '::'].flatMap(ownHosts)
  return host ? url.replace(/^(wss?:\/\/)(?:0\.0\.0\.0|\[::\]):/, `$1${bracketed(host)}:`) : url
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Checks the address that a member announces. @throws HoldfastError `bad-value` */
export function checkUrl(what: string, url: string): string {
  if (typeof url !== 'string' || readStreamAddress(url) === null) {
    const form = 'ws://host:port/path or wss://host/path, in lower case, without a query'
    throw badValue(`${what} is ${form}: ${JSON.stringify(url)}`)
  }
  if (url.length <= ADDRESS_MAX) return url
  throw badValue(`${what} has at most ${ADDRESS_MAX} bytes: ${url} has ${url.length}`)
}

interface Accepted {
  stream: Stream
  place: string
  usedAt: Millis
}

export class AcceptedStreams implements Datagrams {
  addresses: readonly string[] = []
  readonly counters = {
    ...UNCOUNTED,
    /** Streams refused because as many were open from the same place. */
    crowded: 0,
    /** Streams closed because nothing was sent there. */
    idle: 0,
  }
  readonly #events: DatagramEvents
  readonly #limits: DoorLimits
  readonly #streams = new Map<string, Accepted>()
  readonly #places = new Map<string, number>()
  readonly #sweeping: NodeJS.Timeout
  #listening: Listening | null = null
  #count = 0

  constructor(events: DatagramEvents, limits: DoorLimits) {
    this.#events = events
    this.#limits = limits
    this.#sweeping = setInterval(() => this.#sweep(), limits.idleMs / 3).unref()
  }

  announce(listening: Listening, url: string): void {
    this.#listening = listening
    this.addresses = [checkUrl('the address of listen', url)]
  }

  readonly accept = (stream: Stream, { remote }: Opening): StreamEvents => {
    const address = accepted(++this.#count)
    const place = placeOf(remote)
    const here = this.#places.get(place) ?? 0
    if (here >= this.#limits.streamsPerPlaceMax) {
      this.counters.crowded += 1
      return { opened: () => stream.close(CROWDED), message: () => {}, closed: () => {} }
    }
    this.#places.set(place, here + 1)
    this.#streams.set(address, { stream, place, usedAt: performance.now() })
    return {
      opened: () => {},
      message: (bytes) => this.#message(address, bytes),
      closed: () => this.#forget(address),
    }
  }

  reaches(address: string): boolean {
    return this.#streams.has(address)
  }

  send(to: string, bytes: Uint8Array): void {
    const { counters } = this
    const found = this.#streams.get(to)
    if (!found) {
      counters.unreachable += 1
    } else if (bytes.length > DATAGRAM_MAX) {
      counters.oversize += 1
    } else if (found.stream.backlog() > RELAY_BACKLOG_MAX || !found.stream.send(bytes)) {
      counters.congested += 1
    } else {
      counters.sent += 1
      found.usedAt = performance.now()
    }
  }

  close(): void {
    clearInterval(this.#sweeping)
    this.#streams.clear()
    this.#listening?.close()
  }

  #message(address: string, bytes: Uint8Array): void {
    if (!this.#streams.has(address)) return
    this.counters.received += 1
    if (bytes.length > 0) this.#events.datagram(address, bytes)
  }

  #forget(address: string): void {
    const found = this.#streams.get(address)
    if (!found) return
    const { place } = found
    this.#streams.delete(address)
    const left = this.#places.get(place)! - 1
    if (left > 0) this.#places.set(place, left)
    else this.#places.delete(place)
  }

  #sweep(): void {
    const before = performance.now() - this.#limits.idleMs
    for (const [address, { stream, usedAt }] of this.#streams) {
      if (usedAt > before) continue
      this.counters.idle += 1
      this.#forget(address)
      stream.close()
    }
  }
}
