/** One stream of a client, at the server's end. */

import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import * as bucket from '../../../bucket.ts'
import {
  type Closing,
  CLOSING_MAX,
  type Stream,
  STREAM_BACKLOG_MAX,
  type StreamEvents,
} from '../../../ports.ts'
import { FrameMeter } from './frame-meter.ts'
import type { StreamServerCounters } from './stream-counters.ts'
import { checkMessage, closeSentence } from '../websocket.ts'

/** Most unanswered pings in a row. */
const PINGS_LOST_MAX = 2
/** Pings stay unanswered while more bytes than this wait in the stream. */
const PONG_BACKLOG_MAX = 64 * 1024
/** The budget of frames other than messages. */
export const NOISE = { max: 32, perSecond: 4 }
/** A text frame costs one, and one more for each so many bytes. */
const NOISE_BYTES = 1024

/** Most messages after our close, which were in flight. More end the connection. */
const LATE_MAX = 64

/** Close code of RFC 6455: all is well. */
const NORMAL = 1000
/** Close code of RFC 6455: the server goes away. */
export const GOING_AWAY = 1001
/** Close code of RFC 6455: the server refuses this stream. */
export const POLICY = 1008
/** Close code of RFC 6455: the server has as many streams as it takes. */
export const TRY_AGAIN_LATER = 1013
/** The close code of each reason. 1012 is `Service Restart` of IANA's registry. */
const CODES: Record<Closing['kind'], number> = {
  refused: POLICY,
  full: TRY_AGAIN_LATER,
  again: 1012,
}

/** Observes a stream, beside its user. */
export interface Keeper {
  readonly counters: StreamServerCounters
  /** Reports the bytes kept for an incomplete message; 0 when it is complete. */
  half(stream: ServerStream, bytes: number): void
  /** Reports bytes sent while more than a few earlier ones still wait. */
  behind(bytes: number): void
  gone(stream: ServerStream): void
}

export class ServerStream implements Stream {
  readonly #connection: WebSocket
  readonly #keeper: Keeper
  readonly #meter = new FrameMeter()
  #open = true
  /** Messages that arrived after our close. */
  #late = 0
  /** Why we ended the stream, as a sentence; '' while we did not. */
  #cut = ''
  #pingsLost = 0
  #asked = 0
  readonly #noise = bucket.create(0, NOISE)
  /** Bytes sent; how many of them the wait is measured for, and since when. */
  #written = 0
  #mark = 0
  #markedAt = 0

  constructor(connection: WebSocket, socket: Socket, keeper: Keeper) {
    this.#connection = connection
    this.#keeper = keeper
    socket.on('data', (chunk: Buffer) => this.#came(chunk))
  }

  start(events: StreamEvents): void {
    const connection = this.#connection
    let trouble = ''
    connection.on('message', (data, isBinary) => this.#received(data, isBinary, events))
    connection.on('ping', (data) => this.#pinged(data))
    connection.on('pong', () => this.#answered())
    connection.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('WS_ERR') === true) this.#keeper.counters.violations += 1
      trouble = `: ${error.message}`
    })
    connection.on('close', (code, reason) => {
      const why = this.#cut || closeSentence(code, reason.toString()) + trouble
      if (this.#settle()) events.closed(why)
    })
    if (this.#open) events.opened()
  }

  send(bytes: Uint8Array): boolean {
    checkMessage(bytes)
    if (!this.#open || this.#cut !== '' || this.#connection.readyState !== 1) return false
    const backlog = this.#connection.bufferedAmount
    if (backlog + bytes.length > STREAM_BACKLOG_MAX) return false
    this.#wrote(bytes.length)
    if (backlog > PONG_BACKLOG_MAX) this.#keeper.behind(bytes.length)
    // A server does not mask, so `ws` would keep the caller's bytes until they are sent.
    this.#connection.send(bytes.slice())
    return true
  }

  backlog(): number {
    return this.#open && this.#cut === '' ? this.#connection.bufferedAmount : 0
  }

  close(closing?: Closing): void {
    if (!closing) return this.shut(NORMAL, '')
    const why = closing.why.replaceAll(/[^ -~]/g, '?').slice(0, CLOSING_MAX)
    this.shut(CODES[closing.kind], why)
  }

  /** Closes the stream for its user, who gets no event. */
  shut(code: number, why: string): void {
    if (!this.#settle()) return
    this.#connection.close(code, why)
  }

  /** Ends the stream at once, whatever waits in it, and says why. @returns false if it had ended */
  cut(why: string): boolean {
    if (!this.#open || this.#cut !== '') return false
    this.#cut = why
    this.#connection.close(POLICY, why)
    this.#connection.terminate()
    return true
  }

  ping(): void {
    if (this.#pingsLost > PINGS_LOST_MAX) return
    this.#pingsLost += 1
    if (this.#pingsLost > PINGS_LOST_MAX) {
      if (this.cut('pings stayed without an answer')) this.#keeper.counters.dead += 1
    } else if (this.#connection.readyState === 1) {
      this.#asked += 1
      this.#wrote(0)
      this.#connection.ping()
    }
  }

  /** How long the oldest unread byte has waited, in milliseconds; measured at each call. */
  unreadMs(now: number): number {
    const left = this.#written - this.#connection.bufferedAmount
    if (left >= this.#mark) {
      this.#mark = this.#written
      this.#markedAt = now
    }
    return left >= this.#written ? 0 : now - this.#markedAt
  }

  // Counts bytes as `bufferedAmount` does: with the frame's head, which has no mask.
  #wrote(length: number): void {
    this.#written += length + (length < 126 ? 2 : length < 0x10000 ? 4 : 10)
  }

  #came(chunk: Uint8Array): void {
    if (!this.#open || this.#cut !== '') return
    const before = this.#meter.held
    const ended = this.#meter.take(chunk)
    if (ended && before > 0) this.#keeper.half(this, 0)
    if (this.#meter.held > 0) this.#keeper.half(this, this.#meter.held)
  }

  #received(data: RawData, isBinary: boolean, events: StreamEvents): void {
    if (!this.#open || this.#cut !== '') return this.#cameLate()
    this.#pingsLost = 0
    if (isBinary) return events.message(ownBytes(data))
    this.#keeper.counters.texts += 1
    this.#spend(1 + ownBytes(data).length / NOISE_BYTES)
  }

  // A late message costs as much to read as any.
  #cameLate(): void {
    if (++this.#late > LATE_MAX) this.#connection.terminate()
  }

  #pinged(data: Buffer): void {
    if (!this.#spend(1) || this.#connection.bufferedAmount >= PONG_BACKLOG_MAX) return
    this.#wrote(data.length)
    this.#connection.pong(data)
  }

  #answered(): void {
    this.#pingsLost = 0
    if (this.#asked > 0) this.#asked -= 1
    else this.#spend(1)
  }

  /** Pays for a frame that is no message. @returns false if that ends the stream */
  #spend(cost: number): boolean {
    if (!this.#open || this.#cut !== '') return false
    if (bucket.take(this.#noise, NOISE, performance.now(), cost)) return true
    if (this.cut('too many text frames and pings')) this.#keeper.counters.flooding += 1
    return false
  }

  /** Marks the stream as closed. @returns false if it was */
  #settle(): boolean {
    const was = this.#open
    this.#open = false
    if (was) this.#keeper.gone(this)
    return was
  }
}

/** The receiver may keep a message, so it must not be a view of the socket's buffer. */
function ownBytes(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (Array.isArray(data)) return new Uint8Array(Buffer.concat(data))
  return new Uint8Array(data)
}
