/**
 * How a page examines an address where no WebSocket opens. Browsers hide the reason, so that pages
 * cannot explore a network; they only reveal whether the address answers HTTP at all, and for the
 * page's own origin the status.
 */

import type { Look } from '../../ports.ts'
import { LOOK_MAX_MS, metByStatus, metOtherScheme, passing } from './met.ts'

/** Tries `fetch` on the address, and on the same one with or without TLS. */
export const lookFromPage: Look = async (url) => {
  if (!navigator.onLine) return passing('this machine is connected to no network')
  const { host } = new URL(url)
  const isOwn = host === location.host
  const status = await statusOf(url.replace(/^ws/, 'http'))
  // A page learns of another origin only that it answered, not how.
  if (status === 0) return passing('a web server is there, but no hub at this path')
  if (status !== null) return metByStatus(status, url)
  // The page was loaded from there, so its scheme, name and certificate are right.
  if (isOwn) return passing('nobody listens there')
  const isSafe = url.startsWith('wss:')
  // A page loaded over TLS may not send requests without TLS.
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
