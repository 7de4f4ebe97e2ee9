/**
 * Datagrams through the hub, over a member's one stream to it.
 *
 * A stream delivers everything, in order, however late; a late datagram is worthless. So while more
 * than RELAY_BACKLOG_MAX bytes wait in the stream, datagrams are dropped and counted, as in a full
 * router: the link sees loss and slows down, and the next datagrams are fresh.
 */

import { DATAGRAM_MAX, type DatagramEvents, type Datagrams } from '../../ports.ts'
import { VARINT_MAX } from '../../wire/bytes.ts'
import { frameKnock, frameRelay } from '../../wire/relay.ts'

/** Most bytes that may wait in the hub's stream when a datagram is added. */
export const RELAY_BACKLOG_MAX: number = 64 * 1024

/** What every carrier of datagrams counts. */
export const UNCOUNTED = {
  sent: 0,
  received: 0,
  /** Larger than DATAGRAM_MAX, sent or received: dropped. */
  oversize: 0,
  /** Dropped because too much waited to leave. */
  congested: 0,
  /** Not sent: this carrier does not reach the address, or is closed. */
  unreachable: 0,
}

const NOTHING = new Uint8Array(0)

function numberOf(parsed: RegExpExecArray | null): number | null {
  const number = parsed ? Number(parsed[1]) : Infinity
  return number <= VARINT_MAX ? number : null
}

/** Frames a datagram for an address behind the hub; null for the hub itself, and all others. */
function frameFor(address: string, datagram: Uint8Array): Uint8Array | null {
  const peer = numberOf(/^relay:([1-9][0-9]{0,15})$/.exec(address))
  if (peer !== null) return frameRelay(peer, datagram)
  const caller = numberOf(/^knock:(0|[1-9][0-9]{0,15})$/.exec(address))
  return caller === null ? null : frameKnock(caller, datagram)
}

/** Datagrams to members connected to the same hub, and to processes that ask to join. */
export class Relay implements Datagrams {
  addresses: readonly string[] = []
  readonly counters = { ...UNCOUNTED }
  readonly #sendFrame: (frame: Uint8Array) => boolean
  readonly #backlog: () => number
  readonly #events: Pick<DatagramEvents, 'datagram'>
  #open = true

  constructor(
    sendFrame: (frame: Uint8Array) => boolean,
    backlog: () => number,
    events: Pick<DatagramEvents, 'datagram'>,
  ) {
    this.#sendFrame = sendFrame
    this.#backlog = backlog
    this.#events = events
  }

  reaches(address: string): boolean {
    return frameFor(address, NOTHING) !== null
  }

  send(to: string, bytes: Uint8Array): void {
    const frame = bytes.length > DATAGRAM_MAX ? NOTHING : frameFor(to, bytes)
    if (frame === null || !this.#open) {
      this.counters.unreachable += 1
    } else if (frame === NOTHING) {
      this.counters.oversize += 1
    } else if (this.#backlog() > RELAY_BACKLOG_MAX || !this.#sendFrame(frame)) {
      this.counters.congested += 1
    } else {
      this.counters.sent += 1
    }
  }

  close(): void {
    this.#open = false
  }

  /** The stream brought a datagram. The bytes are valid only during the call. */
  deliver(from: string, bytes: Uint8Array): void {
    if (!this.#open) return
    this.counters.received += 1
    if (bytes.length > DATAGRAM_MAX) this.counters.oversize += 1
    else this.#events.datagram(from, bytes)
  }
}
