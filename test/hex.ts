/** Bytes as text, for claims that one can read. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
