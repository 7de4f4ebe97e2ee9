/** The wall clock, in milliseconds since 1970. It may go back, or be wrong. */
export function wallClock(): number {
  return Date.now()
}
