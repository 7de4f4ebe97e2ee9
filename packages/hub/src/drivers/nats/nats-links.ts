/**
 * Streams between hubs over NATS: each hub hears one subject, which has its name.
 *
 * NATS delivers in order what one connection publishes, and loses it if a server or a connection
 * fails. So frames are numbered, and a stream that lost one ends. For a slow receiver NATS queues
 * without a limit. So each end tells how much it has read, and the other limits what waits.
 */

import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
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
const BEAT_MS: Millis = 500
/** A stream whose other end is silent for this long ends. */
const SILENT_MS: Millis = 3_000
/** A receiver says how much it has read after so many bytes. */
const READ_BYTES: number = 8 * 1024
/** Room for the fields of Passing's messages. */
const FRAME_MAX: number = STREAM_MESSAGE_MAX + 128

const frame = record({
  kind: word(['open', 'data', 'beat', 'close']),
  from: u32,
  link: varint,
  /** Whether the hub that opened the stream sends it. */
  isOpener: flag,
  /** The messages and bytes sent so far, and the bytes read. */
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
  sentBytes: number
  /** Of the sent bytes, those that the other end has read. */
  passedBytes: number
  got: number
  gotBytes: number
  /** Of the received bytes, those that the other end knows of. */
  toldBytes: number
  heardAt: Millis
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
    const opening = this.#frame(link, 'open')
    // Without a hub of that name NATS says so at once.
    const asked = this.#nats.request(`${this.#subject}.${boot}`, opening, { timeout: SILENT_MS })
    asked.then(
      () => this.#opened(link),
      () => this.#end(link, 'no hub of that name answers'),
    )
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
      ...{ to, link, isOpener, events, isOpen: false, sent: 0, sentBytes: 0, passedBytes: 0 },
      ...{ got: 0, gotBytes: 0, toldBytes: 0, heardAt: this.#loop.now() },
    }
    this.#links.set(nameOf(added), added)
    return added
  }

  #streamOf(link: Link): Stream {
    const backlog = (): number => link.sentBytes - link.passedBytes
    return {
      send: (bytes) => {
        if (bytes.length > FRAME_MAX) throw new RangeError(`too long for a link: ${bytes.length}`)
        if (!link.isOpen || backlog() + bytes.length > STREAM_BACKLOG_MAX) return false
        link.sent++
        link.sentBytes += bytes.length
        return this.#send(link, 'data', bytes)
      },
      backlog,
      close: () => {
        if (this.#links.get(nameOf(link)) !== link) return
        this.#links.delete(nameOf(link))
        link.isOpen = false
        this.#send(link, 'close')
      },
    }
  }

  #frame({ link, isOpener, ...own }: Link, kind: Frame['kind'], bytes = NOTHING): Uint8Array {
    const { sent: count, gotBytes: read } = own
    return encode(frame, { kind, from: this.#boot, link, isOpener, count, read, bytes })
  }

  // @returns false if NATS is not reached any more
  #send(link: Link, kind: Frame['kind'], bytes?: Uint8Array): boolean {
    link.toldBytes = link.gotBytes
    try {
      this.#nats.publish(`${this.#subject}.${link.to}`, this.#frame(link, kind, bytes))
      return true
    } catch {
      return false
    }
  }

  #receive(message: Msg): void {
    const read = decode(frame, message.data)
    if (!read || !this.#accept) return
    const { kind, from, link: number, isOpener, bytes } = read
    const name = nameOf({ to: from, link: number, isOpener: !isOpener })
    if (kind === 'open') {
      if (!isOpener || this.#links.has(name)) return
      const link = this.#add(from, number, false, NO_EVENTS)
      link.isOpen = true
      link.events = this.#accept(this.#streamOf(link))
      link.events.opened()
      message.respond()
      return
    }
    const link = this.#links.get(name)
    if (!link) return
    link.heardAt = this.#loop.now()
    link.passedBytes = Math.max(link.passedBytes, Math.min(read.read, link.sentBytes))
    this.#opened(link)
    if (kind === 'close') return this.#end(link, 'the other hub ended it')
    if (kind === 'data') link.got++
    if (read.count !== link.got) {
      this.#send(link, 'close')
      return this.#end(link, 'a message was lost')
    }
    if (kind === 'beat') return
    link.gotBytes += bytes.length
    link.events.message(bytes)
    const isOld = link.gotBytes - link.toldBytes >= READ_BYTES
    if (isOld && this.#links.get(name) === link) this.#send(link, 'beat')
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
      } else if (link.isOpen) this.#send(link, 'beat')
    }
    this.#alarm.set(now + BEAT_MS)
  }
}

const NO_EVENTS: StreamEvents = { opened: () => {}, message: () => {}, closed: () => {} }

function nameOf({ to, link, isOpener }: Pick<Link, 'to' | 'link' | 'isOpener'>): string {
  return `${isOpener ? 'to' : 'from'} ${to} ${link}`
}
