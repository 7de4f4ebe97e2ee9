/**
 * The failure detector: when has a peer been silent for too long?
 *
 * Think of somebody who knocks on your wall at intervals of their own. You learn how regular
 * they are: the longest gap you have met lately, which fades slowly, is what you expect of
 * them on a bad day. Twice that without a knock, and something has happened over there. So
 * the bound follows the path: 50 ms where heartbeats come every 10 and nothing ever stalls,
 * up to a second where little is known or a browser sits behind the relay.
 *
 * Three silences prove nothing, and the detector must know them: one's own (a stalled loop
 * hears nobody: its length is taken off the clocks), the hub's (while one's connection to it
 * is down, peers reached only through it cannot be heard: their clocks stop), and the moment
 * before the sockets have been read (so an expired clock is looked at twice).
 *
 * A false suspicion costs an epoch, never data. (Chandra and Toueg, 1996, name what such a
 * detector can promise; the adaptive bound is in the manner of TCP's, RFC 6298.)
 */

import type { Millis } from '../machine.ts'

/** No bound is shorter. */
export const BOUND_MIN_MS: Millis = 50
/** No bound is longer; also the bound before enough is known, and behind the relay. */
export const BOUND_MAX_MS: Millis = 1_000
/** Gaps to be measured before the bound adapts. */
export const SAMPLES_MIN = 20
/** And for so long it must have been heard: who just took a role has code to load and stalls. */
export const LEARN_MS: Millis = 2_000
/** A late timer of one's own by more than this is a stall. */
export const STALL_MS: Millis = 25
/** After the hub's return a relayed peer has so long to return too. */
export const HUB_GRACE_MS: Millis = 4_000
/**
 * An expired clock is looked at again after this. An alarm for an instant that is past goes off
 * when the sockets have been read, so that no more is needed than to ask for another.
 */
export const SECOND_LOOK_MS: Millis = 0
// The longest gap fades by half in this time, however much is said meanwhile.
const FADE_MS: Millis = 4_000

/** What is known of one peer's regularity. */
export interface FailureDetector {
  /** When something valid last came from it; stalls of one's own are added. */
  since: Millis
  /** When it began; stalls of one's own do not move it. */
  begun: Millis
  /** When something last came, unadjusted; measures the gaps. */
  lastHeard: Millis
  /** The longest gap met lately, fading. */
  gapMax: Millis
  samples: number
  /** Round trip of its link, smoothed; 0 until known. */
  rttMs: Millis
  /** It is reached only through the hub. */
  relayed: boolean
  /** The hub says that its stream is gone. */
  gone: boolean
  /** An expired clock is not believed before this instant. */
  secondLook: Millis
}

/** A watch that begins now. */
export function create(now: Millis, relayed: boolean): FailureDetector {
  return {
    since: now,
    begun: now,
    lastHeard: now,
    gapMax: 0,
    samples: 0,
    rttMs: 0,
    relayed,
    gone: false,
    secondLook: Infinity,
  }
}

/** Something valid came. */
export function heard(watch: FailureDetector, now: Millis): void {
  const gap = now - watch.lastHeard
  // The first gap may still be one of the rhythm that the peer had before.
  if (watch.samples > 0) watch.gapMax = Math.max(gap, watch.gapMax * 0.5 ** (gap / FADE_MS))
  watch.samples++
  watch.since = now
  watch.lastHeard = now
  watch.secondLook = Infinity
}

/** How long it may be silent, in ms. */
export function bound(watch: FailureDetector): Millis {
  if (watch.relayed || watch.samples < SAMPLES_MIN) return BOUND_MAX_MS
  if (watch.lastHeard - watch.begun < LEARN_MS) return BOUND_MAX_MS
  return Math.min(BOUND_MAX_MS, Math.max(BOUND_MIN_MS, 2 * watch.gapMax + 10))
}

/** One's own loop stood still for so long: nobody could be heard. */
export function forgive(watch: FailureDetector, now: Millis, stalledMs: Millis): void {
  watch.since = Math.min(now, watch.since + stalledMs)
  watch.secondLook = Infinity
  // The gap that the stall makes says nothing about the peer.
  watch.lastHeard = Math.min(now, watch.lastHeard + stalledMs)
}

/** One's connection to the hub. */
export interface HubContact {
  up: boolean
  /** When it last came up. */
  since: Millis
}

/** Since when its silence counts; Infinity while it proves nothing. */
export function silentSince(watch: FailureDetector, hub: HubContact): Millis {
  if (!watch.relayed) return watch.since
  if (!hub.up) return Infinity
  return watch.since >= hub.since ? watch.since : hub.since + HUB_GRACE_MS
}

/** How long it has been silent, as far as that proves anything. */
export function silence(watch: FailureDetector, hub: HubContact, now: Millis): Millis {
  return Math.max(0, now - silentSince(watch, hub))
}

/** Whether it is to be suspected now. May ask for a second look, which `deadline` then tells. */
export function suspects(watch: FailureDetector, hub: HubContact, now: Millis): boolean {
  if (now < expiry(watch, hub)) {
    watch.secondLook = Infinity
    return false
  }
  if (watch.secondLook === Infinity) {
    watch.secondLook = now + SECOND_LOOK_MS
    return false
  }
  return now >= watch.secondLook
}

/** When `suspects` may next turn true. */
export function deadline(watch: FailureDetector, hub: HubContact): Millis {
  const due = expiry(watch, hub)
  // A second look is off when the silence proves nothing any more.
  return watch.secondLook === Infinity ? due : Math.max(due, watch.secondLook)
}

// The same sum for `suspects` and `deadline`: two that round differently make a loop of wakes.
function expiry(watch: FailureDetector, hub: HubContact): Millis {
  return silentSince(watch, hub) + bound(watch)
}
