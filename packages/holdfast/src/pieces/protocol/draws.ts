/**
 * Random draws of the primary. Each is the digest of a seed, the epoch and a count of draws. After
 * a takeover the new primary goes on with the same seed and count; after a recovery it may have to
 * go on with an old count, and therefore the epoch is part of the digest. A player who saw all
 * earlier draws cannot predict the next.
 */

import { digest } from '../../wire/digest.ts'

/** The draw of that number: 0 to below `sides`, all equally likely. */
export function draw(seed: Uint8Array, epoch: number, number: number, sides: number): number {
  const bytes = new Uint8Array(seed.length + 12)
  const view = new DataView(bytes.buffer)
  bytes.set(seed)
  // Values above the last whole multiple would make low numbers likelier: they are drawn again.
  const limit = 2 ** 32 - (2 ** 32 % sides)
  for (let attempt = 0; ; attempt++) {
    view.setUint32(seed.length, epoch)
    view.setUint32(seed.length + 4, number)
    view.setUint32(seed.length + 8, attempt)
    const found = new DataView(digest(bytes).buffer).getUint32(0)
    if (found < limit) return found % sides
  }
}
