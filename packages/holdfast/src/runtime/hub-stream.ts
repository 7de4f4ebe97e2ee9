/**
 * The stream to the hub, held open: it is dialled again whenever it closes, and given up when it is
 * silent, for a dead machine closes nothing. Until a hub has answered on it the address may be
 * wrong: what is found there instead is reported, and where a stream does not show that, the
 * address is looked up.
 *
 * Several addresses are tried in turn, the next whenever a stream closes; what is found instead of
 * a hub is reported once there is something at each.
 */

import type { Millis } from '../machine.ts'
import type { Alarm, Environment, Loop, Met, Stream } from '../ports.ts'
import { type ToHub, toHub } from '../hub-protocol/messages.ts'
import { BEACON_MAX, joinMessages } from '../wire/beacon.ts'
import { encode } from '../wire/layout.ts'
import { frameMessage, knocking, readFrame, relayed } from '../wire/relay.ts'

/** First and longest wait before dialling again. */
export const DIAL_MS: readonly [Millis, Millis] = [50, 1_000]
/** After so many tries the wait grows no more. */
const RETRIES_MAX = 10
/** After so long a silence the hub is pinged, */
export const QUIET_MS: Millis = 400
/** and where nothing comes within this, or twice the round trip, it is out of reach just now. */
export const PONG_MS: Millis = 500
// What the hub took to answer is forgotten by so much an answer.
const FADE = 63 / 64
/** The hub is pinged so often at least; and so often while it is out of reach. */
export const PING_MS: Millis = 2_000
/** After so long a silence the stream is given up. */
export const SILENT_MS: Millis = 7_000
/** Until a hub has answered, a stream that takes so long to open has the address examined. */
export const LOOK_MS: Millis = 1_000

/** With several addresses, one that does not open a stream in this is left for the next. */
export const NEXT_MS: Millis = 2_000

/** Browsers take a few bytes less than the hub of what is sent beside the stream. */
const BODY_MAX: number = BEACON_MAX - 4 * 1024

/** The receiver of the connection's events. */
export interface HubEvents {
  opened(): void
  closed(why: string): void
  /** This was found at the address, and no hub has answered there yet. */
  met(met: Met): void
  message(bytes: Uint8Array): void
  /** The hub does not answer on its stream, or (false) does again. */
  quiet(isQuiet: boolean): void
  /** A datagram from an address of the hub's. */
  relayed(from: string, bytes: Uint8Array): void
}

/** The connection to one hub, over all its streams. */
export class HubConnection {
  readonly #urls: readonly string[]
  readonly #place: Pick<Environment, 'connect' | 'look' | 'beacon'>
  readonly #loop: Loop
  readonly #events: HubEvents
  readonly #alarm: Alarm
  /** Which address is dialled, or answers. */
  #at = 0
  /** What was found at each since a hub answered last. */
  readonly #mets = new Map<string, Met>()
  #stream: Stream | null = null
  #open = false
  #ended = false
  #tries = 0
  #receivedAt: Millis = 0
  /** A hub has answered: the address is right, whatever happens. */
  #isHub = false
  /** The address at which a hub answered last. */
  #hubUrl = ''
  /** What is sent as this process ends. */
  #last: Uint8Array[] | null = null
  #looking = false
  #pings = 0
  /** Of the ping that nothing came since; null for none. */
  #pingedAt: Millis | null = null
  /** How long the hub took at most to be heard after a ping, or to open the stream. */
  #tookMs: Millis = 0
  #lastPing: Millis = 0
  #isQuiet = false

  constructor(
    urls: readonly string[],
    { loop, ...place }: Pick<Environment, 'connect' | 'look' | 'beacon' | 'loop'>,
    events: HubEvents,
  ) {
    this.#urls = urls
    this.#place = place
    this.#loop = loop
    this.#events = events
    this.#alarm = loop.alarm(() => this.#tick())
    this.#dial()
  }

  /** Sends one frame of wire/relay. @returns false if there is no stream or no room */
  send(frame: Uint8Array): boolean {
    this.#last?.push(frame)
    return this.#open && this.#stream !== null && this.#stream.send(frame)
  }

  /** This process ends: what is sent from now on is for `beacon`. @returns whether that can be */
  notes(): boolean {
    if (this.#place.beacon && this.#hubUrl !== '') this.#last = []
    return this.#last !== null
  }

  /**
   * Says what was sent since `notes` beside the stream too, if it is not too long. @param first  is
   * said before it
   */
  beacon(first: readonly ToHub[]): void {
    const opening = first.map((message) => frameMessage(encode(toHub, message)))
    const body = joinMessages([...opening, ...(this.#last ?? [])])
    if (body.length <= BODY_MAX) this.#place.beacon?.(this.#hubUrl, body)
  }

  /** Bytes that wait to be sent. */
  backlog(): number {
    return this.#stream?.backlog() ?? 0
  }

  /** Leaves this hub for the next address. @returns false if there is none */
  elsewhere(): boolean {
    const stream = this.#stream
    if (this.#urls.length === 1 || !stream) return false
    // Nothing more of it counts; but who calls this is in the middle of a message.
    this.#stream = null
    this.#open = false
    this.#loop.soon(() => {
      stream.close()
      if (this.#ended) return
      // Its answers make it a hub all the same: it is asked again once a second.
      this.#tries = RETRIES_MAX * this.#urls.length
      this.#closed('it is the hub of other sessions', undefined, true)
    })
    return true
  }

  get #url(): string {
    return this.#urls[this.#at]!
  }

  /** Closes the stream for good. */
  end(): void {
    this.#ended = true
    this.#alarm.cancel()
    this.#stream?.close()
    this.#stream = null
    this.#open = false
  }

  #dial(): void {
    this.#tries++
    this.#receivedAt = this.#loop.now()
    const stream = this.#place.connect(this.#url, {
      opened: () => this.#current(stream) && this.#opened(),
      message: (bytes) => this.#current(stream) && this.#message(bytes),
      closed: (why, met) => this.#current(stream) && this.#closed(why, met),
    })
    this.#stream = stream
    this.#alarm.set(this.#receivedAt + (this.#isHub ? SILENT_MS : LOOK_MS))
  }

  #current(stream: Stream): boolean {
    return !this.#ended && this.#stream === stream
  }

  #opened(): void {
    this.#open = true
    this.#tookMs = this.#loop.now() - this.#receivedAt
    this.#receivedAt = this.#loop.now()
    this.#pingedAt = null
    this.#isQuiet = false
    this.#alarm.set(this.#receivedAt + QUIET_MS)
    this.#events.opened()
  }

  #message(bytes: Uint8Array): void {
    this.#receivedAt = this.#loop.now()
    if (this.#pingedAt !== null) this.#answered()
    this.#isHub = true
    this.#hubUrl = this.#url
    this.#mets.clear()
    // Not earlier: a server that takes a stream and closes it at once must not be dialled twenty
    // times a second.
    this.#tries = 0
    const frame = readFrame(bytes)
    if (frame?.kind === 'message') this.#events.message(frame.bytes)
    else if (frame) {
      const { kind, peer } = frame
      const from = kind === 'relay' ? relayed(peer) : knocking(peer)
      this.#events.relayed(from, frame.bytes)
    }
  }

  #answered(): void {
    // Any message counts as the answer, and may come sooner than that.
    this.#tookMs = Math.max(this.#receivedAt - this.#pingedAt!, FADE * this.#tookMs)
    this.#pingedAt = null
    this.#alarm.set(this.#receivedAt + QUIET_MS)
    this.#setQuiet(false)
  }

  #setQuiet(isQuiet: boolean): void {
    if (isQuiet === this.#isQuiet) return
    this.#isQuiet = isQuiet
    this.#events.quiet(isQuiet)
  }

  #closed(why: string, met?: Met, wasOpen: boolean = this.#open): void {
    this.#open = false
    this.#stream = null
    const [first, longest] = DIAL_MS
    const rounds = Math.floor(this.#tries / this.#urls.length)
    const wait = Math.min(longest, first * 2 ** Math.min(rounds, RETRIES_MAX))
    this.#alarm.set(this.#loop.now() + wait)
    const url = this.#url
    this.#at = (this.#at + 1) % this.#urls.length
    if (wasOpen || this.#tries === 1) this.#events.closed(why)
    if (met) this.#meet(url, met)
    else this.#look(url)
  }

  // With several addresses no one of them is the reason.
  #meet(url: string, met: Met): void {
    if (this.#ended || this.#isHub) return
    this.#mets.set(url, met)
    if (this.#urls.length === 1) return this.#events.met(met)
    if (this.#mets.size < this.#urls.length) return
    const mets = this.#urls.map((one) => [one, this.#mets.get(one)!] as const)
    const kinds = mets.map(([, { kind }]) => kind)
    const kind = (['passing', 'wrong', 'denied'] as const).find((one) => kinds.includes(one))!
    this.#events.met({ kind, what: mets.map(([one, { what }]) => `${one}: ${what}`).join('; ') })
  }

  #look(url: string): void {
    const { look } = this.#place
    if (this.#ended || this.#isHub || this.#looking || !look) return
    this.#looking = true
    const seen = (met: Met | null): void => {
      this.#looking = false
      // A stream that has opened meanwhile is better evidence.
      if (met && !this.#open) this.#meet(url, met)
    }
    look(url).then(seen, () => seen(null))
  }

  #ping(): void {
    const now = this.#loop.now()
    this.#pingedAt ??= now
    this.#lastPing = now
    this.send(frameMessage(encode(toHub, { kind: 'ping', count: this.#pings++ })))
    this.#alarm.set(now + (this.#isQuiet ? PING_MS : Math.max(PONG_MS, 2 * this.#tookMs)))
  }

  #tick(): void {
    if (this.#ended) return
    if (this.#stream === null) return this.#dial()
    const silent = this.#loop.now() - this.#receivedAt
    const isNext = !this.#open && this.#urls.length > 1 && silent >= NEXT_MS
    if (silent >= SILENT_MS || isNext) {
      this.#stream.close()
      const what = `it did not answer within ${Math.round(silent / 1_000)} s`
      return this.#closed(what, { kind: 'passing', what })
    }
    if (!this.#open) {
      this.#alarm.set(this.#receivedAt + (this.#urls.length > 1 ? NEXT_MS : SILENT_MS))
      return this.#look(this.#url)
    }
    const isDue = this.#loop.now() - this.#lastPing >= PING_MS
    if (silent < QUIET_MS && !isDue) {
      // Not at once again: of a sum of floats less may be left than was added.
      const next = Math.max(this.#receivedAt + QUIET_MS, this.#loop.now() + 1)
      return this.#alarm.set(next)
    }
    // A silence counts from the ping: while we stood still nothing was heard either.
    if (this.#pingedAt !== null && silent >= QUIET_MS) this.#setQuiet(true)
    this.#ping()
  }
}
