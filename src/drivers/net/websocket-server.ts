/**
 * Accepts streams over WebSocket on an HTTP server that is already there.
 *
 * Strangers may connect, so each state that costs us something has a limit and an end. A TCP
 * connection that has not sent a whole request head is `waiting`: it is closed after
 * HANDSHAKE_MS, and when WAITING_MAX of them wait, the oldest goes. The oldest and not the
 * newest, because a good client needs milliseconds and somebody who hoards connections keeps
 * them: so good ones still get in. A stream that is accepted is pinged, for a TCP connection
 * whose other end lost its power looks alive for hours. A stream over CONNECTIONS_MAX is
 * accepted and closed with code 1013, since a browser shows close codes to its page but not
 * HTTP statuses.
 */

import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type RawData, type WebSocket } from 'ws'
import { STREAM_BACKLOG_MAX, STREAM_MESSAGE_MAX } from '../../ports.ts'
import type { Stream, StreamEvents } from '../../ports.ts'
import { checkMessage, closeSentence } from './websocket.ts'

const CONNECTIONS_MAX = 10_000
const WAITING_MAX = 1_000
const HANDSHAKE_MS = 10_000
const PING_MS = 5_000
/** Pings in a row that may stay without an answer. */
const PINGS_LOST_MAX = 2
/** After our close, how long the other side may take to agree, in milliseconds. */
const CLOSE_MS = 2_000
/** Pieces in which one message may come. */
const FRAGMENTS_MAX = 1024
/** Chunks of the network that may be held while a message is incomplete. */
const CHUNKS_MAX = 16 * 1024

/** Bytes that may wait in a stream when a ping is answered; with more it is not. */
const PONG_BACKLOG_MAX = 64 * 1024

const NORMAL = 1000
const GOING_AWAY = 1001
const TRY_AGAIN_LATER = 1013

/** How streams are accepted. */
export interface StreamServerOptions {
  /** Where clients connect, such as `/hub`; a request for an upgrade elsewhere gets 404. */
  path: string
  /** A stream has opened; `remote` is the IP address at its other end. */
  accept: (stream: Stream, info: { remote: string }) => StreamEvents
  /** Streams at a time. Default 10,000. */
  connectionsMax?: number
  /** TCP connections at a time that have not sent a whole request head. Default 1,000. */
  waitingMax?: number
  /** How long they may take for it, in milliseconds. Default 10,000. */
  handshakeMs?: number
  /** From ping to ping; a stream is dead after two without an answer. Default 5,000. */
  pingMs?: number
}

/** What happened at the door since it was opened. */
export interface StreamServerCounters {
  accepted: number
  /** Closed with 1013 because connectionsMax streams were open. */
  full: number
  /** TCP connections closed because a whole request head took longer than handshakeMs. */
  handshakeTimeouts: number
  /** The oldest of waitingMax, closed in favour of a new one. */
  crowdedOut: number
  /** Requests for an upgrade that was malformed or at another path. */
  badUpgrades: number
  /** Streams closed because of frames that break RFC 6455, or are too big. */
  violations: number
  /** Text frames, which we never send: ignored. */
  texts: number
  /** Streams closed because pings stayed without an answer. */
  dead: number
}

/** The door for streams on one HTTP server. */
export interface StreamServer {
  readonly counters: Readonly<StreamServerCounters>
  /** Streams that are open now. */
  open(): number
  /** TCP connections that have not sent a whole request head. */
  waiting(): number
  /** Accepts no more, closes all streams with 1001; the HTTP server stays. */
  close(): void
}

/** Lets clients open streams at a path of this server, until `close`. */
export function acceptStreams(server: Server, options: StreamServerOptions): StreamServer {
  return new Door(server, options)
}

class Door implements StreamServer {
  readonly counters: StreamServerCounters = {
    accepted: 0,
    full: 0,
    handshakeTimeouts: 0,
    crowdedOut: 0,
    badUpgrades: 0,
    violations: 0,
    texts: 0,
    dead: 0,
  }
  readonly #server: Server
  readonly #options: StreamServerOptions
  readonly #connectionsMax: number
  readonly #sockets: WebSocketServer
  readonly #streams = new Set<ServerStream>()
  readonly #queue: WaitingRoom
  readonly #pings: NodeJS.Timeout

  constructor(server: Server, options: StreamServerOptions) {
    this.#server = server
    this.#options = options
    this.#connectionsMax = options.connectionsMax ?? CONNECTIONS_MAX
    const waitingMax = options.waitingMax ?? WAITING_MAX
    this.#queue = new WaitingRoom(this.counters, waitingMax, options.handshakeMs ?? HANDSHAKE_MS)
    this.#sockets = createSockets()
    this.#sockets.on('wsClientError', (_error, socket) => {
      this.counters.badUpgrades += 1
      refuse(socket, 400)
    })
    server.on('connection', this.#connected)
    server.on('request', this.#requested)
    server.on('upgrade', this.#upgrade)
    this.#pings = setInterval(() => this.#pingAll(), options.pingMs ?? PING_MS)
    this.#pings.unref()
  }

  open(): number {
    return this.#streams.size
  }

  waiting(): number {
    return this.#queue.size
  }

  close(): void {
    clearInterval(this.#pings)
    this.#server.off('connection', this.#connected)
    this.#server.off('request', this.#requested)
    this.#server.off('upgrade', this.#upgrade)
    this.#queue.close()
    for (const stream of this.#streams) stream.shut(GOING_AWAY, 'the server is closing')
    this.#streams.clear()
  }

  #connected = (socket: Socket): void => this.#queue.enter(socket)

  #requested = (request: IncomingMessage): void => this.#queue.leave(request.socket)

  #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    this.#queue.leave(request.socket)
    const [path] = (request.url ?? '').split('?', 1)
    if (path !== this.#options.path) {
      this.counters.badUpgrades += 1
      refuse(socket, 404)
      return
    }
    this.#sockets.handleUpgrade(request, socket, head, (connection) => {
      if (this.#streams.size >= this.#connectionsMax) {
        this.counters.full += 1
        turnAway(connection, `at most ${this.#connectionsMax} connections`)
      } else {
        this.#accept(connection, request.socket)
      }
    })
  }

  #accept(connection: WebSocket, socket: Socket): void {
    this.counters.accepted += 1
    socket.setNoDelay(true)
    const stream = new ServerStream(connection, this.counters, () => this.#streams.delete(stream))
    this.#streams.add(stream)
    stream.start(this.#options.accept(stream, { remote: socket.remoteAddress ?? 'unknown' }))
  }

  #pingAll(): void {
    for (const stream of this.#streams) stream.ping()
  }
}

function createSockets(): WebSocketServer {
  // Package ws knows these limits, its types do not yet.
  const bounds = {
    maxFragments: FRAGMENTS_MAX,
    maxBufferedChunks: CHUNKS_MAX,
    closeTimeout: CLOSE_MS,
  }
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: STREAM_MESSAGE_MAX,
    // We answer pings ourselves, or one who pings and never reads would fill our memory.
    autoPong: false,
    ...bounds,
  })
}

/** Answers a request for an upgrade with an HTTP error, and ends the connection. */
function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  )
}

function turnAway(connection: WebSocket, why: string): void {
  connection.on('error', () => connection.terminate())
  connection.close(TRY_AGAIN_LATER, why)
}

/** TCP connections that have not sent a whole request head, oldest first. */
class WaitingRoom {
  readonly #counters: StreamServerCounters
  readonly #max: number
  readonly #ms: number
  readonly #since = new Map<Socket, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(counters: StreamServerCounters, max: number, ms: number) {
    this.#counters = counters
    this.#max = max
    this.#ms = ms
  }

  get size(): number {
    return this.#since.size
  }

  enter(socket: Socket): void {
    const oldest = this.#since.size >= this.#max ? this.#since.keys().next().value : undefined
    if (oldest !== undefined) {
      this.#counters.crowdedOut += 1
      this.#since.delete(oldest)
      oldest.destroy()
    }
    this.#since.set(socket, performance.now())
    socket.once('close', () => this.#since.delete(socket))
    this.#timer ??= this.#arm(this.#ms)
  }

  leave(socket: Socket): void {
    this.#since.delete(socket)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const socket of this.#since.keys()) socket.destroy()
    this.#since.clear()
  }

  #arm(ms: number): NodeJS.Timeout {
    const timer = setTimeout(() => this.#sweep(), ms)
    timer.unref()
    return timer
  }

  /** All wait equally long, so the first that is not due ends the sweep. */
  #sweep(): void {
    const now = performance.now()
    this.#timer = null
    for (const [socket, since] of this.#since) {
      const rest = since + this.#ms - now
      if (rest > 0) {
        this.#timer = this.#arm(Math.ceil(rest))
        return
      }
      this.#counters.handshakeTimeouts += 1
      this.#since.delete(socket)
      socket.destroy()
    }
  }
}

class ServerStream implements Stream {
  readonly #connection: WebSocket
  readonly #counters: StreamServerCounters
  readonly #gone: () => void
  #open = true
  #pingsLost = 0

  constructor(connection: WebSocket, counters: StreamServerCounters, gone: () => void) {
    this.#connection = connection
    this.#counters = counters
    this.#gone = gone
  }

  start(events: StreamEvents): void {
    const connection = this.#connection
    let trouble = ''
    connection.on('message', (data, isBinary) => this.#received(data, isBinary, events))
    connection.on('ping', (data) => {
      if (connection.bufferedAmount < PONG_BACKLOG_MAX) connection.pong(data)
    })
    connection.on('pong', () => {
      this.#pingsLost = 0
    })
    connection.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('WS_ERR') === true) this.#counters.violations += 1
      trouble = `: ${error.message}`
    })
    connection.on('close', (code, reason) => {
      if (this.#pingsLost > PINGS_LOST_MAX) trouble = ': pings stayed without an answer'
      if (this.#settle()) events.closed(closeSentence(code, reason.toString()) + trouble)
    })
    if (this.#open) events.opened()
  }

  send(bytes: Uint8Array): boolean {
    checkMessage(bytes)
    if (!this.#open || this.#connection.readyState !== 1) return false
    if (this.#connection.bufferedAmount + bytes.length > STREAM_BACKLOG_MAX) return false
    // A server does not mask, so ws would keep the caller's bytes until they have left.
    this.#connection.send(bytes.slice())
    return true
  }

  backlog(): number {
    return this.#open ? this.#connection.bufferedAmount : 0
  }

  close(): void {
    this.shut(NORMAL, '')
  }

  shut(code: number, why: string): void {
    if (!this.#settle()) return
    this.#connection.close(code, why)
  }

  ping(): void {
    if (this.#pingsLost > PINGS_LOST_MAX) return
    this.#pingsLost += 1
    if (this.#pingsLost > PINGS_LOST_MAX) {
      this.#counters.dead += 1
      this.#connection.terminate()
    } else {
      this.#connection.ping()
    }
  }

  #received(data: RawData, isBinary: boolean, events: StreamEvents): void {
    if (!this.#open) return
    this.#pingsLost = 0
    if (isBinary) events.message(ownBytes(data))
    else this.#counters.texts += 1
  }

  /** False if it had been closed before. */
  #settle(): boolean {
    const was = this.#open
    this.#open = false
    if (was) this.#gone()
    return was
  }
}

/** The receiver may keep a message, so it must not be a view of the socket's buffer. */
function ownBytes(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (Array.isArray(data)) return new Uint8Array(Buffer.concat(data))
  return new Uint8Array(data)
}
