/**
 * An HTTP server for untrusted clients: listens, explains why it cannot, admits the requests that
 * origins.ts admits, and closes without cutting responses off. Streams arrive on the same server by
 * `upgrade` and are handled elsewhere.
 */

import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  createGate,
  type Gate,
  type Refusal,
} from '../../../holdfast/src/drivers/net/server/origins.ts'
import {
  createSecureServer,
  isSecure,
  renew,
} from '../../../holdfast/src/drivers/net/server/tls.ts'
import { addressOf, remoteOf } from '../../../holdfast/src/drivers/net/server/websocket-server.ts'
import { badValue, HoldfastError } from '../../../holdfast/src/machine.ts'
import type { Certificate } from '../../../holdfast/src/ports.ts'
import { isTrusted, NOWHERE, placeOf, type Trust } from '../../../holdfast/src/wire/text/ip.ts'
import * as budgets from '../../../hub/src/machine/budgets.ts'
import { fail, respond } from './give.ts'
import { ROOMS_PATH } from '../rooms.ts'

/** Time limit for receiving a complete request, in milliseconds. */
const REQUEST_MS = 10_000
/** How long a connection may stay idle, in milliseconds. */
const IDLE_MS = 5_000
/** How long running responses may take when the server closes, in milliseconds. */
const CLOSE_MS = 2_000
/** The Retry-After of rate-limited requests, in seconds. */
const RETRY_AFTER_S = 1

export interface Place {
  /** An IP address or a name of this machine. */
  host: string
  /** 0 takes any free port. */
  port: number
  /** The option that sets the port, for the error when the port is unavailable. */
  option: '--port' | '--metrics'
  /** Origins whose pages may send requests, beside the server's own; see origins.ts. */
  origins: readonly string[]
  /** The budgets of clients; without them no address has limits of its own. */
  spending?: Spending
  /** The certificate for https; http without. */
  tls?: Certificate | null
}

/** The certificate options, for errors. */
const TLS_OPTIONS = '--tls-cert'

const OPTIONS: http.ServerOptions = {
  requestTimeout: REQUEST_MS,
  headersTimeout: REQUEST_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: 1000,
}

/** Responds to an admitted request; `path` is without the query. */
export type Answer = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => void | Promise<void>

type HttpCounters = Record<Refusal['reason'], number>

export interface HttpServer {
  readonly counters: Readonly<HttpCounters>
  /** The server, for `acceptStreams`. */
  readonly server: http.Server
  readonly port: number
  /** The URL for a browser on this machine. */
  readonly url: string
  /** Stops accepting, gives running responses a moment to finish, and closes all connections. */
  close: () => Promise<void>
  /** Replaces the certificate, under https. @throws HoldfastError `bad-value` */
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
    // A synchronous throw must not end the process either.
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
  const renewed = (certificate: Certificate): void => {
    if (secure) renew(secure, certificate, TLS_OPTIONS)
  }
  return { server, port, url, counters, close: closer(server), renew: renewed }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]!
}

/** Whether a request is admitted; otherwise it got its response here. */
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
    response.setHeader('Connection', 'close')
    respond(response, refusal.status, 'text/plain; charset=utf-8', `${refusal.why}\n`)
    return false
  }
  if (origin !== undefined && gate.names(origin)) {
    // A page of another origin may read the answer.
    response.setHeader('Access-Control-Allow-Origin', origin)
    response.setHeader('Vary', 'Origin')
  }
  if (request.method === 'GET' || request.method === 'HEAD') return true
  // The required header is more than pages can send without a preflight.
  if (request.method === 'POST' && pathOf(request) === ROOMS_PATH) return true
  response.setHeader('Allow', 'GET, HEAD')
  // The body is not read, so the connection cannot be reused.
  response.setHeader('Connection', 'close')
  fail(response, 405)
  return false
}

function listen(server: http.Server, place: Place): Promise<void> {
  const { host, port, option } = place
  if (!Number.isInteger(port) || port < 0 || port > 0xffff) {
    const why = `a port is a number from 0 to 65535: ${port}; choose one with ${option}`
    return Promise.reject(badValue(why))
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
    case 'EADDRINUSE': {
      const cure = `stop it, or choose another port with ${option} (0 takes any free one)`
      return new HoldfastError('port-taken', `${place} is taken by another program; ${cure}`)
    }
    case 'EACCES': {
      const why = `${place} is not allowed to us; choose ${option} above 1023`
      return new HoldfastError('port-denied', why)
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const why = `${host} is no address of this machine; choose another with --host`
      return new HoldfastError('unreachable', why)
    }
    default:
      return new HoldfastError('unreachable', `${place} could not be opened: ${error.message}`)
  }
}

/** The host part of a URL that reaches this address from this machine. */
export function visibleHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Tracks a server's connections to close them. @returns closes the server */
function closer(server: http.Server): () => Promise<void> {
  // Under TLS a connection has two sockets: the raw one, and the one requests belong to.
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
    // Ended, not destroyed: last messages of a stream may be in flight.
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

/** The budgets of a server, and the proxies trusted to forward an address. */
export interface Spending {
  budgets: budgets.Budgets
  trust: Trust
}

// Closes connections beyond an address's limit or rate, silently: such clients read no reasons.
// Trusted proxies are unlimited.
function boundSockets(server: http.Server, { budgets: all, trust }: Spending): void {
  server.maxConnections = all.limits.hub.sockets
  server.on('drop', () => budgets.refuse(all, 'hub', 'sockets'))
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? NOWHERE
    if (isTrusted(peer, trust)) return
    const now = performance.now()
    const account = budgets.accountOf(all, now, placeOf(peer))
    account.sockets++
    socket.once('close', () => account.sockets--)
    if (account.sockets > all.limits.address.sockets) {
      budgets.refuse(all, 'address', 'sockets')
      socket.destroy()
    } else if (budgets.spend(all, now, { account }, 'dials', 1)) socket.destroy()
  })
}

/** Charges a request to the budget. @returns false if it was over and got its response here */
export function mayAsk(
  { budgets: all, trust }: Spending,
  request: IncomingMessage,
  response: ServerResponse,
  what: 'requests' | 'lists',
  cost: number,
): boolean {
  const now = performance.now()
  const account = budgets.accountOf(all, now, placeOf(remoteOf(request, trust)))
  const met = budgets.spend(all, now, { account }, what, cost)
  if (!met) return true
  response.setHeader('Retry-After', RETRY_AFTER_S)
  respond(response, 429, 'text/plain; charset=utf-8', `${budgets.reasonOf(all, met)}\n`)
  return false
}
