/**
 * Reserved rows of the table. A row keeps a player: the session remembers the player however long
 * they are away (S-5), because something on the table belongs to them.
 *
 *     NUL keep PLAYER     1
 */

import { badValue, HoldfastError } from '../../machine.ts'
import { shown } from '../../wire/fields/fields.ts'

/** The prefix of reserved keys, which games can neither read nor write. */
export const RESERVED = '\0'

export function isGameKey(key: string): boolean {
  return !key.startsWith(RESERVED)
}

/** The rows of a table as an action reads and writes them; null is a deleted row. */
export interface Rows {
  /** Keys of all rows, including deleted ones. */
  readonly names: () => string[]
  readonly current: (key: string) => string | null | undefined
  /** @throws HoldfastError `full` if the table has no room for another key */
  readonly write: (key: string, value: string | null) => void
}

export function startingWith({ names, current }: Rows, prefix: string): string[] {
  return names().filter((key) => key.startsWith(prefix) && typeof current(key) === 'string')
}

export const PLAYERS_HELD_MAX = 256

const PREFIX = `${RESERVED}keep `

/** Keeps a player, or releases them. @throws HoldfastError `bad-value`, `full` */
export function keep(rows: Rows, player: unknown, keeps: boolean): void {
  if (typeof player !== 'number' || !Number.isSafeInteger(player) || player < 1) {
    throw badValue(`a table keeps players, by their numbers: ${shown(player)}`)
  }
  const key = `${PREFIX}${player}`
  const isKept = typeof rows.current(key) === 'string'
  if (isKept === keeps) return
  if (!keeps) return rows.write(key, null)
  const count = all(rows).length
  if (count >= PLAYERS_HELD_MAX) {
    throw new HoldfastError('full', `a table keeps ${PLAYERS_HELD_MAX} players at most: ${count}`)
  }
  rows.write(key, '1')
}

/** All players whom the table keeps, as an action sees it, lowest first. */
export function all(rows: Rows): number[] {
  const players = startingWith(rows, PREFIX).map((key) => Number(key.slice(PREFIX.length)))
  return players.sort((one, other) => one - other)
}

export function keeps(table: ReadonlyMap<string, string>, player: number): boolean {
  return table.has(`${PREFIX}${player}`)
}
