/** The HTTP responses of `holdfast serve`: pages, `/health`, `/metrics` and data. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { costOf } from '../../../hub/src/machine/listing.ts'
import type { Page as ListPage } from '../../../hub/src/machine/state.ts'
import { listedSession } from '../../../hub/src/server/hub-figures.ts'
import { badValue } from '../../../holdfast/src/machine.ts'
import { isLoopback, isThisMachine } from '../../../holdfast/src/drivers/net/server/origins.ts'
import { fail, respond, respondJson, give } from './give.ts'
import { ROOMS_PATH } from '../rooms.ts'
import { type Answer, mayAsk, type Spending } from './http.ts'
import type { Metrics } from './metrics.ts'
import type { Page, Pages, Redirect } from './pages.ts'

/** `strict`, `open`, `none`, or a policy in CSP's own syntax. */
export type Policy = string

export interface Shelf {
  find: Pages['find']
  policy: Policy
}

/** The contents of the site. */
export interface SiteOptions {
  /** The first shelf with a page at the path serves it. */
  shelves: readonly Shelf[]
  /** The content of `/health`; its status is 503 while `ok` is false. */
  health: () => { ok: boolean }
  /** Serves `/metrics`; null for none. */
  metrics: Answer | null
  /** Serves `/api/rooms`. Default: none. */
  rooms?: Answer
  /** One page of `/api/sessions`: the sessions that the lobby lists. */
  sessions: (game: string, after: string) => ListPage
  /** The budgets for listing sessions. */
  spending?: Spending
  /** The content of `/api/hub`: data about the hub for its pages. */
  about: object
  /** The URLs for others on the network, sent to pages opened at a loopback address. */
  reach?: () => readonly string[]
}

const DATA = new Set(['/health', '/api/sessions', '/api/hub', ROOMS_PATH, '/metrics'])

/** Serves a hub's data and pages. */
export function siteOf(options: SiteOptions): Answer {
  const { shelves, health, metrics, rooms, about, reach } = options
  return async (path, request, response) => {
    // Data loads nothing; pages have their shelf's policy.
    if (DATA.has(path)) protect('strict', request, response)
    switch (path) {
      case '/health': {
        const now = health()
        return respondJson(response, now.ok ? 200 : 503, now)
      }
      case '/api/sessions':
        return listRooms(options, request, response)
      case '/api/hub':
        return respondJson(response, 200, {
          ...about,
          reach: isThisMachine(request.headers.host ?? '') ? (reach?.() ?? []) : [],
        })
      case ROOMS_PATH:
        return rooms ? rooms(path, request, response) : fail(response, 404)
      case '/metrics':
        return metrics ? metrics(path, request, response) : fail(response, 404)
      default: {
        for (const { find, policy } of shelves) {
          const found = find(path)
          if (found === null) continue
          protect(policy, request, response)
          return give(request, response, found)
        }
        protect('strict', request, response)
        return fail(response, 404)
      }
    }
  }
}

/** The JSON of list pages, cached while the hub holds them. */
const texts = new WeakMap<ListPage, string>()

// A Link header names the next page (RFC 8288).
function listRooms(
  { sessions, spending }: SiteOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { searchParams: asked } = new URL(request.url ?? '', 'http://hub')
  const game = asked.get('game') ?? ''
  const page = sessions(game, asked.get('after') ?? '')
  if (spending && !mayAsk(spending, request, response, 'lists', costOf(page, 'answer'))) return
  const text =
    texts.get(page) ?? JSON.stringify(page.items.map(({ entry }) => listedSession(entry)))
  texts.set(page, text)
  if (page.next !== '') {
    const query = new URLSearchParams({ ...(game !== '' && { game }), after: page.next })
    response.setHeader('Link', `<?${query.toString()}>; rel="next"`)
    response.setHeader('Access-Control-Expose-Headers', 'Link')
  }
  respond(response, 200, 'application/json', text)
}

/** Who may read the metrics. */
export interface Readers {
  /** The token that grants access; null for none. */
  token: string | null
  /** Whether local requests need no token. */
  local: boolean
}

/** Serves metrics, and nothing else. */
export function metricsOf(metrics: Metrics, readers: Readers | null): Answer {
  return async (path, request, response) => {
    if (path !== '/metrics') return fail(response, 404)
    if (readers !== null && !mayRead(readers, request)) return denied(response)
    respond(response, 200, metrics.type, await metrics.text())
  }
}

/** Whether a request is local or carries the token. */
export function mayRead({ token, local }: Readers, request: IncomingMessage): boolean {
  const { authorization = '' } = request.headers
  if (token !== null && isSame(authorization, `Bearer ${token}`)) return true
  return local && isLocal(request)
}

// A local proxy forwards remote requests and marks them.
function isLocal({ socket, headers }: IncomingMessage): boolean {
  const isBrought = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  return isLoopback(socket.remoteAddress ?? '') && !isBrought
}

// Compares in constant time.
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}

function denied(response: ServerResponse): void {
  response.setHeader('WWW-Authenticate', 'Bearer')
  const why = 'metrics are for this machine, or for a request with the token of --metrics-token'
  respond(response, 401, 'text/plain; charset=utf-8', `${why}\n`)
}

export const NO_PAGES: Pages = { find: () => null, starts: [] }

/** The user's pages, plus the lobby that comes with the program. */
export function withLobby(own: Pages, policy: Policy, ours: Pages): Shelf[] {
  const lobby = (path: string): Page | Redirect | null => {
    switch (path) {
      case '/':
        return { to: './lobby/', lasting: false }
      case '/lobby':
        return { to: './lobby/', lasting: true }
      case '/lobby/':
        return ours.find('/rooms/')
      default:
        return path.startsWith('/assets/') ? ours.find(path) : null
    }
  }
  return [
    { find: own.find, policy },
    { find: lobby, policy: 'strict' },
  ]
}

// The content security policy of pages. Our own pages may load scripts and open WebSockets only
// here, and start one worker, which ticks the loop: hence `blob:` in `worker-src`. The needs of
// other pages are unknown: by default they may do anything except use plugins and be framed by
// other origins, where a click could be stolen.

const OPEN = "object-src 'none'; base-uri 'self'; frame-ancestors 'self'"

/** Returns the policy if it is valid. @throws HoldfastError `bad-value` */
export function checkPolicy(policy: string): Policy {
  if (['strict', 'open', 'none'].includes(policy)) return policy
  if (/^[a-z-]+ [ -~]+$/.test(policy)) return policy
  throw badValue(
    `--policy is strict, open, none, or a policy such as "default-src 'self'": "${policy}"`,
  )
}

/** Sets the headers that protect a page. */
function protect(policy: Policy, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff')
  if (policy === 'none') return
  const words =
    policy === 'strict' ? strict(request.headers.host) : policy === 'open' ? OPEN : policy
  response.setHeader('Content-Security-Policy', words)
  if (policy !== 'strict') return
  response.setHeader('Referrer-Policy', 'no-referrer')
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
}

/** Some browsers exclude this origin's WebSockets from `'self'`, so they are named. */
function strict(host: string | undefined): string {
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
