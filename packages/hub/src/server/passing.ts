/**
 * The streams between hubs of a shared store: one from each hub to each other one that it passes
 * processes' streams to, with all of those in it.
 */

import {
  type Accept,
  type Closing,
  CLOSING_MAX,
  type HubLinks,
  STREAM_BACKLOG_MAX,
  STREAM_MESSAGE_MAX,
  type Stream,
  type StreamEvents,
} from '../../../holdfast/src/ports.ts'
import {
  blob,
  decode,
  encode,
  message,
  record,
  text,
  type ValueOf,
  varint,
  word,
} from '../../../holdfast/src/wire/layout.ts'
import { readFrame } from '../../../holdfast/src/wire/relay.ts'
import * as relayQueue from '../machine/relay-queue.ts'

const stream = varint
const said = record({ stream, bytes: blob(STREAM_MESSAGE_MAX) })
/** From the hub that a process came to, to the hub that has its stream. */
const up = message({
  /** The address from which the process came. */
  open: [1, record({ stream, remote: text(64) })],
  said: [2, said],
  closed: [3, record({ stream })],
})
const down = message({
  said: [1, said],
  closed: [2, record({ stream, as: word(['refused', 'full', 'again']), why: text(CLOSING_MAX) })],
})
type Up = ValueOf<typeof up>
type Down = ValueOf<typeof down>

/** What becomes of streams that were passed on. */
export interface PassingEvents {
  /** The other hub says something to that stream. */
  said(connection: number, bytes: Uint8Array): void
  /** It ended the stream; without a closing it is not reached. */
  ended(connection: number, closing?: Closing): void
  /** A stream to another hub failed. */
  failed(hub: number): void
}

/** Longest message to a process that a link carries: only a forged datagram is longer. */
const PASSED_MAX: number = STREAM_MESSAGE_MAX - 16
/** With more bytes than these waiting in a link, a stream that sends a message through it ends. */
const BEHIND: number = STREAM_BACKLOG_MAX / 2
/** Most messages that wait for a stream to open. */
const WAITING_MAX = 4_096

interface Link {
  readonly stream: Stream
  /** What is sent once the stream is open; null then. */
  waiting: Up[] | null
  /** The streams in it, by numbers that are never used again. */
  readonly passed: Map<number, number>
  readonly queue: relayQueue.RelayQueue
}

export class Passing {
  readonly #links: HubLinks
  readonly #accept: Accept
  readonly #events: PassingEvents
  readonly #open = new Map<number, Link>()
  /** The hub to which each stream is passed, and its number in that link. */
  readonly #passed = new Map<number, { to: number; stream: number }>()
  #count = 0

  /** @param accept  takes the streams that other hubs pass to this one */
  constructor(links: HubLinks, accept: Accept, events: PassingEvents) {
    this.#links = links
    this.#accept = accept
    this.#events = events
  }

  listen(boot: number): void {
    this.#links.listen(boot, (link) => this.#guests(link))
  }

  /** Passes bytes of a process's stream to another hub. Datagrams are lost if it is behind. */
  pass(connection: number, remote: string, to: number, bytes: Uint8Array): void {
    const link = this.#open.get(to) ?? this.#dial(to)
    const isDatagram = readFrame(bytes)?.kind !== 'message'
    if (isDatagram && !this.#hasRoom(link, connection, bytes)) return
    // One that sends more than the link takes must not end all others in it.
    if (!isDatagram && link.stream.backlog() > BEHIND) return this.#endOne(connection)
    const stream = this.#passed.get(connection)?.stream ?? ++this.#count
    if (!this.#passed.has(connection)) {
      link.passed.set(stream, connection)
      this.#passed.set(connection, { to, stream })
      this.#send(to, link, { kind: 'open', stream, remote })
    }
    this.#send(to, link, { kind: 'said', stream, bytes })
  }

  #endOne(connection: number): void {
    this.stop(connection)
    this.#events.ended(connection, LEAVES)
  }

  #hasRoom({ stream, waiting, queue }: Link, connection: number, { length }: Uint8Array): boolean {
    return !waiting && relayQueue.admit(queue, stream.backlog(), String(connection), length)
  }

  /** The stream of a process ended, or is this hub's own again. */
  stop(connection: number): void {
    const { to = 0, stream = 0 } = this.#passed.get(connection) ?? {}
    const link = this.#open.get(to)
    if (!link) return
    this.#forget(link, connection)
    this.#send(to, link, { kind: 'closed', stream })
  }

  #dial(to: number): Link {
    const stream = this.#links.open(to, {
      opened: () => this.#flush(to),
      message: (bytes) => this.#receive(to, decode(down, bytes)),
      closed: () => {
        this.#end(to)
        this.#events.failed(to)
      },
    })
    const link: Link = { stream, waiting: [], passed: new Map(), queue: relayQueue.create() }
    this.#open.set(to, link)
    return link
  }

  #flush(to: number): void {
    const link = this.#open.get(to)
    const waiting = link?.waiting ?? []
    if (link) link.waiting = null
    for (const message of waiting) this.#send(to, link!, message)
  }

  // A stream that is closed or full cannot be trusted to have delivered the rest.
  #send(to: number, link: Link, message: Up): void {
    if (link.waiting && link.waiting.length < WAITING_MAX) return void link.waiting.push(message)
    if (link.stream.send(encode(up, message))) return
    link.stream.close()
    this.#end(to)
  }

  #receive(to: number, message: Down | null): void {
    const link = this.#open.get(to)
    const connection = message && link?.passed.get(message.stream)
    if (!message || !link || connection === undefined || connection === null) return
    if (message.kind === 'said') return this.#events.said(connection, message.bytes)
    this.#forget(link, connection)
    this.#events.ended(connection, { kind: message.as, why: message.why })
  }

  #forget({ passed }: Link, connection: number): void {
    passed.delete(this.#passed.get(connection)?.stream ?? 0)
    this.#passed.delete(connection)
  }

  #end(to: number): void {
    const link = this.#open.get(to)
    if (!link) return
    this.#open.delete(to)
    for (const connection of [...link.passed.values()]) {
      this.#forget(link, connection)
      this.#events.ended(connection)
    }
  }

  // A link from another hub: each stream in it is one of a process.
  #guests(link: Stream): StreamEvents {
    const guests = new Map<number, StreamEvents>()
    const close = (stream: number): void => {
      const guest = guests.get(stream)
      guests.delete(stream)
      guest?.closed('it ended at the hub that passed it on')
    }
    const closeAll = (): void => {
      for (const stream of guests.keys()) close(stream)
    }
    const send = (message: Down): boolean => {
      if (link.send(encode(down, message))) return true
      link.close()
      closeAll()
      return false
    }
    const open = (stream: number, remote: string): void => {
      if (guests.has(stream)) return
      const guest: Stream = {
        send: (bytes) => bytes.length > PASSED_MAX || send({ kind: 'said', stream, bytes }),
        backlog: () => link.backlog(),
        close: ({ kind, why } = LEAVES) => {
          guests.delete(stream)
          send({ kind: 'closed', stream, as: kind, why })
        },
      }
      const events = this.#accept(guest, { remote })
      guests.set(stream, events)
      events.opened()
    }
    return {
      opened: () => {},
      message: (bytes) => {
        const message = decode(up, bytes)
        if (message?.kind === 'open') open(message.stream, message.remote)
        else if (message?.kind === 'said') guests.get(message.stream)?.message(message.bytes)
        else if (message) close(message.stream)
      },
      closed: closeAll,
    }
  }
}

const LEAVES: Closing = { kind: 'again', why: 'the hub of this room ended the stream: join again' }
