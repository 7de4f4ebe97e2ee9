/**
 * Credentials for TURN servers that know no users, but share a secret with the hub:
 * `use-auth-secret` of coturn, and of others that follow "A REST API for Access to TURN Services"
 * (draft-uberti-behave-turn-rest-00).
 *
 *     username    when it ends, in seconds since 1970, a colon, and a name for the player
 *     credential  base64 of HMAC-SHA1 of the username, by the secret
 *
 * The name tells nothing to anybody who reads it on the way. It stays the same in a session, so a
 * server may limit each player (`user-quota`).
 */

import { createHmac } from 'node:crypto'
import type { Millis } from '../../../holdfast/src/machine.ts'

/** A channel may be opened with credentials for so long. */
export const CREDENTIALS_MS: Millis = 60 * 60_000

/** Bytes of the name, of which the username has two digits each. */
const NAME_BYTES = 8

/** What proves to a TURN server that the hub has admitted a player. */
export interface Credentials {
  readonly username: string
  readonly credential: string
}

/**
 * @param player  any text; the same gets the same name
 * @param wall    now, in ms since 1970
 */
export function credentialsOf(secret: string, player: string, wall: Millis): Credentials {
  const sign = (text: string): Buffer => createHmac('sha1', secret).update(text).digest()
  const ends = Math.floor((wall + CREDENTIALS_MS) / 1_000)
  const username = `${ends}:${sign(player).toString('hex', 0, NAME_BYTES)}`
  return { username, credential: sign(username).toString('base64') }
}
