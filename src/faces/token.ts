/**
 * A player's token as text: who it is in which session, and the seed of its key.
 *
 * Whoever has it is that player, so it belongs where only the player sees it: the storage of a
 * tab, a link sent to oneself. It is worth nothing once the player was away for a minute.
 */

import { HoldfastError } from '../machine.ts'
import { SESSION_ID_MAX } from '../directory/messages.ts'
import { KEY_BYTES } from '../ports.ts'
import type { Token } from '../runtime/member/runner.ts'
import { fromHex, toHex } from '../wire/hex.ts'

const SHAPE = new RegExp(
  `^(?<session>[0-9a-z-]{1,${SESSION_ID_MAX}})\\.(?<player>[1-9][0-9]{0,9})\\.` +
    `(?<seed>[0-9a-f]+)$`,
)

/** As text, such as `k3f-1.7.00ff…`. */
export function formatToken({ session, player, seed }: Token): string {
  return `${session}.${player}.${toHex(seed)}`
}

/**
 * From text. A seed of another length is that of an older version, of whose sessions none is left:
 * null, as for somebody new.
 *
 * @throws HoldfastError code `bad-value`
 */
export function parseToken(text: string): Token | null {
  const found = SHAPE.exec(text)?.groups
  if (!found) {
    throw new HoldfastError('bad-value', `no token of a session: "${text.slice(0, 80)}"`)
  }
  const seed = fromHex(found['seed'], KEY_BYTES)
  const player = Number(found['player'])
  return seed && { session: found['session']!, player, seed }
}
