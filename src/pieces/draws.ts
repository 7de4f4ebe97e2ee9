/**
 * Lots that the server draws. Each is the digest of a seed, the epoch and how often was drawn. Who
 * takes over goes on with seed and count; who recovers a session may have to begin with an old
 * count, hence the epoch. Nobody who sees what was drawn knows what is next.
 */

import { digest } from '../wire/digest.ts'

/** The draw of that number: 0 to below `sides`, each as likely. */
export function draw(seed: Uint8Array, epoch: number, number: number, sides: number): number {
  const bytes = new Uint8Array(seed.length + 12)
  const view = new DataView(bytes.buffer)
  bytes.set(seed)
  // What is above the last whole multiple would make low numbers likelier: then the next try.
  const limit = 2 ** 32 - (2 ** 32 % sides)
  for (let attempt = 0; ; attempt++) {
    view.setUint32(seed.length, epoch)
    view.setUint32(seed.length + 4, number)
    view.setUint32(seed.length + 8, attempt)
    const found = new DataView(digest(bytes).buffer).getUint32(0)
    if (found < limit) return found % sides
  }
}
