/**
 * Accepts streams over WebSocket on an existing HTTP server.
 *
 * Strangers may connect, so all state that they cost has a limit and an end. A TCP connection
 * without a whole request head is `waiting`: it is closed after `handshakeMs`, and when
 * `waitingMax` of them wait, the oldest goes, because an honest client needs milliseconds. Streams
 * are pinged, because a TCP connection whose other end lost power looks alive for hours. Refused
 * streams are accepted and closed, since browsers show close codes to pages but not HTTP statuses:
 * 1013 over `connectionsMax`, 1008 for a page that may not connect (origins.ts). stream-holdings.ts
 * limits their memory, server-stream.ts their frames beside messages.
 */

import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Http2SecureServer, Http2Server } from 'node:http2'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { HoldfastError } from '../../../machine.ts'
import { type Accept, STREAM_MESSAGE_MAX } from '../../../ports.ts'
import * as rounds from '../../../rounds.ts'
import { clientOf, isTrusted, NOBODY, NOWHERE, type Trust } from '../../../wire/text/ip.ts'
import { createGate, type Gate } from './origins.ts'
import { GOING_AWAY, type Keeper, POLICY, ServerStream, TRY_AGAIN_LATER } from './server-stream.ts'
import { answerPost, keepPosts, readPost, type TakeBeacon } from './posts.ts'
import { NO_STREAMS, type StreamServerCounters } from './stream-counters.ts'
import { Halves, Unread } from './stream-holdings.ts'

/** Default limits of a stream server. */
export const LIMITS = {
  /** Most streams at a time. */
  connectionsMax: 10_000,
  /** Most TCP connections without a whole request head; 0 where the server limits them itself. */
  waitingMax: 1_000,
  /** Largest message, in bytes; a larger one closes its stream. */
  messageMax: STREAM_MESSAGE_MAX,
  /** How long the head may take, in milliseconds. */
  handshakeMs: 10_000,
  /** Time between pings, in milliseconds; a stream is dead after two without an answer. */
  pingMs: 5_000,
  /** How long a message may take from its first byte to its last, in milliseconds. */
  halfMs: 10_000,
  /** Most bytes of all incomplete messages. */
  halfBytesMax: 32 * 1024 * 1024,
  /** How long a sent byte may wait to be read, in milliseconds. */
  unreadMs: 30_000,
  /** Most unread bytes of all streams. */
  unreadBytesMax: 128 * 1024 * 1024,
  /** Time between two checks of the memory of streams, in milliseconds. */
  sweepMs: 1_000,
}
/** A check so many times later than its interval follows a stall. */
const SWEEPS_LATE = 3
/** How long the other side may take to confirm our close, in milliseconds. */
const CLOSE_MS = 2_000
/** Most fragments of one message. */
const FRAGMENTS_MAX = 1024
/** Most network chunks held while a message is incomplete. */
const CHUNKS_MAX = 16 * 1024

export interface StreamServerOptions extends Partial<typeof LIMITS> {
  /**
   * Where clients connect, such as `/hub`. Upgrade requests at other paths are left to other
   * listeners of this server; without any they get 404.
   */
  path: string | readonly string[]
  /** Called for each stream; `remote` is the IP address at its far end, before trusted proxies. */
  accept: Accept
  /**
   * Takes the body of a POST at such a path, which other listeners of this server do not see: the
   * last message of a page. False if it is no beacon. By default such requests are not taken.
   */
  beacon?: TakeBeacon
  /** Proxies whose `X-Forwarded-For` counts; by default none. */
  trust?: Trust
  /** Called when a request claims to come through a proxy that is not trusted. */
  untrusted?: () => void
  /** Origins whose pages may open streams, beside the server's own; see origins.ts. */
  origins?: readonly string[]
}

/**
 * Accepts streams. Only the class behind it names types of package `ws`, so that users of this
 * type, such as a hub, do not need them.
 */
export interface StreamServer {
  readonly counters: Readonly<StreamServerCounters>
  open(): number
  /** The number of TCP connections without a whole request head. */
  waiting(): number
  /** Accepts no more and closes all streams with 1001; the HTTP server stays. */
  close(): void
}

/** Lets clients open streams at a path of this server, until `close`. */
export function acceptStreams(server: WebServer, options: StreamServerOptions): StreamServer {
  // All of these servers have the events of an HTTP server, though HTTP/2's types lack them.
  return new Door(server as Server, options)
}

/** A server whose connections can become WebSockets; one for HTTP/2 needs `allowHTTP1`. */
export type WebServer = Server | HttpsServer | Http2SecureServer | Http2Server

const doorsOf = new WeakMap<Server, Set<Door>>()

class Door implements StreamServer, Keeper {
  readonly counters: StreamServerCounters = { ...NO_STREAMS }
  readonly #server: Server
  readonly #options: StreamServerOptions & typeof LIMITS
  readonly #paths: readonly string[]
  readonly #sockets: WebSocketServer
  readonly #streams = new Set<ServerStream>()
  readonly #queue: WaitingRoom
  readonly #doors: Set<Door>
  readonly #gate: Gate
  readonly #halves: Halves
  readonly #unread: Unread
  #sweptAt = performance.now()
  readonly #pings: rounds.Rounds<ServerStream>
  #pinging: NodeJS.Timeout | undefined
  readonly #sweeping: NodeJS.Timeout
  readonly #unkeep: (() => void) | null = null

  constructor(server: Server, options: StreamServerOptions) {
    this.#server = server
    const limits = { ...LIMITS, ...options }
    this.#options = limits
    this.#paths = [options.path].flat()
    this.#gate = createGate(options.origins ?? [])
    this.#queue = new WaitingRoom(this.counters, limits.waitingMax, limits.handshakeMs)
    this.#doors = doorsOf.get(server) ?? new Set()
    const taken = [...this.#doors].flatMap((door) => door.#paths).find((path) => this.#takes(path))
    if (taken !== undefined) {
      throw new HoldfastError('port-taken', `path ${taken} of this server is taken: give another`)
    }
    doorsOf.set(server, this.#doors.add(this))
    this.#halves = new Halves(this.counters, limits.halfMs, limits.halfBytesMax)
    this.#unread = new Unread(this.counters, limits.unreadMs, limits.unreadBytesMax)
    this.#sockets = createSockets(limits.messageMax)
    this.#sockets.on('wsClientError', (_error, socket) => {
      this.counters.badUpgrades += 1
      refuse(socket, 400)
    })
    if (limits.waitingMax > 0) {
      server.on('connection', this.#connected)
      server.on('request', this.#requested)
    }
    server.on('upgrade', this.#upgrade)
    const { beacon } = options
    if (beacon)
      this.#unkeep = keepPosts(server, this.#paths, (...asked) => this.#post(beacon, ...asked))
    this.#sweeping = setInterval(() => this.#sweep(), limits.sweepMs).unref()
    this.#pings = rounds.create(performance.now() + limits.pingMs)
    this.#pingOn()
  }

  open(): number {
    return this.#streams.size
  }

  waiting(): number {
    return this.#queue.size
  }

  close(): void {
    clearInterval(this.#sweeping)
    clearTimeout(this.#pinging)
    this.#doors.delete(this)
    this.#server.off('connection', this.#connected)
    this.#server.off('request', this.#requested)
    this.#server.off('upgrade', this.#upgrade)
    this.#unkeep?.()
    this.#queue.close()
    for (const stream of this.#streams) stream.shut(GOING_AWAY, 'the server is closing')
    this.#streams.clear()
  }

  #connected = (socket: Socket): void => this.#queue.enter(socket)

  #requested = (request: IncomingMessage): void => this.#queue.leave(request.socket)

  #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    this.#queue.leave(request.socket)
    const [path = ''] = (request.url ?? '').split('?', 1)
    if (!this.#takes(path)) {
      if (this.#isNobodys(path)) {
        this.counters.badUpgrades += 1
        refuse(socket, 404)
      }
      return
    }
    this.#sockets.handleUpgrade(request, socket, head, (connection) => {
      const refusal = this.#gate.refusal(request.headers, addressOf(this.#server))
      if (refusal !== null) {
        this.counters[refusal.reason] += 1
        turnAway(connection, POLICY, refusal.why)
      } else if (this.#streams.size >= this.#options.connectionsMax) {
        this.counters.full += 1
        turnAway(connection, TRY_AGAIN_LATER, `at most ${this.#options.connectionsMax} connections`)
      } else {
        this.#accept(connection, request)
      }
    })
  }

  // A POST passes the same gate as a stream.
  #post(take: TakeBeacon, request: IncomingMessage, response: ServerResponse): void {
    this.#queue.leave(request.socket)
    const refusal = this.#gate.refusal(request.headers, addressOf(this.#server))
    if (refusal !== null) {
      this.counters[refusal.reason] += 1
      return answerPost(response, refusal.status, refusal.why)
    }
    const { trust = NOBODY, untrusted } = this.#options
    const remote = remoteOf(request, trust, untrusted)
    readPost(request, response, (body) => take(body, { remote }))
  }

  #takes(path: string): boolean {
    return this.#paths.includes(path)
  }

  /** Whether no listener can want the path, so that this acceptor refuses it. */
  #isNobodys(path: string): boolean {
    const [first] = this.#doors
    if (first !== this || this.#server.listenerCount('upgrade') > this.#doors.size) return false
    return ![...this.#doors].some((door) => door.#paths.includes(path))
  }

  #accept(connection: WebSocket, request: IncomingMessage): void {
    const { socket } = request
    this.counters.accepted += 1
    socket.setNoDelay(true)
    const stream = new ServerStream(connection, socket, this)
    this.#streams.add(stream)
    const { trust = NOBODY, untrusted } = this.#options
    const remote = remoteOf(request, trust, untrusted)
    stream.start(this.#options.accept(stream, { remote }))
  }

  half(stream: ServerStream, bytes: number): void {
    this.#halves.note(stream, bytes)
  }

  behind(bytes: number): void {
    if (this.#unread.add(bytes)) this.#unread.sweep(performance.now(), this.#streams)
  }

  gone(stream: ServerStream): void {
    this.#streams.delete(stream)
    this.#halves.note(stream, 0)
  }

  #pingOn(): void {
    const now = performance.now()
    const part = rounds.next(this.#pings, now, this.#options.pingMs, () => this.#streams)
    for (const stream of part) stream.ping()
    this.#pinging = setTimeout(() => this.#pingOn(), this.#pings.dueAt - now).unref()
  }

  #sweep(): void {
    const now = performance.now()
    const late = now - this.#sweptAt > SWEEPS_LATE * this.#options.sweepMs
    this.#sweptAt = now
    // After a stall, bytes that arrived are not read yet and would count as missing.
    if (late) return
    this.#halves.sweep(now)
    this.#unread.sweep(now, this.#streams)
  }
}

/** @param untrusted  called when the request claims a proxy that is not trusted */
export function remoteOf(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trust: Trust,
  untrusted?: () => void,
): string {
  const peer = socket.remoteAddress ?? NOWHERE
  const header = headers['x-forwarded-for']
  const forwarded = Array.isArray(header) ? header.join(',') : header
  if (forwarded !== undefined && !isTrusted(peer, trust)) untrusted?.()
  return clientOf(peer, forwarded, trust)
}

function createSockets(maxPayload: number): WebSocketServer {
  // Package `ws` has these limits; its types do not yet.
  const bounds = {
    maxFragments: FRAGMENTS_MAX,
    maxBufferedChunks: CHUNKS_MAX,
    closeTimeout: CLOSE_MS,
  }
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    // `ServerStream` answers pings: clients that ping and never read would fill our memory.
    autoPong: false,
    ...bounds,
  })
}

function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  )
}

function turnAway(connection: WebSocket, code: number, why: string): void {
  connection.on('error', () => connection.terminate())
  connection.close(code, why)
}

/** The IP address at which a server listens; '' if there is none, as for a pipe. */
export function addressOf(server: Pick<Server, 'address'>): string {
  const at = server.address()
  return typeof at === 'object' && at !== null ? at.address : ''
}

/**
 * TCP connections without a whole request head, oldest first. Keyed by their other end, because
 * over TLS a request's socket differs from its connection's.
 */
class WaitingRoom {
  readonly #counters: StreamServerCounters
  readonly #max: number
  readonly #ms: number
  readonly #since = new Map<string, { socket: Socket; at: number }>()
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
    const oldest = this.#since.size >= this.#max ? this.#since.entries().next().value : undefined
    if (oldest !== undefined) {
      this.#counters.crowdedOut += 1
      this.#since.delete(oldest[0])
      oldest[1].socket.destroy()
    }
    const end = endOf(socket)
    this.#since.set(end, { socket, at: performance.now() })
    socket.once('close', () => {
      if (this.#since.get(end)?.socket === socket) this.#since.delete(end)
    })
    this.#timer ??= this.#arm(this.#ms)
  }

  leave(socket: Socket): void {
    this.#since.delete(endOf(socket))
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const { socket } of this.#since.values()) socket.destroy()
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
    for (const [end, { socket, at }] of this.#since) {
      const rest = at + this.#ms - now
      if (rest > 0) {
        this.#timer = this.#arm(Math.ceil(rest))
        return
      }
      this.#counters.handshakeTimeouts += 1
      this.#since.delete(end)
      socket.destroy()
    }
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
