/**
 * The sent packets with their fates, and the received packets.
 *
 * Both are rings of the last `memory` packets. The sender keeps its newest packet within `window`,
 * half of the ring, of its oldest packet without a verdict, so a slot is reused only after its
 * packet's verdict, and a late verdict (an ack after `lost`) still finds the packet. Bare acks take
 * a sequence number but get no verdict: if they were acked, two idle peers would ack for ever.
 */

import type { Millis } from '../machine.ts'
import type { Limits } from './limits.ts'

/** Runs of consecutive pieces that one packet may carry. */
export const RUNS_MAX = 4

/** Fates of a packet, for `Sent.fate`. */
export const FATE = { none: 0, flying: 1, acked: 2, lost: 3, bare: 4 } as const

export function createSent({ memory, first }: Limits) {
  return {
    /** Sequence of the next packet, a plain number. */
    next: first,
    /** Oldest packet without a verdict; `next` if all have one. */
    oldest: first,
    /** Newest packet known to have arrived; one before the first if none has. */
    newestAcked: first - 1,
    /** The ack bits of the newest ack; repeats are skipped. */
    ackBits: 0,
    /** One of FATE. */
    fate: new Uint8Array(memory),
    /** When the packet left, in Millis. */
    at: new Float64Array(memory),
    /** Length of the packet, in bytes. */
    size: new Uint16Array(memory),
    /** Id of the path by which the packet left, and its place among the packets of that path. */
    path: new Uint16Array(memory),
    place: new Float64Array(memory),
    /** Pairs of first piece and count, RUNS_MAX for each packet. */
    runs: new Float64Array(memory * RUNS_MAX * 2),
    /** How many of the packet's runs are used. */
    runCount: new Uint8Array(memory),
  }
}

/** Packets sent. The arrays are rings, a packet's slot is its sequence modulo their length. */
export type Sent = ReturnType<typeof createSent>

export function createReceived({ memory, first }: Limits) {
  return {
    /** Newest packet accepted; one before the first if none was. */
    newest: first - 1,
    /** Bit n: packet newest - n was accepted; unsigned. */
    bits: 0,
    /** Ring of the plain sequence numbers accepted, -1 where none. */
    seen: new Float64Array(memory).fill(-1),
  }
}

export type Received = ReturnType<typeof createReceived>

export function slotOf(sent: Sent, sequence: number): number {
  return sequence % sent.fate.length
}

/** Enters the packet `sent.next`, its runs already noted. @param bare  it gets no verdict */
export function enter(
  sent: Sent,
  now: Millis,
  size: number,
  bare: boolean,
  path: { readonly id: number; next: number },
): void {
  const slot = slotOf(sent, sent.next)
  sent.fate[slot] = bare ? FATE.bare : FATE.flying
  sent.at[slot] = now
  sent.size[slot] = size
  sent.path[slot] = path.id
  sent.place[slot] = path.next++
  sent.next += 1
  skipResolved(sent)
}

/** Advances `oldest` past all packets that need no verdict. */
export function skipResolved(sent: Sent): void {
  while (sent.oldest < sent.next && sent.fate[slotOf(sent, sent.oldest)] !== FATE.flying) {
    sent.oldest += 1
  }
}

/** Notes that the packet under construction carries this piece. False if it has no run left. */
export function noteRun(sent: Sent, piece: number): boolean {
  const slot = slotOf(sent, sent.next)
  const count = sent.runCount[slot]!
  const last = (slot * RUNS_MAX + count - 1) * 2
  if (count > 0 && sent.runs[last]! + sent.runs[last + 1]! === piece) {
    sent.runs[last + 1]! += 1
    return true
  }
  if (count === RUNS_MAX) return false
  sent.runs[last + 2] = piece
  sent.runs[last + 3] = 1
  sent.runCount[slot] = count + 1
  return true
}

/** Whether a packet may be accepted: neither received before nor too old to know. */
export function standing(received: Received, sequence: number): 'fresh' | 'duplicate' | 'stale' {
  const { seen, newest } = received
  if (sequence <= newest - seen.length) return 'stale'
  return seen[sequence % seen.length] === sequence ? 'duplicate' : 'fresh'
}

/** Enters an accepted packet. @returns whether it came in order, right after the newest */
export function accept(received: Received, sequence: number): boolean {
  const ahead = sequence - received.newest
  received.seen[sequence % received.seen.length] = sequence
  if (ahead > 0) {
    received.bits = ahead < 32 ? ((received.bits << ahead) | 1) >>> 0 : 1
    received.newest = sequence
  } else if (ahead > -32) {
    received.bits = (received.bits | (1 << -ahead)) >>> 0
  }
  return ahead === 1
}
