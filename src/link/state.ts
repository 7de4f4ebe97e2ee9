/** What a link remembers, what it counts, and whom it tells. */

import type { Millis } from '../machine.ts'
import type { ByteWriter } from '../wire/bytes.ts'
import { createAssemblies } from './assembly.ts'
import type { Arrivals } from './arrivals.ts'
import type { Assemblies } from './assembly.ts'
import { createSamples } from './clock.ts'
import type { ClockSamples } from './clock.ts'
import type { Limits } from './limits.ts'
import { createLoss, createRtt } from './loss.ts'
import type { Loss, Rtt } from './loss.ts'
import { createPace } from './pace.ts'
import type { Pace } from './pace.ts'
import { createParted } from './parts.ts'
import type { Parted } from './parts.ts'
import { createIncoming, createOutgoing } from './reliable.ts'
import type { Incoming, Outgoing } from './reliable.ts'
import { createReceived, createSent } from './window.ts'
import type { Received, Sent } from './window.ts'

/** What `write` says when there is nothing for a later packet either. */
export const NOTHING_WAITS = -2

/**
 * Whom a link tells while it sends; what a packet brought it tells in `Arrivals`. A sink may call
 * `send`, `post` and `poke` of the same link, nothing else.
 */
export interface LinkSink {
  /** A packet leaves. The bytes are valid only during the call. */
  packet(bytes: Uint8Array): void
  /**
   * Asks for the newest state while packet `sequence` is built: append one frame body of at most
   * `budget` bytes and return its channel (4 to 255), or -1 if there is nothing (that fits):
   * then what was appended is undone. Asked again until it says -1 or the packet is full; if it
   * says -1 each time the packet may never leave, and its sequence is asked for again. -2 says
   * that nothing waits: then it is not asked for another packet before the next `poke`.
   */
  write(sequence: number, writer: ByteWriter, budget: number): number
  /** The packet probably did not arrive: a hint. Told at most once, and never after `acked`. */
  lost(sequence: number): void
}

/** What is counted, for metrics and tests. Packets unless said otherwise. */
export interface Counters {
  sent: number
  received: number
  /** Of those received. */
  bytesSent: number
  bytesReceived: number
  /** Refused: not a packet of ours, or one that breaks the rules. */
  malformed: number
  duplicate: number
  /** Too old to tell whether it was seen. */
  stale: number
  /** Refused un-acked because a piece was too far ahead (L1). */
  droppedForRoom: number
  lost: number
  /** Acked after they counted as lost. */
  lateAcked: number
  /** Lost because the window was full and a probe or keepalive had to leave. */
  evicted: number
  /** Pieces sent again. */
  retransmitted: number
  /** Packets that hold nothing but an ack. */
  bareAcks: number
  keepalives: number
  probes: number
}

/** Decisions on which order and verdicts rest (RULES of rules.ts, or twisted ones). */
export interface LinkRules {
  /** Whether a packet may be numbered now without giving up an older one. */
  hasNumber(link: Link): boolean
  /** Whether a packet is refused un-acked. @param tooFar  it holds a piece too far ahead (L1) */
  refuses(tooFar: boolean): boolean
  /** Takes a piece by its number (L2). @returns false for what no honest peer sends */
  take(link: Link, id: number, flags: number, bytes: Uint8Array, arrivals: Arrivals): boolean
}

/** One peer over lossy datagrams. Plain data, beside its rules. */
export interface Link {
  readonly limits: Limits
  readonly rules: LinkRules
  keepaliveMs: Millis
  /** When a well-formed packet last came; at first when the link was created. */
  lastHeard: Millis
  /** When a packet last left. */
  lastSent: Millis
  /** Why it was closed, by us or by the peer; null while it is open. */
  closed: number | null
  sent: Sent
  received: Received
  rtt: Rtt
  loss: Loss
  pace: Pace
  outgoing: Outgoing
  incoming: Incoming
  parted: Parted
  clock: ClockSamples
  assemblies: Assemblies
  counters: Counters
  /** Unreliable data waits to be pulled. */
  poked: boolean
  /** Since when something waits to leave; meaningless when nothing does. */
  waitsSince: Millis
  /** Whose turn it is to fill a packet first when both wait: reliable messages if true. */
  reliableFirst: boolean
  /** Packets that ask for an ack and have none yet. */
  unanswered: number
  /** When the ack must leave; Infinity if none is owed. */
  ackAt: Millis
  /** When the newest packet came, if its ack is owed; NaN if not. */
  newestAt: Millis
}

/** A fresh link. */
export function createState(
  now: Millis,
  keepaliveMs: Millis,
  limits: Limits,
  rules: LinkRules,
): Link {
  return {
    limits,
    rules,
    keepaliveMs,
    lastHeard: now,
    lastSent: now,
    closed: null,
    sent: createSent(limits),
    received: createReceived(limits),
    rtt: createRtt(),
    loss: createLoss(now),
    pace: createPace(now),
    outgoing: createOutgoing(),
    incoming: createIncoming(),
    parted: createParted(),
    clock: createSamples(),
    assemblies: createAssemblies(),
    counters: createCounters(),
    poked: false,
    waitsSince: now,
    reliableFirst: true,
    unanswered: 0,
    ackAt: Infinity,
    newestAt: NaN,
  }
}

function createCounters(): Counters {
  return {
    sent: 0,
    received: 0,
    bytesSent: 0,
    bytesReceived: 0,
    malformed: 0,
    duplicate: 0,
    stale: 0,
    droppedForRoom: 0,
    lost: 0,
    lateAcked: 0,
    evicted: 0,
    retransmitted: 0,
    bareAcks: 0,
    keepalives: 0,
    probes: 0,
  }
}
