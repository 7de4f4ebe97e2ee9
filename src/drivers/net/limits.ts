/** What a server bears of its streams; docs/STANDARD.md, section 3. */

/** How long a message may take from its first byte to its last, in milliseconds. */
export const HALF_MS = 10_000
/** Bytes of all messages that are not whole. */
export const HALF_BYTES_MAX: number = 32 * 1024 * 1024
/** How long a byte that was sent may wait to be read, in milliseconds. */
export const UNREAD_MS = 30_000
/** Bytes of all streams that wait to be read. */
export const UNREAD_BYTES_MAX: number = 128 * 1024 * 1024
/** What frames that are no messages may cost at once. */
export const NOISE_MAX = 32
/** What of it comes back each second. */
export const NOISE_PER_SECOND = 4
