/** Sessions as the hub lists them. The list comes over the network: it is looked at first. */

/** Most sessions of one page. */
export const ENTRIES_MAX = 200

/** One session. */
export interface Entry {
  session: string
  game: string
  room: string
  players: number
  playersMax: number
  standing: 'open' | 'full' | 'unreachable'
  epoch: number
}

/** A page as the hub sent it, without what is no entry; null if that is no list. */
export function readEntries(sent: unknown): Entry[] | null {
  return Array.isArray(sent) ? sent.slice(0, ENTRIES_MAX).filter(isEntry) : null
}

/** Pages as one list, fullest first; a room that moved from one to the next stands there once. */
export function merged(pages: readonly (readonly Entry[])[]): Entry[] {
  const found = new Map(pages.flat().map((entry) => [entry.session, entry]))
  return [...found.values()].toSorted((a, b) => {
    return b.players - a.players || (a.room < b.room ? -1 : 1)
  })
}

/** Where the next page is, by the header `Link` of the one before; null if that was the last. */
export function nextOf(link: string | null, url: URL): URL | null {
  const [, query] = /^<(\?[^<>\s]*)>; rel="next"$/.exec(link ?? '') ?? []
  return query === undefined ? null : new URL(query, url)
}

function isEntry(sent: unknown): sent is Entry {
  if (typeof sent !== 'object' || sent === null) return false
  const entry = sent as Record<keyof Entry, unknown>
  return (
    [entry.session, entry.game, entry.room].every((each) => typeof each === 'string') &&
    [entry.players, entry.playersMax, entry.epoch].every(Number.isSafeInteger) &&
    ['open', 'full', 'unreachable'].includes(entry.standing as string)
  )
}
