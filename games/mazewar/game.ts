/** What every member of a session of Mazewar says alike. */

import type { GameType } from 'holdfast'
import { Kill } from '../kill.ts'

/** The game, as the lobby lists it. */
export const GAME = 'mazewar'
/** Most players in one maze. */
export const PLAYERS_MAX = 32
/** The wish to kill the server, which the game itself does not need. */
export const TYPES: GameType[] = [Kill]
