/**
 * An HTTP server that strangers may reach: it listens, explains why it cannot, admits the requests
 * that origins.ts admits, and closes without cutting answers off. Streams come in on the same
 * server, by its `upgrade`, and are not handled here.
 */

import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createGate, type Gate, type Refusal } from '../../holdfast/src/drivers/net/origins.ts'
import { createSecureServer, isSecure, renew } from '../../holdfast/src/drivers/net/tls.ts'
import { addressOf } from '../../holdfast/src/drivers/net/websocket-server.ts'
import { HoldfastError } from '../../holdfast/src/machine.ts'
import type { Certificate } from '../../holdfast/src/ports.ts'
import { fail, say } from './give.ts'
import { ROOMS_PATH } from './room-asking.ts'
import { boundSockets, mayAsk, type Spending } from './spending.ts'

/** How long a request may take to come in completely, in milliseconds. */
const REQUEST_MS = 10_000
/** How long a connection may stay without a request, in milliseconds. */
const IDLE_MS = 5_000
/** How long answers under way may take when the server closes, in milliseconds. */
const CLOSE_MS = 2_000

/** Where to listen. */
export interface Place {
  /** An IP address or a name of this machine. */
  host: string
  /** 0 takes any free port. */
  port: number
  /** The option that chooses the port, for the error when the port is not available. */
  option: '--port' | '--metrics'
  /** The origins whose pages may ask beside the server's own; see origins.ts. */
  origins: readonly string[]
  /** What strangers may cost; without it no address has limits of its own. */
  spending?: Spending
  /** Makes it https. */
  tls?: Certificate | null
}

/** The options that give a certificate, for errors. */
export const TLS_OPTIONS = '--tls-cert'

const OPTIONS: http.ServerOptions = {
  requestTimeout: REQUEST_MS,
  headersTimeout: REQUEST_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: 1000,
}

/** Answers an admitted GET or HEAD; `path` is without the query. */
export type Answer = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => void | Promise<void>

/** Requests that were refused, by reason. */
export type HttpCounters = Record<Refusal['reason'], number>

/** A server that listens. */
export interface HttpServer {
  readonly counters: Readonly<HttpCounters>
  /** The server, for `acceptStreams`. */
  readonly server: http.Server
  readonly port: number
  /** The URL for a browser on this machine. */
  readonly url: string
  /** Accepts no more, lets answers under way finish for a moment, and ends all connections. */
  close: () => Promise<void>
  /** Shows another certificate from now on, if it has one. @throws HoldfastError `bad-value` */
  renew: (certificate: Certificate) => void
}

/**
 * Starts to listen.
 *
 * @throws HoldfastError `port-taken`, `port-denied`, `unreachable` or `bad-value`, with the cure
 */
export async function openServer(place: Place, answer: Answer): Promise<HttpServer> {
  const { spending, tls } = place
  const counters: HttpCounters = { wrongOrigin: 0, wrongHost: 0 }
  const gate = createGate(place.origins)
  const asked: http.RequestListener = (request, response) => {
    if (spending && !mayAsk(spending, request, response, 'requests', 1)) return
    if (!admits(gate, counters, addressOf(server), request, response)) return
    const path = pathOf(request)
    // A function that throws at once must not end the process either.
    void Promise.resolve()
      .then(() => answer(path, request, response))
      .catch(() => fail(response, 500))
  }
  const secure = tls ? createSecureServer(tls, TLS_OPTIONS, OPTIONS, asked) : null
  const server = (secure as http.Server | null) ?? http.createServer(OPTIONS, asked)
  if (spending) boundSockets(server, spending)
  await listen(server, place)
  const { port } = server.address() as AddressInfo
  const url = `${secure ? 'https' : 'http'}://${visibleHost(place.host)}:${port}/`
  return { server, port, url, counters, close: closer(server), renew: renewer(secure) }
}

function renewer(secure: SecureServer | null): HttpServer['renew'] {
  return (certificate) => {
    if (secure) renew(secure, certificate, TLS_OPTIONS)
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]!
}

/** Whether a request may come in; otherwise it was answered. */
function admits(
  gate: Gate,
  counters: HttpCounters,
  address: string,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { origin } = request.headers
  const refusal = gate.refusal(request.headers, address)
  if (refusal !== null) {
    counters[refusal.reason] += 1
    turnAway(response, refusal)
    return false
  }
  if (origin !== undefined && gate.names(origin)) share(response, origin)
  if (request.method === 'GET' || request.method === 'HEAD') return true
  // It asks for more than pages can send by themselves.
  if (request.method === 'POST' && pathOf(request) === ROOMS_PATH) return true
  refuseMethod(response)
  return false
}

/** Sends the reason of a refusal, and closes the connection. */
function turnAway(response: ServerResponse, { status, why }: Refusal): void {
  response.setHeader('Connection', 'close')
  say(response, status, 'text/plain; charset=utf-8', `${why}\n`)
}

/** Lets a page of another origin read the answer. */
function share(response: ServerResponse, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Vary', 'Origin')
}

function refuseMethod(response: ServerResponse): void {
  response.setHeader('Allow', 'GET, HEAD')
  // The body is not read, so the connection cannot be used again.
  response.setHeader('Connection', 'close')
  fail(response, 405)
}

function listen(server: http.Server, place: Place): Promise<void> {
  const { host, port, option } = place
  if (!Number.isInteger(port) || port < 0 || port > 0xffff) {
    const why = `a port is a number from 0 to 65535: ${port}; choose one with ${option}`
    return Promise.reject(new HoldfastError('bad-value', why))
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, place)))
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

function listenError(error: NodeJS.ErrnoException, { host, port, option }: Place): HoldfastError {
  const place = `port ${port} on ${host}`
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return new HoldfastError(
        'port-taken',
        `${place} is taken by another program; stop it, or choose another port with ${option} ` +
          '(0 takes any free one)',
      )
    case 'EACCES':
      return new HoldfastError(
        'port-denied',
        `${place} is not allowed to us; choose ${option} above 1023`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new HoldfastError(
        'unreachable',
        `${host} is no address of this machine; choose another with --host`,
      )
    default:
      return new HoldfastError('unreachable', `${place} could not be opened: ${error.message}`)
  }
}

/** An address in the form of a URL of this machine. */
export function visibleHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Tracks the connections of a server, so that it can be closed. @returns closes it */
function closer(server: http.Server): () => Promise<void> {
  // With TLS a connection is two sockets: what comes over the network, and what requests are of.
  const [all, speaking] = [tracked(server, 'connection'), tracked(server, 'secureConnection')]
  const answering = new Set<Socket>()
  let closing = false
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.add(socket)
    response.once('close', () => {
      answering.delete(socket)
      if (closing) socket.end()
    })
  })
  return async () => {
    closing = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    // Ended and not destroyed: the last messages of a stream may still be on their way.
    const ending = isSecure(server) ? speaking : all
    for (const socket of ending) if (!answering.has(socket)) socket.end()
    const timer = setTimeout(() => {
      for (const socket of all) socket.destroy()
    }, CLOSE_MS)
    await closed
    clearTimeout(timer)
  }
}

function tracked(server: http.Server, event: string): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on(event, (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}
