/** `keepRoom` of `join`: how long a room is kept after its last member. */

import { badValue, HoldfastError } from '../machine.ts'
import { KEEP_MINUTES_MAX } from '../hub-protocol/messages.ts'
import { checkFlag, checkOptions } from '../api/options.ts'
import { KEY_BYTES } from '../ports.ts'
import { shown } from '../wire/fields/fields.ts'
import { fromHex } from '../wire/bytes.ts'

/** A duration in minutes, hours or days, such as `10m`, `12h`, `30d`. */
export type KeepTime = `${number}${'m' | 'h' | 'd'}`

/** How a room is kept. */
export interface KeepOptions {
  /** How long after its last member. Default `10m`. */
  for?: KeepTime
  /**
   * Whether changes are acknowledged only once the hub has them on disk, however many are here. By
   * default that holds for a player who is alone; with others the hub is 0.1 s behind.
   */
  strict?: boolean
  /**
   * 64 hexadecimal digits, such as `newRoomKey` makes, that seal the stored room: the hub's
   * operator cannot read, alter or insert anything, and `join` fails with `forbidden` if the hub's
   * copy is not sealed. Every member gives the same key, from a link behind `#`, a ticket, or the
   * token of a player who rejoins. Rooms of pieces with secret fields, or of kept objects that only
   * some see, are kept only with a key.
   */
  key?: string
}

/** A stored room that could not be read, and that a new one replaced. */
export interface LaidAside {
  /** The room of the game that has it now; null if the hub could not read it either. */
  readonly room: string | null
  /** Why it could not be read. */
  readonly why: string
}

/** See `JoinOptions.keepRoom`. */
export type KeepRoom = KeepTime | KeepOptions | false

const MINUTES = { m: 1, h: 60, d: 24 * 60 } as const
const KEEP_DEFAULT: KeepTime = '10m'

/** The facts that decide whether a room can be stored. */
interface Kept {
  readonly hides: boolean
  readonly carried: Uint8Array | null
}

/** The session's terms, and the key that seals the room. @throws HoldfastError `bad-value` */
export function keepingOf(
  given: unknown,
  { hides, carried }: Kept,
): { terms: string[]; key: Uint8Array | null } {
  if (given === false) return { terms: [], key: null }
  const options = typeof given === 'string' || given === undefined ? { for: given } : given
  checkOptions('keepRoom', options, ['for', 'strict', 'key'])
  const { for: time = KEEP_DEFAULT, strict = false, key: text } = options as Record<string, unknown>
  const terms = [`keep=${minutesOf(time)}`]
  if (checkFlag('keepRoom.strict', strict)) terms.push('strict=yes')
  const key = text === undefined ? carried : keyOf(text)
  if (!hides || key) return { terms, key }
  if (given === undefined) return { terms: [], key: null }
  throw badValue('keepRoom needs a key in a room with secrets: see newRoomKey')
}

function keyOf(text: unknown): Uint8Array {
  const key = fromHex(text, KEY_BYTES)
  if (key) return key
  throw badValue(`keepRoom.key is ${2 * KEY_BYTES} hexadecimal digits: ${shown(text)}`)
}

export function notKept(why: string): HoldfastError {
  return new HoldfastError('store', `this room cannot be stored now: ${why}`)
}

function minutesOf(time: unknown): number {
  const [, count, unit] = (typeof time === 'string' && /^(\d{1,6})([mhd])$/.exec(time)) || []
  const minutes = Number(count) * MINUTES[(unit ?? 'm') as keyof typeof MINUTES]
  if (minutes >= 1 && minutes <= KEEP_MINUTES_MAX) return minutes
  throw badValue(`keepRoom is false, or a time from 1m to 365d such as '30d': ${shown(time)}`)
}
