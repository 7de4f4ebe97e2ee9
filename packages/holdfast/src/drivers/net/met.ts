/**
 * Describes what answers at an address instead of a hub, so that the error for a wrong address
 * names the fault. Node's errors reveal much; a page learns only that no stream opened, so it
 * examines the address by `fetch`.
 */

import type { Met } from '../../ports.ts'

/** How long an examination may take, in milliseconds. */
export const LOOK_MAX_MS = 2_000

/** Statuses of a proxy whose server is away, and of an overloaded server. */
const PASSING_STATUSES: readonly number[] = [429, 500, 502, 503, 504]

/** Nobody answers now, or the fault is unknown: it may pass. */
export function passing(what: string): Met {
  return { kind: 'passing', what }
}

/** The fault persists: another attempt would fail too. */
export function wrong(what: string): Met {
  return { kind: 'wrong', what }
}

/** A web server answered with that status instead of opening a stream. */
export function metByStatus(status: number, url: string): Met {
  const answered = `a web server is there, but no hub at this path (it answers ${status})`
  // A development server answers every path with the page itself.
  if (status === 200) return wrong(`${answered}; Vite needs the plugin of holdfast/vite`)
  if (PASSING_STATUSES.includes(status)) return passing(answered)
  // A server that expects TLS answers like this too, if it answers at all.
  const isPlain = status === 400 && url.startsWith('ws:')
  return wrong(isPlain ? `${answered}; if it wants TLS, name it by https:` : answered)
}

export function metOtherScheme(url: string): Met {
  return url.startsWith('wss:')
    ? wrong('the server there speaks no TLS: name it by http: or ws:')
    : wrong('the server there wants TLS: name it by https: or wss:')
}

/** Classifies an error of Node or of package `ws`; undefined for one that it does not know. */
export function metByError(error: unknown, url: string): Met | undefined {
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string }
  const status = /^Unexpected server response: (\d{3})$/.exec(message)?.[1]
  if (status !== undefined) return metByStatus(Number(status), url)
  switch (code) {
    case 'ECONNREFUSED':
      return passing('nobody listens there')
    case 'ENOTFOUND':
      return wrong('no machine has that name')
    case 'EAI_AGAIN':
      return passing('its name could not be looked up')
    case 'EHOSTDOWN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return passing(`no route leads there (${code})`)
    default:
      return metByTls(code, message, url)
  }
}

function metByTls(code: string, message: string, url: string): Met | undefined {
  if (!url.startsWith('wss:')) return undefined
  if (/wrong version number|packet length too long|http request/.test(message)) {
    return metOtherScheme(url)
  }
  if (/CERT|SIGNED|LEAF_SIGNATURE/.test(code)) {
    return wrong(`its certificate is not trusted here (${message})`)
  }
  return code === 'EPROTO' ? wrong(`TLS with it fails (${message.trim()})`) : undefined
}
