/** Sessions as the hub lists them. The list comes over the network: it is looked at first. */

/** Most sessions that a lobby shows. */
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

/** What the hub sent, fullest first, without what is no entry; null if that is no list. */
export function readEntries(sent: unknown): Entry[] | null {
  if (!Array.isArray(sent)) return null
  const found = sent.slice(0, ENTRIES_MAX).filter(isEntry)
  return found.toSorted((a, b) => b.players - a.players || (a.room < b.room ? -1 : 1))
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
