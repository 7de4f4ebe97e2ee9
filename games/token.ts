/**
 * By what a tab is known again when it is loaded anew: the token of its player, kept for this tab
 * alone, so that a reload goes on as the same player and a second tab is somebody else.
 */

import { HoldfastError, type Session } from 'holdfast'

/** A player who was away for longer is another one, in milliseconds. */
const AWAY_MAX_MS = 55_000

/** What a tab keeps of one room. */
interface Kept {
  token: string
  /** When it was last here, on the clock of the machine. */
  at: number
}

/**
 * Joins as whoever this tab was, if it was here a moment ago. A tab that was doubled finds its
 * player at play in the other one, and joins as somebody new.
 */
export async function joinAgain(
  game: string,
  room: string,
  join: (token: string | undefined) => Promise<Session>,
): Promise<Session> {
  const token = recallToken(game, room)
  try {
    return await join(token)
  } catch (error) {
    const code = error instanceof HoldfastError ? error.code : ''
    if (token === undefined || (code !== 'elsewhere' && code !== 'bad-value')) throw error
    forgetToken(game, room)
    return join(undefined)
  }
}

/** The token of this tab for such a room, if it was here a moment ago. */
export function recallToken(game: string, room: string): string | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(game, room)) ?? 'null') as Kept | null
    return kept && Date.now() - kept.at < AWAY_MAX_MS ? kept.token : undefined
  } catch {
    return undefined
  }
}

/** Keeps the token; again and again, for it is worth something only for a while. */
export function keepToken(game: string, room: string, token: string): void {
  if (token === '') return
  try {
    const kept: Kept = { token, at: Date.now() }
    sessionStorage.setItem(keyOf(game, room), JSON.stringify(kept))
  } catch {
    // A browser that keeps nothing makes a new player of every reload.
  }
}

/** Forgets it: the next to join is somebody new. */
export function forgetToken(game: string, room: string): void {
  try {
    sessionStorage.removeItem(keyOf(game, room))
  } catch {
    // Nothing was kept.
  }
}

function keyOf(game: string, room: string): string {
  return `holdfast.token ${game}/${room}`
}
