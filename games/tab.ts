/**
 * Which player a tab is in one room, so that it goes on as the same one when it is loaded anew.
 * Kept for this tab alone: a second tab is somebody else.
 *
 * A personal link carries the same to another device, in the fragment of its address, which a
 * browser tells no server. It is worth as much as the player: whoever opens it plays on as them.
 */

import { HoldfastError, type Session } from 'holdfast'
import { linkInto } from './links.ts'
import { ticketIn } from './ticket.ts'
import { type Way, wayOf } from './token.ts'

/** A player who was away for longer is another one, in milliseconds. */
const AWAY_MAX_MS = 55_000
/** One whom the session keeps may be away for so long. */
const KEPT_MAX_MS = 24 * 60 * 60 * 1000
/** The word of a player whom the session keeps. */
export const KEPT = 'kept'
/** Longest word that a personal link says of a player, in characters. */
const WORD_MAX = 16
/** The word of a link's fragment that has the token. */
const AS = 'as'

/** A player, and what the game wants to know of them again, such as the name. */
export interface Kept {
  token: string
  who: Readonly<Record<string, string>>
}

/** See the head of this file. */
export class Tab {
  readonly #key: string
  readonly #room: string

  constructor(game: string, room: string) {
    this.#key = `holdfast.tab ${game}/${room}`
    this.#room = room
    this.#open()
    // A link that says who one is, or that invites, changes no more than the fragment of a page
    // that is open already.
    window.addEventListener('hashchange', () => {
      const { hash } = location
      if (readLink(hash) || ticketIn(hash) !== undefined) location.reload()
    })
    // A page that the browser kept aside has said goodbye; its session does not come back.
    window.addEventListener('pageshow', (event) => event.persisted && location.reload())
  }

  /** The player of this tab a moment ago, or a day ago where the session keeps them; else null. */
  get player(): Kept | null {
    try {
      const { token, who, at } = JSON.parse(sessionStorage.getItem(this.#key) ?? '{}') as Stored
      const fresh = Date.now() - at < (who[KEPT] === 'yes' ? KEPT_MAX_MS : AWAY_MAX_MS)
      return fresh && token !== '' ? { token, who } : null
    } catch {
      return null
    }
  }

  /** Keeps who it is; again and again, for that is worth something only for a while. */
  keep(player: Kept): void {
    if (player.token === '') return
    try {
      const stored: Stored = { ...player, at: Date.now() }
      sessionStorage.setItem(this.#key, JSON.stringify(stored))
    } catch {
      // A browser that keeps nothing makes a new player of every reload.
    }
  }

  /** Forgets it: the next to join here is somebody new. */
  forget(): void {
    try {
      sessionStorage.removeItem(this.#key)
    } catch {
      // Nothing was kept.
    }
  }

  /** Joins as whoever this tab was. A token that is none keeps nobody out. */
  async join(
    ask: (token: string | undefined) => Promise<Session>,
  ): Promise<{ session: Session; way: Way }> {
    const token = this.player?.token
    if (token === undefined) return { session: await ask(token), way: 'new' }
    try {
      const session = await ask(token)
      return { session, way: wayOf(token, session.token) }
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'bad-value') throw error
      this.forget()
      return { session: await ask(undefined), way: 'unknown' }
    }
  }

  /** Goes into the room once more, as whoever it is. */
  again(name: string): void {
    location.assign(linkInto(this.#room, name))
  }

  /** Goes into the room once more, as somebody new. */
  anew(name: string): void {
    this.forget()
    this.again(name)
  }

  /** Leaves for the lobby, once who plays here has taken leave. */
  async leave(player: Pick<Session, 'leave'>): Promise<void> {
    await player.leave()
    this.forget()
    location.assign('../')
  }

  // Who comes by a personal link is that player from now on, and the address is clean again.
  #open(): void {
    const player = readLink(location.hash)
    if (!player) return
    this.keep(player)
    history.replaceState(null, '', location.href.replace(/#.*/, ''))
  }
}

interface Stored extends Kept {
  /** When it was last here, on the clock of the machine. */
  at: number
}

/** The personal link of a player. @param room  a link to the room, without a fragment */
export function personalLink(room: string, { token, who }: Kept): string {
  // The link to the room may have a fragment of its own, with the key of the room.
  const joint = room.includes('#') ? '&' : '#'
  return `${room}${joint}${new URLSearchParams({ [AS]: token, ...who }).toString()}`
}

/** The player of a link's fragment; null if it names none. */
export function readLink(fragment: string): Kept | null {
  const words = new Map(new URLSearchParams(fragment.slice(1)))
  const token = words.get(AS)
  for (const word of [AS, 'key', 'ticket']) words.delete(word)
  const who = Object.fromEntries([...words].map(([word, text]) => [word, text.slice(0, WORD_MAX)]))
  return token ? { token, who } : null
}
