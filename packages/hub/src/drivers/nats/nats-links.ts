/**
 * Streams between hubs over NATS: each hub hears one subject, which has its name.
 *
 * NATS delivers the messages of one connection in order, and loses some if a server or a
 * connection fails. So messages are numbered, and the sender repeats lost ones. NATS also queues
 * messages for a slow receiver without a limit. So the receiver acknowledges what it has read, and
 * the sender limits what waits.
 */

import type { Msg, NatsConnection, RequestError, Subscription } from '@nats-io/transport-node'
import type { Millis } from '../../../../holdfast/src/machine.ts'
import {
  type Alarm,
  type HubLinks,
  type Loop,
  STREAM_BACKLOG_MAX,
  STREAM_MESSAGE_MAX,
  type Stream,
  type StreamEvents,
} from '../../../../holdfast/src/ports.ts'
import {
  blob,
  decode,
  encode,
  flag,
  record,
  u32,
  type ValueOf,
  varint,
  word,
} from '../../../../holdfast/src/wire/layout.ts'

/** How often each end says that it is there. */
const BEAT_MS: Millis = 250
/** A hub that nobody hears for this long is gone: while it reconnects NATS does not know it. */
const UNHEARD_MS: Millis = 150
/** A stream whose other end is silent for this long ends. */
const SILENT_MS: Millis = 3_000
/** A receiver says how much it has read after so many bytes. */
const READ_BYTES: number = 8 * 1024
/** A receiver asks for lost messages at most this often. */
const AGAIN_MS: Millis = 100
/** So many bytes are taken to be on their way, and not to wait. */
const FLIGHT_BYTES: number = 128 * 1024
/** Room for the fields of Passing's messages. */
const FRAME_MAX: number = STREAM_MESSAGE_MAX + 128

const frame = record({
  kind: word(['open', 'data', 'beat', 'again', 'close']),
  from: u32,
  link: varint,
  /** Whether the hub that opened the stream sends it. */
  isOpener: flag,
  /** The number of this message, or of the last one, and of the last one read. */
  count: varint,
  read: varint,
  bytes: blob(FRAME_MAX),
})
type Frame = ValueOf<typeof frame>

interface Link {
  readonly to: number
  readonly link: number
  readonly isOpener: boolean
  events: StreamEvents
  isOpen: boolean
  sent: number
  /** The newest sent messages: those that the other end has not read. */
  unread: Uint8Array[]
  unreadBytes: number
  got: number
  /** Bytes received since the other end was told. */
  untoldBytes: number
  heardAt: Millis
  /** When lost messages were asked for. */
  askedAt: Millis
  /** Since when NATS says that nobody hears the other hub's subject. */
  unheardSince: Millis
}

const NOTHING: Uint8Array = new Uint8Array(0)

export class NatsLinks implements HubLinks {
  readonly #nats: NatsConnection
  readonly #loop: Loop
  readonly #subject: string
  readonly #links = new Map<string, Link>()
  readonly #alarm: Alarm
  #boot = 0
  #accept: ((stream: Stream) => StreamEvents) | null = null
  #hears: Subscription | null = null
  #count = 0

  /** @param subject  what the subjects of all hubs begin with */
  constructor(nats: NatsConnection, loop: Loop, subject: string) {
    this.#nats = nats
    this.#loop = loop
    this.#subject = subject
    this.#alarm = loop.alarm(() => this.#beat())
  }

  listen(boot: number, accept: (stream: Stream) => StreamEvents): void {
    this.close()
    this.#boot = boot
    this.#accept = accept
    this.#hears = this.#nats.subscribe(`${this.#subject}.${boot}`, {
      callback: (error, message) => {
        if (!error) this.#receive(message)
      },
    })
    this.#alarm.set(this.#loop.now() + BEAT_MS)
  }

  open(boot: number, events: StreamEvents): Stream {
    const link = this.#add(boot, ++this.#count, true, events)
    this.#ask(link)
    return this.#streamOf(link)
  }

  /** Ends all streams, and hears nothing more. */
  close(): void {
    this.#alarm.cancel()
    this.#hears?.unsubscribe()
    this.#hears = null
    for (const link of [...this.#links.values()]) {
      this.#send(link, 'close')
      this.#end(link, 'this hub ended it')
    }
  }

  #add(to: number, link: number, isOpener: boolean, events: StreamEvents): Link {
    const added: Link = {
      ...{ to, link, isOpener, events, isOpen: false, sent: 0, unread: [], unreadBytes: 0 },
      ...{ got: 0, untoldBytes: 0, heardAt: this.#loop.now(), askedAt: -Infinity },
      unheardSince: Infinity,
    }
    this.#links.set(nameOf(added), added)
    return added
  }

  #streamOf(link: Link): Stream {
    return {
      send: (bytes) => {
        if (bytes.length > FRAME_MAX) throw new RangeError(`too long for a link: ${bytes.length}`)
        if (!link.isOpen || link.unreadBytes + bytes.length > STREAM_BACKLOG_MAX) return false
        link.sent++
        link.unread.push(bytes)
        link.unreadBytes += bytes.length
        return this.#send(link, 'data', bytes)
      },
      backlog: () => Math.max(0, link.unreadBytes - FLIGHT_BYTES),
      close: () => {
        if (this.#links.get(nameOf(link)) !== link) return
        this.#links.delete(nameOf(link))
        link.isOpen = false
        this.#send(link, 'close')
      },
    }
  }

  #frame(own: Link, kind: Frame['kind'], bytes = NOTHING, count = own.sent): Uint8Array {
    const { link, isOpener, got: read } = own
    return encode(frame, { kind, from: this.#boot, link, isOpener, count, read, bytes })
  }

  // @returns false if NATS is not reached any more
  #send(link: Link, kind: Frame['kind'], bytes?: Uint8Array, count?: number): boolean {
    link.untoldBytes = 0
    try {
      this.#nats.publish(`${this.#subject}.${link.to}`, this.#frame(link, kind, bytes, count))
      return true
    } catch {
      return false
    }
  }

  // If nobody hears a request, NATS says so at once.
  #ask(link: Link): void {
    const kind = link.isOpen ? 'beat' : 'open'
    const subject = `${this.#subject}.${link.to}`
    const asked = this.#nats.request(subject, this.#frame(link, kind), { timeout: SILENT_MS })
    asked.then(
      () => {
        link.unheardSince = Infinity
        this.#opened(link)
      },
      (error: unknown) => isUnheard(error) && this.#unheard(link),
    )
  }

  #unheard(link: Link): void {
    const now = this.#loop.now()
    link.unheardSince = Math.min(link.unheardSince, now)
    if (now - link.unheardSince >= UNHEARD_MS) this.#end(link, 'no hub of that name answers')
  }

  #receive(message: Msg): void {
    const read = decode(frame, message.data)
    if (!read || !this.#accept) return
    const { kind, from, link: number, isOpener, bytes } = read
    const name = nameOf({ to: from, link: number, isOpener: !isOpener })
    if (kind === 'open' || kind === 'beat') message.respond()
    if (kind === 'open') {
      if (!isOpener || this.#links.has(name)) return
      const link = this.#add(from, number, false, NO_EVENTS)
      link.isOpen = true
      link.events = this.#accept(this.#streamOf(link))
      link.events.opened()
      return
    }
    const link = this.#links.get(name)
    if (!link) return
    link.heardAt = this.#loop.now()
    hasRead(link, read.read)
    this.#opened(link)
    if (kind === 'close') return this.#end(link, 'the other hub ended it')
    if (kind === 'again') return this.#sendAgain(link)
    const isNext = kind === 'data' && read.count === link.got + 1
    if (!isNext) {
      if (read.count > link.got) this.#askAgain(link)
      return
    }
    link.got++
    link.untoldBytes += bytes.length
    link.events.message(bytes)
    const isOld = link.untoldBytes >= READ_BYTES
    if (isOld && this.#links.get(name) === link) this.#send(link, 'beat')
  }

  #askAgain(link: Link): void {
    const now = this.#loop.now()
    if (now - link.askedAt < AGAIN_MS) return
    link.askedAt = now
    this.#send(link, 'again')
  }

  #sendAgain(link: Link): void {
    const first = link.sent - link.unread.length + 1
    for (const [at, bytes] of link.unread.entries()) this.#send(link, 'data', bytes, first + at)
  }

  #opened(link: Link): void {
    if (link.isOpen || this.#links.get(nameOf(link)) !== link) return
    link.isOpen = true
    link.events.opened()
  }

  #end(link: Link, why: string): void {
    if (this.#links.get(nameOf(link)) !== link) return
    this.#links.delete(nameOf(link))
    link.isOpen = false
    link.events.closed(why)
  }

  #beat(): void {
    const now = this.#loop.now()
    for (const link of this.#links.values()) {
      if (now - link.heardAt > SILENT_MS) {
        this.#send(link, 'close')
        this.#end(link, 'the other hub was silent')
      } else if (link.isOpen || link.isOpener) this.#ask(link)
    }
    this.#alarm.set(now + BEAT_MS)
  }
}

function isUnheard(error: unknown): boolean {
  return (error as Partial<RequestError>).isNoResponders?.() === true
}

const NO_EVENTS: StreamEvents = { opened: () => {}, message: () => {}, closed: () => {} }

// The other end has read all messages up to that one.
function hasRead(link: Link, last: number): void {
  const count = last - (link.sent - link.unread.length)
  if (count <= 0) return
  for (const bytes of link.unread.splice(0, count)) link.unreadBytes -= bytes.length
}

function nameOf({ to, link, isOpener }: Pick<Link, 'to' | 'link' | 'isOpener'>): string {
  return `${isOpener ? 'to' : 'from'} ${to} ${link}`
}
