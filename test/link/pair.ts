/**
 * Two links over a wire that loses, doubles, delays and reorders, in virtual time.
 *
 * Everything that happens is noted, and what must hold after every step is checked there:
 * link.order, link.truth, that nothing throws, that a wake at the deadline moves it on, and that
 * packets do not breed packets.
 */

import { expect } from 'vitest'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Link, LinkOptions, LinkSink } from '../../packages/holdfast/src/link/link.ts'
import { writeRaw } from '../../packages/holdfast/src/wire/bytes.ts'
import { calmly } from '../calmly.ts'

/** Numbers in [0, 1) from a seed: a linear congruence, whose high bits are mixed well enough. */
export function chance(seed: number): () => number {
  let state = (Math.imul(seed, 2654435761) ^ 0x5bd1e995) >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    let mixed = state ^ (state >>> 15)
    mixed = Math.imul(mixed, 0x2c1b3c6d)
    return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32
  }
}

/** What the wire does to packets. Times in ms, chances from 0 to 1. */
export interface Wire {
  delay: number
  jitter: number
  loss: number
  double: number
}

/** One end and what it was told. */
export interface End {
  link: Link
  messages: Uint8Array[]
  frames: [channel: number, bytes: Uint8Array][]
  acked: number[]
  lost: number[]
  delivered: number[]
  packets: { at: number; bytes: Uint8Array }[]
  /** Frames that wait to be pulled. */
  newest: [channel: number, bytes: Uint8Array][]
  /** What `write` was asked. */
  asked: { sequence: number; budget: number }[]
  sink: LinkSink
  /** Is told what packets brought, besides. */
  onArrival: (arrival: Readonly<link.Arrival>) => void
  /** Sequences of the packets that this end has accepted. */
  accepted: Set<number>
}

/** A pair under test. */
export interface Pair {
  now: number
  wire: Wire
  /** Decides about a packet in place of chance: how often it arrives. */
  fate: ((from: 0 | 1, bytes: Uint8Array, index: number) => number) | null
  ends: [End, End]
  flights: { at: number; to: 0 | 1; bytes: Uint8Array }[]
  wakes: number
  random: () => number
}

/** A fresh pair; a fault-free wire of 10 ms unless said otherwise. */
export function createPair(seed = 1, wire: Partial<Wire> = {}, options: LinkOptions = {}): Pair {
  const pair: Pair = {
    now: 0,
    wire: { delay: 10, jitter: 0, loss: 0, double: 0, ...wire },
    fate: null,
    ends: [] as unknown as [End, End],
    flights: [],
    wakes: 0,
    random: chance(seed),
  }
  pair.ends = [createEnd(pair, 0, options), createEnd(pair, 1, options)]
  return pair
}

function createEnd(pair: Pair, side: 0 | 1, options: LinkOptions): End {
  const end: Omit<End, 'sink'> = {
    link: link.create(0, options),
    messages: [],
    frames: [],
    acked: [],
    lost: [],
    delivered: [],
    packets: [],
    newest: [],
    onArrival: () => {},
    asked: [],
    accepted: new Set(),
  }
  const sink: LinkSink = {
    packet: (bytes) => fly(pair, side, new Uint8Array(bytes)),
    lost: (sequence) => end.lost.push(sequence),
    write: (sequence, writer, budget) => {
      end.asked.push({ sequence, budget })
      const first = end.newest[0]
      if (first === undefined || first[1].length > budget) return -1
      end.newest.shift()
      writeRaw(writer, first[1])
      return first[0]
    },
  }
  return { ...end, sink }
}

function fly(pair: Pair, side: 0 | 1, bytes: Uint8Array): void {
  const { wire, random } = pair
  const end = pair.ends[side]
  end.packets.push({ at: pair.now, bytes })
  let copies = random() < wire.loss ? 0 : random() < wire.double ? 2 : 1
  if (pair.fate) copies = pair.fate(side, bytes, end.packets.length - 1)
  for (let copy = 0; copy < copies; copy++) {
    const at = pair.now + wire.delay + wire.jitter * random()
    pair.flights.push({ at, to: side === 0 ? 1 : 0, bytes })
  }
}

/** More than two links do in the longest test. */
const STEPS_MAX = 200_000

/** Runs until `until`, doing all that is due in order. */
export function run(pair: Pair, until: number): void {
  for (let steps = 0; ; steps++) {
    if (steps > STEPS_MAX) expect.fail(`two links never come to ${until}`)
    const flight = pair.flights.reduce((best, one) => Math.min(best, one.at), Infinity)
    const due = Math.min(...pair.ends.map((end) => link.deadline(end.link)))
    const at = Math.max(pair.now, Math.min(flight, due))
    if (at > until) break
    pair.now = at
    if (flight <= at) deliver(pair, flight)
    for (const end of pair.ends) wakeIfDue(pair, end)
  }
  pair.now = until
}

const arrivals = link.createArrivals()

/** Gives one end a packet, as a member does, and notes what it brought. */
export function take(end: End, now: number, bytes: Uint8Array): boolean {
  const taken = calmly(() => link.receive(end.link, now, bytes, arrivals))
  for (const arrival of arrivals.list.slice(0, arrivals.count)) {
    const { what, number } = arrival
    end.onArrival(arrival)
    if (what === 'message') end.messages.push(new Uint8Array(arrival.bytes))
    else if (what === 'frame') end.frames.push([number, new Uint8Array(arrival.bytes)])
    else end[what].push(number)
  }
  if (taken) calmly(() => link.answer(end.link, now, end.sink))
  return taken
}

function deliver(pair: Pair, at: number): void {
  const index = pair.flights.findIndex((one) => one.at === at)
  const [{ to, bytes }] = pair.flights.splice(index, 1) as [Pair['flights'][0]]
  const end = pair.ends[to]
  const before = end.link.received.newest
  const ok = take(end, pair.now, bytes)
  if (ok && (bytes[0]! & 1) === 0) {
    const low = bytes[1]! | (bytes[2]! << 8)
    const near = (before >> 16) * 65536 + low
    const sequence = [near - 65536, near, near + 65536].reduce((best, one) =>
      Math.abs(one - before) < Math.abs(best - before) ? one : best,
    )
    end.accepted.add(sequence)
  }
  calmly(() => link.flush(end.link, pair.now, end.sink))
}

function wakeIfDue(pair: Pair, end: End): void {
  if (link.deadline(end.link) > pair.now) return
  calmly(() => link.wake(end.link, pair.now, end.sink))
  pair.wakes += 1
  const next = link.deadline(end.link)
  if (next <= pair.now) expect.fail(`deadline stands still at ${pair.now}: ${next}`)
}

/** Queues a message at one end and sends what may leave. @returns its number */
export function send(pair: Pair, side: 0 | 1, bytes: Uint8Array): number {
  const end = pair.ends[side]
  const message = link.send(end.link, pair.now, bytes)
  link.flush(end.link, pair.now, end.sink)
  return message
}

/** Offers a frame at one end and sends what may leave. */
export function offer(pair: Pair, side: 0 | 1, channel: number, bytes: Uint8Array): void {
  const end = pair.ends[side]
  end.newest.push([channel, bytes])
  link.scheduleWrite(end.link, pair.now)
  link.flush(end.link, pair.now, end.sink)
}

/** A message of that length whose bytes tell its number. */
export function numbered(value: number, length = 4): Uint8Array {
  const bytes = new Uint8Array(Math.max(4, length)).fill(value & 0xff)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

/** The number of such a message. */
export function numberOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
}
