/**
 * Clocks: how the ends of a link compare them, and how session time follows the primary's (L9).
 *
 * Two ends compare clocks with four time stamps: the asker notes when it asks (t0) and when the
 * answer comes (t3), the answerer when the question came (t1) and when the answer leaves (t2). Of
 * the last 16 samples the one with the shortest round trip is the most accurate, for its error is
 * at most half its round trip. Questions and answers are carried by packets that leave anyway.
 *
 * Session time is the primary's clock. Once set it is never set again: it runs up to 5 % faster or
 * slower until it agrees, so it never jumps and never goes backwards, also when another member
 * becomes primary. Only the measured error is corrected: a member that has no new measurements, or
 * is the primary by now, then runs at the rate of its own clock.
 */

import type { Millis } from '../../machine.ts'

const SAMPLES_MAX = 16
/** A fresh link asks with each packet until it has so many samples, then now and then. */
export const EAGER_SAMPLES = 4
const ASK_EVERY: Millis = 1000
/** A question without an answer after so many round trips, and so long, is asked once more. */
const LOST_RTTS = 2
const LOST_MIN: Millis = 250
/**
 * The answer to each of the last questions counts: over a stream that loses it may take longer each
 * time than it takes to believe it lost, and with the last question's alone the time stays unknown.
 */
const ASKED_MAX = 4
/** An offset that is wrong by so much at most counts at once. */
export const SURE_MS: Millis = 125
const SLEW_MAX = 0.05
// An error is corrected over about this long, or at SLEW_MAX if it is larger.
const SLEW_OVER: Millis = 1000

/** No samples. */
export function createSamples() {
  return {
    /** What this end adds to its own clock when it answers; NaN while it does not know the time. */
    shift: 0,
    /** When the questions left that have no answer yet, oldest first; at most ASKED_MAX. */
    asked: [] as Millis[],
    /** When the last question left. */
    askedAt: -Infinity,
    /** The t0 of the peer's question that waits for its answer, or NaN. */
    question: NaN,
    /** When that question came. */
    questionAt: 0,
    /** Pairs of round trip and offset, newest last; at most 16. */
    samples: [] as { trip: Millis; offset: Millis }[],
  }
}

/** Samples that one end has of the other's clock. */
export type ClockSamples = ReturnType<typeof createSamples>

/** Whether a packet that leaves now should carry a question. @param rttMs  as far as it is known */
export function shouldAsk(clock: ClockSamples, now: Millis, rttMs: Millis): boolean {
  const { samples, asked, askedAt } = clock
  const since = now - askedAt
  if (samples.length >= EAGER_SAMPLES) return since >= ASK_EVERY
  const lost = Math.min(ASK_EVERY, Math.max(LOST_MIN, LOST_RTTS * rttMs))
  return asked.length === 0 || since >= lost
}

/** A question leaves; the oldest of too many is given up. */
export function ask(clock: ClockSamples, now: Millis): void {
  clock.askedAt = now
  clock.asked.push(now)
  if (clock.asked.length > ASKED_MAX) clock.asked.shift()
}

/** Takes the answer to a question of ours; an answer to another is ignored. */
export function takeAnswer(
  clock: ClockSamples,
  now: Millis,
  t0: Millis,
  t1: Millis,
  t2: Millis,
): void {
  const at = clock.asked.indexOf(t0)
  if (at < 0) return
  // Those before it are lost: the peer answers the newest that it has heard.
  clock.asked.splice(0, at + 1)
  const trip = now - t0 - (t2 - t1)
  if (t2 < t1 || trip < 0) return
  if (clock.samples.length === SAMPLES_MAX) clock.samples.shift()
  clock.samples.push({ trip, offset: (t1 - t0 + (t2 - now)) / 2 })
}

/** The peer's clock minus ours by the best of the last samples; null before the first. */
export function offsetOf(clock: ClockSamples): Millis | null {
  return best(clock)?.offset ?? null
}

/** By how much that offset may be wrong: one way may have taken the whole trip (NTP). */
export function errorOf(clock: ClockSamples): Millis {
  return (best(clock)?.trip ?? Infinity) / 2
}

function best({ samples }: ClockSamples): { trip: Millis; offset: Millis } | null {
  let least: { trip: Millis; offset: Millis } | null = null
  for (const one of samples) if (least === null || one.trip <= least.trip) least = one
  return least
}

/** Session time equals our own clock until it is steered. */
export function createClock(now: Millis) {
  return {
    /** Our own clock when the rate was last set. */
    at: now,
    /** Session time at that moment. */
    time: now,
    /** Session milliseconds for each own one since: 0.95 to 1.05. */
    rate: 1,
    /**
     * How long the rate applies, by our own clock; then the error is corrected, and the rate is 1.
     */
    span: 0,
    /** False until the first `steer`; until then session time is our own clock. */
    set: false,
    /** An offset that was measured and may be far wrong; null if none was. */
    rough: null as Millis | null,
  }
}

/** Session time as one member computes it. */
export type SessionClock = ReturnType<typeof createClock>

/** Session time now; never less than before for a later or equal `now`. */
export function timeAt(clock: SessionClock, now: Millis): Millis {
  const since = Math.max(0, now - clock.at)
  return clock.time + since + Math.min(since, clock.span) * (clock.rate - 1)
}

/**
 * Follows the primary's clock: jumps the first time, afterwards slews at most 5 %.
 *
 * @param offset  session time minus our own clock, from `offset(link)`; 0 for the primary itself
 */
export function steer(clock: SessionClock, now: Millis, offset: Millis): void {
  const time = timeAt(clock, now)
  clock.at = Math.max(clock.at, now)
  clock.time = clock.set ? time : now + offset
  clock.set = true
  const error = now + offset - clock.time
  clock.rate = 1 + Math.max(-SLEW_MAX, Math.min(SLEW_MAX, error / SLEW_OVER))
  clock.span = clock.rate === 1 ? 0 : error / (clock.rate - 1)
}
