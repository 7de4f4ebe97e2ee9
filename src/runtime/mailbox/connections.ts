/** The connections of a mailbox: dialled anew for ever, accepted, one at a time for each peer. */

import type { Millis } from '../../machine.ts'
import { greet, hearGreeting } from '../../mailbox/greeting.ts'
import type { Accepts, Greeted, Greeter, Self } from '../../mailbox/greeting.ts'
import { greetingLayout, NONCE_BYTES } from '../../mailbox/messages.ts'
import { decode, encode } from '../../wire/layout.ts'
import type { Alarm, Connect, Loop, Stream, StreamEvents } from '../../ports.ts'

/** The first wait after a connection failed; doubled each time. */
const BACKOFF_MS: Millis = 50
/** And at most. */
const BACKOFF_MAX_MS: Millis = 5_000

/** How often all lines are looked at. */
const CHECK_MS: Millis = 2_500
/** After such a silence the other side is asked whether it is there. */
const QUIET_MS: Millis = 5_000
/** And after such a one it is not. */
const DEAD_MS: Millis = 15_000
/** Who was accepted says who it is within this time. */
const GREETING_MS: Millis = 10_000
/** Accepted streams that have not said so yet. */
const UNGREETED_MAX = 256
/** A connection that stood so long was a good one. */
const GOOD_MS: Millis = 30_000

/** A way to a peer that is no URL, such as a session. */
export type Way = (events: StreamEvents, peer: string) => Stream

/** What lines need of their mailbox. */
export interface LineEvents {
  accepts: Accepts
  connected(peer: string): void
  message(peer: string, bytes: Uint8Array): void
  /** @param why a sentence */
  disconnected(peer: string, why: string): void
  /** A connection could not be made, or was refused. */
  failed(peer: string | null, why: string): void
}

/** A stream, and how far it is. */
interface Line {
  stream: Stream
  greeter: Greeter
  /** Whoever dialled it. */
  dialler: string
  peer: string | null
  /** When it began, and when anything came over it. */
  since: Millis
  heardAt: Millis
}

/** A peer that is dialled. */
interface Dialling {
  way: Way
  wait: Millis
  alarm: Alarm
  line: Line | null
}

const ALIVE = encode(greetingLayout, { kind: 'alive', wanted: true })
const HERE = encode(greetingLayout, { kind: 'alive', wanted: false })

/** All connections of one mailbox. */
export class Connections {
  readonly #self: Self
  readonly #loop: Loop
  readonly #connect: Connect
  readonly #events: LineEvents
  readonly #open = new Map<string, Line>()
  readonly #all = new Set<Line>()
  readonly #dialled = new Map<string, Dialling>()
  readonly #check: Alarm
  #closed = false

  constructor(self: Self, loop: Loop, connect: Connect, events: LineEvents) {
    this.#self = self
    this.#loop = loop
    this.#connect = connect
    this.#events = events
    this.#check = loop.alarm(() => this.#checkAll())
  }

  /** Keeps a connection to a peer, for ever (S4, S10). */
  dial(peer: string, by: string | Way): void {
    const way = typeof by === 'string' ? (to: StreamEvents) => this.#connect(by, to) : by
    this.#dialled.get(peer)?.alarm.cancel()
    const alarm = this.#loop.alarm(() => this.#try(peer))
    this.#dialled.set(peer, { way, wait: BACKOFF_MS, alarm, line: null })
    this.#try(peer)
  }

  /** Takes a stream that somebody opened. */
  accept(stream: Stream): StreamEvents {
    const { greeter } = greet(this.#self, this.#loop.random(NONCE_BYTES), null)
    const now = this.#loop.now()
    const line: Line = { stream, greeter, dialler: '', peer: null, since: now, heardAt: now }
    const waiting = [...this.#all].filter(({ peer, dialler }) => peer === null && dialler === '')
    // The oldest has had the most time to say who it is.
    if (waiting.length >= UNGREETED_MAX) this.#drop(waiting[0]!, 'too many have not greeted yet')
    return this.#listen(line, [])
  }

  /** @returns false if that peer cannot be reached now */
  send(peer: string, bytes: Uint8Array): boolean {
    const line = this.#open.get(peer)
    if (!line) return false
    if (line.stream.send(bytes)) return true
    this.#drop(line, 'its connection takes no more')
    return false
  }

  /** Whether a connection to that peer stands. */
  has(peer: string): boolean {
    return this.#open.has(peer)
  }

  /** Ends the connection to one peer; who is dialled is dialled again. */
  hangUp(peer: string, why: string): void {
    const line = this.#open.get(peer)
    if (line) this.#drop(line, why)
  }

  /** Letters went to or from that peer: what is dialled next is dialled at once. */
  progress(peer: string): void {
    const dialling = this.#dialled.get(peer)
    if (dialling) dialling.wait = BACKOFF_MS
  }

  /** Ends all connections. */
  hangUpAll(why: string): void {
    for (const line of [...this.#all]) this.#drop(line, why)
  }

  close(): void {
    this.#closed = true
    this.#check.cancel()
    for (const { alarm } of this.#dialled.values()) alarm.cancel()
    for (const line of this.#all) line.stream.close()
    this.#all.clear()
    this.#open.clear()
  }

  #try(peer: string): void {
    const dialling = this.#dialled.get(peer)!
    if (this.#closed || dialling.line || this.#open.has(peer)) return
    const { greeter, first } = greet(this.#self, this.#loop.random(NONCE_BYTES), peer)
    const now = this.#loop.now()
    const dialler = this.#self.id
    const line: Line = { stream: null!, greeter, dialler, peer: null, since: now, heardAt: now }
    dialling.line = line
    line.stream = dialling.way(this.#listen(line, first), peer)
  }

  #listen(line: Line, first: readonly Uint8Array[]): StreamEvents {
    if (this.#all.size === 0) this.#check.set(this.#loop.now() + CHECK_MS)
    this.#all.add(line)
    return {
      opened: () => {
        for (const bytes of first) line.stream.send(bytes)
      },
      message: (bytes) => {
        if (!this.#all.has(line)) return
        line.heardAt = this.#loop.now()
        if (line.peer === null) this.#greeted(line, bytes)
        else if (bytes[0] === ALIVE[0]) this.#alive(line, bytes)
        else this.#events.message(line.peer, bytes)
      },
      closed: (why) => this.#gone(line, why),
    }
  }

  #alive(line: Line, bytes: Uint8Array): void {
    const message = decode(greetingLayout, bytes)
    if (message?.kind === 'alive' && message.wanted) line.stream.send(HERE)
  }

  /** A line that broke without a word, or never begins, is found by its silence. */
  #checkAll(): void {
    const now = this.#loop.now()
    for (const line of [...this.#all]) {
      const silence = now - line.heardAt
      if (line.peer === null) {
        if (now - line.since > GREETING_MS) this.#drop(line, 'it did not greet in time')
      } else if (silence > DEAD_MS) this.#drop(line, 'nothing came from it for 15 seconds')
      else if (silence > QUIET_MS) line.stream.send(ALIVE)
      if (line.peer !== null && now - line.since > GOOD_MS) this.progress(line.peer)
    }
    if (this.#all.size > 0) this.#check.set(now + CHECK_MS)
  }

  #greeted(line: Line, bytes: Uint8Array): void {
    const accepts: Accepts = (id) => this.#welcome(line, id) ?? this.#events.accepts(id)
    const greeted = hearGreeting(line.greeter, bytes, accepts)
    this.#answer(line, greeted)
    if (greeted.known !== null) this.#take(line, greeted.known)
  }

  #answer(line: Line, { answers, refused }: Greeted): void {
    for (const bytes of answers) line.stream.send(bytes)
    if (refused === null) return
    line.stream.close()
    this.#gone(line, refused)
  }

  #welcome(line: Line, id: string): string | null {
    if (line.dialler === '') line.dialler = id
    const known = this.#open.get(id)
    // Where both dial each other, both must keep the same one of two.
    const first = id < this.#self.id ? id : this.#self.id
    if (known && known.dialler === first && line.dialler !== first) {
      return 'another connection of these two stands'
    }
    return null
  }

  #take(line: Line, peer: string): void {
    const older = this.#open.get(peer)
    if (older) this.#drop(older, 'a newer connection came')
    line.peer = peer
    this.#open.set(peer, line)
    line.since = this.#loop.now()
    this.#events.connected(peer)
  }

  #drop(line: Line, why: string): void {
    line.stream.close()
    this.#gone(line, why)
  }

  #gone(line: Line, why: string): void {
    if (!this.#all.delete(line) || this.#closed) return
    const { peer } = line
    const wasOpen = peer !== null && this.#open.get(peer) === line
    if (wasOpen) this.#open.delete(peer)
    if (wasOpen) this.#events.disconnected(peer, why)
    else this.#events.failed(line.greeter.whom ?? line.greeter.other?.id ?? null, why)
    this.#again(line)
  }

  #again(line: Line): void {
    for (const [peer, dialling] of this.#dialled) {
      const isTheirs = dialling.line === line || line.peer === peer
      if (!isTheirs) continue
      if (dialling.line === line) dialling.line = null
      // A part of chance, or all whom one process served would come back at once.
      const wait = dialling.wait * (0.5 + this.#loop.random(1)[0]! / 510)
      dialling.wait = Math.min(BACKOFF_MAX_MS, dialling.wait * 2)
      dialling.alarm.set(this.#loop.now() + wait)
    }
  }
}
