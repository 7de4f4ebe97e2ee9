/** Numbers that count up in so many bits and begin anew: which of two is newer (M57, RFC 1982). */

/** Bits of an event's number (M11). */
export const EVENT_BITS = 28
/** Bits of a heartbeat's number (M9). */
export const HEARTBEAT_BITS = 32

/** Whether one comes after the other: less than half of all numbers ahead of it. */
export function isNewer(one: number, other: number, bits: number): boolean {
  const ahead = distance(other, one, bits)
  return ahead > 0 && ahead < 2 ** (bits - 1)
}

/** How many steps it is from one to the other, upwards. */
export function distance(from: number, to: number, bits: number): number {
  return (to - from + 2 ** bits) % 2 ** bits
}

/** The number behind it. */
export function following(number: number, bits: number): number {
  return (number + 1) % 2 ** bits
}
