/**
 * The stream to the hub. It is dialled again whenever it closes, and given up when it is silent,
 * for a dead machine closes nothing. Until a hub has answered the address may be wrong: what is
 * found there instead is reported, and if the stream does not show that, the address is examined.
 *
 * Several addresses are tried in turn, the next whenever a stream closes; findings are reported
 * once every address has one.
 */

import type { Millis } from '../machine.ts'
import type { Alarm, Environment, Loop, Met, Stream } from '../ports.ts'
import { type ToHub, toHub } from '../hub-protocol/messages.ts'
import { BEACON_MAX, joinMessages } from '../wire/beacon.ts'
import { encode } from '../wire/layout.ts'
import { frameMessage, knocking, readFrame, relayed } from '../wire/relay.ts'

/** First and longest wait before dialling again. */
export const DIAL_MS: readonly [Millis, Millis] = [50, 1_000]
/** After so many tries the wait stops growing. */
const RETRIES_MAX = 10
/** The hub is pinged after so long a silence. */
export const QUIET_MS: Millis = 400
/** The same of a member whose play does not depend on the hub. */
export const CALM_MS: Millis = 1_000
/** Without a message within this, or twice the round trip, after a ping, the hub is unreachable. */
export const PONG_MS: Millis = 500
// Decay of the longest answer time, for each answer.
const FADE = 63 / 64
/** Longest interval between pings, and the interval while the hub is unreachable. */
export const PING_MS: Millis = 2_000
/** The stream is given up after so long a silence. */
export const SILENT_MS: Millis = 7_000
/** The same, if there is another address to dial. */
const SILENT_OF_SEVERAL_MS: Millis = 2_500
/** Until a hub has answered, the address of a stream that takes so long to open is examined. */
export const LOOK_MS: Millis = 1_000

/** With several addresses, the next is tried when a stream takes so long to open. */
export const NEXT_MS: Millis = 2_000
/**
 * The same once a hub has answered, but at least four times the longest recent answer time. It
 * doubles each time that no address has answered.
 */
const NEXT_KNOWN_MS: Millis = 500

/** A hub that asks to be dialled again sooner than this is left for the next address. */
const AGAIN_MS: Millis = 5_000

/** Browsers take somewhat smaller beacons than the hub does. */
const BODY_MAX: number = BEACON_MAX - 4 * 1024

export interface HubEvents {
  opened(): void
  closed(why: string): void
  /** The finding at the address, while no hub has answered there. */
  met(met: Met): void
  message(bytes: Uint8Array): void
  /** The hub does not answer on its stream, or (false) does again. */
  quiet(isQuiet: boolean): void
  /** A datagram that the hub relayed. */
  relayed(from: string, bytes: Uint8Array): void
  /** Whether play depends on the hub, so that its silence is noticed within a second. */
  isNeeded(): boolean
}

/** The connection to one hub, over all its streams. */
export class HubConnection {
  readonly #urls: readonly string[]
  readonly #place: Pick<Environment, 'connect' | 'look' | 'beacon'>
  readonly #loop: Loop
  readonly #events: HubEvents
  readonly #alarm: Alarm
  #at = 0
  /** The findings at each address since a hub answered last. */
  readonly #mets = new Map<string, Met>()
  #stream: Stream | null = null
  #open = false
  #ended = false
  #tries = 0
  /** When a hub last asked to be dialled again. */
  #againAt: Millis = -Infinity
  #receivedAt: Millis = 0
  /** A hub has answered, so the address is right. */
  #isHub = false
  #hubUrl = ''
  /** The frames for the beacon; null before `notes`. */
  #last: Uint8Array[] | null = null
  #looking = false
  #pings = 0
  /** When the unanswered ping was sent; null for none. */
  #pingedAt: Millis | null = null
  /** The longest recent answer time of the hub, to a ping or to dialling. */
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

  /** This process ends: frames from now on go into `beacon` too. @returns whether that works */
  notes(): boolean {
    if (this.#place.beacon && this.#hubUrl !== '') this.#last = []
    return this.#last !== null
  }

  /** Sends the frames since `notes` as a beacon, unless too long. @param first  go before them */
  beacon(first: readonly ToHub[]): void {
    const opening = first.map((message) => frameMessage(encode(toHub, message)))
    const body = joinMessages([...opening, ...(this.#last ?? [])])
    if (body.length <= BODY_MAX) this.#place.beacon?.(this.#hubUrl, body)
  }

  backlog(): number {
    return this.#stream?.backlog() ?? 0
  }

  /** Leaves this hub for the next address. @returns false if there is none */
  elsewhere(): boolean {
    const stream = this.#stream
    if (this.#urls.length === 1 || !stream) return false
    // Its further messages do not count. The caller is in the middle of one, so it closes later.
    this.#stream = null
    this.#open = false
    this.#loop.soon(() => {
      stream.close()
      if (this.#ended) return
      // It is a hub all the same, and is dialled again once a second.
      this.#tries = RETRIES_MAX * this.#urls.length
      this.#closed('it is the hub of other sessions', undefined, true)
    })
    return true
  }

  get #silentMs(): Millis {
    return this.#urls.length > 1 ? SILENT_OF_SEVERAL_MS : SILENT_MS
  }

  /** When the next address is tried if a stream does not open. */
  get #nextMs(): Millis {
    if (this.#urls.length === 1) return SILENT_MS
    if (!this.#isHub) return NEXT_MS
    return Math.min(NEXT_MS, Math.max(NEXT_KNOWN_MS * 2 ** this.#rounds, 4 * this.#tookMs))
  }

  /** How often all addresses were dialled since a hub answered. */
  get #rounds(): number {
    return Math.floor(this.#tries / this.#urls.length)
  }

  get #url(): string {
    return this.#urls[this.#at]!
  }

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
    this.#alarm.set(this.#receivedAt + (this.#isHub ? this.#nextMs : LOOK_MS))
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
    // Any message counts as an answer, and may come sooner than the pong.
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
    const wait = Math.min(longest, first * 2 ** Math.min(this.#rounds, RETRIES_MAX))
    const now = this.#loop.now()
    this.#alarm.set(now + wait)
    const url = this.#url
    const isAgain = met?.again === true
    // A hub that asks for it again and again does not work.
    if (!isAgain || now - this.#againAt < AGAIN_MS) this.#at = (this.#at + 1) % this.#urls.length
    if (isAgain) this.#againAt = now
    if (wasOpen || this.#tries === 1) this.#events.closed(why)
    if (met) this.#meet(url, met)
    else this.#look(url)
  }

  // With several addresses the reason names all of them.
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
      // A stream that opened meanwhile is better evidence.
      if (met && !this.#open) this.#meet(url, met)
    }
    look(url).then(seen, () => seen(null))
  }

  #ping(): void {
    const now = this.#loop.now()
    this.#pingedAt ??= now
    this.#lastPing = now
    this.send(frameMessage(encode(toHub, { kind: 'ping', count: this.#pings++ })))
    const wait = this.#isQuiet ? PING_MS : Math.max(PONG_MS, 2 * this.#tookMs)
    // At least 1 ms: rounding of floats may leave less than was added.
    const until = Math.max(this.#receivedAt + this.#silentMs, now + 1)
    this.#alarm.set(Math.min(now + wait, until))
  }

  #tick(): void {
    if (this.#ended) return
    if (this.#stream === null) return this.#dial()
    const silent = this.#loop.now() - this.#receivedAt
    if (silent >= (this.#open ? this.#silentMs : this.#nextMs)) {
      this.#stream.close()
      const what = `it did not answer within ${Math.round(silent / 100) / 10} s`
      return this.#closed(what, { kind: 'passing', what })
    }
    const soonest = this.#loop.now() + 1
    if (!this.#open) {
      this.#alarm.set(Math.max(this.#receivedAt + this.#nextMs, soonest))
      return this.#look(this.#url)
    }
    const isDue = this.#loop.now() - this.#lastPing >= PING_MS
    const quiet = this.#events.isNeeded() ? QUIET_MS : CALM_MS
    if (silent < quiet && !isDue) {
      const again = this.#receivedAt + (silent < QUIET_MS ? QUIET_MS : quiet)
      return this.#alarm.set(Math.max(Math.min(again, this.#lastPing + PING_MS), soonest))
    }
    // Silence counts from the ping, for we may have been frozen ourselves before it.
    if (this.#pingedAt !== null && silent >= quiet) this.#setQuiet(true)
    this.#ping()
  }
}
