/** Where the pages of games begin. The hub's answer comes over the network: it is looked at. */

/** Most pages that are shown. */
const STARTS_MAX = 100

/** The folders that the hub names; '' is its start page. */
export function startsOf(sent: unknown): string[] {
  if (typeof sent !== 'object' || sent === null || !('starts' in sent)) return []
  if (!Array.isArray(sent.starts)) return []
  return sent.starts.slice(0, STARTS_MAX).filter((one): one is string => typeof one === 'string')
}

/** The page by which a room of that game is entered; null if there is none. */
export function startFor(starts: readonly string[], game: string): string | null {
  if (game !== '' && starts.includes(game)) return game
  return starts.includes('') ? '' : null
}
