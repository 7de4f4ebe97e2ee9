/** Waiting to a part of a millisecond, for kills in the middle of something. */

/** No timer is exact below a millisecond, and a transaction takes less. */
export function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
