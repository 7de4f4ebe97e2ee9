/**
 * Addresses of streams that carry datagrams. `wss://play.example.com/rt/host` is where a member
 * listens, as it announces itself. `stream:7` is the other end of a stream that came there; nobody
 * else can send to it.
 */

const STREAM = 'stream:'
const HOST = /(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/.source
const PATH = /\/[\w.~!$&'()*+,;=:@%/-]*/.source
const URL_FORM: RegExp = new RegExp(`^(wss?)://${HOST}(?::[1-9][0-9]{0,4})?${PATH}$`)

export interface StreamPlace {
  isSecure: boolean
  /** A name or an IP address, in brackets for IPv6. */
  host: string
}

/**
 * Reads an address at which a member listens: scheme `ws` or `wss`, a host in lower case, maybe a
 * port, and a path; without a name, a password, a query or a fragment. Null for anything else.
 */
export function readStreamAddress(address: string): StreamPlace | null {
  const [, scheme, host] = URL_FORM.exec(address) ?? []
  if (host === undefined || !URL.canParse(address)) return null
  return { isSecure: scheme === 'wss', host }
}

/** Whether it begins as an address at which a member listens. */
export function isDialled(address: string): boolean {
  return address.startsWith('ws:') || address.startsWith('wss:')
}

/** Whether packets to that address go by a stream between the two members. */
export function isStream(address: string): boolean {
  return isDialled(address) || address.startsWith(STREAM)
}

/** The address of the other end of a stream that was accepted. @param count  from 1 */
export function accepted(count: number): string {
  return `${STREAM}${count}`
}
