/** The limits of a server on its streams; docs/STANDARD.md, section 3. */

/** How long a message may take from its first byte to its last, in milliseconds. */
export const HALF_MS = 10_000
/** Most bytes of all incomplete messages. */
export const HALF_BYTES_MAX: number = 32 * 1024 * 1024
/** How long a byte that was sent may wait to be read, in milliseconds. */
export const UNREAD_MS = 30_000
/** Most bytes of all streams that wait to be read. */
export const UNREAD_BYTES_MAX: number = 128 * 1024 * 1024
/** Most that frames other than messages may cost at once. */
export const NOISE_MAX = 32
/** How much of that comes back each second. */
export const NOISE_PER_SECOND = 4
