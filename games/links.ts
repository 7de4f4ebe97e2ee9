/** Links into the room that a page is in, with the hub and the weather of its window. */

import { aboutHub } from './about.ts'
import { pickName } from './news.ts'

/** For others, and for a second window of one's own. */
export interface Links {
  share: string
  second: string
}

/** The links that a page shows. */
export function linksInto(room: string): Links {
  return { share: linkInto(room), second: linkInto(room, pickName(Math.random())) }
}

/** A link into this room. @param name  who joins by it at once */
export function linkInto(room: string, name?: string): string {
  const url = new URL(location.href)
  url.hash = ''
  for (const word of ['name', 'watch']) url.searchParams.delete(word)
  url.searchParams.set('room', room)
  if (name) url.searchParams.set('name', name)
  return url.href
}

/**
 * The hub that a game's page goes to: the one that its address names, or the one beside the folder
 * of the game, which a proxy may have under a path.
 */
export function hubOf(address: string): string {
  const url = new URL(address)
  return url.searchParams.get('server') || new URL('../', url).href
}

/**
 * The same link at an address by which others on the network find the hub, if it has one.
 *
 * @param about  the hub's `api/hub`
 */
export async function linkForOthers(link: string, about: URL): Promise<string> {
  if (!isLocal(link)) return link
  const { reach } = await aboutHub(about)
  return atPlace(link, reach)
}

/** A link with the first of these places in it; none changes nothing. */
export function atPlace(link: string, [place]: readonly string[]): string {
  if (place === undefined) return link
  const url = new URL(link)
  url.host = new URL(place).host
  // An address without a port means the usual one.
  if (new URL(place).port === '') url.port = ''
  return url.href
}

/** Whether a link leads to the very machine on which it is opened: it is none for others. */
export function isLocal(link: string): boolean {
  const { hostname } = new URL(link)
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
