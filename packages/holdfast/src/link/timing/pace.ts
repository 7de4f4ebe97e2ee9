/**
 * Congestion control: how many bytes may be in flight, and how fast they leave (L7).
 *
 * The window, in bytes, doubles each round trip until the first congestion, then grows by an eighth
 * per round trip, or by one packet while packets queue. A round with congestion shrinks it once, to
 * 0.7 of itself, and never below two packets. A token bucket spreads a window over a round trip. It
 * may go into debt by one packet; the next packet waits until the debt is paid.
 *
 * Congestion is a loss while round trips are long, because packets then queue, or more than an
 * eighth of a round lost (as BBR judges it: Cardwell et al., 2016). Other losses are the radio's:
 * if each shrank the window, a path of 200 ms that loses 5 % would carry 40 KB/s.
 *
 * The window grows only while it limits us; otherwise an idle link would earn a burst.
 */

import type { Millis } from '../../machine.ts'
import { PACKET_MAX } from '../limits.ts'

const FIRST_WINDOW: number = 10 * PACKET_MAX
const SMALLEST_WINDOW: number = 2 * PACKET_MAX
const LARGEST_WINDOW: number = 128 * PACKET_MAX
const AFTER_LOSS = 0.7
/** Losing more than this share of a window, and more than two packets, in a round is congestion. */
const LOST_SHARE = 1 / 8
/** While nothing queues, a window grows by this share per round trip. */
const GROWTH = 1 / 8
const GAIN = 1.25
const BURST: number = 10 * PACKET_MAX
// Timer resolution: a full bucket lasts at least this long, or timers would slow us down.
const TIMER_GRAIN: Millis = 4
const SHORTEST_TRIP: Millis = 0.05

export function createPace(now: Millis) {
  return {
    window: FIRST_WINDOW,
    /** Above this the window grows slowly; Infinity until the first loss. */
    slowFrom: Infinity,
    /** Bytes of packets without a verdict, except bare acks. */
    flying: 0,
    /** Losses up to this sequence belong to a round that already shrank the window. */
    paidUpTo: -1,
    /** The round ends at this sequence; `lost` bytes were lost in it. */
    roundUpTo: -1,
    lost: 0,
    /** Bytes that may leave now; negative is debt. */
    tokens: BURST,
    filledAt: now,
  }
}

export type Pace = ReturnType<typeof createPace>

// Bytes per millisecond.
function rateOf(pace: Pace, smoothed: Millis): number {
  return (GAIN * pace.window) / Math.max(smoothed, SHORTEST_TRIP)
}

export function hasRoom(pace: Pace): boolean {
  return pace.flying < pace.window
}

/** Whether the bucket lets a packet leave now. @param smoothed  round trip */
export function mayLeave(pace: Pace, now: Millis, smoothed: Millis): boolean {
  if (now > pace.filledAt) {
    const rate = rateOf(pace, smoothed)
    const most = Math.max(BURST, rate * TIMER_GRAIN)
    pace.tokens = Math.min(most, pace.tokens + rate * (now - pace.filledAt))
    pace.filledAt = now
  }
  return pace.tokens >= 0
}

/** When the bucket lets a packet leave; in the past if it does already. */
export function leavesAt(pace: Pace, smoothed: Millis): Millis {
  if (pace.tokens >= 0) return pace.filledAt
  // One byte more than the debt: rounding could wake us a moment too early forever.
  return pace.filledAt + (1 - pace.tokens) / rateOf(pace, smoothed)
}

/** Notes that a packet left that will get a verdict. */
export function left(pace: Pace, size: number): void {
  pace.flying += size
  pace.tokens -= size
}

/** A packet in flight arrived. @param queues  round trips have grown, so packets queue */
export function arrived(pace: Pace, sequence: number, size: number, queues: boolean): void {
  const full = pace.flying >= pace.window / 2
  pace.flying -= size
  if (!full || sequence <= pace.paidUpTo) return
  const slowly = (PACKET_MAX * size) / pace.window
  const gently = queues ? slowly : Math.max(slowly, size * GROWTH)
  const gain = pace.window < pace.slowFrom ? size : gently
  pace.window = Math.min(LARGEST_WINDOW, pace.window + gain)
}

/** @param newest  the newest packet sent, where the round ends */
export function gone(
  pace: Pace,
  sequence: number,
  size: number,
  newest: number,
  queues: boolean,
): void {
  pace.flying -= size
  if (sequence <= pace.paidUpTo) return
  if (sequence > pace.roundUpTo) Object.assign(pace, { roundUpTo: newest, lost: 0 })
  pace.lost += size
  if (!queues && pace.lost <= Math.max(LOST_SHARE * pace.window, SMALLEST_WINDOW)) return
  pace.paidUpTo = newest
  pace.window = Math.max(SMALLEST_WINDOW, pace.window * AFTER_LOSS)
  pace.slowFrom = pace.window
}
