/**
 * The addresses at which others on the network reach a hub, for the links on pages that were opened
 * at an address that means this machine itself.
 */

import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import { visibleHost } from './http.ts'
import { isLoopback, isThisMachine } from '../../holdfast/src/drivers/net/origins.ts'

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>

/**
 * The URLs at which others reach a hub that listens there, as `http://host:port`; none on loopback.
 *
 * @param url  where it is for a browser on this machine
 */
export function reachOf(
  host: string,
  url: string,
  interfaces: Interfaces = networkInterfaces(),
): string[] {
  if (isLoopback(host) || isThisMachine(host)) return []
  const { protocol, port } = new URL(url)
  const at = (name: string): string => `${protocol}//${name}${port && `:${port}`}`
  if (host !== '0.0.0.0' && host !== '::') {
    return [at(visibleHost(host))]
  }
  const all = Object.values(interfaces).flatMap((some) => some ?? [])
  const found = all.filter(({ family, internal, address }) => {
    // Link-local addresses, which a machine gives itself if nobody else does, lead nowhere.
    return family === 'IPv4' && !internal && !address.startsWith('169.254.')
  })
  return found.map(({ address }) => at(address))
}
