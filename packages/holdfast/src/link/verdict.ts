/**
 * Verdicts: each packet that asks for an ack gets exactly one of `acked` and `lost`, and `acked`
 * after `lost` if the ack comes late (L4). `lost` is a hint, never proof; the link acts on it by
 * sending the pieces in a new packet.
 */

import type { Millis } from '../machine.ts'
import { unwrap } from '../wire/sequence.ts'
import { type Arrivals, note } from './arrivals.ts'
import * as loss from './timing/loss.ts'
import * as pace from './timing/pace.ts'
import type { Header } from './packets/packet.ts'
import * as reliable from './reliable.ts'
import { find, type LinkPath } from './paths.ts'
import type { Link, LinkSink } from './state.ts'
import { FATE, RUNS_MAX, type Sent, skipResolved, slotOf } from './window.ts'

/** The plain number of the packet that a header acks, or null if it was never sent. */
export function ackedBy(link: Link, header: Header): number | null {
  const { sent, limits } = link
  if (header.ackBits === 0) return sent.newestAcked
  const acked = unwrap(header.ack % limits.modulus, sent.next - 1, limits.modulus)
  return acked < sent.next ? acked : null
}

/**
 * @param acked  from `ackedBy`
 * @param held  how long the peer delayed the newest ack
 * @param by  id of the path by which the acks came; -1 if that is none of ours
 */
export function takeAcks(
  link: Link,
  now: Millis,
  acked: number,
  bits: number,
  held: Millis,
  by: number,
  arrivals: Arrivals,
): void {
  const { sent } = link
  if (acked === sent.newestAcked && bits === sent.ackBits) return
  if (acked >= sent.newestAcked) sent.ackBits = bits
  let progress = false
  for (let rest = bits, sequence = acked; rest !== 0; rest >>>= 1, sequence -= 1) {
    if ((rest & 1) === 0) continue
    if (sequence < link.limits.first || sequence < sent.next - sent.fate.length) break
    const slot = slotOf(sent, sequence)
    const fate = sent.fate[slot]!
    if (fate === FATE.acked) continue
    const path = find(link, sent.path[slot]!)
    if (path) {
      // An ack that came by another path says nothing of this one's round trip.
      const isTimed = sequence === acked && acked > sent.newestAcked && path.id === by
      if (isTimed && fate === FATE.flying) loss.sample(path.rtt, now - sent.at[slot]!, held)
      path.newestAcked = Math.max(path.newestAcked, sent.place[slot]!)
    }
    sent.newestAcked = Math.max(sent.newestAcked, sequence)
    if (fate === FATE.bare) {
      sent.fate[slot] = FATE.acked
    } else {
      arrived(link, sequence, fate === FATE.lost, arrivals)
      progress = true
    }
  }
  if (!progress) return
  link.loss.probes = 0
  if (reliable.settle(link.outgoing, now)) note(arrivals, 'delivered', link.outgoing.delivered)
}

function arrived(link: Link, sequence: number, late: boolean, arrivals: Arrivals): void {
  const { sent, outgoing } = link
  const slot = slotOf(sent, sequence)
  const path = find(link, sent.path[slot]!)
  sent.fate[slot] = FATE.acked
  if (late) {
    link.counters.lateAcked += 1
    if (path) {
      path.lost -= 1
      path.later = loss.moreLater(path.later)
    }
  } else if (path) pace.arrived(path.pace, sequence, sent.size[slot]!, loss.isQueueing(path.rtt))
  const end = (slot * RUNS_MAX + sent.runCount[slot]!) * 2
  for (let run = slot * RUNS_MAX * 2; run < end; run += 2) {
    const from = sent.runs[run]!
    for (let id = from; id < from + sent.runs[run + 1]!; id++) reliable.arrivedPiece(outgoing, id)
  }
  note(arrivals, 'acked', sequence)
}

/** Gives up packets that later ones overtook (L5), and notes when the next one is due. */
export function detectLoss(link: Link, now: Millis, sink: Pick<LinkSink, 'lost'>): void {
  const { sent } = link
  link.loss.lostAt = Infinity
  for (let sequence = sent.oldest; sequence < sent.newestAcked; sequence++) {
    const slot = slotOf(sent, sequence)
    if (sent.fate[slot] !== FATE.flying) continue
    const path = find(link, sent.path[slot]!)
    const lostAt = path ? dueAt(path, sent, slot) : now
    if (lostAt <= now) {
      giveUp(link, sequence, sink)
    } else {
      link.loss.lostAt = Math.min(link.loss.lostAt, lostAt)
    }
  }
  skipResolved(sent)
}

// When a packet counts as lost that a later one, of whichever path, overtook.
function dueAt({ rtt, later, newestAcked }: LinkPath, sent: Sent, slot: number): Millis {
  const [at, place] = [sent.at[slot]!, sent.place[slot]!]
  if (place <= newestAcked - later) return -Infinity
  return at + (place < newestAcked ? loss.patience(rtt) : loss.patienceAcross(rtt))
}

/** Counts the packet as lost: its pieces are resent, and the window may shrink. */
export function giveUp(link: Link, sequence: number, sink: Pick<LinkSink, 'lost'>): void {
  const { sent, outgoing } = link
  const slot = slotOf(sent, sequence)
  sent.fate[slot] = FATE.lost
  link.counters.lost += 1
  const path = find(link, sent.path[slot]!)
  if (path) {
    const queues = loss.isQueueing(path.rtt)
    path.lost += 1
    pace.gone(path.pace, sequence, sent.size[slot]!, sent.next - 1, queues)
  }
  const end = (slot * RUNS_MAX + sent.runCount[slot]!) * 2
  for (let run = slot * RUNS_MAX * 2; run < end; run += 2) {
    const from = sent.runs[run]!
    for (let id = from; id < from + sent.runs[run + 1]!; id++) {
      reliable.given(outgoing, id, sequence)
    }
  }
  sink.lost(sequence)
}
