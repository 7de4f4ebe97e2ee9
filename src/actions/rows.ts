/** Rows of the table that are the library's own: no game can write them, or is shown them. */

/** Keys of our own begin so. */
export const OWN = '\0'

/** Whether a key is a game's. */
export function isGames(key: string): boolean {
  return !key.startsWith(OWN)
}

/** Rows of a table as an action reads and writes them; null is one that it deleted. */
export interface Rows {
  /** Of all there are, and of those deleted. */
  readonly names: () => string[]
  readonly current: (key: string) => string | null | undefined
  /** @throws HoldfastError `full` where there is no room for one more */
  readonly write: (key: string, value: string | null) => void
}

/** Those that are there and begin so. */
export function startingWith({ names, current }: Rows, prefix: string): string[] {
  return names().filter((key) => key.startsWith(prefix) && typeof current(key) === 'string')
}
