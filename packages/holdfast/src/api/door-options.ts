/** Checks of what doors of hubs and mailboxes are given. */

import { badValue } from '../machine.ts'
import { shown } from '../wire/fields.ts'

/** Refuses what is no server of Node's. @throws HoldfastError code `bad-value` */
export function checkServer(what: string, server: unknown): void {
  const known = server as { listen?: unknown; address?: unknown; once?: unknown } | null | undefined
  const isOne = [known?.listen, known?.address, known?.once].every((one) => {
    return typeof one === 'function'
  })
  // Frameworks hand out things that look like servers, or null where there is none.
  if (isOne && typeof server === 'object') return
  throw badValue(
    `${what} is one of Node's http or https, such as http.createServer(app): ${shown(server)}`,
  )
}

/** Returns the path of a URL. @throws HoldfastError code `bad-value` */
export function checkPath(path: string): string {
  if (typeof path === 'string' && /^\/[\w.~!$&'()*+,;=:@%/-]+$/.test(path) && !path.endsWith('/'))
    return path
  throw badValue(`path is that of a URL, such as /hub or /rt/hub: ${shown(path)}`)
}

/** Returns a list of texts. @throws HoldfastError code `bad-value` */
export function checkTexts(what: string, given: readonly string[]): readonly string[] {
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return given
  throw badValue(`${what} is a list of texts: ${shown(given)}`)
}
