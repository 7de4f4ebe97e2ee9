/** Pages of this hub that are no game of the lobby, but join rooms too. */

import type { Entry } from './entries.ts'

/** Folders, by what their sessions are called. Each of these pages knows one room, the first. */
export const PAGES: Readonly<Record<string, string>> = {
  first: './first/',
  cards: './examples/preact/',
  tasks: './examples/svelte/',
  cubes: './examples/three/',
  whiteboard: './examples/whiteboard/',
}
/** The room that a page joins which names none. */
const ROOM = 'main'

/** Where the page is that joins this room; null if there is none. */
export function pageOf({ game, room }: Pick<Entry, 'game' | 'room'>): string | null {
  return room === ROOM && Object.hasOwn(PAGES, game) ? PAGES[game]! : null
}
