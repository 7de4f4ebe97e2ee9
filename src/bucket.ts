/** A token bucket: how much of something may be had at once, and how fast it comes back. */

import type { Millis } from './machine.ts'

/** How much there is at once, and what comes back each second. */
export interface Rate {
  max: number
  perSecond: number
}

/** What is left in one bucket, as counted at `at`. */
export interface Bucket {
  left: number
  at: Millis
}

/** A full one. */
export function create(now: Millis, { max }: Rate): Bucket {
  return { left: max, at: now }
}

/** Takes so much of it, all or nothing. @returns false if it was not to be had */
export function take(bucket: Bucket, { max, perSecond }: Rate, now: Millis, cost: number): boolean {
  const back = (Math.max(0, now - bucket.at) * perSecond) / 1000
  bucket.left = Math.min(max, bucket.left + back)
  bucket.at = now
  if (bucket.left < cost) return false
  bucket.left -= cost
  return true
}
