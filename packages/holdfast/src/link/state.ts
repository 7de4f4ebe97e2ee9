/** The state of a link, its counters, and its sink. */

import type { Millis } from '../machine.ts'
import type { ByteWriter } from '../wire/bytes.ts'
import { createAssemblies } from './packets/assembly.ts'
import type { Arrivals } from './arrivals.ts'
import { createSamples } from './timing/clock.ts'
import type { Limits } from './limits.ts'
import { createLoss } from './timing/loss.ts'
import { createParted } from './packets/parts.ts'
import { createPath, type LinkPath } from './paths.ts'
import { createIncoming, createOutgoing } from './reliable.ts'
import { createReceived, createSent } from './window.ts'

/** The result of `write` when nothing waits for a later packet either. */
export const NOTHING_WAITS = -2

/**
 * Receives a link's output while it sends; the contents of received packets go to `Arrivals`. A
 * sink may call only `send`, `post` and `scheduleWrite` of the same link.
 */
export interface LinkSink {
  /** A packet leaves. The bytes are valid only during the call. */
  packet(bytes: Uint8Array): void
  /**
   * Asks for the newest state while packet `sequence` is built: append one frame body of at most
   * `budget` bytes and return its channel (4 to 255), or -1 if none fits; then appended bytes are
   * dropped. The link asks until the result is -1 or the packet is full; if every result is -1, the
   * packet may never leave and its sequence is reused. -2 means that nothing waits: the link asks
   * again only after the next `scheduleWrite`.
   */
  write(sequence: number, writer: ByteWriter, budget: number): number
  /** A hint that the packet is probably lost. Called at most once, and never after `acked`. */
  lost(sequence: number): void
}

/** Decisions on which order and verdicts rest: RULES of link.ts, or a test's own. */
export interface LinkRules {
  /** Whether a packet may be numbered now without giving up an older one. */
  hasNumber(link: Link): boolean
  /** Whether a packet is refused unacked. @param tooFar  it holds a piece too far ahead (L1) */
  refuses(tooFar: boolean): boolean
  /** Takes a piece by its number (L2). @returns false for a piece that no honest peer sends */
  take(link: Link, id: number, flags: number, bytes: Uint8Array, arrivals: Arrivals): boolean
}

export function createState(now: Millis, keepaliveMs: Millis, limits: Limits, rules: LinkRules) {
  return {
    limits,
    rules,
    keepaliveMs,
    /** When the last well-formed packet arrived; at first when the link was created. */
    lastReceived: now,
    lastSent: now,
    /** The reason of the close, ours or the peer's; null while it is open. */
    closed: null as number | null,
    sent: createSent(limits),
    received: createReceived(limits),
    /** At most PATHS_KEPT, each at its id modulo that. */
    paths: [createPath(now, 0)] as LinkPath[],
    /** The id of the path by which packets leave. */
    using: 0,
    loss: createLoss(now),
    outgoing: createOutgoing(),
    incoming: createIncoming(),
    parted: createParted(),
    clock: createSamples(),
    assemblies: createAssemblies(),
    counters: createCounters(),
    /** Unreliable data waits to be pulled. */
    writeScheduled: false,
    /** Since when data waits to leave; meaningless when none does. */
    waitsSince: now,
    /** When both wait, whether reliable messages fill a packet before newest state. */
    reliableFirst: true,
    /** Received packets whose ack is still owed. */
    unanswered: 0,
    /** When the ack must leave; Infinity if none is owed. */
    ackAt: Infinity,
    /** When the newest packet arrived, if its ack is owed; else NaN. */
    newestAt: NaN,
  }
}

export type Link = ReturnType<typeof createState>

/** Counters for metrics and tests, of packets unless noted otherwise. */
function createCounters() {
  return {
    sent: 0,
    received: 0,
    bytesSent: 0,
    bytesReceived: 0,
    /** Refused: not one of our packets, or against the rules. */
    malformed: 0,
    duplicate: 0,
    /** Too old to know whether it was received before. */
    stale: 0,
    /** Refused unacked because a piece was too far ahead (L1). */
    droppedForRoom: 0,
    lost: 0,
    /** Acked after they counted as lost. */
    lateAcked: 0,
    /** Lost because the window was full and a probe or keepalive had to leave. */
    evicted: 0,
    retransmitted: 0,
    /** Packets that hold nothing but an ack. */
    bareAcks: 0,
    keepalives: 0,
    probes: 0,
  }
}
