/** Keys of rooms, which nobody can guess; in a page and on Node alike. */

import { KEY_BYTES } from '../../ports.ts'
import { toHex } from '../../wire/hex.ts'

/** A key for `keepRoom` of `join`: 64 hexadecimal digits. */
export function newRoomKey(): string {
  return toHex(globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES)))
}
