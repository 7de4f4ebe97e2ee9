/**
 * How a page examines an address where no WebSocket opens. The browser hides the reason, so that
 * pages cannot explore a network; it only reveals whether the address answers HTTP at all, and for
 * the page's own origin the status.
 */

import type { Look } from '../../ports.ts'
import { LOOK_MAX_MS, metByStatus, metOtherScheme, passing } from './met.ts'

/** Examines by `fetch`: the address, and the same one with or without TLS. */
export const lookFromPage: Look = async (url) => {
  if (!navigator.onLine) return passing('this machine is connected to no network')
  const { host } = new URL(url)
  const isOwn = host === location.host
  const status = await statusOf(url.replace(/^ws/, 'http'))
  // About another origin a page learns only that there was an answer, not which.
  if (status === 0) return passing('a web server is there, but no hub at this path')
  if (status !== null) return metByStatus(status, url)
  // The page came from there, so its scheme, its name and its certificate are right.
  if (isOwn) return passing('nobody listens there')
  const isSafe = url.startsWith('wss:')
  // A page that came over TLS may not ask without TLS.
  const mayAsk = !isSafe || location.protocol === 'http:'
  if (mayAsk && (await statusOf(`${isSafe ? 'http' : 'https'}://${host}/`)) !== null) {
    return metOtherScheme(url)
  }
  return passing(
    'nobody listens there, or this page may not see who does: the name may be unknown, the ' +
      'certificate not trusted, or the policy of this page may forbid it',
  )
}

/** The status of the answer; 0 if the page may not see it, null if there is no answer. */
async function statusOf(url: string): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(LOOK_MAX_MS)
    const how = { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal } as const
    const answer = await fetch(url, how)
    void answer.body?.cancel()
    return answer.status
  } catch {
    return null
  }
}
