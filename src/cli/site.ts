/**
 * What `holdfast serve` answers beside its streams: pages, `/health`, `/metrics` and what pages
 * may ask of their hub.
 */

import { isThisMachine } from '../drivers/net/origins.ts'
import { fail, say, sayJson } from './answers.ts'
import { give } from './give.ts'
import type { Answer } from './http.ts'
import type { Metrics } from './metrics.ts'
import type { Page, Pages, Redirect } from './pages.ts'
import { type Policy, protect } from './policy.ts'

/** Pages that are given out with one policy. */
export interface Shelf {
  find: Pages['find']
  policy: Policy
}

/** What to serve. */
export interface SiteOptions {
  /** The first that has something at a path gives it out. */
  shelves: readonly Shelf[]
  /** What `/health` shows; its status is 503 while `ok` is false. */
  health: () => { ok: boolean }
  /** What `/metrics` shows; null where it is not to be had. */
  metrics: Metrics | null
  /** What `/api/sessions` shows: the sessions that the lobby lists. */
  sessions: () => readonly object[]
  /** What `/api/hub` shows: what pages may know of their hub. */
  about: object
  /** Where others on the network find it: told to pages at an address of this very machine. */
  reach?: () => readonly string[]
}

/** Answers for a hub and its pages. */
export function siteOf(options: SiteOptions): Answer {
  const { shelves, health, metrics, sessions, about, reach } = options
  return async (path, request, response) => {
    switch (path) {
      case '/health': {
        const now = health()
        return sayJson(response, now.ok ? 200 : 503, now)
      }
      case '/api/sessions':
        return sayJson(response, 200, sessions())
      case '/api/hub':
        return sayJson(response, 200, {
          ...about,
          reach: isThisMachine(request.headers.host ?? '') ? (reach?.() ?? []) : [],
        })
      case '/metrics':
        return metrics ? metricsOf(metrics)(path, request, response) : fail(response, 404)
      default: {
        const { found, policy } = look(shelves, path)
        protect(policy, request, response)
        return give(request, response, found)
      }
    }
  }
}

function look(
  shelves: readonly Shelf[],
  path: string,
): { found: Page | Redirect | null; policy: Policy } {
  for (const { find, policy } of shelves) {
    const found = find(path)
    if (found !== null) return { found, policy }
  }
  return { found: null, policy: 'strict' }
}

/** Answers for a port where nothing but the metrics is. */
export function metricsOf(metrics: Metrics): Answer {
  return async (path, _request, response) => {
    if (path === '/metrics') say(response, 200, metrics.type, await metrics.text())
    else fail(response, 404)
  }
}

/** No pages of one's own. */
export const NO_PAGES: Pages = { find: () => null, starts: [] }

/** Pages of one's own, and beside them the list of rooms that comes with the program. */
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
