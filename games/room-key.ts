/**
 * The key of a room whose table has secrets: what the hub keeps of it is sealed with it. A link has
 * it in its fragment, `#key=…`, which a browser tells no server; this browser remembers it.
 */

import { newRoomKey } from 'holdfast'
import { recall, remember } from './recall.ts'
import { keyOfToken } from './token.ts'

const WORD = 'key'
const SHAPE = /^[0-9a-f]{64}$/i

/** The key in a fragment; null if there is none. */
export function keyIn(fragment: string): string | null {
  const key = new URLSearchParams(fragment.slice(1)).get(WORD)
  return key !== null && SHAPE.test(key) ? key : null
}

/**
 * The key that this browser has for a room: of the link, of the token of who comes back, from
 * before, or a new one.
 */
export function keyOfRoom(game: string, room: string, fragment: string, token: string): string {
  const word = `key ${game}/${room}`
  const key = keyIn(fragment) ?? keyOfToken(token) ?? recall(word) ?? newRoomKey()
  remember(word, key)
  return key
}

/** A link with the key in it. */
export function withKey(link: string, key: string): string {
  return `${link}#${WORD}=${key}`
}
