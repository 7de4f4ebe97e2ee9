/** A token bucket: its capacity and its refill rate. */

import type { Millis } from './machine.ts'

/** The tokens of a full bucket, and the refill per second. */
export interface Rate {
  max: number
  perSecond: number
}

/** The tokens left in one bucket, counted at `at`. */
export interface Bucket {
  left: number
  at: Millis
}

/** A full bucket. */
export function create(now: Millis, { max }: Rate): Bucket {
  return { left: max, at: now }
}

/** Takes `cost` tokens, all or nothing. @returns false if there were too few */
export function take(bucket: Bucket, rate: Rate, now: Millis, cost: number): boolean {
  if (!has(bucket, rate, now, cost)) return false
  bucket.left -= cost
  return true
}

/** Takes `cost` tokens, into debt if needed (at most `max`); refills pay the debt first. */
export function owe(bucket: Bucket, rate: Rate, now: Millis, cost: number): void {
  has(bucket, rate, now, 0)
  bucket.left = Math.max(-rate.max, bucket.left - cost)
}

/** Whether the bucket has `cost` tokens. */
export function has(bucket: Bucket, { max, perSecond }: Rate, now: Millis, cost: number): boolean {
  const back = (Math.max(0, now - bucket.at) * perSecond) / 1000
  bucket.left = Math.min(max, bucket.left + back)
  bucket.at = now
  return bucket.left >= cost
}
