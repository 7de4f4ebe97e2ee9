/** A token bucket: how many tokens may be taken at once, and how fast they come back. */

import type { Millis } from './machine.ts'

/** How many tokens a full bucket has, and how many come back each second. */
export interface Rate {
  max: number
  perSecond: number
}

/** The tokens left in one bucket, as counted at `at`. */
export interface Bucket {
  left: number
  at: Millis
}

/** A full bucket. */
export function create(now: Millis, { max }: Rate): Bucket {
  return { left: max, at: now }
}

/** Takes so many tokens, all or nothing. @returns false if there were too few */
export function take(bucket: Bucket, rate: Rate, now: Millis, cost: number): boolean {
  if (!has(bucket, rate, now, cost)) return false
  bucket.left -= cost
  return true
}

/** Takes so many tokens, also those that are not there: the next ones come back for them. */
export function owe(bucket: Bucket, rate: Rate, now: Millis, cost: number): void {
  has(bucket, rate, now, 0)
  bucket.left = Math.max(-rate.max, bucket.left - cost)
}

/** Whether so many tokens are there. */
export function has(bucket: Bucket, { max, perSecond }: Rate, now: Millis, cost: number): boolean {
  const back = (Math.max(0, now - bucket.at) * perSecond) / 1000
  bucket.left = Math.min(max, bucket.left + back)
  bucket.at = now
  return bucket.left >= cost
}
