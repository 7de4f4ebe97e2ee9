/** Rows of the table that are the library's own: no game can write them, or is shown them. */

/** Keys of the library's own rows begin with this. */
export const OWN = '\0'

/** Whether a key is a game's. */
export function isGames(key: string): boolean {
  return !key.startsWith(OWN)
}

/** Rows of a table as an action reads and writes them; a deleted row is null. */
export interface Rows {
  /** Keys of all rows, including deleted ones. */
  readonly names: () => string[]
  readonly current: (key: string) => string | null | undefined
  /** @throws HoldfastError `full` where there is no room for one more */
  readonly write: (key: string, value: string | null) => void
}

/** Keys of existing rows that begin with the prefix. */
export function startingWith({ names, current }: Rows, prefix: string): string[] {
  return names().filter((key) => key.startsWith(prefix) && typeof current(key) === 'string')
}
