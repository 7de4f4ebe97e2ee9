/**
 * Datagrams and streams between parties in one process, for tests and for play on one machine.
 *
 * Nothing arrives within the call that sent it: everything waits in a queue that an alarm of the
 * loop empties. The queue is bounded for datagrams, as any network's is; a stream has its backlog
 * limit. There is no loss and no reordering: the conditioner adds those.
 */

import { assert } from '../../machine.ts'
import { DATAGRAM_MAX, STREAM_BACKLOG_MAX } from '../../ports.ts'
import type { Accept, Connect, DatagramEvents, Datagrams, Loop } from '../../ports.ts'
import type { Stream, StreamEvents } from '../../ports.ts'
import { checkMessage } from './websocket.ts'

/** Where all streams come from. */
const LOOPBACK = '127.0.0.1'

/** Datagrams that may wait for the next turn of the loop. */
export const MEMORY_QUEUE_MAX = 4096

/** Counts of datagrams in one network since it was made. */
export interface MemoryCounters {
  sent: number
  received: number
  /** Larger than DATAGRAM_MAX: dropped. */
  oversize: number
  /** Dropped because MEMORY_QUEUE_MAX waited already. */
  congested: number
  /** Nobody has that address, or it is not one of this network. */
  unreachable: number
}

/** A network within one process. */
export interface MemoryNetwork {
  readonly counters: Readonly<MemoryCounters>
  /** Opens a new address for datagrams: `memory:1` and so on. */
  openDatagrams(events: DatagramEvents): Promise<Datagrams>
  /** Connects to a listener at the same URL. */
  readonly connect: Connect
  /** Accepts streams at a URL. @returns a function that stops accepting; open streams stay */
  listen(url: string, accept: Accept): () => void
}

/** A network whose traffic moves when the loop's alarm goes off. */
export function createMemoryNetwork(loop: Loop): MemoryNetwork {
  return new Network(loop)
}

class Network implements MemoryNetwork {
  readonly counters: MemoryCounters = {
    sent: 0,
    received: 0,
    oversize: 0,
    congested: 0,
    unreachable: 0,
  }
  readonly places = new Map<string, DatagramEvents>()
  readonly #offers = new Map<string, Accept>()
  readonly #line: Line
  #datagrams = 0
  #lastPlace = 0

  constructor(loop: Loop) {
    this.#line = new Line(loop)
  }

  openDatagrams(events: DatagramEvents): Promise<Datagrams> {
    this.#lastPlace += 1
    const address = `memory:${this.#lastPlace}`
    this.places.set(address, events)
    return Promise.resolve(new Place(this, address))
  }

  carry(from: string, to: string, bytes: Uint8Array): void {
    if (!this.places.has(from) || !to.startsWith('memory:')) {
      this.counters.unreachable += 1
    } else if (bytes.length > DATAGRAM_MAX) {
      this.counters.oversize += 1
    } else if (this.#datagrams >= MEMORY_QUEUE_MAX) {
      this.counters.congested += 1
    } else {
      this.counters.sent += 1
      this.#datagrams += 1
      const copy = bytes.slice()
      this.#line.add(() => this.#arrive(from, to, copy))
    }
  }

  #arrive(from: string, to: string, bytes: Uint8Array): void {
    this.#datagrams -= 1
    const target = this.places.get(to)
    if (target === undefined) {
      this.counters.unreachable += 1
      this.places.get(from)?.refused(to)
    } else {
      this.counters.received += 1
      target.datagram(from, bytes)
    }
  }

  connect: Connect = (url, events) => {
    const near = new End(this.#line)
    near.events = events
    this.#line.add(() => {
      const accept = this.#offers.get(url)
      if (near.closed) return
      if (accept === undefined) return near.ended(`nobody listens at ${url}`)
      const far = new End(this.#line)
      join(near, far)
      far.events = accept(far, { remote: LOOPBACK })
      if (!far.closed) far.events.opened()
      near.opened()
    })
    return near
  }

  listen(url: string, accept: Accept): () => void {
    assert(!this.#offers.has(url), `one listener for ${url}`)
    this.#offers.set(url, accept)
    return () => {
      this.#offers.delete(url)
    }
  }
}

/** Deliveries for the next turn. One that is added while they run waits for the turn after. */
class Line {
  #waiting: (() => void)[] = []
  readonly #loop: Loop
  readonly #alarm: { set(at: number): void }

  constructor(loop: Loop) {
    this.#loop = loop
    this.#alarm = loop.alarm(() => {
      const moving = this.#waiting
      this.#waiting = []
      for (const step of moving) step()
    })
  }

  add(step: () => void): void {
    if (this.#waiting.length === 0) this.#alarm.set(this.#loop.now())
    this.#waiting.push(step)
  }
}

class Place implements Datagrams {
  readonly addresses: readonly string[]
  readonly #network: Network
  readonly #address: string

  constructor(network: Network, address: string) {
    this.#network = network
    this.#address = address
    this.addresses = [address]
  }

  reaches(address: string): boolean {
    return /^memory:[1-9][0-9]{0,9}$/.test(address)
  }

  send(to: string, bytes: Uint8Array): void {
    this.#network.carry(this.#address, to, bytes)
  }

  close(): void {
    this.#network.places.delete(this.#address)
  }
}

/** One end of a stream. */
class End implements Stream {
  closed = false
  events: StreamEvents | null = null
  far: End | null = null
  readonly #line: Line
  #waiting = 0

  constructor(line: Line) {
    this.#line = line
  }

  send(bytes: Uint8Array): boolean {
    const far = this.far
    checkMessage(bytes)
    if (this.closed || far === null || this.#waiting + bytes.length > STREAM_BACKLOG_MAX) {
      return false
    }
    const copy = bytes.slice()
    this.#waiting += copy.length
    this.#line.add(() => {
      this.#waiting -= copy.length
      if (!far.closed) far.events?.message(copy)
    })
    return true
  }

  backlog(): number {
    return this.closed ? 0 : this.#waiting
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    const far = this.far
    if (far !== null) this.#line.add(() => far.ended('the other side closed it'))
  }

  opened(): void {
    if (!this.closed) this.events?.opened()
  }

  ended(why: string): void {
    if (this.closed) return
    this.closed = true
    this.events?.closed(why)
  }
}

function join(near: End, far: End): void {
  near.far = far
  far.far = near
}
