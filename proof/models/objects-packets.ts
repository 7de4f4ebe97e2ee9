/** Packets of the objects' model with updates: each is kept once, and lies in bags (bags.ts). */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import * as bags from './bags.ts'
import * as interned from './interned.ts'
import * as pairs from '../../packages/sim/src/checker/pairs.ts'

/** A packet with updates under way. */
export interface Packet {
  readonly from: PeerId
  readonly to: PeerId
  readonly seq: number
  /** The number of its content. */
  readonly frame: number
  /** The ack is under way, back to the sender. */
  readonly ack: boolean
}

/** All packets that there were. */
export interface Packets {
  readonly frames: interned.Interned<Uint8Array>
  readonly kept: interned.Interned<Packet>
  readonly bags: bags.Bags
  /** By bag and two members: what is left of it when all between them is lost. */
  readonly without: pairs.Pairs
}

/** More than there are members. */
const INCS_MAX = 16

/** No packets. */
export function create(): Packets {
  const kept = interned.create<Packet>()
  const { values } = kept
  const all = bags.create((one, other) => compare(values[one]!, values[other]!))
  return { frames: interned.create(), kept, bags: all, without: pairs.create() }
}

/** In which order packets lie. */
function compare(one: Packet, other: Packet): number {
  const ends = one.from - other.from || one.to - other.to
  return (
    ends || one.seq - other.seq || one.frame - other.frame || Number(one.ack) - Number(other.ack)
  )
}

/** What is left of a bag when all between two is lost. */
export function without(packets: Packets, bag: number, one: PeerId, other: PeerId): number {
  if (bag === bags.EMPTY) return bag
  const pair = Math.min(one, other) * INCS_MAX + Math.max(one, other)
  const known = pairs.find(packets.without, bag, pair)
  if (known >= 0) return known
  const stays = (packet: number): boolean => {
    const { from, to } = packets.kept.values[packet]!
    return !([one, other].includes(from) && [one, other].includes(to))
  }
  return pairs.keep(packets.without, bag, pair, bags.filter(packets.bags, bag, stays))
}
