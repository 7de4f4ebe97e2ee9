/** What every member of a session of Mazewar says alike. */

import { action, type ActionType, type Definition } from 'holdfast'
import { Kill } from '../kill.ts'
import { Maze } from './slots.ts'

/** The game, as the lobby lists it. */
export const GAME = 'mazewar'
/** Most players in one maze. */
export const PLAYERS_MAX = 32

/** The key of the table that says what maps show: `all`, or whom one sees and hears. */
export const MAP = 'map'
/** Longest value of the table, in characters. */
const TEXT_MAX = 32

/** The key of the name of a rat that is no player's own, such as one of the LAN. */
export function labelOf(rat: number): string {
  return `rat ${rat}`
}

/** Writes an option of the room, or a name, into the table. */
export const note: ActionType<{ key: string; text: string }, void> = action(
  'note',
  (table, { key, text }) => {
    const isOption = key === MAP && text === 'all'
    const isName = /^rat \d{1,3}$/.test(key) && typeof text === 'string' && text.length <= TEXT_MAX
    if (!isOption && !isName) throw new RangeError('a note is an option of the map, or a name')
    table.set(key, text)
  },
)

/** The maze; the wish to kill the server, and notes, which the game itself does not need. */
export const TYPES: Definition[] = [Kill, note, Maze]
