/**
 * The content security policy of pages: what they may load, open and start.
 *
 * Our own pages may load scripts only from here, open WebSockets only to here, and start the one
 * worker that gives the loop its ticks, which is why `worker-src` has `blob:`. The needs of other
 * people's pages are unknown here: by default they may do what pages may, except use plugins, and
 * be framed by pages of others, where a click could be stolen.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { HoldfastError } from '../../holdfast/src/machine.ts'

/** `strict`, `open`, `none`, or a policy in CSP's own syntax. */
export type Policy = string

const OPEN = "object-src 'none'; base-uri 'self'; frame-ancestors 'self'"

/** Returns the policy if it is valid. @throws HoldfastError `bad-value` */
export function checkPolicy(policy: string): Policy {
  if (['strict', 'open', 'none'].includes(policy)) return policy
  if (/^[a-z-]+ [ -~]+$/.test(policy)) return policy
  throw new HoldfastError(
    'bad-value',
    `--policy is strict, open, none, or a policy such as "default-src 'self'": "${policy}"`,
  )
}

/** Sets the headers that protect a page. */
export function protect(policy: Policy, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff')
  if (policy === 'none') return
  response.setHeader('Content-Security-Policy', wordsOf(policy, request.headers.host))
  if (policy !== 'strict') return
  response.setHeader('Referrer-Policy', 'no-referrer')
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
}

function wordsOf(policy: Policy, host: string | undefined): string {
  if (policy === 'strict') return strict(host)
  return policy === 'open' ? OPEN : policy
}

/** Not every browser takes `'self'` to include WebSockets of this origin, so they are named. */
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
