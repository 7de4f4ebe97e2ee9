/**
 * A player's token as text: session, player and the seed of its key; then the room's key, if any,
 * and the newest point of the room that the hub had on disk:
 *
 *     k3f-1.7.<seed>.<key>.<epoch>-<index>-<segments>-<mark>
 *
 * Anyone who has the token is that player, so keep it private: in the storage of a tab, for
 * example. It is valid for as long as the hub keeps the room; in a room that it does not keep, it
 * expires after the player was away for a minute.
 */

import { HoldfastError } from '../machine.ts'
import { SESSION_ID_MAX } from '../hub-protocol/messages.ts'
import { KEY_BYTES } from '../ports.ts'
import type { Token } from '../runtime/member-loop.ts'
import { DIGEST_BYTES } from '../wire/digest.ts'
import { fromHex, toHex } from '../wire/bytes.ts'

const SHAPE = new RegExp(
  `^(?<session>[0-9a-z-]{1,${SESSION_ID_MAX}})\\.(?<player>[1-9][0-9]{0,9})\\.` +
    `(?<seed>[0-9a-f]+)` +
    `(?:\\.(?<key>[0-9a-f]{${2 * KEY_BYTES}})?(?:\\.(?<point>[0-9a-f-]{1,100}))?)?$`,
)
const POINT = new RegExp(
  `^(?<epoch>\\d{1,15})-(?<index>\\d{1,15})-(?<segments>\\d{1,15})-` +
    `(?<mark>[0-9a-f]{${2 * DIGEST_BYTES}})$`,
)

/** The token as text, such as `k3f-1.7.00ff…`. */
export function formatToken({ session, player, seed, roomKey, point }: Token): string {
  const { epoch, index, segments, mark } = point ?? {}
  const known = mark ? `${epoch}-${index}-${segments}-${toHex(mark)}` : ''
  const more = [roomKey ? toHex(roomKey) : '', known]
  const last = more.findLastIndex((one) => one !== '')
  return [session, player, toHex(seed), ...more.slice(0, last + 1)].join('.')
}

function parsePoint(text: string): Token['point'] {
  const found = POINT.exec(text)?.groups
  const mark = fromHex(found?.['mark'], DIGEST_BYTES)
  const numbers = ['epoch', 'index', 'segments'].map((name) => Number(found?.[name]))
  const [epoch, index, segments] = numbers as [number, number, number]
  return mark && { epoch, index, segments, mark }
}

/** Null for a seed of an older version, whose sessions are gone. @throws HoldfastError */
export function parseToken(text: string): Token | null {
  const found = SHAPE.exec(text)?.groups
  if (!found) {
    throw new HoldfastError('bad-value', `no token of a session: "${text.slice(0, 80)}"`)
  }
  const seed = fromHex(found['seed'], KEY_BYTES)
  const player = Number(found['player'])
  if (!seed) return null
  const roomKey = fromHex(found['key'], KEY_BYTES)
  const point = parsePoint(found['point'] ?? '')
  return { session: found['session']!, player, seed, roomKey, point }
}
