/** Members of a world of slots without sessions: their frames and messages go by hand. */

import { calmPart } from '../calmly.ts'
import type { PartOut } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { seal, settle } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import {
  create,
  createPeer,
  type Game,
  makeEvent,
  type Slots,
  slotsPart,
} from '../../packages/holdfast/src/slots/protocol/slots.ts'

/** Everybody's acts are counted; an act is one byte. */
export const game: Game = {
  ms: 200,
  print: 7,
  says: '200 highest u8',
  start: {},
  order: 'highest',
  rule: (world, acts) => {
    const counts = { ...(world as Record<number, number>) }
    for (const { by } of acts) counts[by] = (counts[by] ?? 0) + 1
    return counts
  },
  decode: (bytes) => (bytes.length === 1 ? bytes[0] : undefined),
}
export const part = calmPart(slotsPart({ game }))
export const NOW = 100_000

/** What a member says reliably and tells its application. */
export interface Heard extends PartOut {
  sent: { to: number; bytes: Uint8Array }[]
  told: unknown[]
}

export function hearing(): Heard {
  const sent: Heard['sent'] = []
  const told: unknown[] = []
  return {
    sent,
    told,
    send: (to, bytes) => sent.push({ to, bytes }),
    emit: (event) => told.push(event),
  }
}

/** One of a mesh of so many, who all play and were all just heard. */
export function member(me: number, count = 3): Slots {
  const slots = { ...create(), me, player: me * 10, mesh: true, primary: 1, offset: 0, print: 7 }
  slots.ms = game.ms
  slots.standing = 'live'
  slots.slot = NOW / game.ms
  settle(slots, slots.slot - 1 - slots.horizon, seal(game.start), 0)
  for (let inc = 1; inc <= count; inc++) {
    slots.here.add(inc)
    slots.players.set(inc, inc * 10)
    if (inc !== me) slots.peers.set(inc, { ...createPeer(), standing: 'live', receivedAt: NOW })
  }
  return slots
}

/** A frame that is due at once, in packet 1; null if none was. */
export function frameOf(from: Slots, to: number, now = NOW): Uint8Array | null {
  const writer = { bytes: new Uint8Array(1200), length: 0 }
  from.peers.get(to)!.dueAt = 0
  if (!part.write!(from, now, to, 1, writer, 1200)) return null
  return writer.bytes.slice(0, writer.length)
}

/** What a test has members do by hand, who all tell the same sink what they hear. */
export interface Hands {
  readonly act: (slots: Slots, body?: number, now?: number) => void
  /** A frame goes over. One that has nothing to say does no harm. */
  readonly tell: (from: Slots, to: Slots, now?: number) => void
  /** So many slots later; who is in `heard` was heard just then. @returns when that is */
  readonly later: (slots: Slots, by: number, heard?: readonly number[]) => number
  /** All tell all, slot after slot, and answer what is asked. */
  readonly converse: (all: readonly Slots[], from: number, to: number) => void
  /** What was told to be void. */
  readonly voids: () => unknown[]
}

/** See Hands. @param out the sink of the test that runs */
export function hands(out: () => Heard): Hands {
  const tell = (from: Slots, to: Slots, now = NOW): void => {
    const bytes = frameOf(from, to.me, now)
    if (bytes) part.read!(to, now, from.me, bytes, out())
  }
  const later = (slots: Slots, by: number, heard: readonly number[] = []): number => {
    const now = NOW + by * game.ms
    for (const inc of heard) slots.peers.get(inc)!.receivedAt = now
    part.wake!(slots, now, out())
    return now
  }
  const converse = (all: readonly Slots[], from: number, to: number): void => {
    for (let by = from; by <= to; by++) {
      for (const one of all) later(one, by)
      for (const one of all) {
        for (const other of all) {
          if (one !== other && one.here.has(other.me)) tell(one, other, NOW + by * game.ms)
        }
      }
    }
  }
  return {
    act: (slots, body = 1, now = NOW) => makeEvent(slots, now, game, new Uint8Array([body]), 0),
    tell,
    later,
    converse,
    voids: () =>
      out().told.filter((event) => (event as { kind: string }).kind === 'slots-discarded'),
  }
}
