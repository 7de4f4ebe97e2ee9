/**
 * Two links, a and b, over a wire that does what the test says: 10 ms one way, and each packet on
 * it is a line, as the document reads it.
 */

import type { Millis } from '../../packages/holdfast/src/machine.ts'
import * as link from '../../packages/holdfast/src/link/link.ts'
import { readPacket } from '../standard/reader.ts'
import type { Read } from '../standard/values.ts'
import { Script, standardOf } from '../transcript.ts'
import { createPair, offer, type Pair, run, send } from './pair.ts'

/** An end of the wire. */
export type Name = 'a' | 'b'

const NAMES = ['a', 'b'] as const
const STANDARD = standardOf()
// How much an end says of what it has: of 32 bits these are enough to see a gap.
const LATELY = 8

/** See above. */
export class Stage {
  readonly script = new Script({ bytes: shown })
  readonly pair: Pair = createPair()
  /** What becomes of the next packets of an end: how often each arrives. */
  readonly #fates = { a: [] as number[], b: [] as number[] }
  #isCut = false

  constructor() {
    for (const name of NAMES) this.#listen(name)
    this.pair.fate = (from, bytes) => this.#fly(NAMES[from], bytes)
  }

  get now(): Millis {
    return this.pair.now
  }

  /** A reliable message, of so many bytes if it is not a word. */
  send(name: Name, what: string | number): void {
    this.#say(name, `sends ${typeof what === 'number' ? `${what} B` : `"${what}"`}`)
    send(this.pair, side(name), bytesOf(what))
  }

  /** A long unreliable message. */
  post(name: Name, channel: number, length: number): void {
    const { now, ends } = this.pair
    const end = ends[side(name)]
    this.#say(name, `posts ${length} B on channel ${channel}`)
    link.post(end.link, now, channel, bytesOf(length))
    link.flush(end.link, now, end.sink)
  }

  /** Newest state, which is asked for when a packet is built. */
  offer(name: Name, channel: number, what: string): void {
    this.#say(name, `has newest state "${what}"`)
    offer(this.pair, side(name), channel, bytesOf(what))
  }

  /** What becomes of its next packets: each arrives so often. */
  fates(name: Name, ...copies: number[]): void {
    this.#fates[name].push(...copies)
  }

  /** Nothing arrives any more, or everything again. */
  cut(isCut: boolean): void {
    this.#isCut = isCut
  }

  pass(ms: Millis): void {
    run(this.pair, this.now + ms)
  }

  close(name: Name, reason: number): void {
    const end = this.pair.ends[side(name)]
    link.close(end.link, this.now, reason, end.sink)
  }

  /** What an end knows of its link. */
  stands(name: Name): void {
    const { link: own } = this.pair.ends[side(name)]
    const [heard, closed] = [this.now - own.lastReceived, own.closed ?? '-']
    const down = link.isDown(own, this.now)
    this.#say(name, `heard ${heard} ms ago, closed=${closed}, down=${down}`)
  }

  #say(name: Name, what: string): void {
    this.script.tell(this.now, name, what)
  }

  #listen(name: Name): void {
    const end = this.pair.ends[side(name)]
    const lost = (sequence: number): void => this.#say(name, `takes #${sequence} for lost`)
    end.onArrival = ({ what, number, bytes }) => {
      if (what === 'message') this.#say(name, `hears ${shown(bytes)}`)
      else if (what === 'frame') this.#say(name, `hears ${shown(bytes)} on channel ${number}`)
      else if (what === 'lost') lost(number)
      else if (what === 'delivered') this.#say(name, `knows that its messages up to ${number} came`)
    }
    const { sink } = end
    end.sink = {
      ...sink,
      lost: (sequence) => {
        lost(sequence)
        sink.lost(sequence)
      },
    }
  }

  #fly(from: Name, bytes: Uint8Array): number {
    const copies = this.#isCut ? 0 : (this.#fates[from].shift() ?? 1)
    const fate = copies === 0 ? '   LOST' : copies > 1 ? `   COMES ${copies} TIMES` : ''
    this.#say(from, `-> ${from === 'a' ? 'b' : 'a'}  ${this.#packet(bytes)}${fate}`)
    return copies
  }

  #packet(bytes: Uint8Array): string {
    const { sequence, ack, bits, frames } = readPacket(STANDARD, bytes)
    const said = (frames as Read[]).map((frame) => `(${this.script.brief(frame)})`)
    return [`#${sequence as number}`, ackOf(ack as number, bits as number), ...said].join(' ')
  }
}

// The newest that came, and which shortly before it did not.
function ackOf(ack: number, bits: number): string {
  if (bits === 0) return 'ack=-'
  const before = Array.from({ length: Math.min(ack + 1, LATELY) }, (_, n) => n)
  const lacks = before.filter((n) => Math.floor(bits / 2 ** n) % 2 === 0).map((n) => ack - n)
  return lacks.length === 0 ? `ack=${ack}` : `ack=${ack} lacks=[${lacks.toReversed().join(' ')}]`
}

function side(name: Name): 0 | 1 {
  return name === 'a' ? 0 : 1
}

function bytesOf(what: string | number): Uint8Array {
  return typeof what === 'number' ? new Uint8Array(what) : new TextEncoder().encode(what)
}

// Short ones are words in these tests.
function shown(bytes: Uint8Array): string {
  return bytes.length > 20 ? `${bytes.length} B` : `"${new TextDecoder().decode(bytes)}"`
}
