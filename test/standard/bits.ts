/** Looks for texts that stand at no whole byte. */

/** Whether a text stands in those bytes, wherever between two bits it begins. */
export function has(bytes: Uint8Array, word: string): boolean {
  for (let shift = 0; shift < 8; shift++) {
    const moved = bytes.map((byte, at) => (byte << shift) | ((bytes[at + 1] ?? 0) >> (8 - shift)))
    if (Buffer.from(moved).includes(word)) return true
  }
  return false
}
