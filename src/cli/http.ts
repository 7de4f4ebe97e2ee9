/**
 * The HTTP side of `holdfast serve`: the pages, `/health` and `/metrics`. Streams come in on the
 * same server, by its `upgrade`, and are not handled here.
 *
 * The pages may load scripts from here alone, open WebSockets to here alone, and start the one
 * worker that gives the loop its ticks, which is why `worker-src` has `blob:`.
 */

import http, { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createGate, type Gate, type Refusal } from '../drivers/net/origins.ts'
import { addressOf } from '../drivers/net/websocket-server.ts'
import { HoldfastError } from '../machine.ts'
import type { Metrics } from './metrics.ts'
import { readPages, type Page, type Pages } from './pages.ts'

/** How long a request may take to come in whole, in milliseconds. */
const REQUEST_MS = 10_000
/** How long a connection may stay without a request, in milliseconds. */
const IDLE_MS = 5_000
/** How long answers under way may take when the server closes, in milliseconds. */
const CLOSE_MS = 2_000
/** TCP connections at a time; beyond, new ones are closed at once. */
const SOCKETS_MAX = 16_384

/** What to serve, and where. */
export interface HttpOptions {
  /** An IP address or a name of this machine. */
  host: string
  /** 0 takes any free port. */
  port: number
  /** Pages of which origins may ask beside those of this server; see origins.ts. */
  origins?: readonly string[]
  /** The built pages. */
  folder: string
  /** What `/health` shows; its status is 503 while `ok` is false. */
  health: () => { ok: boolean } & Record<string, unknown>
  metrics: Metrics
  /** What `/api/sessions` shows: the sessions that the lobby lists. */
  sessions: () => readonly object[]
}

/** Requests that were refused, by reason. */
export type HttpCounters = Record<Refusal['reason'], number>

/** A server that listens. */
export interface HttpServer {
  readonly counters: Readonly<HttpCounters>
  /** For `acceptStreams`. */
  readonly server: http.Server
  readonly port: number
  /** Where a browser on this machine finds it. */
  readonly url: string
  /** Accepts no more, lets answers under way finish for a moment, and ends all connections. */
  close: () => Promise<void>
}

/**
 * Reads the pages and starts to listen.
 *
 * @throws HoldfastError `port-taken`, `denied`, `unreachable` or `bad-value`, with what to do;
 *   and what readPages throws
 */
export async function openHttp(options: HttpOptions): Promise<HttpServer> {
  const pages = readPages(options.folder)
  const gate = createGate(options.origins ?? [])
  const counters: HttpCounters = { wrongOrigin: 0, wrongHost: 0 }
  const server = http.createServer(
    {
      requestTimeout: REQUEST_MS,
      headersTimeout: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      protect(request, response)
      const refusal = gate.refusal(request.headers, addressOf(server))
      if (refusal !== null) {
        counters[refusal.reason] += 1
        return turnAway(response, refusal)
      }
      answer(request, response, pages, options, gate).catch(() => fail(response, 500))
    },
  )
  server.maxConnections = SOCKETS_MAX
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const url = `http://${visibleHost(options.host)}:${port}/`
  return { server, port, url, counters, close: closer(server) }
}

function listen(server: http.Server, { host, port }: HttpOptions): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 0xffff) {
    const why = `a port is a number from 0 to 65535: ${port}; choose one with --port`
    return Promise.reject(new HoldfastError('bad-value', why))
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)))
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): HoldfastError {
  const place = `port ${port} on ${host}`
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return new HoldfastError(
        'port-taken',
        `${place} is taken by another program; stop it, or choose another port with --port ` +
          '(0 takes any free one)',
      )
    case 'EACCES':
      return new HoldfastError('denied', `${place} is not allowed to us; choose --port above 1023`)
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

function visibleHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Watches the connections of a server, so that it can be closed. @returns closes it */
function closer(server: http.Server): () => Promise<void> {
  const sockets = new Set<Socket>()
  const answering = new Set<Socket>()
  let closing = false
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
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
    // Ended and not destroyed: a stream's last words may still be on their way.
    for (const socket of sockets) if (!answering.has(socket)) socket.end()
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, CLOSE_MS)
    await closed
    clearTimeout(timer)
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: Pages,
  options: HttpOptions,
  gate: Gate,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    // Its body is of no interest, so the connection is not either.
    response.setHeader('Connection', 'close')
    return fail(response, 405)
  }
  const [path = ''] = (request.url ?? '').split('?', 1)
  const { origin } = request.headers
  if (origin !== undefined && gate.names(origin)) {
    response.setHeader('Access-Control-Allow-Origin', origin)
    response.setHeader('Vary', 'Origin')
  }
  switch (path) {
    case '/health': {
      const health = options.health()
      return say(response, health.ok ? 200 : 503, 'application/json', JSON.stringify(health))
    }
    case '/api/sessions':
      return say(response, 200, 'application/json', JSON.stringify(options.sessions()))
    case '/metrics':
      return say(response, 200, options.metrics.type, await options.metrics.text())
    default:
      return givePage(request, response, pages.find(path))
  }
}

function givePage(
  request: IncomingMessage,
  response: ServerResponse,
  found: Page | string | null,
): void {
  if (found === null) return fail(response, 404)
  if (typeof found === 'string') {
    response.setHeader('Location', found)
    return fail(response, 308)
  }
  response.setHeader('ETag', found.etag)
  response.setHeader('Cache-Control', found.cache)
  if (matches(request.headers['if-none-match'], found.etag)) {
    response.writeHead(304).end()
    return
  }
  response.setHeader('Content-Type', found.type)
  response.setHeader('Content-Length', found.body.length)
  // Node leaves the body of a HEAD out by itself.
  response.writeHead(200).end(found.body)
}

/** RFC 9110, 13.1.2: a list of validators, compared weakly, or a star. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((each) => {
    const own = each.trim()
    return own === '*' || own.replace(/^W\//, '') === etag
  })
}

function say(response: ServerResponse, status: number, type: string, text: string): void {
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Length', Buffer.byteLength(text))
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store')
  response.writeHead(status).end(text)
}

/** Says why, and is done with the connection. */
function turnAway(response: ServerResponse, { status, why }: Refusal): void {
  response.setHeader('Connection', 'close')
  say(response, status, 'text/plain; charset=utf-8', `${why}\n`)
}

/** A page that only says what is wrong. */
function fail(response: ServerResponse, status: number): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const title = `${status} ${STATUS_CODES[status]}`
  const page = `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1></html>\n`
  say(response, status, 'text/html; charset=utf-8', page)
}

function protect(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Content-Security-Policy', policy(request.headers.host))
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Referrer-Policy', 'no-referrer')
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
}

/** Not every browser takes `'self'` to mean the WebSockets of this origin, so they are named. */
function policy(host: string | undefined): string {
  const named = host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host)
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "media-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self' blob:",
    named ? `connect-src 'self' ws://${host} wss://${host}` : "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
