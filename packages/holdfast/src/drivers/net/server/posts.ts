/**
 * POST requests that pages send as they end (`navigator.sendBeacon`), on a web server that may
 * belong to the application.
 *
 * Node hands each request to every listener, and an answer does not stop the others. So this module
 * takes these requests out in the server's `emit`, which also covers listeners added later, and
 * HTTP/2.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Opening } from '../../../ports.ts'
import { BEACON_MAX } from '../../../wire/beacon.ts'

export type TakeBeacon = (body: Uint8Array, opening: Opening) => boolean

/** Keeps POSTs at these paths from all listeners of a server. @returns a function that ends that */
export function keepPosts(
  server: Server,
  paths: readonly string[],
  take: (request: IncomingMessage, response: ServerResponse) => void,
): () => void {
  const emit = server.emit.bind(server) as (event: string, ...about: unknown[]) => boolean
  let keeps = true
  const emitOrKeep: typeof emit = (event, ...about) => {
    if (!keeps || event !== 'request') return emit(event, ...about)
    const [request, response] = about as [IncomingMessage, ServerResponse]
    const path = request.url?.split('?', 1)[0] ?? ''
    if (request.method !== 'POST' || !paths.includes(path)) return emit(event, ...about)
    take(request, response)
    return true
  }
  server.emit = emitOrKeep as typeof server.emit
  // A later wrapper of `emit` still calls ours.
  return () => void (keeps = false)
}

/** Reads a body of at most BEACON_MAX bytes, and answers 204, 400 or 413. */
export function readPost(
  request: IncomingMessage,
  response: ServerResponse,
  take: (body: Uint8Array) => boolean,
): void {
  const parts: Uint8Array[] = []
  let bytes = 0
  const isTooLong = (): boolean => bytes > BEACON_MAX
  request.on('error', () => {})
  request.on('data', (part: Uint8Array) => {
    if (isTooLong()) return
    bytes += part.length
    parts.push(part)
    if (isTooLong()) answerPost(response, 413, `a beacon has at most ${BEACON_MAX} bytes`)
  })
  request.on('end', () => {
    if (isTooLong()) return
    if (take(new Uint8Array(Buffer.concat(parts)))) return void response.writeHead(204).end()
    answerPost(response, 400, 'this is no beacon, which a page sends to its hub as it ends')
  })
}

/** Refuses a post with a reason, and closes the connection without reading the rest. */
export function answerPost(response: ServerResponse, status: number, why: string): void {
  response.setHeader('Connection', 'close')
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.writeHead(status).end(`${why}\n`)
}
