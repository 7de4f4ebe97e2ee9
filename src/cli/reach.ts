/**
 * The addresses at which others on the network find a hub, for the links of pages that were opened
 * at an address that means each machine itself.
 */

import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import { visibleHost } from './http.ts'
import { isLoopback, isThisMachine } from '../drivers/net/origins.ts'

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>

/** Where a hub that listens there is found by others, as `http://host:port`; none on loopback. */
export function reachOf(
  host: string,
  port: number,
  interfaces: Interfaces = networkInterfaces(),
): string[] {
  if (isLoopback(host) || isThisMachine(host)) return []
  if (host !== '0.0.0.0' && host !== '::') {
    return [`http://${visibleHost(host)}:${port}`]
  }
  const all = Object.values(interfaces).flatMap((some) => some ?? [])
  const found = all.filter(({ family, internal, address }) => {
    // Addresses that a machine gives itself where nobody gives it one lead nowhere.
    return family === 'IPv4' && !internal && !address.startsWith('169.254.')
  })
  return found.map(({ address }) => `http://${address}:${port}`)
}
