/** Where to play, as one types it. */

import { isGame } from './games.ts'
import { hubOf } from './links.ts'

/**
 * The hub and the room of an address: a hub's, or the link of a room.
 *
 * @param room counts before that of the link
 * @throws RangeError for what is none
 */
export function readAddress(address: string, room?: string): { server: string; room: string } {
  const url = URL.parse(/^\w+:\/\//.test(address) ? address : `http://${address}`)
  if (!url) throw new RangeError(`this is no address of a hub or a room: ${address}`)
  const server = url.searchParams.get('server') ?? pageHub(url)
  return { server, room: room ?? url.searchParams.get('room') ?? 'main' }
}

// The page of a room names the hub that serves it; any other address is the hub's own.
function pageHub({ href, origin, pathname }: URL): string {
  const [, folder = ''] = /\/([^/]+)\/$/.exec(pathname) ?? []
  if (isGame(folder)) return hubOf(href)
  return pathname === '/' ? origin : origin + pathname
}
