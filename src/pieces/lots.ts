/**
 * Lots that the server draws. Each is the digest of a seed and of how often was drawn: who takes
 * over goes on with the same seed and count, and nobody who sees what was drawn knows what is next.
 */

import { digest } from '../wire/digest.ts'

/** The draw of that number: 0 to below `sides`, each as likely. */
export function draw(seed: Uint8Array, number: number, sides: number): number {
  const bytes = new Uint8Array(seed.length + 8)
  const view = new DataView(bytes.buffer)
  bytes.set(seed)
  // What is above the last whole multiple would make low numbers likelier: then the next try.
  const limit = 2 ** 32 - (2 ** 32 % sides)
  for (let attempt = 0; ; attempt++) {
    view.setUint32(seed.length, number)
    view.setUint32(seed.length + 4, attempt)
    const found = new DataView(digest(bytes).buffer).getUint32(0)
    if (found < limit) return found % sides
  }
}
