/** Bytes as hexadecimal digits, for people and for names. */

/** Two digits a byte, in small letters. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

/** So many bytes from such a text, in letters of either size; null for any other. */
export function fromHex(text: unknown, bytes: number): Uint8Array | null {
  if (typeof text !== 'string' || text.length !== 2 * bytes || !/^[\da-f]*$/i.test(text))
    return null
  return Uint8Array.from({ length: bytes }, (_, at) => byteAt(text, at))
}

function byteAt(text: string, at: number): number {
  return Number.parseInt(text.slice(2 * at, 2 * at + 2), 16)
}
