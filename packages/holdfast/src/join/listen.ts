/** Where a Node member listens for WebSockets of other members. */

import { type DoorOptions, doorOf, readTrust } from '../api/door.ts'
import { checkOptions } from '../api/options.ts'
import { checkUrl, type StreamDoorOptions } from '../drivers/net/server/stream-door.ts'
import { hubUrls } from './join.ts'

/**
 * Where a Node member takes WebSockets of pages and of other Node members. Pages of the hub's
 * origin and of `url` may connect, and those of `origins`.
 */
export interface ListenOptions extends DoorOptions {
  /**
   * The public address, at most 52 bytes, such as `wss://play.example.com/rt/host`: for a member
   * behind a proxy, or whose certificate is for a name. Default: the address at which it listens.
   */
  url?: string
  /** The trusted proxies in front, as of a hub: their number or their addresses. Default: none. */
  trustProxy?: number | readonly string[]
}

const ONLY_HERE = ['url', 'trustProxy']
const OF_DOOR = ['port', 'host', 'tls', 'server', 'path', 'origins']

/** @param server  of the same call @throws HoldfastError `bad-value` */
export function listenOf(
  given: ListenOptions,
  server: string | readonly string[],
): StreamDoorOptions {
  checkOptions('listen', given, [...OF_DOOR, ...ONLY_HERE])
  const { url, trustProxy, ...ofDoor } = given
  const door = doorOf(ofDoor, '/host')
  if (url !== undefined) checkUrl('listen.url', url)
  const known = [...hubUrls(server), ...(url === undefined ? [] : [url])]
  const origins = [...door.origins, ...known.map(originOf)]
  const trust = readTrust('listen.trustProxy', trustProxy)
  return { door: { ...door, origins }, url: url ?? null, trust }
}

// The origin of pages of the server at that address.
function originOf(url: string): string {
  return new URL(url.replace(/^ws/, 'http')).origin
}
