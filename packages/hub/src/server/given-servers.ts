/** The STUN and TURN servers that the operator configures. */

import { checkOptions, checkTexts } from '../../../holdfast/src/api/options.ts'
import { type FromHubOf, ICE_URLS_MAX } from '../../../holdfast/src/hub-protocol/messages.ts'
import { badValue, type Millis } from '../../../holdfast/src/machine.ts'
import { shown } from '../../../holdfast/src/wire/fields/fields.ts'
import { isTurn, readIceUrl } from '../../../holdfast/src/wire/text/ice-url.ts'
import { CREDENTIALS_MS, credentialsOf } from '../drivers/turn.ts'

/** Fewest characters of the secret: who has a credential can guess at a short one. */
const SECRET_MIN = 16

/** TURN servers that trust this hub. */
export interface TurnOptions {
  /** Such as `turn:turn.example.org:3478`, or `turns:turn.example.org?transport=tcp`. */
  urls: readonly string[]
  /** The `static-auth-secret` of coturn: at least 16 characters. */
  secret: string
}

/** What a hub tells a player of its servers, at that time since 1970. */
export type Servers = (player: string, wall: Millis) => Omit<FromHubOf<'ice'>, 'kind' | 'session'>

/** @returns null without servers @throws HoldfastError `bad-value` */
export function readServers(
  stun: readonly string[] = [],
  turn: TurnOptions | null = null,
): Servers | null {
  if (turn) checkOptions('turn', turn, ['urls', 'secret'])
  const relays = turn ? checkUrls('turn', turn.urls) : []
  const urls = [...checkUrls('stun', stun), ...relays]
  if (urls.length > ICE_URLS_MAX) {
    throw badValue(`stun and turn are at most ${ICE_URLS_MAX} servers: ${urls.length}`)
  }
  if (turn && relays.length === 0) throw badValue('turn.urls is empty: leave out turn for none')
  const secret = turn ? checkSecret(turn.secret) : null
  if (urls.length === 0) return null
  return (player, wall) => {
    const own = secret === null ? NO_CREDENTIALS : credentialsOf(secret, player, wall)
    return { urls, ...own, lasts: CREDENTIALS_MS }
  }
}

// STUN takes none.
const NO_CREDENTIALS = { username: '', credential: '' }

function checkUrls(what: 'stun' | 'turn', given: readonly string[]): readonly string[] {
  for (const url of checkTexts(what, given)) {
    const read = readIceUrl(url)
    if (read && isTurn(read) === (what === 'turn')) continue
    throw badValue(`a server of ${what} is such as ${what}:example.org:3478: ${shown(url)}`)
  }
  return given
}

function checkSecret(secret: unknown): string {
  const length = typeof secret === 'string' ? secret.length : 0
  if (length >= SECRET_MIN) return secret as string
  throw badValue(`turn.secret has at least ${SECRET_MIN} characters: ${length}`)
}
