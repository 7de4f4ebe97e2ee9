/**
 * A player's token as text: who it is in which session, and the proof of that.
 *
 * Whoever has it is that player, so it belongs where only the player sees it: the storage of a
 * tab, a link sent to oneself. It is worth nothing once the player was away for a minute.
 */

import { HoldfastError } from '../machine.ts'
import type { Resume } from '../member/state.ts'
import { SESSION_ID_MAX } from '../directory/messages.ts'
import { DIGEST_BYTES } from '../wire/digest.ts'

const SHAPE = new RegExp(
  `^(?<session>[0-9a-z-]{1,${SESSION_ID_MAX}})\\.(?<player>[1-9][0-9]{0,9})\\.` +
    `(?<proof>[0-9a-f]{${2 * DIGEST_BYTES}})$`,
)

/** As text, such as `k3f-1.7.00ff…`. */
export function formatToken({ session, player, proof }: Resume): string {
  const hex = [...proof].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${session}.${player}.${hex}`
}

/** From text. @throws HoldfastError code `bad-value` */
export function parseToken(text: string): Resume {
  const found = SHAPE.exec(text)?.groups
  if (!found) {
    throw new HoldfastError('bad-value', `no token of a session: "${text.slice(0, 80)}"`)
  }
  const pairs = found['proof']!.match(/../g)!
  const proof = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16))
  const player = Number(found['player'])
  return { session: found['session']!, player, proof, inc: 0, settled: 0 }
}
