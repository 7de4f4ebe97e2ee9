/**
 * When the keys of a login provider are fetched: with the first token, when they are old, and for a
 * key id that is not among them. Anybody can send tokens, so tokens must not decide how often the
 * provider is asked: between fetches there is a pause, and after failures a longer one each time.
 * While the provider is down, the keys of the last fetch go on to count.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'

/** Keys are fetched again when they are older: a provider that drops a key is believed then. */
export const OLD_MS: Millis = 10 * 60_000
/** For unknown key ids keys are fetched at most this often. */
export const UNKNOWN_MS: Millis = 30_000
/** While fetching fails, keys count for this long. */
export const USABLE_MS: Millis = 24 * 60 * 60_000
/** The pause after a failure; it doubles with each further one, up to the longest. */
export const PAUSE_MIN_MS: Millis = 1_000
export const PAUSE_MAX_MS: Millis = 60_000

/** What is known of one provider's keys. */
export interface Refresh {
  /** When they were last fetched; -Infinity for never. */
  fetchedAt: Millis
  /** Failures since then. */
  failures: number
  /** No fetch begins before this instant. */
  pauseUntil: Millis
}

export function create(): Refresh {
  return { fetchedAt: -Infinity, failures: 0, pauseUntil: -Infinity }
}

/** Whether to fetch now: for the age of the keys, or for an unknown key id. */
export function isDue(refresh: Refresh, now: Millis, why: 'age' | 'unknown'): boolean {
  if (now < refresh.pauseUntil) return false
  return now - refresh.fetchedAt >= (why === 'age' ? OLD_MS : UNKNOWN_MS)
}

/** Whether there are keys that count. */
export function isUsable(refresh: Refresh, now: Millis): boolean {
  return now - refresh.fetchedAt < USABLE_MS
}

export function succeeded(refresh: Refresh, now: Millis): void {
  Object.assign(refresh, { fetchedAt: now, failures: 0, pauseUntil: -Infinity })
}

export function failed(refresh: Refresh, now: Millis): void {
  refresh.pauseUntil = now + Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** refresh.failures)
  refresh.failures++
}
