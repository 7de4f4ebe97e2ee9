/**
 * Origins: which web pages may use our servers.
 *
 * A browser lets every page open WebSockets to every address, also to 127.0.0.1, so a hub on a
 * user's machine would be open to each page that the user visits. Two checks prevent that:
 *
 * - **Origin**: the page must come from the server it speaks to, or from an allowed origin. A
 *   request without `Origin` comes from a program, which could claim anything.
 * - **Host**: a page may point its own name at this machine (DNS rebinding), and then has our
 *   origin. So a server that listens only on a loopback address takes only loopback names; a proxy
 *   that passes on the name by which it was called must be allowed by name.
 */

import { badValue } from '../../../machine.ts'

/** The headers in which a request claims its origin and the host that it means. */
export interface Claims {
  host?: string | undefined
  origin?: string | undefined
}

export interface Refusal {
  reason: 'wrongOrigin' | 'wrongHost'
  status: 403 | 421
  /** Begins with `wrong origin` or `wrong host`, as in docs/STANDARD.md. */
  why: string
}

export interface Gate {
  /** Null if it is. @param address  where the server listens; '' if that is no IP address */
  refusal(claims: Claims, address: string): Refusal | null
  /** Whether the origin is allowed by name, and so may read answers across origins. */
  names(origin: string): boolean
}

/** The command-line option that allows more origins; in code it is `origins`. */
const CURE = '(--origin)'
/** Longest origin that is repeated to its sender. */
const SHOWN_MAX = 56

/** @param origins  such as `https://play.example.com`; `null`: pages without one; `*`: all */
export function createGate(origins: readonly string[]): Gate {
  const allowed = new Set(origins.map(checkOrigin))
  const hosts = new Set([...allowed].map((origin) => nameOf(hostOf(origin))))
  const all = allowed.has('*')
  const names = (origin: string): boolean => all || allowed.has(normal(origin))
  return {
    names,
    refusal: ({ host, origin }, address) => {
      if (!all && host !== undefined && isLoopback(address) && !knownHost(host, hosts)) {
        return refuse('wrongHost', 421, host)
      }
      if (origin === undefined || names(origin) || isOwn(origin, host)) return null
      return refuse('wrongOrigin', 403, origin)
    },
  }
}

function refuse(reason: Refusal['reason'], status: Refusal['status'], claimed: string): Refusal {
  // The text comes from a stranger, and people may read it: unusual characters are replaced.
  const shown = claimed.replaceAll(/[^!-~]/g, '?').slice(0, SHOWN_MAX) || '""'
  const what = reason === 'wrongHost' ? 'host' : 'origin'
  return {
    reason,
    status,
    why: `wrong ${what}: ${shown} is none of the ${what}s allowed here ${CURE}`,
  }
}

function checkOrigin(origin: string): string {
  const at = normal(origin)
  if (at === '*' || at === 'null' || /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,*]+$/.test(at)) return at
  throw badValue(
    `an origin is a scheme, a host and no path, as https://play.example.com: "${origin}"`,
  )
}

function normal(origin: string): string {
  const isUrl = /^https?:\/\/[^/?#@\s]+\/?$/i.test(origin)
  return isUrl && URL.canParse(origin) ? new URL(origin).origin : origin.toLowerCase()
}

/** The host of an origin; '' if there is none. */
function hostOf(origin: string): string {
  const at = origin.indexOf('://')
  return at < 0 ? '' : origin.slice(at + 3)
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

function isOwn(origin: string, host: string | undefined): boolean {
  if (host === undefined) return false
  const at = normal(origin)
  const scheme = /^https?:\/\//.exec(at)?.[0]
  return scheme !== undefined && at === normal(scheme + host)
}

function knownHost(host: string, hosts: ReadonlySet<string>): boolean {
  return isThisMachine(host) || hosts.has(nameOf(host))
}

export function isThisMachine(host: string): boolean {
  const name = nameOf(host)
  return isLoopback(name) || name === 'localhost' || name.endsWith('.localhost')
}

export function isLoopback(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').replace(/^::ffff:/i, '')
  return plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain)
}
