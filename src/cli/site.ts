/**
 * What `holdfast serve` answers beside its streams: the pages, `/health`, `/metrics` and what the
 * lobby asks for.
 *
 * The pages may load scripts from here alone, open WebSockets to here alone, and start the one
 * worker that gives the loop its ticks, which is why `worker-src` has `blob:`.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { fail, say, sayJson } from './answers.ts'
import type { Answer } from './http.ts'
import type { Metrics } from './metrics.ts'
import type { Page, Pages } from './pages.ts'

/** What to serve. */
export interface SiteOptions {
  pages: Pages
  /** What `/health` shows; its status is 503 while `ok` is false. */
  health: () => { ok: boolean } & Record<string, unknown>
  /** What `/metrics` shows; null where it is not to be had. */
  metrics: Metrics | null
  /** What `/api/sessions` shows: the sessions that the lobby lists. */
  sessions: () => readonly object[]
  /** What `/api/hub` shows: what pages may know of their hub. */
  about: object
}

/** Answers for a hub and its pages. */
export function siteOf({ pages, health, metrics, sessions, about }: SiteOptions): Answer {
  return async (path, request, response) => {
    protect(request, response)
    switch (path) {
      case '/health': {
        const now = health()
        return sayJson(response, now.ok ? 200 : 503, now)
      }
      case '/api/sessions':
        return sayJson(response, 200, sessions())
      case '/api/hub':
        return sayJson(response, 200, about)
      case '/metrics':
        return metrics ? metricsOf(metrics)(path, request, response) : fail(response, 404)
      default:
        return givePage(request, response, pages.find(path))
    }
  }
}

/** Answers for a port where nothing but the metrics is. */
export function metricsOf(metrics: Metrics): Answer {
  return async (path, _request, response) => {
    if (path === '/metrics') say(response, 200, metrics.type, await metrics.text())
    else fail(response, 404)
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
