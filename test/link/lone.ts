/**
 * One end of a link whose peer is the test: it sees each packet that leaves as the document reads
 * it, and writes by hand what comes.
 */

import type { Millis } from '../../packages/holdfast/src/machine.ts'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Arrival, Link, LinkOptions, LinkSink } from '../../packages/holdfast/src/link/link.ts'
import {
  createHeader,
  FRAGMENT_HEADER,
  HEADER_MAX,
  readHeader,
  writeHeader,
} from '../../packages/holdfast/src/link/packets/packet.ts'
import { writeRaw } from '../../packages/holdfast/src/wire/bytes.ts'
import { calmly } from '../calmly.ts'
import { readPacket } from '../standard/reader.ts'
import { standardOf } from '../transcript.ts'

const STANDARD = standardOf()

/** A packet that left. */
export interface Left {
  at: Millis
  length: number
  sequence: number
  /** The kinds of its frames, in order. */
  kinds: string[]
  frames: Record<string, unknown>[]
}

/** See above. */
export class Lone {
  readonly link: Link
  readonly left: Left[] = []
  readonly lost: number[] = []
  /** What `write` was asked for, by sequence and budget. */
  readonly asked: [sequence: number, budget: number][] = []
  /** The next answers of `write`: so many bytes on channel 4, or a number below 0 as it is. */
  readonly newest: number[] = []
  now: Millis = 0
  /** The number that the peer's next packet has. */
  #next = 0
  readonly #sink: LinkSink

  constructor(options: LinkOptions = {}) {
    this.link = calmly(() => link.create(0, options))
    this.#sink = {
      packet: (bytes) => this.#leave(bytes),
      lost: (sequence) => this.lost.push(sequence),
      write: (sequence, writer, budget) => {
        this.asked.push([sequence, budget])
        const [length = -1] = this.newest
        if (length > budget) return -1
        this.newest.shift()
        if (length < 0) return length
        writeRaw(writer, new Uint8Array(length))
        return 4
      },
    }
  }

  /** Asks no question of its own about clocks, so packets hold what the test is about. */
  quiet(): this {
    Object.assign(this.link.clock, { asked: [{ at: 1e9, by: 0 }], askedAt: 1e9 })
    return this
  }

  #leave(bytes: Uint8Array): void {
    const { sequence, frames } = readPacket(STANDARD, new Uint8Array(bytes))
    const all = frames as Record<string, unknown>[]
    const kinds = all.map(({ kind }) => String(kind))
    const left = { at: this.now, length: bytes.length, sequence: sequence as number }
    this.left.push({ ...left, kinds, frames: all })
  }

  /** The packets that left since the last look. */
  taken(): Left[] {
    return this.left.splice(0)
  }

  send(length = 4): number {
    return calmly(() => link.send(this.link, this.now, new Uint8Array(length)))
  }

  poke(...lengths: number[]): void {
    this.newest.push(...lengths)
    link.scheduleWrite(this.link, this.now)
  }

  post(length = 4): boolean {
    return calmly(() => link.post(this.link, this.now, 4, new Uint8Array(length)))
  }

  flush(): Left[] {
    calmly(() => link.flush(this.link, this.now, this.#sink))
    return this.taken()
  }

  answer(): Left[] {
    calmly(() => link.answer(this.link, this.now, this.#sink))
    return this.taken()
  }

  knock(): Left[] {
    calmly(() => link.probe(this.link, this.now, this.#sink))
    return this.taken()
  }

  close(reason = 7): Left[] {
    calmly(() => link.close(this.link, this.now, reason, this.#sink))
    return this.taken()
  }

  deadline(): Millis {
    return calmly(() => link.deadline(this.link))
  }

  /** Wakes at that instant, due or not. */
  wake(now: Millis): Left[] {
    this.now = now
    calmly(() => link.wake(this.link, now, this.#sink))
    return this.taken()
  }

  /** Lets time go by, with a wake at each deadline. */
  pass(until: Millis): Left[] {
    for (let at = this.deadline(); at <= until; at = this.deadline()) {
      this.now = Math.max(this.now, at)
      calmly(() => link.wake(this.link, this.now, this.#sink))
    }
    this.now = until
    return this.taken()
  }

  /** A packet of the peer. @returns whether it was taken, and what it brought */
  hear(
    frames: readonly number[],
    { ack = 65_535, bits = 0, sequence = this.#next, by }: Partial<Head> = {},
  ): { taken: boolean; brought: string[] } {
    const head = new Uint8Array(HEADER_MAX)
    const end = writeHeader(head, 0, sequence & 0xffff, ack & 0xffff, bits)
    this.#next = sequence + 1
    return this.take(Uint8Array.of(...head.subarray(0, end), ...frames), by)
  }

  /** Any bytes of the peer. */
  take(bytes: Uint8Array, by?: number): { taken: boolean; brought: string[] } {
    const arrivals = link.createArrivals()
    const taken = calmly(() => link.receive(this.link, this.now, bytes, arrivals, by))
    return { taken, brought: arrivals.list.slice(0, arrivals.count).map(worded) }
  }
}

/** The head of a packet that comes. */
interface Head {
  ack: number
  bits: number
  sequence: number
  /** The path by which it comes; by default the one in use. */
  by: number
}

function worded({ what, number, bytes }: Arrival): string {
  return what === 'message' || what === 'frame' ? `${what} ${bytes.join()}` : `${what} ${number}`
}

/** A piece of the peer, which is a message of its own unless `flags` say otherwise. */
export function piece(id: number, body: readonly number[] = [id & 0xff], flags = 3): number[] {
  return [1 | (flags << 4), (id >> 8) & 0xff, id & 0xff, body.length, ...body]
}

/** Newest state of the peer. */
export function state(...body: number[]): number[] {
  return [2, 4, body.length, ...body]
}

/** A part of an unreliable message of the peer. */
export function part(message: number, index: number, of: number, ...body: number[]): number[] {
  return [3, 4, message >> 8, message & 0xff, (index << 4) | (of - 1), body.length, ...body]
}

// Others split packets; we never do.
const FRAGMENT_BIT = 1

/**
 * Splits a whole packet into fragments, for carriers that take only shorter ones.
 *
 * @param packet  header and payload
 * @param size  bytes of payload in each fragment but the last
 * @throws RangeError when it would be more than 256 fragments or the packet has no header
 */
export function fragment(packet: Uint8Array, size: number): Uint8Array[] {
  const header = createHeader()
  const start = readHeader(packet, 0, header)
  if (start < 0) throw new RangeError('a packet to split must start with a header')
  const count = Math.max(1, Math.ceil((packet.length - start) / size))
  if (count > 256) throw new RangeError(`a packet has at most 256 fragments: ${count}`)
  const fragments: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const from = index === 0 ? 0 : start + index * size
    const share = packet.subarray(from, start + (index + 1) * size)
    const bytes = new Uint8Array(FRAGMENT_HEADER + share.length)
    bytes.set([FRAGMENT_BIT, header.sequence & 0xff, header.sequence >>> 8, index, count - 1])
    bytes.set(share, FRAGMENT_HEADER)
    fragments.push(bytes)
  }
  return fragments
}
