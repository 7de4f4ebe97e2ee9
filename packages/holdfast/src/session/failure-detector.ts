/**
 * The failure detector: has a peer been silent for too long?
 *
 * The longest recent gap between messages, which fades slowly, is what a bad day looks like; after
 * twice that the peer is suspected. So the bound follows the path: 50 ms where heartbeats come
 * every 10 and nothing stalls, up to a second where little is known or packets go by a stream.
 *
 * Silence proves nothing in three cases: a stall of our own loop (its length is taken off the
 * clocks); an outage of our connection to the hub, for peers that are reached only through it
 * (their clocks stop); and the moment before the sockets have been read (an expired clock is looked
 * at twice).
 *
 * A false suspicion costs an epoch, never data. (Chandra and Toueg, 1996, define what such a
 * detector can promise; the adaptive bound resembles that of TCP, RFC 6298.)
 */

import type { Millis } from '../machine.ts'
import type { PathKind } from '../paths/paths.ts'

export const BOUND_MIN_MS: Millis = 50
/** No bound is longer; also the bound before enough is known, and behind the relay. */
export const BOUND_MAX_MS: Millis = 1_000
/**
 * The shortest bound by kind of path. The loop of a page, at the end of a channel, stalls longer
 * than that of a process. On a stream, such as the hub's relay, a lost packet holds up all others.
 */
const SHORTEST_MS: Readonly<Record<PathKind, Millis>> = {
  ...{ udp: BOUND_MIN_MS, rtc: 250, ws: BOUND_MAX_MS, relay: BOUND_MAX_MS },
}
/** Gaps that must be measured before the bound adapts. */
export const SAMPLES_MIN = 20
/** How long to watch a peer before the bound adapts: a new role loads code, and stalls. */
export const LEARN_MS: Millis = 2_000
/** If one of our timers is late by more than this, our loop has stalled. */
export const STALL_MS: Millis = 25
/** After the hub's return, a relayed peer has this long to return too. */
export const HUB_GRACE_MS: Millis = 4_000
/**
 * An expired clock is looked at again after this. An alarm for an instant in the past goes off
 * after the sockets have been read, so asking for one more alarm is enough.
 */
export const SECOND_LOOK_MS: Millis = 0
// The longest gap halves in this time, regardless of the number of messages.
const FADE_MS: Millis = 4_000

/** Longest time between packets of the primary and a member, and of all members in a mesh. */
export const QUIET_MS: Millis = 400
/** The same of others in a star, such as its backup: they need their link later, if ever. */
export const SPARE_MS: Millis = 2_000

/** How often primary and backup send a packet, by the path that packets go by. */
export function heartbeatOf(path: PathKind): Millis {
  return SHORTEST_MS[path] / 5
}

/** The regularity of one peer. */
export interface FailureDetector {
  /** When a valid message last came from the peer; our own stalls are added. */
  since: Millis
  /** When the detector began to watch the peer; our own stalls do not move it. */
  begun: Millis
  /** When a message last came, unadjusted; gaps are measured from it. */
  lastReceived: Millis
  /** The longest gap of late, fading. */
  gapMax: Millis
  samples: number
  /** Round trip of the peer's link, smoothed; 0 until known. */
  rttMs: Millis
  /** Reliable bytes to the peer that wait or are under way. */
  backlog: number
  /** The worst kind of path by which we heard the peer of late. */
  path: PathKind
  /** Our packets go to the peer through the hub. */
  relayed: boolean
  /** The hub reports that the peer's stream is gone. */
  gone: boolean
  /** The hub vouched for the silent peer: only the longest bound applies. */
  vouched: boolean
  /** Before this instant an expired clock does not lead to a suspicion. */
  secondLook: Millis
}

export function create(now: Millis, path: PathKind): FailureDetector {
  return {
    since: now,
    begun: now,
    lastReceived: now,
    gapMax: 0,
    samples: 0,
    rttMs: 0,
    backlog: 0,
    path,
    relayed: path === 'relay',
    gone: false,
    vouched: false,
    secondLook: Infinity,
  }
}

export function markAlive(detector: FailureDetector, now: Millis): void {
  const gap = now - detector.lastReceived
  // The first gap may still belong to the rhythm that the peer had before.
  if (detector.samples > 0)
    detector.gapMax = Math.max(gap, detector.gapMax * 0.5 ** (gap / FADE_MS))
  detector.samples++
  detector.since = now
  detector.lastReceived = now
  detector.secondLook = Infinity
}

/** How long the peer may be silent, in ms. */
export function bound(detector: FailureDetector): Millis {
  const { path, vouched, samples, lastReceived, begun, gapMax } = detector
  if (vouched || samples < SAMPLES_MIN || lastReceived - begun < LEARN_MS) return BOUND_MAX_MS
  return Math.min(BOUND_MAX_MS, Math.max(SHORTEST_MS[path], 2 * gapMax + 10))
}

/** Our own loop stalled for `stalledMs`, and could hear nobody meanwhile. */
export function forgive(detector: FailureDetector, now: Millis, stalledMs: Millis): void {
  detector.since = Math.min(now, detector.since + stalledMs)
  detector.secondLook = Infinity
  // The gap that our stall makes reveals nothing about the peer.
  detector.lastReceived = Math.min(now, detector.lastReceived + stalledMs)
}

export interface HubContact {
  up: boolean
  /** When the connection last came up. */
  since: Millis
}

/** Since when the peer's silence counts; Infinity while it proves nothing. */
export function silentSince(detector: FailureDetector, hub: HubContact): Millis {
  if (!detector.relayed) return detector.since
  if (!hub.up) return Infinity
  return detector.since >= hub.since ? detector.since : hub.since + HUB_GRACE_MS
}

export function silence(detector: FailureDetector, hub: HubContact, now: Millis): Millis {
  return Math.max(0, now - silentSince(detector, hub))
}

/** Whether to suspect the peer now. May schedule a second look, which `deadline` includes. */
export function suspects(detector: FailureDetector, hub: HubContact, now: Millis): boolean {
  if (now < expiry(detector, hub)) {
    detector.secondLook = Infinity
    return false
  }
  if (detector.secondLook === Infinity) {
    detector.secondLook = now + SECOND_LOOK_MS
    return false
  }
  return now >= detector.secondLook
}

/** When `suspects` may next turn true. */
export function deadline(detector: FailureDetector, hub: HubContact): Millis {
  const due = expiry(detector, hub)
  // A second look is cancelled when the silence proves nothing any more.
  return detector.secondLook === Infinity ? due : Math.max(due, detector.secondLook)
}

// `suspects` and `deadline` must round alike: a difference would make a loop of wakes.
function expiry(detector: FailureDetector, hub: HubContact): Millis {
  return silentSince(detector, hub) + bound(detector)
}
