/**
 * Streams over the standard WebSocket interface, which browsers and package `ws` share. The
 * constructor comes as an argument, so that a browser bundle does not contain `ws`.
 */

import { badValue } from '../../machine.ts'
import {
  type Connect,
  type Met,
  type Stream,
  STREAM_BACKLOG_MAX,
  STREAM_MESSAGE_MAX,
  type StreamEvents,
} from '../../ports.ts'

/** How long a connection may take to open, in milliseconds; then it is reported as closed. */
const OPEN_MS = 10_000
/** Close code of RFC 6455: all is well. */
const NORMAL = 1000
/** Close codes of RFC 6455: a policy of the other side forbids the stream; it has too many. */
const FORBIDDEN = 1008
const TRY_AGAIN_LATER = 1013
/** Close code of IANA's registry: the server takes another stream at once. */
const SERVICE_RESTART = 1012
/** Our close code for a message that is too big; a browser may not send RFC 6455's own, 1009. */
const TOO_BIG = 4009

export interface WebSocketLike {
  binaryType: string
  readonly readyState: number
  readonly bufferedAmount: number
  send(bytes: Uint8Array<ArrayBuffer>): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', run: () => void): void
  addEventListener(type: 'message', run: (event: { data: unknown }) => void): void
  addEventListener(
    type: 'error',
    run: (event: { message?: unknown; error?: unknown }) => void,
  ): void
  addEventListener(type: 'close', run: (event: { code: number; reason: string }) => void): void
}

type MakeWebSocket = (url: string) => WebSocketLike
/** Reads from an error what answers at that URL, if the error reveals it. */
type ReadError = (error: unknown, url: string) => Met | undefined

/** @param read  reads the errors of an implementation that reports them; browsers report none */
export function connectWith(make: MakeWebSocket, read: ReadError = () => undefined): Connect {
  return (url, events) => new ClientStream(make, url, events, read)
}

export const connectWebSocket: Connect = connectWith((url) => new WebSocket(url) as WebSocketLike)

/** @throws HoldfastError `bad-value` above STREAM_MESSAGE_MAX bytes */
export function checkMessage(bytes: Uint8Array): void {
  if (bytes.length > STREAM_MESSAGE_MAX) {
    throw badValue(`a stream message has at most ${STREAM_MESSAGE_MAX} bytes: ${bytes.length}`)
  }
}

/** The meaning of a close code and its reason, as a sentence for a log. */
export function closeSentence(code: number, reason: string): string {
  const meaning: Record<number, string> = {
    1000: 'the other side closed it',
    1001: 'the other side is going away',
    1006: 'the connection broke',
    1008: 'the other side refuses it',
    1009: 'a message was too big',
    4009: 'a message was too big',
    1012: 'the other side starts over',
    1013: 'the other side is full',
  }
  const words = meaning[code] ?? 'it was closed'
  return reason === '' ? `${words} (${code})` : `${words} (${code}: ${reason})`
}

function turnedAway(code: number, reason: string): Met | undefined {
  if (code === FORBIDDEN) return { kind: 'denied', what: reason || 'it does not say why' }
  if (code === SERVICE_RESTART) return { kind: 'passing', again: true, what: reason }
  return code === TRY_AGAIN_LATER ? { kind: 'passing', what: `it is full (${reason})` } : undefined
}

class ClientStream implements Stream {
  readonly #url: string
  readonly #events: StreamEvents
  #state: 'opening' | 'open' | 'closed' = 'opening'
  #socket: WebSocketLike | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  readonly #read: ReadError

  constructor(make: MakeWebSocket, url: string, events: StreamEvents, read: ReadError) {
    this.#url = url
    this.#events = events
    this.#read = read
    try {
      this.#socket = make(url)
    } catch (error) {
      // Reported later, because the caller does not have the stream yet.
      const what = `it cannot be opened from here: ${String(error)}`
      queueMicrotask(() => this.#ended(`${url}: ${what}`, { kind: 'wrong', what }))
      return
    }
    this.#timer = setTimeout(() => {
      this.#socket?.close()
      const what = `it did not answer within ${OPEN_MS} ms`
      this.#ended(`${url}: ${what}`, { kind: 'passing', what })
    }, OPEN_MS)
    this.#listen(this.#socket)
  }

  /** False also before the stream is open. */
  send(bytes: Uint8Array): boolean {
    checkMessage(bytes)
    const socket = this.#socket
    if (this.#state !== 'open' || socket === null || socket.readyState !== 1) return false
    if (socket.bufferedAmount + bytes.length > STREAM_BACKLOG_MAX) return false
    // Browsers copy, and `ws` copies to mask: the caller may reuse its bytes.
    socket.send(bytes as Uint8Array<ArrayBuffer>)
    return true
  }

  backlog(): number {
    return this.#state === 'open' ? (this.#socket?.bufferedAmount ?? 0) : 0
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#settle()
    this.#socket?.close(NORMAL)
  }

  #listen(socket: WebSocketLike): void {
    let trouble = ''
    let met: Met | undefined
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('open', () => {
      if (this.#state !== 'opening') return
      this.#state = 'open'
      this.#disarm()
      this.#events.opened()
    })
    socket.addEventListener('message', (event) => this.#received(event.data))
    socket.addEventListener('error', (event) => {
      if (typeof event.message === 'string') trouble = event.message
      if (this.#state === 'opening') met = this.#read(event.error, this.#url)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      const opened = this.#state === 'open'
      const why = opened ? closeSentence(code, reason) : 'no stream could be opened'
      const words = trouble === '' ? why : `${why}: ${trouble}`
      this.#ended(`${this.#url}: ${words}`, met ?? turnedAway(code, reason))
    })
  }

  #received(data: unknown): void {
    // Text frames, which we never send, are ignored.
    if (this.#state !== 'open' || !(data instanceof ArrayBuffer)) return
    if (data.byteLength > STREAM_MESSAGE_MAX) {
      this.#socket?.close(TOO_BIG)
      this.#ended(`${this.#url}: a message of ${data.byteLength} bytes is too big`)
    } else {
      this.#events.message(new Uint8Array(data))
    }
  }

  #ended(why: string, met?: Met): void {
    if (this.#state === 'closed') return
    this.#settle()
    this.#events.closed(why, met)
  }

  #settle(): void {
    this.#state = 'closed'
    this.#disarm()
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
