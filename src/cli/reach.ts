/**
 * The addresses at which others on the network find a hub, for the links of pages that were opened
 * at an address that means each machine itself.
 */

import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>

const LOCAL = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|::1)$/

/** Where a hub that listens there is found by others, as `http://host:port`; none on loopback. */
export function reachOf(
  host: string,
  port: number,
  interfaces: Interfaces = networkInterfaces(),
): string[] {
  if (LOCAL.test(host)) return []
  if (host !== '0.0.0.0' && host !== '::') {
    return [`http://${host.includes(':') ? `[${host}]` : host}:${port}`]
  }
  const all = Object.values(interfaces).flatMap((some) => some ?? [])
  const found = all.filter(({ family, internal, address }) => {
    // Addresses that a machine gives itself where nobody gives it one lead nowhere.
    return family === 'IPv4' && !internal && !address.startsWith('169.254.')
  })
  return found.map(({ address }) => `http://${address}:${port}`)
}

/** Whether a page was opened at an address that means each machine itself. @param host  `Host` */
export function isAtHome(host: string | undefined): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host ?? '')?.[1] ?? ''
  return LOCAL.test(name)
}
