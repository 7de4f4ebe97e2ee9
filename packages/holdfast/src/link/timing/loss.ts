/**
 * Round-trip estimates, and when a packet counts as lost (L5, after RFC 9002).
 *
 * A packet is lost when a packet at least three places later on the same path was acked, or when
 * any later one was and this one is older than 9/8 of a round trip. If only packets of other paths
 * were acked, it may get older still (`patienceAcross`). Silence alone proves no loss:
 * when the probe timer expires, a probe asks for an ack, which shows what was lost. Each unanswered
 * probe doubles the wait, up to one second.
 */

import type { Millis } from '../../machine.ts'
import { ACK_DELAY_MAX, STATE_ACK_DELAY_MAX } from '../limits.ts'

/** On a path that keeps order, a packet is lost once one this many places later has arrived. */
export const LATER_PACKETS = 3
// Each spurious loss doubles the places, up to this: the path reorders. Then time decides.
const LATER_MAX = 96
const LATER_TIME = 9 / 8
const GRAIN: Millis = 1
// Round trips longer by this share, and by at least QUEUE_MIN, show a queue.
const QUEUE_SHARE = 1 / 4
const QUEUE_MIN: Millis = 10
const PROBE_MAX: Millis = 1000
// Before the first sample; short enough that a lost first packet is not felt as a hang.
const FIRST_GUESS: Millis = 100

export function createRtt() {
  return { samples: 0, latest: 0, min: 0, smoothed: FIRST_GUESS, variation: FIRST_GUESS / 2 }
}

/** Round trip times in Millis; all 0 but `smoothed` before the first sample. */
export type Rtt = ReturnType<typeof createRtt>

export function createLoss(now: Millis) {
  return {
    /** When the next overtaken packet counts as lost; Infinity if none. */
    lostAt: Infinity,
    /** When the last packet that asks for an ack left, or the last probe was due. */
    probeFrom: now,
    /** Unanswered probes in a row. */
    probes: 0,
    /** The last packet sent that asks for an early ack; -1 if none. */
    soonest: -1,
  }
}

export type Loss = ReturnType<typeof createLoss>

/** Takes one round trip. @param held  ack delay that the peer reports */
export function sample(rtt: Rtt, measured: Millis, held: Millis): void {
  rtt.samples += 1
  rtt.latest = Math.max(0, measured)
  if (rtt.samples === 1) {
    rtt.min = rtt.latest
    rtt.smoothed = rtt.latest
    rtt.variation = rtt.latest / 2
    return
  }
  rtt.min = Math.min(rtt.min, rtt.latest)
  const delay = Math.min(held, STATE_ACK_DELAY_MAX)
  const adjusted = rtt.latest - delay >= rtt.min ? rtt.latest - delay : rtt.latest
  rtt.variation += (Math.abs(rtt.smoothed - adjusted) - rtt.variation) / 4
  rtt.smoothed += (adjusted - rtt.smoothed) / 8
}

/** Whether round trips are so much longer than usual that a queue explains them. */
export function isQueueing({ min, smoothed, variation, samples }: Rtt): boolean {
  const usual = min + 2 * variation
  return samples === 0 || smoothed > usual + Math.max(min * QUEUE_SHARE, QUEUE_MIN)
}

/** The places after a spurious loss: the packet arrived, so the path reorders more than assumed. */
export function moreLater(later: number): number {
  return Math.min(LATER_MAX, 2 * later)
}

/** How old a packet may get that a later one of its path overtook, before it counts as lost. */
export function patience(rtt: Rtt): Millis {
  return Math.max(LATER_TIME * Math.max(rtt.smoothed, rtt.latest), GRAIN)
}

/**
 * The same for a packet that only packets of other paths overtook. The peer may send its ack by
 * another path, so the round trip is less sure.
 */
export function patienceAcross(rtt: Rtt): Millis {
  const varied = rtt.smoothed + Math.max(4 * rtt.variation, GRAIN) + ACK_DELAY_MAX
  return Math.max(patience(rtt), varied)
}

/** When the probe timer expires. @param oldest  the oldest packet without a verdict */
export function probeAt(loss: Loss, rtt: Rtt, oldest: number): Millis {
  const held = oldest <= loss.soonest ? ACK_DELAY_MAX : STATE_ACK_DELAY_MAX
  const first = rtt.smoothed + Math.max(4 * rtt.variation, GRAIN) + held
  const wait = Math.min(first * 2 ** loss.probes, Math.max(first, PROBE_MAX))
  return loss.probeFrom + wait
}
