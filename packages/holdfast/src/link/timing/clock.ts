/**
 * Clocks: how the ends of a link compare theirs, and how session time follows the primary's (L9).
 *
 * Two ends compare clocks with four timestamps, as NTP does: a question leaves at t0, arrives at
 * t1, is answered at t2, and the answer arrives at t3. Of the last 16 samples the one with the
 * shortest round trip counts: its error is at most half of that. Packets that leave anyway carry
 * questions and answers.
 *
 * Session time is the primary's clock. Once set it never jumps and never goes backwards, even when
 * another member becomes primary: it runs up to 5 % faster or slower until it agrees, and then at
 * the rate of the own clock.
 */

import type { Millis } from '../../machine.ts'

const SAMPLES_MAX = 16
/** A fresh link asks eagerly until it has this many samples, then every ASK_EVERY. */
export const EAGER_SAMPLES = 4
const ASK_EVERY: Millis = 1000
/** A question is asked again if unanswered for this many round trips, and for LOST_MIN at least. */
const LOST_RTTS = 2
const LOST_MIN: Millis = 250
/**
 * Answers to this many of the last questions count: on a lossy stream each answer may come after
 * its question is believed lost, and if only the newest counted, the time would stay unknown.
 */
const ASKED_MAX = 4
/** An offset wrong by at most this counts at once. */
export const SURE_MS: Millis = 125
const SLEW_MAX = 0.05
// An error is corrected over about this long, or at SLEW_MAX if it is larger.
const SLEW_OVER: Millis = 1000

export function createSamples() {
  return {
    /** Session time minus our clock, added in answers; while NaN (unknown), we do not answer. */
    shift: 0,
    /** When the unanswered questions left, and by which path, oldest first; at most ASKED_MAX. */
    asked: [] as { at: Millis; by: number }[],
    askedAt: -Infinity,
    /** The t0 of the peer's unanswered question, or NaN. */
    question: NaN,
    questionAt: 0,
    /** Question and answer of the only sample took different paths. */
    isMixed: false,
    /** Pairs of round trip and offset, newest last; at most 16. */
    samples: [] as { trip: Millis; offset: Millis }[],
  }
}

/** One end's samples of the other's clock. */
export type ClockSamples = ReturnType<typeof createSamples>

/** Whether a packet that leaves now should carry a question. @param rttMs  estimated round trip */
export function shouldAsk(clock: ClockSamples, now: Millis, rttMs: Millis): boolean {
  const { samples, asked, askedAt } = clock
  const since = now - askedAt
  if (samples.length >= EAGER_SAMPLES) return since >= ASK_EVERY
  const lost = Math.min(ASK_EVERY, Math.max(LOST_MIN, LOST_RTTS * rttMs))
  return asked.length === 0 || since >= lost
}

/** Notes that a question leaves; beyond ASKED_MAX the oldest is given up. */
export function ask(clock: ClockSamples, now: Millis, by: number): void {
  clock.askedAt = now
  clock.asked.push({ at: now, by })
  if (clock.asked.length > ASKED_MAX) clock.asked.shift()
}

/**
 * Takes the answer to one of our questions; any other is ignored. One that came by another path
 * than its question went counts only until there is a better one: its two ways differ.
 *
 * @param by  the path by which it came
 */
export function takeAnswer(
  clock: ClockSamples,
  now: Millis,
  by: number,
  t0: Millis,
  t1: Millis,
  t2: Millis,
): void {
  const place = clock.asked.findIndex(({ at }) => at === t0)
  if (place < 0) return
  // Earlier ones are lost: the peer answers the newest question it received.
  const asked = clock.asked.splice(0, place + 1).at(-1)!
  const isMixed = asked.by !== by
  if (isMixed && clock.samples.length > 0) return
  const trip = now - t0 - (t2 - t1)
  if (t2 < t1 || trip < 0) return
  if (clock.isMixed || clock.samples.length === SAMPLES_MAX) clock.samples.shift()
  clock.isMixed = isMixed
  clock.samples.push({ trip, offset: (t1 - t0 + (t2 - now)) / 2 })
}

/** The peer's clock minus ours by the best of the last samples; null before the first. */
export function offsetOf(clock: ClockSamples): Millis | null {
  return best(clock)?.offset ?? null
}

/** The largest error of that offset: one way may have taken the whole trip (NTP). */
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
    /** Session milliseconds per millisecond of our clock since then: 0.95 to 1.05. */
    rate: 1,
    /** How long the rate applies, by our clock; then the error is corrected and the rate is 1. */
    span: 0,
    set: false,
    /** A measured offset that may be far wrong; null if there is none. */
    rough: null as Millis | null,
  }
}

export type SessionClock = ReturnType<typeof createClock>

/** Session time now; never less than before for a later or equal `now`. */
export function timeAt(clock: SessionClock, now: Millis): Millis {
  const since = Math.max(0, now - clock.at)
  return clock.time + since + Math.min(since, clock.span) * (clock.rate - 1)
}

/** Jumps the first time, then slews at most 5 %. @param offset  session time minus our clock */
export function steer(clock: SessionClock, now: Millis, offset: Millis): void {
  const time = timeAt(clock, now)
  clock.at = Math.max(clock.at, now)
  clock.time = clock.set ? time : now + offset
  clock.set = true
  const error = now + offset - clock.time
  clock.rate = 1 + Math.max(-SLEW_MAX, Math.min(SLEW_MAX, error / SLEW_OVER))
  clock.span = clock.rate === 1 ? 0 : error / (clock.rate - 1)
}
